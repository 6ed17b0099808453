"""Files of kinds other than PDF, Office and pages, each with what it becomes and says that it left out."""

# ruff: noqa: E501 - files written out as they are

from __future__ import annotations

import gzip

from tests.knowledge.loaders.written_files import (
    HEAD,
    MBOX,
    NAMESPACES,
    book,
    cell,
    letter,
    notebook,
    opened,
    row,
    with_attachments,
)

Sections = list[tuple[tuple[str, ...], str]]
RST = """\
=====
Guide
=====

Intro.

First
=====

words

Deep
----

* x

第二章
======

====  ====
a     b
====  ====
1     2
====  ====
"""
TEX = rb"""\documentclass{article}
\title{A \emph{fine} paper}
\section{Intro} % a note
50\% of all
%\section{gone}
\subsection*{Sub}
$x^2$
"""

CORPUS: dict[str, tuple[str, bytes, Sections, list[tuple[str, dict[str, str]]], dict[str, int]]] = {
    "code": ("tool.py", b"def dose():\n    return 5\n", [((), "def dose():\n    return 5\n")], [], {}),
    "no suffix": ("README", b"Read me.", [((), "Read me.")], [], {}),
    "a name that begins with a dot": (".env", b"A=1", [((), "A=1")], [], {}),
    "settings in GB 18030": (
        "a.ini",
        "名称=工作台\n路径=资料库\n说明=这是中文的设置文件".encode("gb18030"),
        [((), "名称=工作台\n路径=资料库\n说明=这是中文的设置文件")],
        [],
        {},
    ),
    "reStructuredText": (
        "a.rst",
        RST.encode(),
        [
            ((), "Intro."),
            (("First",), "words"),
            (("First", "Deep"), "* x"),
            (("第二章",), "====  ====\na     b\n====  ====\n1     2\n====  ===="),
        ],
        [],
        {},
    ),
    "AsciiDoc": (
        "a.adoc",
        b"= Doc\n:toc:\n\n== One\ntext\n\n----\n== not a heading\n----\n\n```sh\n== nor this\n```\n\n=== Two\nx\n",
        [
            ((), ":toc:"),
            (("One",), "text\n\n----\n== not a heading\n----\n\n```sh\n== nor this\n```"),
            (("One", "Two"), "x"),
        ],
        [],
        {},
    ),
    "LaTeX": (
        "a.tex",
        TEX,
        [
            ((), "\\documentclass{article}\n\\title{A \\emph{fine} paper}"),
            (("Intro",), "50\\% of all"),
            (("Intro", "Sub"), "$x^2$"),
        ],
        [("comments", {"count": "2"})],
        {},
    ),
    "WebVTT": (
        "a.vtt",
        b"WEBVTT\n\nNOTE by us\n\n1\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hello &amp; <i>you</i></v>\n\n"
        b"00:02:03.000 --> 00:02:04.000\n5 mg\n\n00:02:05.000 --> 00:02:06.000\n5 mg\nthen 10\n",
        [(("00:00:01",), "Ann: Hello & you"), (("00:02:03",), "5 mg\nthen 10")],
        [("comments", {"count": "1"})],
        {"cues": 3},
    ),
    "SubRip": (
        "a.srt",
        b"1\r\n00:00:01,000 --> 00:00:02,000\r\nDose 5 mg\r\n\r\n2\r\n00:00:03,500 --> 00:00:04,000\r\n{\\an8}10 kg\r\n",
        [(("00:00:01",), "Dose 5 mg\n10 kg")],
        [],
        {"cues": 2},
    ),
    "XML of records": (
        "a.xml",
        b'<?xml version="1.0"?><list xmlns="urn:x"><item sku="A1"><name>Bolt</name><price cur="EUR">3</price></item>'
        b'<item sku="A2"><name>Nut</name></item></list>',
        [(("Bolt",), "sku: A1\nname: Bolt\nprice.cur: EUR\nprice.text: 3"), (("Nut",), "sku: A2\nname: Nut")],
        [],
        {},
    ),
    "XML of a text": (
        "a.xml",
        "<doc><title>T</title><p>Take <b>5</b>0 mg<note>once</note>, 10<sup>9</sup></p><p>第二</p></doc>".encode(),
        [((), "T\n\nTake 50 mg once , 10^9\n\n第二")],
        [],
        {},
    ),
    "file packed by itself": ("a.csv.gz", gzip.compress(b"a,b\n1,2\n"), [((), "- a: 1; b: 2")], [], {"rows": 2}),
    "XML in which two elements have the same id": (
        "a.xml",
        b'<article xmlns="http://docbook.org/ns/docbook"><para xml:id="i">a <b>c</b></para><para xml:id="i">d</para></article>',
        [((), "a c\n\nd")],
        [],
        {},
    ),
    "page that a browser saved as one file": (
        "a.mht",
        b"From: <Saved by a browser>\nSubject: Rules\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/related; type="text/html"; boundary="x"\n\n--x\nContent-Type: text/html; charset=utf-8\n'
        b"Content-Transfer-Encoding: quoted-printable\n\n<h1>Scope</h1><p>10<sup>9</sup> =E2=82=AC</p>\n--x\n"
        b"Content-Type: image/png\nContent-Location: https://x.org/a.png\n\n--x--\n",
        [((), 'From: "Saved by a browser"\nSubject: Rules'), (("Scope",), "10^9 €")],
        [("pictures_not_read", {"count": "1"})],
        {"mails": 1, "attachments": 0},
    ),
    "notebook": (
        "a.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "Dose is **5 mg**"], "attachments": {"a.png": {}}},
            {
                "cell_type": "code",
                "source": "print('```')\n",
                "outputs": [
                    {"output_type": "stream", "text": ["1\n"]},
                    {"output_type": "display_data", "data": {"image/png": "x", "text/plain": "<Figure>"}},
                    {"output_type": "execute_result", "data": {"text/html": "<b>2</b>", "text/plain": "2"}},
                    {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[31mbad"},
                ],
            },
            {"cell_type": "markdown", "source": "## Next\n\nwords"},
        ),
        [
            (
                (),
                "Dose is 5 mg\n\n````python\nprint('```')\n````\n\n```\n1\n```\n\n```\n2\n```\n\n```\nValueError: bad\n```",
            ),
            (("Next",), "words"),
        ],
        [("pictures_not_read", {"count": "2"})],
        {"cells": 3, "outputs": 3},
    ),
    "outputs of a notebook that are shown otherwise than as plain text": (
        "a.ipynb",
        notebook(
            {
                "cell_type": "code",
                "source": "",
                "outputs": [
                    {"data": {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "**5** mg"}},
                    {"data": {"text/html": "<p>10 mg<br>20 mg</p>"}},
                    {"data": {"application/vnd.x+json": {}, "text/plain": "<x.Widget at 0x7f>"}},
                    {"output_type": "stream", "text": ""},
                ],
            }
        ),
        [((), "5 mg\n\n10 mg\n20 mg")],
        [("outputs_not_read", {"count": "1"})],
        {"cells": 0, "outputs": 2},
    ),
    "XML with the same name as attribute, element and text": (
        "a.xml",
        b'<list><item text="a" xmlns:x="urn:x" x:id="1" id="2">b</item><item n="1"><n>2</n><!-- note --></item></list>',
        [(("#1",), "text: a, b\nid: 1, 2"), (("#2",), "n: 1, 2")],
        [("comments", {"count": "1"})],
        {},
    ),
    "mail in HTML whose encoding its part alone says": (
        "a.eml",
        b"Subject: x\nContent-Type: text/html; charset=gb2312\n\n<p>" + "剂量".encode("gb2312") + b"</p>",
        [((), "Subject: x"), ((), "剂量")],
        [],
        {"mails": 1, "attachments": 0},
    ),
    "notebook of the third version": (
        "a.ipynb",
        b'{"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "H"}, '
        b'{"cell_type": "code", "input": ["1+1"], "outputs": [{"output_type": "pyout", "text": ["2"]}]}]}]}',
        [(("H",), "```\n1+1\n```\n\n```\n2\n```")],
        [],
        {"cells": 2, "outputs": 1},
    ),
    "book": (
        "a.epub",
        book(
            {
                "one": "<h1>One</h1><p>10 mg<br/>20 mg</p><aside>a note</aside>",
                "two": "<h1>Two</h1><h2>Sub</h2><p>x</p>",
            },
            '<item id="p" href="p.png" media-type="image/png"/>',
            '<itemref idref="gone"/>',
        ),
        [(("One",), "10 mg\n20 mg\n\na note"), (("Two", "Sub"), "x")],
        [("pictures_not_read", {"count": "1"}), ("chapters_unreadable", {"count": "1", "names": "#3"})],
        {"chapters": 2},
    ),
    "mail": (
        "a.eml",
        bytes(letter()),
        [((), f"{HEAD}\n\nThe dose is 5 mg.\nGrüße aus Köln")],
        [],
        {"mails": 1, "attachments": 0},
    ),
    "mail with attachments and a mail inside": (
        "a.eml",
        with_attachments(),
        [
            ((), f"{HEAD}\n\nThe dose is 5 mg.\nGrüße aus Köln"),
            (("t.csv",), "- a: 1; b: 2"),
            (("t.html",), "10 mg\n20 mg"),
            (("Inner",), "Subject: Inner\n\ninner text"),
        ],
        [("attachments_unread", {"count": "1", "names": "t.zip"}), ("pictures_not_read", {"count": "1"})],
        {"mails": 2, "attachments": 2},
    ),
    "mail in HTML alone": (
        "a.eml",
        b"Subject: Plans\nContent-Type: text/html\n\n<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
        [((), "Subject: Plans"), ((), "- A: 1; B: 2")],
        [],
        {"mails": 1, "attachments": 0},
    ),
    "mail in GB 18030 that says no encoding": (
        "a.eml",
        "Subject: 中文标题没有编码\nFrom: 张三\n\n正文是中文的。".encode("gb18030"),
        [((), "From: 张三\nSubject: 中文标题没有编码\n\n正文是中文的。")],
        [],
        {"mails": 1, "attachments": 0},
    ),
    "archive of mails": (
        "a.mbox",
        MBOX,
        [(("One",), "Subject: One\n\nfirst\nFrom here on"), (("中文",), "Subject: 中文\n\n中文")],
        [],
        {"mails": 2, "attachments": 0},
    ),
    "OpenDocument text": (
        "a.odt",
        opened(
            "text",
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes>"
            '<text:h text:outline-level="1">Dosing</text:h><text:p>10<text:span text:style-name="up">9</text:span> H'
            '<text:span text:style-name="down">2</text:span>O<text:s text:c="2"/><text:span text:style-name="late">5'
            '</text:span> 7<text:line-break/>x<text:span text:style-name="high">n+1</text:span><text:note>'
            "<text:note-citation>1</text:note-citation><text:note-body><text:p>at night</text:p></text:note-body></text:note>"
            '<text:span text:style-name="secret"> hidden</text:span><office:annotation><text:p>a remark</text:p></office:annotation></text:p>'
            '<text:list text:style-name="n"><text:list-item><text:p>one</text:p></text:list-item></text:list>'
            '<text:p>between</text:p><text:list text:style-name="n" text:continue-numbering="true"><text:list-item>'
            "<text:p>two</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>"
            '<text:h text:outline-level="2">Plans</text:h><table:table><table:table-header-rows>'
            + row(cell("Plan"), cell("Region"))
            + "</table:table-header-rows>"
            + row(cell("Basic", number_rows_spanned="2"), cell("North"))
            + row("<table:covered-table-cell/>", cell("South"))
            + "</table:table><text:p><draw:frame><draw:image/></draw:frame></text:p>",
        ),
        [
            (
                (),
                "10^9 H_2O  ~~5~~ 7\nx^(n+1)[Footnote 1]\n\n[Footnote 1] at night\n\n(a) one\n\nbetween\n\n(b) two\n  - inner",
            ),
            (("Plans",), "- Plan: Basic; Region: North\n- Plan: Basic; Region: South"),
        ],
        [
            ("comments", {"count": "1"}),
            ("deletions", {"count": "1"}),
            ("hidden_text", {"count": "1"}),
            ("pictures_not_read", {"count": "1"}),
        ],
        {"paragraphs": 8, "footnotes": 1, "tables": 1},
    ),
    "OpenDocument equations, styles of whole paragraphs, boxes to tick, notes in cells and heads of pages": (
        "a.odt",
        opened(
            "text",
            '<text:p text:style-name="later">old</text:p><text:p text:style-name="secret">no</text:p><text:p>E: <draw:frame>'
            '<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame></text:p>'
            '<text:p><draw:frame><draw:object xlink:href="./Object 2"/><draw:image/></draw:frame></text:p><text:p>'
            "<draw:custom-shape><svg:title>T</svg:title><svg:desc>A pump</svg:desc><text:p>In</text:p></draw:custom-shape>"
            '<text:a xlink:href="https://x.org/a">here</text:a> <text:a xlink:href="https://x.org/">x.org, https://x.org</text:a></text:p>'
            '<text:list text:style-name="tick"><text:list-item><text:p>done</text:p></text:list-item></text:list><table:table>'
            + row(cell("a"), cell("b"), cell("c"))
            + row(
                cell("1"),
                cell("2"),
                "<table:table-cell><text:p>3<text:note><text:note-citation>1</text:note-citation><text:note-body>"
                "<text:p>net</text:p></text:note-body></text:note></text:p></table:table-cell>",
            )
            + "</table:table>",
            **{
                "Object 1/content.xml": '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>sin</mi><mi>rate</mi><mo>=</mo>'
                "<msup><mi>c</mi><mn>2</mn></msup></math>",
                "styles.xml": f"<office:document-styles {NAMESPACES}><office:master-styles><style:master-page><style:header>"
                "<text:p>Version 2.1</text:p></style:header><style:footer><text:p>Page <text:page-number>3</text:page-number>"
                '</text:p></style:footer><style:header-left style:display="false"><text:p>off</text:p></style:header-left>'
                "</style:master-page></office:master-styles></office:document-styles>",
            },
        ),
        [
            (
                (),
                "~~old~~\n\nE: sin rate=c^2\n\n[Picture: A pump]here x.org, https://x.org\n\nIn\n\n- ☑ done\n\n"
                "- a: 1; b: 2; c: 3[Footnote 1]\n\n[Footnote 1] net",
            ),
            (("Headers and footers",), "Version 2.1"),
        ],
        [
            ("addresses_not_read", {"count": "1"}),
            ("hidden_text", {"count": "1"}),
            ("objects_not_read", {"count": "1"}),
        ],
        {"paragraphs": 7, "equations": 1, "tables": 1, "footnotes": 1, "headers and footers": 1},
    ),
    "OpenDocument numbers": (
        "a.odt",
        opened(
            "text",
            '<text:h text:outline-level="1">总则</text:h><text:h text:outline-level="2">目的</text:h><text:p>x</text:p>'
            '<text:h text:outline-level="2">范围</text:h><text:p>y</text:p><text:h text:outline-level="1">附则</text:h>'
            '<text:list text:style-name="n"><text:list-item><text:p>one</text:p></text:list-item><text:list-item '
            'text:start-value="5"><text:p>five</text:p></text:list-item></text:list>'
            '<text:list text:style-name="n"><text:list-item><text:h text:outline-level="3">listed</text:h></text:list-item></text:list>'
            "<text:p>z</text:p>",
            **{
                "styles.xml": f"<office:document-styles {NAMESPACES}><office:styles><text:outline-style>"
                '<text:outline-level-style text:level="1" style:num-prefix="第" style:num-suffix="章" style:num-format="一, 二, 三, ..."/>'
                '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
                "</text:outline-style></office:styles></office:document-styles>"
            },
        ),
        [
            (("一.1 目的",), "x"),
            (("一.2 范围",), "y"),
            (("第二章 附则",), "(a) one\n(e) five"),
            (("第二章 附则", "(a) listed"), "z"),
        ],
        [],
        {"paragraphs": 10},
    ),
    "OpenDocument sheets": (
        "a.ods",
        opened(
            "spreadsheet",
            '<table:table table:name="Net">'
            '<table:table-column table:number-columns-repeated="2"/><table:table-column table:visibility="collapse"/>'
            + row(
                cell("Plan"), cell("Net"), cell("Secret"), '<table:table-cell table:number-columns-repeated="16381"/>'
            )
            + row(cell("A"), cell("1,5 kg"), cell("s"))
            + row(cell("B"), '<table:table-cell office:value-type="float" office:value="2"/>', cell("s"))
            + row(cell("C"), cell("3"), attributes=' table:visibility="filter"')
            + row(cell("D", number_columns_repeated="1"), cell("4"), attributes=' table:number-rows-repeated="2"')
            + row("<table:table-cell/>", attributes=' table:number-rows-repeated="1048000"')
            + '</table:table><table:table table:name="Off" table:style-name="off">'
            + row(cell("x"))
            + '</table:table><table:table table:name="Bare"/>',
        ),
        [(("Net",), "- Plan: A; Net: 1,5 kg\n- Plan: B; Net: 2\n- Plan: D; Net: 4\n- Plan: D; Net: 4")],
        [
            ("columns_hidden", {"count": "1"}),
            ("rows_hidden", {"count": "1"}),
            ("sheets_empty", {"count": "1", "sheets": "Bare"}),
            ("sheets_hidden", {"count": "1", "sheets": "Off"}),
        ],
        {"sheets": 1},
    ),
    "OpenDocument slides": (
        "a.odp",
        opened(
            "presentation",
            '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Goals</text:p></draw:text-box></draw:frame>'
            "<draw:frame><draw:text-box><text:list><text:list-item><text:p>Two releases</text:p></text:list-item></text:list>"
            "</draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box><text:p>Say hi</text:p></draw:text-box>"
            "</draw:frame></presentation:notes></draw:page>"
            '<draw:page draw:style-name="off"><draw:frame><draw:text-box><text:p>no</text:p></draw:text-box></draw:frame></draw:page><draw:page/>',
        ),
        [(("Slide 1 · Goals",), "- Two releases\n\nNotes: Say hi")],
        [("slides_hidden", {"count": "1", "slides": "2"}), ("slides_without_text", {"count": "1", "slides": "3"})],
        {"paragraphs": 3, "slides": 1},
    ),
}
