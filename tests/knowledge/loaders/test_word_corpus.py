"""Word documents, one for each thing that they may hold: what its text becomes, and what is said to be left out."""

# ruff: noqa: E501

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest

from engine.errors import SourceDamaged, SourceEmpty
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.word import load_word
from tests.support import office_files as made

_PLAIN = made.docx([])
_OFFICE = "http://schemas.openxmlformats.org"
_NAMES = " ".join(
    f'xmlns:{short}="{name}"'
    for short, name in {
        "w": f"{_OFFICE}/wordprocessingml/2006/main",
        "r": f"{_OFFICE}/officeDocument/2006/relationships",
        "m": f"{_OFFICE}/officeDocument/2006/math",
        "a": f"{_OFFICE}/drawingml/2006/main",
        "c": f"{_OFFICE}/drawingml/2006/chart",
        "dgm": f"{_OFFICE}/drawingml/2006/diagram",
        "pic": f"{_OFFICE}/drawingml/2006/picture",
        "wp": f"{_OFFICE}/drawingml/2006/wordprocessingDrawing",
        "mc": f"{_OFFICE}/markup-compatibility/2006",
        "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
    }.items()
)


def root(name: str, inside: str) -> bytes:
    return f"<{name} {_NAMES}>{inside}</{name}>".encode()


def _file(key: str) -> str:
    return key.replace(":", "-") + ("" if "." in key else ".xml")


def word(body: str, parts: Mapping[str, bytes] | None = None, **own: str) -> bytes:
    """A document with this body; ``parts`` by their link (``header:h1``, the kind and the id), ``own`` by their kind."""
    linked = {**(parts or {}), **{f"{kind}:{kind}": root(f"w:{kind}", inside) for kind, inside in own.items()}}
    links = "".join(
        f'<Relationship Id="{key.partition(":")[2]}" Target="{_file(key)}"'
        f' Type="{_OFFICE}/officeDocument/2006/relationships/{key.partition(":")[0]}"/>'
        for key in linked
    )
    files = {f"word/{_file(key)}": data for key, data in linked.items()}
    files["word/document.xml"] = root("w:document", f"<w:body>{body}</w:body>")
    # Only what a case brings, so that numbers and styles are those of the case.
    files["word/_rels/document.xml.rels"] = (
        f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">{links}</Relationships>'.encode()
    )
    return made.with_parts(_PLAIN, files)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(*runs: str, own: str = "") -> str:
    inside = "".join(text if text.startswith("<") else run(text) for text in runs)
    return f"<w:p><w:pPr>{own}</w:pPr>{inside}</w:p>"


def numbered(text: str, level: int, number: int = 1, own: str = "") -> str:
    return p(text, own=f'{own}<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def levels(*forms: tuple[str, str] | tuple[str, str, str]) -> str:
    return "".join(
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{form[0]}"/>{"".join(form[2:])}'
        f'<w:lvlText w:val="{form[1]}"/></w:lvl>'
        for place, form in enumerate(forms)
    )


def numbering(defined: str, overrides: str = "") -> str:
    return (
        f'<w:abstractNum w:abstractNumId="7">{defined}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="7"/>{overrides}</w:num>'
    )


def field(instruction: str, result: str = "", form: str = "") -> str:
    shown = f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(result)}' if result else ""
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{form}</w:fldChar></w:r><w:r><w:instrText>{instruction}</w:instrText>'
        f'</w:r>{shown}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def cell(*inside: str, own: str = "") -> str:
    return f"<w:tc><w:tcPr>{own}</w:tcPr>{''.join(text if text.startswith('<') else p(text) for text in inside)}</w:tc>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(row if row.startswith('<w:tr') else f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def m(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def math(inside: str) -> str:
    return f"<m:oMath>{inside}</m:oMath>"


def drawing(inside: str, about: str = "") -> str:
    return f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="n" {about}/>{inside}</wp:inline></w:drawing></w:r>'


