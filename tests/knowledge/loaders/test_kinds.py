"""Kinds of files besides PDF, Office and pages: what each becomes, exactly, and what it says it left out."""

# ruff: noqa: E501 - files written out as they are

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any

import pytest
from PIL import Image

from engine.errors import SourceDamaged, SourceEmpty, SourceError, SourceMislabelled, SourceUnsupported
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import mail, open_document
from engine.knowledge.loaders.contents import Contents, Section, merged, note
from engine.knowledge.loaders.kinds import loader_of
from tests.attachments.pages import NOTE_EN, image, likeness
from tests.support.errors import Expected, raises

Sections = list[tuple[tuple[str, ...], str]]

OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>The Book</dc:title></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
)
CONTAINER = '<container><rootfiles><rootfile full-path="OEBPS/a.opf"/></rootfiles></container>'
NAMESPACES = (
    " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for short, name in {
            "office": "office",
            "text": "text",
            "table": "table",
            "style": "style",
            "draw": "drawing",
            "fo": "xsl-fo-compatible",
            "presentation": "presentation",
            "svg": "svg-compatible",
        }.items()
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)
STYLES = (
    '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="high"><style:text-properties style:text-position="33% 58%"/></style:style>'
    '<style:style style:name="down"><style:text-properties style:text-position="sub 58%"/></style:style>'
    '<style:style style:name="out"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="late" style:parent-style-name="out"/>'
    '<style:style style:name="secret"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="off"><style:table-properties table:display="false"/>'
    '<style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    '<text:list-style style:name="n"><text:list-level-style-number text:level="1" style:num-prefix="(" '
    'style:num-suffix=")" style:num-format="a"/></text:list-style>'
    '<style:style style:name="later"><style:text-properties style:text-line-through-type="single"/></style:style>'
    '<text:list-style style:name="tick"><text:list-level-style-bullet text:level="1" text:bullet-char="☑"/></text:list-style>'
)


def packed(parts: Mapping[str, str | bytes], **flags: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": cells}).encode()


def book(chapters: Mapping[str, str], more: str = "", spine: str = "", **parts: str) -> bytes:
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters)
    order = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    package = OPF.format(items=items + more, spine=order + spine)
    pages = {
        f"OEBPS/{name}.xhtml": f"<html><head><title>The Book</title></head><body>{body}</body></html>"
        for name, body in chapters.items()
    }
    return packed({"META-INF/container.xml": CONTAINER, "OEBPS/a.opf": package, **pages, **parts})


def opened(kind: str, body: str, **parts: str) -> bytes:
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return packed({"content.xml": content, **parts})


def cell(text: str, **attributes: str) -> str:
    given = "".join(f' table:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-cell{given}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row{attributes}>{''.join(cells)}</table:table-row>"


def letter() -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "剂量 5 mg", "Ann <a@b.example>", "x@y.example"
    message["Date"] = "Thu, 26 Nov 2026 04:00:00 +0000"
    message.set_content("The dose is 5 mg.\nGrüße aus Köln\n")
    return message


def with_attachments() -> bytes:
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("inner text")
    message = letter()
    message.add_alternative("<p>The dose is <b>5 mg</b></p>", subtype="html")
    message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="t.csv")
    message.add_attachment(b"<p>10 mg<br>20 mg</p>", maintype="text", subtype="html", filename="t.html")
    message.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="t.png")
    message.add_attachment(b"PK", maintype="application", subtype="zip", filename="t.zip")
    message.add_attachment(inner)
    return bytes(message)


HEAD = "From: Ann <a@b.example>\nTo: x@y.example\nDate: Thu, 26 Nov 2026 04:00:00 +0000\nSubject: 剂量 5 mg"
MBOX = (
    b"From a@b.example Thu Nov 26 04:00:00 2026\nSubject: One\n\nfirst\n>From here on\n\n"
    b"From - Thu Nov 26 05:00:00 2026\nSubject: =?gb2312?B?1tDOxA==?=\n"
    b"Content-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: quoted-printable\n\n=D6=D0=\n=CE=C4\n"
)
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


