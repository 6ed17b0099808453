"""Workbooks: what each kind of file becomes, word for word, and what the account says was left out."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

from engine.attachments.table_rows import table_of
from engine.errors import SourceDamaged
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.workbook import load_workbook

ROWS = [["Item", "Dose"], ["Aspirin", 5], ["Zinc", 7]]
AS_ROWS = "- Item: Aspirin; Dose: 5\n- Item: Zinc; Dose: 7"
SHEET_NS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def book(rows: Any, change: Callable[[Any], Any] = lambda sheet: None, title: str = "S") -> bytes:
    """One sheet of rows, changed by ``change`` before it is saved."""
    made = Workbook()
    sheet: Any = made.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    change(sheet)
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def patched(data: bytes, changes: Mapping[str, Callable[[bytes], bytes | None]], **added: str) -> bytes:
    """The archive with parts changed whose names hold a word (``None`` takes one out), and parts added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part: bytes | None = old.read(name)
            for word, change in changes.items():
                part = change(part) if part is not None and word in name else part
            if part is not None:
                new.writestr(name, part)
        for name, text in added.items():
            new.writestr(name, text)
    return out.getvalue()


def swapped(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda part: re.sub(old.encode(), new.encode(), part, flags=re.DOTALL)


def merged(*ranges: str) -> Callable[[Any], None]:
    def change(sheet: Any) -> None:
        for place in ranges:
            sheet.merge_cells(place)

    return change


def set_each(**values: Any) -> Callable[[Any], None]:
    """Set attributes: ``A2__font=Font(…)``, ``row_2__hidden=True``, ``column_B__hidden=True``."""

    def change(sheet: Any) -> None:
        for place, value in values.items():
            where, _, attribute = place.partition("__")
            kind, _, key = where.partition("_")
            target = {
                "row": lambda: sheet.row_dimensions[int(key)],  # noqa: B023
                "column": lambda: sheet.column_dimensions[key],  # noqa: B023
                "filter": lambda: sheet.auto_filter,
            }.get(kind, lambda: sheet[where])()  # noqa: B023
            setattr(target, attribute, value)

    return change


def formatted(code: str, value: float) -> bytes:
    return book([["Name", "Value"], ["a", value]], set_each(B2__number_format=code))


def rich(*parts: Any) -> CellRichText:
    return CellRichText(*parts)


def look(text: str, **font: Any) -> TextBlock:
    return TextBlock(InlineFont(**font), text)


def strict(part: bytes) -> bytes:
    return part.replace(SHEET_NS.encode(), b"http://purl.oclc.org/ooxml/spreadsheetml/main").replace(
        RELATIONS.encode(), b"http://purl.oclc.org/ooxml/officeDocument/relationships"
    )


def drawing(inside: str) -> bytes:
    """A sheet with a drawing of this XML on it."""
    rels = (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{RELATIONS}/drawing" Target="/xl/drawings/drawing1.xml"/></Relationships>'
    )
    xml = f'<wsDr xmlns="urn:x-drawing" xmlns:a="urn:a">{inside}</wsDr>'
    parts = {"xl/worksheets/_rels/sheet1.xml.rels": rels, "xl/drawings/drawing1.xml": xml}
    return patched(book(ROWS), {}, **parts)


CORPUS: dict[str, tuple[bytes, str, tuple[Any, ...]]] = {
    "a value merged over rows": (
        book([["Plan", "Region"], ["Basic", "North"], [None, "South"]], merged("A2:A3")),
        "- Plan: Basic; Region: North\n- Plan: Basic; Region: South",
        (),
    ),
    "a header of two rows": (
        book(
            [["Plan", "Price", None, "Note"], [None, "North", "South"], ["Basic", 1, 2, "x"]],
            merged("A1:A2", "B1:C1", "D1:D2"),
        ),
        "- Plan: Basic; Price · North: 1; Price · South: 2; Note: x",
        (),
    ),
    "a title merged over more columns than the table has": (
        book([["价目表"], ["名称", "价格"], ["铅笔", 2], ["钢笔", 20]], merged("A1:XFD1")),
        "价目表\n- 名称: 铅笔; 价格: 2\n- 名称: 钢笔; 价格: 20",
        (),
    ),
    "columns that are each merged of two": (
        book([["Item", None, "Dose"], ["Zinc", None, 7]], merged("A1:B1", "C1:D1", "A2:B2", "C2:D2")),
        "- Item: Zinc; Dose: 7",
        (),
    ),
    "a merged value that begins in a hidden row": (
        book(
            [["Plan", "Region"], ["Basic", "North"], [None, "South"]],
            lambda sheet: (merged("A2:A3")(sheet), set_each(row_2__hidden=True)(sheet)),
        ),
        "- Plan: Basic; Region: South",
        (note("rows_hidden", count=1),),
    ),
    "hidden rows": (book(ROWS, set_each(row_2__hidden=True)), "- Item: Zinc; Dose: 7", (note("rows_hidden", count=1),)),
    "a row without height": (
        patched(book(ROWS), {"sheet1": swapped('<row r="2"', '<row r="2" ht="0" customHeight="1"')}),
        "- Item: Zinc; Dose: 7",
        (note("rows_hidden", count=1),),
    ),
    "rows that a filter hides": (
        book(
            ROWS,
            lambda sheet: (
                sheet.auto_filter.__setattr__("ref", "A1:B3"),
                sheet.auto_filter.add_filter_column(0, ["Zinc"]),
                set_each(row_2__hidden=True)(sheet),
            ),
        ),
        "- Item: Zinc; Dose: 7",
        (note("rows_filtered", count=1),),
    ),
    "a hidden column": (
        book([["Item", "Cost", "Dose"], ["Zinc", 3, 7]], set_each(column_B__hidden=True)),
        "- Item: Zinc; Dose: 7",
        (note("columns_hidden", count=1),),
    ),
    "hidden columns with nothing in them": (book(ROWS, set_each(column_F__hidden=True)), AS_ROWS, ()),
    "a formula whose value was not saved": (
        book([["Item", "Net"], ["Bolt", "=1+1"]]),
        "- Item: Bolt; Net: =1+1",
        (note("formulas_without_value", count=1, cells="S!B2"),),
    ),
    "a formula that gives an empty text": (
        patched(
            book([["Item", "Net"], ["Bolt", "=A9"]]),
            {"sheet1": swapped('<c r="B2">(.*?)(<v ?/>|<v></v>)', '<c r="B2" t="str">\\1<v></v>')},
        ),
        "- Item: Bolt\n| Net |",
        (),
    ),
    "a value that its format does not show": (
        formatted(";;;", 5),
        "- Name: a\n| Value |",
        (note("values_not_shown", count=1),),
    ),
    "a zero that its format does not show": (formatted("0;-0;;@", 0), "- Name: a\n| Value |", ()),
    "formulas that the program did not compute, which it writes as 0": (
        patched(
            book([["Item", "Net", "Gross"], ["Bolt", 5, "=B2*1.19"], ["Nut", 0, "=B3*2"]]),
            {
                "workbook": swapped("<calcPr [^>]*/>", '<calcPr calcId="124519" fullCalcOnLoad="1"/>'),
                "sheet1": lambda part: swapped("(B2\\*1.19</f>)(<v ?/>|<v></v>)", "\\1<v>0</v>")(
                    swapped("(B3\\*2</f>)(<v ?/>|<v></v>)", "\\1<v>7</v>")(part)
                ),
            },
        ),
        "- Item: Bolt; Net: 5; Gross: =B2*1.19\n- Item: Nut; Net: 0; Gross: 7",
        (note("formulas_without_value", count=1, cells="S!C2"),),
    ),
    "errors and truth": (
        book([["Item", "Value"], ["a", "#N/A"], ["b", True], ["c", "#DIV/0!"]]),
        "- Item: a; Value: #N/A\n- Item: b; Value: TRUE\n- Item: c; Value: #DIV/0!",
        (),
    ),
    "raised, lowered and struck words": (
        book(
            [
                ["Item", "Value"],
                ["WBC", rich("4.5 ×10", look("9", vertAlign="superscript"), "/L")],
                [rich("CO", look("2", vertAlign="subscript")), rich(look("5", strike=True), " 7 mg")],
                ["area", rich("m", look("1", vertAlign="superscript"), look("0", vertAlign="superscript", b=True))],
            ]
        ),
        "- Item: WBC; Value: 4.5 ×10^9/L\n- Item: CO_2; Value: ~~5~~ 7 mg\n- Item: area; Value: m^10",
        (),
    ),
    "a cell struck out as a whole": (
        book(ROWS, set_each(A2__font=Font(strike=True))),
        "- Item: ~~Aspirin~~; Dose: 5\n- Item: Zinc; Dose: 7",
        (),
    ),
    "a comment": (
        book(ROWS, set_each(B2__comment=Comment("not for children", "Li"))),
        AS_ROWS,
        (note("comments", count=1),),
    ),
    "a link": (
        book([["Item", "See"], ["Zinc", "guide"]], set_each(B2__hyperlink="https://a.example/x")),
        "- Item: Zinc; See: guide",
        (note("addresses_not_read", count=1),),
    ),
    "a text box": (
        drawing("<sp><txBody><a:p><a:r><a:t>Keep dry</a:t></a:r></a:p></txBody></sp>"),
        f"{AS_ROWS}\n\nKeep dry",
        (),
    ),
    "charts and pictures": (
        drawing("<graphicFrame/><pic/><pic/><Fallback><txBody><a:p><a:t>no chart</a:t></a:p></txBody></Fallback>"),
        AS_ROWS,
        (note("charts_not_read", count=1), note("pictures_not_read", count=2)),
    ),
    "a broken drawing": (drawing("<"), AS_ROWS, (note("parts_broken", count=1),)),
    "a picture in a cell of WPS": (
        patched(
            book([["Item", "Look"], ["Bolt", "x"]]),
            {"sheet1": swapped('<c r="B2"[^>]*>.*?</c>', '<c r="B2" t="str"><v>=DISPIMG("ID_1",1)</v></c>')},
        ),
        "- Item: Bolt\n| Look |",
        (note("pictures_not_read", count=1),),
    ),
    "heads of printed pages": (
        book(ROWS, lambda sheet: setattr(sheet.oddHeader.center, "text", "draft")),
        AS_ROWS,
        (note("page_heads_not_read", count=1),),
    ),
    "an empty fill": (
        patched(formatted('"≤"0', 5), {"styles": swapped("<fills.*?</fills>", "<fills><fill/></fills>")}),
        "- Name: a; Value: ≤5",
        (),
    ),
    "broken styles": (
        patched(formatted('"≤"0', 5), {"styles": lambda part: b"<styleSheet><numFmts"}),
        "- Name: a; Value: 5",
        (note("formats_unreadable"),),
    ),
    "no styles": (patched(formatted('"≤"0', 5), {"styles": lambda part: None}), "- Name: a; Value: 5", ()),
    "an odd theme, odd properties and no links between parts": (
        patched(
            book(ROWS),
            {"theme": lambda part: b"<x", "docProps": lambda part: b"<", "workbook.xml.rels": lambda part: None},
        ),
        AS_ROWS,
        (note("parts_broken", count=1),),
    ),
    "Strict Open XML": (
        patched(formatted("0.0%", 0.5), {"xml": strict, "rels": strict}),
        "- Name: a; Value: 50.0%",
        (),
    ),
    "a cell of a text that the file does not hold": (
        patched(book(ROWS), {"sheet1": swapped('<c r="A3"[^>]*>.*?</c>', '<c r="A3" t="s"><v>99</v></c>')}),
        "- Item: Aspirin; Dose: 5\n- Dose: 7",
        (note("cells_unreadable", count=1),),
    ),
    "a number that is none": (
        patched(book(ROWS), {"sheet1": swapped("<v>7</v>", "<v>seven</v>")}),
        "- Item: Aspirin; Dose: 5\n- Item: Zinc; Dose: seven",
        (note("cells_unreadable", count=1),),
    ),
    "dates written as text, and cells without places": (
        patched(
            book([["Item", "On"], ["Zinc", 1]], set_each(B2__number_format="yyyy/m/d")),
            {"sheet1": swapped('<c r="B2"( s="\\d+")[^>]*><v>1</v>', '<c t="d"\\1><v>2024-03-01T00:00:00</v>')},
        ),
        "- Item: Zinc; On: 2024/3/1",
        (),
    ),
}


@pytest.mark.parametrize("name", CORPUS)
def test_a_workbook_is_read_word_for_word_and_says_what_it_left_out(name: str) -> None:
    data, text, notes = CORPUS[name]
    contents = load_workbook("a.xlsx", data)
    assert contents.sections == (Section(("S",), text),)
    assert contents.notes == notes


def test_what_is_hidden_can_be_taken_in() -> None:
    def change(sheet: Any) -> None:
        set_each(row_2__hidden=True, column_B__hidden=True)(sheet)
        other = sheet.parent.create_sheet("T")
        other.append(["密"])
        other.sheet_state = "veryHidden"

    data = book(ROWS, change)
    assert load_workbook("a.xlsx", data).notes == (
        note("sheets_hidden", count=1, sheets="T"),
        note("columns_hidden", count=1),
        note("rows_hidden", count=1),
    )
    whole = load_workbook("a.xlsx", data, hidden=True)
    assert whole.sections == (Section(("S",), AS_ROWS), Section(("T",), "| 密 |"))
    assert (whole.notes, dict(whole.read)) == ((), {"sheets": 2, "rows": 4})
    assert load_workbook("a.xlsx", formatted(";;;", 5), hidden=True).sections[0].text == "- Name: a; Value: 5"


def test_sheets_stay_when_the_list_of_sheets_cannot_be_read() -> None:
    contents = load_workbook("a.xlsx", patched(book(ROWS), {"workbook.xml": lambda part: b"<x"}))
    assert contents.sections == (Section(("sheet1",), AS_ROWS),)
    assert contents.notes == (note("parts_broken", count=1), note("workbook_unreadable"))


def test_a_sheet_that_breaks_off_keeps_what_comes_before_and_one_that_is_missing_costs_no_other() -> None:
    def second(sheet: Any) -> None:
        sheet.parent.create_sheet("T").append(["one", "two"])

    data = book(ROWS, second)
    cut = load_workbook("a.xlsx", patched(data, {"sheet1.xml": swapped('<row r="3".*', "<row r=")}))
    assert cut.sections == (Section(("S",), "- Item: Aspirin; Dose: 5"), Section(("T",), "| one | two |"))
    assert cut.notes == (note("sheets_unreadable", count=1, sheets="S"),)
    lost = load_workbook("a.xlsx", patched(data, {"sheet1.xml": lambda part: None}))
    assert lost.sections == (Section(("T",), "| one | two |"),)
    assert lost.notes == (note("sheets_unreadable", count=1, sheets="S"),)
    with pytest.raises(SourceDamaged, match="sheets are missing or broken"):
        load_workbook("a.xlsx", patched(data, {"worksheets/": lambda part: None}))
    with pytest.raises(SourceDamaged, match="sheets are missing or broken"):
        table_of("a.xlsx", patched(data, {"worksheets/": lambda part: None}))


def test_a_thread_of_comments_counts_as_one() -> None:
    data = book(ROWS, set_each(B2__comment=Comment("[Threaded comment] Your version of Excel …", "Li")))
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    words = '<threadedComment ref="B2"><text>is this right?</text></threadedComment>'
    thread = f'<ThreadedComments xmlns="urn:t">{words}</ThreadedComments>'
    relation = f'<Relationship Id="t" Type="{kind}" Target="../threadedComments/t.xml"/></Relationships>'
    data = patched(
        data, {"sheet1.xml.rels": swapped("</Relationships>", relation)}, **{"xl/threadedComments/t.xml": thread}
    )
    contents = load_workbook("a.xlsx", data)
    assert (contents.sections[0].text, contents.notes) == (AS_ROWS, (note("comments", count=1),))


@pytest.mark.parametrize("suffix", [".xlsm", ".xltx", ".xltm"])
def test_templates_and_workbooks_with_macros_are_read_too(suffix: str) -> None:
    from engine.knowledge.loaders.kinds import loader_of

    assert loader_of(f"a{suffix}")(f"a{suffix}", book(ROWS), False).sections == (Section(("S",), AS_ROWS),)


def test_an_attached_workbook_has_its_merged_cells_headers_of_several_rows_and_hidden_rows() -> None:
    rows = [["Plan", "Price", None], [None, "North", "South"], ["Basic", 1, 2]]
    data = book(rows, lambda sheet: (merged("A1:A2", "B1:C1")(sheet), set_each(row_3__hidden=True)(sheet)))
    table = table_of("a.xlsx", data)
    assert (table.headed, table.rows) == (True, [["Plan", "Price · North", "Price · South"], ["Basic", "1", "2"]])


def test_ranges_that_cover_everything_many_times_give_no_text_without_end() -> None:
    ranges = "".join(f'<mergeCell ref="A1:XFD{1_000_000 - n}"/>' for n in range(3000))
    rows = [["x" * 1000, *range(20)], *[[None, n] for n in range(200)]]
    data = patched(book(rows), {"sheet1": swapped("</sheetData>", f"</sheetData><mergeCells>{ranges}</mergeCells>")})
    assert len(load_workbook("a.xlsx", data).sections[0].text) < 20_000_000