HEADER = '<w:outlineLvl w:val="0"/>'
RULES = levels(
    ("chineseCounting", "第%1章"),
    ("chineseCountingThousand", "第%2条", '<w:lvlRestart w:val="0"/>'),
    ("decimal", "（%3）"),
)
LEGAL = levels(("upperRoman", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "%1.%2(%3)", "<w:isLgl/>"))
MERGED = table(
    "<w:tr><w:trPr><w:tblHeader/></w:trPr>"
    + cell("方案", own='<w:vMerge w:val="restart"/>')
    + cell("价格", own='<w:gridSpan w:val="2"/>')
    + "</w:tr>",
    "<w:tr><w:trPr><w:tblHeader/></w:trPr>" + cell("", own="<w:vMerge/>") + cell("月") + cell("年") + "</w:tr>",
    cell("基础") + cell("10") + cell("100"),
    '<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("20") + cell("200") + "</w:tr>",
    '<w:tr><w:trPr><w:gridAfter w:val="1"/></w:trPr>' + cell("高级") + cell("30") + "</w:tr>",
)
CHART = root(
    "c:chartSpace",
    "<c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>销量</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>"
    "<c:bar3DChart><c:ser><c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>甲</c:v></c:pt></c:strCache></c:strRef></c:tx>"
    "<c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>一月</c:v></c:pt><c:pt idx='1'><c:v>二月</c:v></c:pt></c:strCache>"
    "</c:strRef></c:cat><c:val><c:numRef><c:numCache><c:pt idx='0'><c:v>3.50</c:v></c:pt>"
    "<c:pt idx='1'><c:v>#N/A</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:bar3DChart></c:plotArea></c:chart>",
)
SMART_ART = root(
    "dgm:dataModel",
    "<dgm:ptLst><dgm:pt modelId='0' type='doc'/>"
    + "".join(f"<dgm:pt modelId='{n}'><dgm:t><a:p><a:r><a:t>{t}</a:t></a:r></a:p></dgm:t></dgm:pt>" for n, t in
              ((1, "申请"), (2, "审批"), (3, "经理")))
    + "</dgm:ptLst><dgm:cxnLst><dgm:cxn srcId='0' destId='2' srcOrd='1'/><dgm:cxn srcId='0' destId='1' srcOrd='0'/>"
    "<dgm:cxn srcId='2' destId='3' srcOrd='0'/></dgm:cxnLst>",
)  # fmt: skip
SUPER = '<w:vertAlign w:val="superscript"/>'