def here(name: str, data: bytes, hidden: bool = False) -> Contents:
    return loader_of(name)(name, data, hidden)


@pytest.mark.parametrize("case", CORPUS)
def test_a_file_becomes_these_sections_and_says_what_it_left_out(case: str) -> None:
    name, data, sections, notes, read = CORPUS[case]
    found = here(name, data)
    assert [(section.path, section.text) for section in found.sections] == sections
    assert [(item.code, item.params) for item in found.notes] == notes
    assert dict(found.read) == read


def test_titles_are_those_that_the_files_give_themselves() -> None:
    titles = {case: here(CORPUS[case][0], CORPUS[case][1]).title for case in CORPUS}
    assert {case: title for case, title in titles.items() if title} == {
        "reStructuredText": "Guide",
        "AsciiDoc": "Doc",
        "LaTeX": "A fine paper",
        "notebook": "Title",
        "book": "The Book",
        "mail": "剂量 5 mg",
        "mail with attachments and a mail inside": "剂量 5 mg",
        "page that a browser saved as one file": "Rules",
        "mail in HTML alone": "Plans",
        "mail in HTML whose encoding its part alone says": "x",
        "mail in GB 18030 that says no encoding": "中文标题没有编码",
        "OpenDocument text": "Dosing",
        "OpenDocument numbers": "第一章 总则",
        "OpenDocument slides": "Goals",
    }


def test_what_is_hidden_in_an_opendocument_file_goes_in_where_it_is_asked_for() -> None:
    for case, words in {"text": "hidden", "sheets": "Off", "slides": "Slide 2"}.items():
        name, data, *_ = CORPUS[f"OpenDocument {case}"]
        found = here(name, data, hidden=True)
        assert words in str([(section.path, section.text) for section in found.sections])
        assert not any("hidden" in item.code for item in found.notes)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("old.doc", ".docx"), ("a.rtf", ".docx"), ("b.XLS", ".xlsx"), ("c.ppt", ".pptx"), ("d.tar.gz", ".zip")],
)
def test_documents_that_no_loader_reads_name_what_to_save_them_as(name: str, suffix: str) -> None:
    with pytest.raises(SourceUnsupported) as raised:
        load_bytes(name, b"x")
    assert raised.value.remedy == f"Save it as {suffix} in the program that made it, and ingest that."


@pytest.mark.parametrize("data", [b"\x00\x01\x02\x03", b"\x89PNG\r\n", b"MZ\x90\x00", b"a\x01\x02\x03\x04\x05"])
def test_a_file_of_unknown_kind_that_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(SourceUnsupported, match="or any text file"):
        load_bytes("a.bin", data)


def test_the_text_in_a_picture_is_recognised_and_how_surely_is_said() -> None:
    document = load_bytes("note.jpg", image("note.en.jpg"))
    assert likeness(document.sections[0].text, NOTE_EN) > 0.97
    (said,) = document.notes
    assert (said.code, said.params["count"]) == ("pages_recognised", "1")
    assert float(said.params["confidence"]) > 90
    assert dict(document.read) == {"pictures": 1, "recognised pages": 1}


def test_a_picture_that_is_none_or_has_no_words_is_said() -> None:
    out = io.BytesIO()
    Image.new("RGB", (240, 160), (190, 205, 215)).save(out, "PNG")
    with pytest.raises(SourceEmpty):
        load_bytes("blank.png", out.getvalue())
    with pytest.raises(SourceMislabelled):
        load_bytes("text.png", b"words")


def test_an_archive_is_no_document() -> None:
    with pytest.raises(SourceUnsupported, match="archive inside another file"):
        loader_of("a.zip")


def nested_mail(depth: int) -> bytes:
    data = b"Subject: innermost\n\nx"
    for number in range(depth):
        data = b"Subject: m%d\nContent-Type: message/rfc822\n\n" % number + data
    return data


BOMB = packed({"content.xml": b" " * 40_000_000})
LAUGHS = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a>&b;</a>'
HOSTILE: list[tuple[str, bytes, Expected]] = [
    ("a.odt", BOMB, SourceError.unpacks_too_large),
    ("a.epub", BOMB, SourceError.unpacks_too_large),
    ("a.txt.gz", gzip.compress(bytes(33_000_000)), SourceError.unpacks_too_large),
    ("a.txt.gz", gzip.compress(b"x" * 99)[:-9], SourceDamaged),
    ("a.odt", packed({"content.xml": LAUGHS}), SourceError.xml_entities),
    ("a.epub", packed({"META-INF/container.xml": LAUGHS}), SourceError.xml_entities),
    ("a.xml", LAUGHS, SourceError.xml_entities),
    ("a.xml", LAUGHS.decode().encode("utf-16"), SourceError.xml_entities),
    ("a.xml", b"<a><b></a>", SourceDamaged),
    ("a.xml", b"<a>" * 300 + b"</a>" * 300, SourceDamaged),
    ("a.xml", b"<a b='1'>" * 100 + b"</a>" * 100, SourceDamaged),
    ("a.odt", packed({"other.xml": "<a/>"}), SourceDamaged),
    ("a.odt", opened("text", "<text:p>x</text:p>")[:-30], SourceDamaged),
    (
        "a.odt",
        packed({"content.xml": "\x01\x02", "META-INF/manifest.xml": "<encryption-data/>"}),
        SourceError.encrypted,
    ),
    ("a.epub", packed({"mimetype": "application/epub+zip"}), SourceDamaged),
    ("a.epub", book({}), SourceDamaged),
    (
        "a.epub",
        book(
            {"one": "<p>x</p>"},
            **{
                "META-INF/encryption.xml": '<e><EncryptedData><EncryptionMethod Algorithm="aes"/><CipherData>'
                '<CipherReference URI="OEBPS/one.xhtml"/></CipherData></EncryptedData></e>'
            },
        ),
        SourceError.encrypted,
    ),
    ("a.ipynb", b'{"cells": [1]}', SourceDamaged),
    ("a.ipynb", b"[" * 100_000, SourceDamaged),
    ("a.mbox", b"Subject: no line between\n\nx", SourceDamaged),
]


@pytest.mark.parametrize(("name", "data", "kind"), HOSTILE)
def test_a_hostile_or_broken_file_is_refused_for_what_it_is(name: str, data: bytes, kind: Expected) -> None:
    with raises(kind):
        here(name, data)


def test_mails_inside_mails_are_opened_a_few_deep_and_counted_from_there_on() -> None:
    found = here("a.eml", nested_mail(40))
    assert len(found.sections) == mail._DEEPEST + 1
    assert [(item.code, item.params["count"]) for item in found.notes] == [("attachments_unread", "1")]


def test_a_mail_of_parts_without_end_is_too_demanding_and_in_an_archive_only_it_is_lost() -> None:
    deep = b"x"
    for number in range(3000):
        deep = b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) + deep
    with pytest.raises(RecursionError):  # which the process apart names: SourceError.too_demanding
        here("a.eml", deep)
    assert SourceError.too_demanding.code
    found = here("a.mbox", MBOX + b"\nFrom - Thu Nov 26 05:00:00 2026\n" + deep)
    assert [section.path for section in found.sections] == [("One",), ("中文",)]
    assert [(item.code, item.params) for item in found.notes] == [("mails_unreadable", {"count": "1", "names": "#3"})]


def test_a_cell_repeated_without_end_and_a_row_are_cut() -> None:
    many = row(cell("x", number_columns_repeated="999999999"), attributes=' table:number-rows-repeated="3"')
    (section,) = here("a.ods", opened("spreadsheet", f'<table:table table:name="S">{many}</table:table>')).sections
    assert section.text.count("x") == 3 * 1000