CASES: dict[str, tuple[bytes, list[tuple[tuple[str, ...], str]], dict[str, int]]] = {
    "chapters and articles of a rule book": (
        word(
            numbered("总则", 0, own=HEADER) + numbered("为了规范。", 1) + numbered("适用于：", 1) + numbered("员工；", 2)
            + numbered("访客。", 2) + numbered("分则", 0, own=HEADER) + numbered("按第一条处理。", 1),
            numbering=numbering(RULES),
        ),
        [
            (("第一章 总则",), "第一条 为了规范。\n第二条 适用于：\n  （1） 员工；\n  （2） 访客。"),
            (("第二章 分则",), "第三条 按第一条处理。"),
        ],
        {},
    ),
    "numbers that restart, are set, are legal, and are taken out": (
        word(
            numbered("a", 0) + numbered("b", 1) + numbered("c", 1) + numbered("d", 2) + numbered("e", 0)
            + numbered("f", 1) + numbered("g", 0, 2) + numbered("h", 0, 0) + numbered("i", 0),
            numbering=numbering(LEGAL, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="8"/></w:lvlOverride>'),
        ),
        [((), "I. a\n  I.1 b\n  I.2 c\n    1.2(1) d\nII. e\n  II.1 f\nVIII. g\n\nh\n\nIX. i")],
        {},
    ),
    "numbers that a style brings, directly and through a link": (
        word(
            p("第一", own='<w:pStyle w:val="Art"/>') + p("第二", own='<w:pStyle w:val="Sub"/>')
            + p("级", own='<w:pStyle w:val="Deep"/>') + p("层", own='<w:pStyle w:val="Third"/>'),
            styles='<w:style w:styleId="Art"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
            '<w:style w:styleId="Sub"><w:basedOn w:val="Art"/></w:style>'
            '<w:style w:styleId="Deep"><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="3"/></w:numPr></w:pPr></w:style>'
            '<w:style w:styleId="Third"><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>',
            numbering='<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="List"/></w:abstractNum>'
            '<w:abstractNum w:abstractNumId="2"><w:styleLink w:val="List"/>'
            + levels(("ideographTraditional", "%1、", '<w:suff w:val="nothing"/>'), ("decimal", "%2)"), ("decimal", "%2.%3", '<w:pStyle w:val="Third"/>'))
            + '</w:abstractNum><w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num>',
        ),
        [((), "甲、第一\n乙、第二\n  1) 级\n    1.1 层")],
        {},
    ),
    "numbers alone in cells, and paragraphs that are hidden": (
        word(
            table(cell("序号") + cell("项目") + cell("价"), cell(numbered("", 0)) + cell("甲") + cell("3"),
                  cell(numbered("", 0)) + cell("乙") + cell("4"))
            + p(own='<w:rPr><w:vanish/></w:rPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
            + numbered("后", 0) + numbered("", 0),
            numbering=numbering(levels(("decimal", "%1"))),
        ),
        [((), "- 序号: 1; 项目: 甲; 价: 3\n- 序号: 2; 项目: 乙; 价: 4\n\n3 后")],
        {},
    ),
    "styles of lists without a numbering": (
        word(
            p("点", own='<w:pStyle w:val="B"/>') + p("段", own='<w:pStyle w:val="P"/>'),
            styles='<w:style w:styleId="B"><w:name w:val="List Bullet"/></w:style>'
            '<w:style w:styleId="P"><w:name w:val="List Paragraph"/></w:style>',
        ),
        [((), "- 点\n\n段")],
        {},
    ),
    "bullets": (
        word(numbered("外", 0) + numbered("里", 1), numbering=numbering(levels(("bullet", "\uf0b7"), ("bullet", "o")))),
        [((), "- 外\n  - 里")],
        {},
    ),
    "raised, lowered, struck, by runs and by style, and readings above words": (
        word(
            p("10", run("1", SUPER), run("0", SUPER), " H", run("2", '<w:vertAlign w:val="subscript"/>'), "O m", run("3", SUPER), "5 x",
              run("n+1", '<w:rStyle w:val="Up"/>'), " ", run("5", "<w:strike/>"),
              run("6", '<w:strike w:val="0"/><w:dstrike/>'), " 7 ",
              "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>とう</w:t></w:r></w:rt>"
              "<w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r>"),
            styles=f'<w:style w:styleId="Up"><w:rPr>{SUPER}</w:rPr></w:style>',
        ),
        [((), "10^10 H_2O m^3 5 x^(n+1) ~~56~~ 7 東京")],
        {},
    ),
    "small letters that are moved up or down, as LibreOffice raises and lowers them": (
        word(
            p("10", run("9", '<w:position w:val="8"/><w:sz w:val="14"/>'), " H",
              run("2", '<w:position w:val="-2"/><w:sz w:val="14"/>'), "O ", run("高", '<w:position w:val="4"/>')),
            styles='<w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="24"/></w:rPr></w:rPrDefault></w:docDefaults>',
        ),
        [((), "10^9 H_2O 高")],
        {},
    ),
    "equations": (
        word(
            p("设 ", math(f"<m:f><m:num>{m('a')}</m:num><m:den>{m('b+1')}</m:den></m:f>"), "，")
            + p(math(f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{m("i=1")}</m:sub><m:sup>{m("n")}</m:sup>'
                     f"<m:e><m:sSup><m:e>{m('x')}</m:e><m:sup>{m('n+1')}</m:sup></m:sSup></m:e></m:nary>"))
            + p(math(f'<m:rad><m:deg>{m("3")}</m:deg><m:e>{m("𝑥")}</m:e></m:rad>{m("=")}'
                     f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e><m:m><m:mr><m:e>{m("1")}</m:e>'
                     f"<m:e>{m('2')}</m:e></m:mr><m:mr><m:e>{m('3')}</m:e><m:e>{m('4')}</m:e></m:mr></m:m></m:e></m:d>"))
            + p(math(f"<m:func><m:fName><m:limLow><m:e>{m('lim')}</m:e><m:lim>{m('x→0')}</m:lim></m:limLow></m:fName>"
                     f"<m:e>{m('f')}</m:e></m:func><m:acc><m:e>{m('y')}</m:e></m:acc>"
                     f"<m:sSubSup><m:e>{m('z')}</m:e><m:sub>{m('i')}</m:sub><m:sup>{m('2')}</m:sup></m:sSubSup>"))
            + p(math(f"<m:sSup><m:e><m:d><m:e>{m('a+b')}</m:e></m:d></m:e><m:sup>{m('2')}</m:sup></m:sSup>{m('c=')}"
                     f"<m:sSup><m:e>{m('a+b')}</m:e><m:sup>{m('2')}</m:sup></m:sSup>"
                     f'<m:d><m:dPr><m:begChr m:val="{{"/><m:endChr m:val=""/></m:dPr><m:e><m:eqArr><m:e>{m("x, &amp;x>0")}</m:e>'
                     f"<m:e>{m('0')}</m:e></m:eqArr></m:e></m:d>")),
        ),
        [((), "设 (a)/(b+1)，\n\n∑_(i=1)^n x^(n+1)\n\n√[3](x)=[1, 2; 3, 4]\n\nlim_(x→0) fy\u0302z_i^2\n\n(a+b)^2 c=(a+b)^2{x, x>0; 0")],
        {},
    ),
    "spans, several header rows, and cells that a row leaves out": (
        word(MERGED),
        [
            (
                (),
                "- 方案: 基础; 价格 · 月: 10; 价格 · 年: 100\n- 价格 · 月: 20; 价格 · 年: 200\n- 方案: 高级; 价格 · 月: 30",
            )
        ],
        {},
    ),
    "a table in a cell and two paragraphs in another": (
        word(table(cell("a") + cell("b") + cell("c"), cell("1") + cell(table(cell("k") + cell("v"))) + cell("5", "7"))),
        [((), "- a: 1; b: - k: v; c: 5 7")],
        {},
    ),
    "levels that do not say where they begin begin at 0": (
        word(
            numbered("零", 0) + numbered("一", 0),
            numbering=numbering(levels(("decimalZero", "%1")).replace('<w:start w:val="1"/>', "")),
        ),
        [((), "00 零\n01 一")],
        {},
    ),
    "a style of authors that is made from that of titles": (
        word(
            p("规则", own='<w:pStyle w:val="T"/>') + p("安", own='<w:pStyle w:val="A"/>') + p("文", own=HEADER) + p("字"),
            styles='<w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
            '<w:style w:styleId="A"><w:name w:val="Author"/><w:basedOn w:val="T"/></w:style>',
        ),
        [((), "安"), (("文",), "字")],
        {},
    ),
    "notes in cells, behind the table": (
        word(
            table(cell("项") + cell("价") + cell("量"),
                  cell("甲") + cell(p("3", '<w:r><w:footnoteReference w:id="4"/></w:r>')) + cell(table(cell("k") + cell("v")))),
            footnotes=f'<w:footnote w:id="4">{p("含税。")}</w:footnote>',
        ),
        [((), "- 项: 甲; 价: 3[Footnote 1]; 量: - k: v\n\n[Footnote 1] 含税。")],
        {},
    ),
    "a page that the program put in whole": (
        word(
            p("前") + '<w:altChunk r:id="c.html"/><w:altChunk r:id="d.bin"/>' + p("后"),
            {"aFChunk:c.html": b"<h1>A</h1><p>10<sup>9</sup><!-- no --><table><tr><th>k<th>v<tr><td>1<td>2</table>", "aFChunk:d.bin": b"\0"},
        ),
        [((), "前"), (("A",), "10^9\n\n- k: 1; v: 2\n\n后")],
        {"comments": 1, "files_not_read": 1},
    ),
    "notes once, at the paragraph that points at them": (
        word(
            p("甲", '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="4"/></w:r>', "。")
            + p("乙", '<w:r><w:endnoteReference w:id="2"/></w:r>', '<w:r><w:footnoteReference w:id="4"/></w:r>')
            + p('<w:del><w:r><w:footnoteReference w:id="5"/></w:r></w:del>', "丙"),
            footnotes='<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
            f'<w:footnote w:id="4">{p("<w:r><w:footnoteRef/></w:r>", " 含税。")}</w:footnote>'
            f'<w:footnote w:id="5">{p("删去的注")}</w:footnote>',
            endnotes=f'<w:endnote w:id="2">{p("出处。")}</w:endnote>',
        ),
        [
            (
                (),
                "甲[Footnote 1]。\n\n[Footnote 1] 含税。\n\n乙[Endnote 1][Footnote 1]\n\n[Endnote 1] 出处。\n\n丙",
            )
        ],
        {},
    ),
    "headers and footers, each text once and without the numbers of pages": (
        word(
            p("正文")
            + "".join(
                f'<w:sectPr><w:headerReference w:type="{kind}" r:id="{key}"/><w:footerReference r:id="f"/></w:sectPr>'
                for kind, key in (("default", "h1"), ("default", "h2"), ("first", "h3"))
            ),
            {
                "header:h1": root("w:hdr", p("版本 2.1，2025 年 6 月起有效")),
                "header:h2": root("w:hdr", p("版本 2.1，2025 年 6 月起有效")),
                "header:h3": root("w:hdr", p("只在首页，而首页不另设页眉")),
                "footer:f": root("w:ftr", p("第 ", field("PAGE", "3"), " 页 共 ", field("NUMPAGES", "9"), " 页")),
            },
        ),
        [((), "正文"), (("Headers and footers",), "版本 2.1，2025 年 6 月起有效")],
        {"headers_unused": 1},
    ),
    "comments are counted": (
        word(p("文"), comments=f'<w:comment w:id="1">{p("疑")}</w:comment><w:comment w:id="2">{p("问")}</w:comment>'),
        [((), "文")],
        {"comments": 2},
    ),
    "boxes to tick, choices and fields": (
        word(
            p('<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent>'
              '<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:sdtContent></w:sdt>', " 是 ",
              field("FORMCHECKBOX", form="<w:ffData><w:checkBox><w:default w:val='0'/></w:checkBox></w:ffData>"), " 否 ",
              field("FORMDROPDOWN", form="<w:ffData><w:ddList><w:result w:val='1'/><w:listEntry w:val='红'/>"
                                         "<w:listEntry w:val='蓝'/></w:ddList></w:ffData>"))
            + p("见", field("REF _a \\h", "第三条"), "，", field("eq \\o\\ac(○,3)"), field("EQ \\f(1,2)"),
                field("AUTONUMLGL"), field("XE 索引"),
                '<w:fldSimple w:instr="DATE">' + run("今天") + "</w:fldSimple>"),
        ),
        [((), "☒ 是 ☐ 否\n\n见第三条，今天")],
        {"equations": 2, "fields_not_read": 2},
    ),
    "symbols of fonts": (
        word(p('<w:r><w:sym w:font="Symbol" w:char="F0A3"/><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', " 5 ",
               '<w:r><w:sym w:font="Odd Font" w:char="F041"/></w:r>',
               run("\uf06d", '<w:rFonts w:ascii="Symbol"/>'), "m")),
        [((), "≤✓ 5 μm")],
        {"symbols": 1},
    ),
    "tracked changes": (
        word(
            p("<w:ins>" + run("新") + "</w:ins>", "<w:del><w:r><w:delText>旧</w:delText></w:r></w:del>", "的字")
            + table("<w:tr><w:trPr><w:del/></w:trPr>" + cell("删") + cell("行") + "</w:tr>", cell("留") + cell("下")),
        ),
        [((), "新的字\n\n- 留: 下")],
        {"deletions": 2},
    ),
    "hidden text, by runs and by style": (
        word(
            p("看", run("藏", "<w:vanish/>"), run("着", "<w:vanish/>"), "得", run("见", '<w:rStyle w:val="No"/>'))
            + p("整段", own='<w:pStyle w:val="Gone"/>') + p("仍在", own="<w:rPr><w:vanish/><w:specVanish/></w:rPr>"),
            styles='<w:style w:styleId="No"><w:rPr><w:vanish/></w:rPr></w:style>'
            '<w:style w:styleId="Gone"><w:rPr><w:vanish w:val="true"/></w:rPr></w:style>',
        ),
        [((), "看得\n\n仍在")],
        {"hidden_text": 3},
    ),
    "pictures, their words and text boxes": (
        word(
            p("见图", drawing("<pic:pic/>", 'descr="泵的剖面"'), drawing("<pic:pic/>", 'descr="屏幕截图 2024-01-01.png"'))
            + p('<w:r><w:pict><v:shape alt="旧图"><v:imagedata/></v:shape></w:pict></w:r>')
            + p("<w:r><mc:AlternateContent><mc:Choice>" + drawing(f"<w:txbxContent>{p('框里')}</w:txbxContent>")
                + f"</mc:Choice><mc:Fallback><w:pict><w:txbxContent>{p('框里')}</w:txbxContent></w:pict></mc:Fallback>"
                "</mc:AlternateContent></w:r>"),
        ),
        [((), "见图[Picture: 泵的剖面]\n\n[Picture: 旧图]\n\n框里")],
        {"pictures_not_read": 3},
    ),
    "charts, diagrams and objects": (
        word(
            p("前", drawing('<c:chart r:id="c1"/>'), drawing('<dgm:relIds r:dm="d1"/>'), drawing('<c:chart r:id="no"/>'))
            + p('<w:r><w:object><v:shape><v:imagedata/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>',
                '<w:r><w:object><o:OLEObject ProgID="Equation.DSMT4"/></w:object></w:r>', "后")
            + '<w:altChunk r:id="x"/>',
            {"chart:c1": CHART, "diagramData:d1": SMART_ART},
        ),
        [((), "前\n\n销量\n- 甲: 一月 = 3.5; 二月 = #N/A\n\n- 申请\n- 审批\n  - 经理\n\n后")],
        {"charts_not_read": 1, "equations": 1, "files_not_read": 2},
    ),
    "large initials, ends of paragraphs that are deleted, and bullets that are ticked": (
        word(p("首", own='<w:framePr w:dropCap="drop"/>') + p("字下沉。") + p("前", own="<w:rPr><w:del/></w:rPr>") + p("后")
             + p("末", own="<w:rPr><w:del/></w:rPr>") + table(cell("甲") + cell("乙")) + numbered("做了", 0),
             numbering=numbering(levels(("bullet", "☒")))),
        [((), "首字下沉。\n\n前后\n\n末\n\n- 甲: 乙\n\n- ☒ 做了")],
        {},
    ),
    "a table of contents": (
        word(p("目的 ... 3", own='<w:pStyle w:val="TOC1"/>') + p("目的", own=HEADER) + p("文") + p("尾", own=HEADER),
             styles='<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'),
        [(("目的",), "文"), (("尾",), "尾")],
        {"contents_lines": 1},
    ),
    "parts that are broken": (
        word(p("文", '<w:r><w:footnoteReference w:id="1"/></w:r>'),
             {"footnotes:f": b"<w:foot", "numbering:n": b"\x00\x01", "styles:s": b"no XML", "settings:t": b""}),
        [((), "文")],
        {"parts_broken": 4},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_a_document_holds_is_read_or_counted(name: str) -> None:
    data, sections, left_out = CASES[name]
    contents = load_word("a.docx", data)
    assert [(section.path, section.text) for section in contents.sections] == sections
    assert contents.notes == tuple(note(code, count=count) for code, count in left_out.items())


def test_a_part_that_is_linked_and_missing_costs_nothing() -> None:
    data = word(p("文"), {"image:i1": b"", "header:h": b""})
    links = made.part(data, "word/_rels/document.xml.rels").replace(b"image-i1.xml", b"../NULL")
    contents = load_word("a.docx", made.with_parts(data, {"word/_rels/document.xml.rels": links}))
    assert (contents.sections, contents.notes) == ((Section((), "文"),), ())


def test_addresses_of_links_that_no_text_names_are_counted() -> None:
    shown = (run("此处"), run("https://x.org/b"))
    data = word(p(*(f'<w:hyperlink r:id="{key}">{text}</w:hyperlink>' for key, text in zip("ab", shown, strict=True))))
    links = "".join(
        f'<Relationship Id="{key}" Target="https://x.org/{key}" TargetMode="External" Type="{_OFFICE}/x/hyperlink"/>'
        for key in "ab"
    )
    relations = f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">{links}</Relationships>'.encode()
    contents = load_word("a.docx", made.with_parts(data, {"word/_rels/document.xml.rels": relations}))
    assert contents.sections == (Section((), "此处https://x.org/b"),)
    assert contents.notes == (note("addresses_not_read", count=1),)


def test_strict_open_xml_reads_as_the_usual_kind() -> None:
    data = word(numbered("目的", 0), numbering=numbering(RULES))
    names = (b"http://schemas.openxmlformats.org/", b"/2006/")
    parts = {}
    for path in ("word/document.xml", "word/numbering-numbering.xml", "word/_rels/document.xml.rels", "_rels/.rels"):
        part = made.part(data, path)
        for kind in (b"wordprocessingml", b"officeDocument"):
            part = part.replace(kind.join(names), b"http://purl.oclc.org/ooxml/" + kind + b"/")
        parts[path] = part
    assert load_word("a.docx", made.with_parts(data, parts)).sections == (Section((), "第一章 目的"),)


def test_a_text_that_breaks_off_is_read_as_far_as_it_goes() -> None:
    whole = made.part(word(p("一") + p("二")), "word/document.xml")
    data = made.with_parts(word(""), {"word/document.xml": whole[: whole.index("二".encode())]})
    contents = load_word("a.docx", data)
    assert (contents.sections, contents.notes) == ((Section((), "一"),), (note("parts_broken", count=1),))
    with pytest.raises(SourceDamaged, match="main part"):
        load_word("a.docx", made.with_parts(word(""), {"word/document.xml": whole[: whole.index("一".encode())]}))


def test_a_file_without_its_list_of_parts_is_read_and_one_without_its_main_part_is_damaged() -> None:
    def without(name: str) -> bytes:
        data, out = word(p("文")), io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for path in made.names(data):
                if path != name:
                    archive.writestr(path, made.part(data, path))
        return out.getvalue()

    assert load_word("a.docx", without("[Content_Types].xml")).sections == (Section((), "文"),)
    with pytest.raises(SourceDamaged, match="main part"):
        load_word("a.docx", without("word/document.xml"))


def test_hidden_text_goes_in_where_it_is_asked_for() -> None:
    contents = load_word("a.docx", word(p("看", run("藏", "<w:vanish/>"))), hidden=True)
    assert (contents.sections, contents.notes) == ((Section((), "看藏"),), ())


def test_what_was_read_is_counted() -> None:
    data = word(
        p("题", own=HEADER)
        + p("文", math(m("x")))
        + table(cell("a") + cell("b"))
        + p("<w:ins>" + run("新") + "</w:ins>"),
        {"header:h": root("w:hdr", p("页眉"))},
    )
    assert load_word("a.docx", data).read == {
        "headings": 1, "paragraphs": 4, "equations": 1, "tables": 1, "insertions": 1,
    }  # fmt: skip


def test_a_document_that_hides_everything_is_not_said_to_be_empty() -> None:
    data = word(p(run("藏", "<w:vanish/>")))
    with pytest.raises(SourceEmpty, match="is hidden"):
        load_bytes("a.docx", data)
    assert load_bytes("a.docx", data, hidden=True).sections == (Section((), "藏"),)


@pytest.mark.parametrize("suffix", [".docm", ".dotx"])
def test_templates_and_documents_with_macros_are_documents(suffix: str) -> None:
    types = made.part(word(""), "[Content_Types].xml").replace(b"document.main+xml", b"template.main+xml")
    document = load_bytes(f"a{suffix}", made.with_parts(word(p("文")), {"[Content_Types].xml": types}))
    assert document.sections == (Section((), "文"),)


def test_the_numbers_of_usual_styles_count_and_articles_are_found_by_their_number() -> None:
    import docx

    document: Any = docx.Document()
    for text in ("拆箱", "安装"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("螺丝", style="List Bullet")
    buffer = io.BytesIO()
    document.save(buffer)
    assert load_bytes("a.docx", buffer.getvalue()).sections == (Section((), "1. 拆箱\n2. 安装\n- 螺丝"),)