def test_what_is_nested_too_deeply_or_named_again_and_again_is_counted_or_read_once() -> None:
    deep = "<text:span>" * 80 + "deep" + "</text:span>" * 80
    found = here("a.odt", opened("text", f"<text:p>high</text:p><text:p>{deep}</text:p>"))
    assert [section.text for section in found.sections] == ["high"]
    assert [(item.code, item.params) for item in found.notes] == [("blocks_broken", {"count": "1"})]
    again = here("a.epub", book({"one": "<h1>One</h1><p>x</p>"}, spine='<itemref idref="one"/>' * 1000))
    assert ([section.text for section in again.sections], dict(again.read)) == (["x"], {"chapters": 1})


def test_an_attachment_that_breaks_its_reader_costs_nothing_else() -> None:
    message = letter()
    message.add_attachment(b"PK\x03\x04 no archive", maintype="application", subtype="x", filename="a.docx")
    message.add_attachment(b"%PDF-1.7 cut", maintype="application", subtype="pdf", filename="b.pdf")
    found = here("a.eml", bytes(message))
    assert [section.path for section in found.sections] == [()]
    assert [(item.code, item.params) for item in found.notes] == [
        ("attachments_unread", {"count": "2", "names": "a.docx, b.pdf"})
    ]


def test_rows_and_mails_after_the_most_that_are_taken_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_document, "MOST_ROWS", 3)
    rows = row(cell("a"), cell("1")) + row(cell("b"), cell("2"), attributes=' table:number-rows-repeated="9"')
    found = here("a.ods", opened("spreadsheet", f'<table:table table:name="S">{rows}</table:table>'))
    assert found.sections[0].text == "| a | 1 |\n| b | 2 |\n| b | 2 |"
    assert [(item.code, item.params) for item in found.notes] == [("rows_beyond", {"count": "7", "kept": "3"})]
    monkeypatch.setattr(mail, "MOST_MAILS", 1)
    assert [(item.code, item.params) for item in here("a.mbox", MBOX).notes] == [
        ("mails_cut", {"count": "1", "kept": "1"})
    ]


def test_a_file_of_several_kinds_at_once_has_its_notes_added_up() -> None:
    notes = [
        note("pictures_not_read", count=2),
        note("x", count=1, names="a"),
        note("pictures_not_read", count=3),
        note("x", count=1, names="b"),
    ]
    assert merged(notes) == (note("pictures_not_read", count=5), note("x", count=2, names="a, b"))


def test_a_file_without_a_word_is_empty() -> None:
    for name, data in (("a.ipynb", notebook()), ("a.odt", opened("text", "")), ("a.xml", b"<a/>")):
        with pytest.raises(SourceEmpty):
            load_bytes(name, data)


@pytest.mark.parametrize(
    ("name", "above", "title"),
    [
        ("a.rst", "..\n  Levels of headings:\n\n  # with overline, for parts\n  = for sections\n\n", "####\nDoc\n####"),
        ("a.rst", ".. _label:\n:orphan:\n\n", "Doc\n==="),
        ("a.adoc", "// a comment\n:toc: left\n[[top]]\n", "= Doc"),
        ("a.adoc", "////\nlicence\n////\n", "= Doc"),
    ],
    ids=["rst comment", "rst label", "adoc attributes", "adoc comment"],
)
def test_comments_and_labels_leave_the_first_top_heading_the_title(name: str, above: str, title: str) -> None:
    found = load_bytes(name, f"{above}{title}\n\nwords\n".encode())
    assert (found.title, found.sections[-1]) == ("Doc", Section((), "words"))
    below_words = load_bytes(name, f"Words of a text.\n\n{above}{title}\n\nwords\n".encode())
    assert (below_words.title, below_words.sections[-1].path) == ("a", ("Doc",))
