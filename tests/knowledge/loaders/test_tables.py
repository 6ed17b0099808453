"""Tables as lines, and the files that are nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import separated
from engine.knowledge.loaders.contents import note
from engine.knowledge.loaders.separated import load_separated
from engine.knowledge.loaders.tables import Cell, Span, header_rows, spread, table_lines, table_text


def text_of(data: bytes, name: str = "a.csv") -> str:
    return load_separated(name, data).sections[0].text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_delimiter_and_encoding_are_found_out(delimiter: str, encoding: str) -> None:
    rows = [["名称", "数量", "说明"], ["苹果", "3", "红的"], ["梨", "4", "黄的，甜"]]
    data = "\r\n".join(delimiter.join(row) for row in rows).encode(encoding)
    assert text_of(data) == "- 名称: 苹果; 数量: 3; 说明: 红的\n- 名称: 梨; 数量: 4; 说明: 黄的，甜"


def test_quoted_cells_may_hold_delimiters_quotes_and_line_breaks() -> None:
    data = b'name,says\n"Doe, Jane","She said ""no""\nand left"\nRoe,nothing\n'
    assert text_of(data) == '- name: Doe, Jane; says: She said "no" and left\n- name: Roe; says: nothing'


def test_stray_quotes_lose_no_row() -> None:
    data = b'name,size\npipe 5" wide,3\n"unclosed,4\nlast,5\n'
    assert [line.split(";")[-1] for line in text_of(data).splitlines()] == [" size: 3", " size: 4", " size: 5"]


def test_a_hint_of_a_spreadsheet_program_is_no_row() -> None:
    assert text_of(b"sep=;\na;b\nx;1,5\n") == "- a: x; b: 1,5"


def test_one_column_is_a_list_of_lines() -> None:
    assert text_of("苹果\n梨\n".encode()) == "| 苹果 |\n| 梨 |"


def test_every_passage_of_a_long_table_says_the_headers() -> None:
    rows = "\n".join(f"城市{number},{number},这是第{number}行的说明文字" for number in range(500))
    passages = chunk(load_bytes("a.csv", f"城市,编号,说明\n{rows}".encode()))
    assert len(passages) > 20
    lines = [line for passage in passages for line in passage.text.splitlines()]
    assert all(line.startswith("- 城市: ") and "; 说明: " in line for line in lines)
    assert {f"- 城市: 城市{number}; 编号: {number}; 说明: 这是第{number}行的说明文字" for number in range(500)} == set(
        lines
    )


def test_rows_beyond_the_limit_are_said_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separated, "MOST_ROWS", 3)
    contents = load_separated("a.csv", b"a,b\nx,1\ny,2\nz,3\n,\nw,4\n")
    assert contents.sections[0].text == "- a: x; b: 1\n- a: y; b: 2"
    assert contents.notes == (note("rows_beyond", kept=3, count=2),)
    assert load_separated("a.csv", b"a,b\nx,1\ny,2\n").notes == ()


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([["名", "数"], ["a", "1"]], 0),
        ([["报表 2024", "", ""], ["名", "数", "备注"], ["a", "1", ""]], 1),
        ([["1", "2"], ["3", "4"]], None),
        ([["a", "a"], ["b", "1"]], None),
        ([["指标", "2021", "2022"], ["人口", "3", "4"]], 0),
        ([["甲", "1999", "2003"], ["乙", "1998", "2004"]], None),
        ([["only"], ["one"]], None),
        ([["a", "b"]], None),
        ([["", "北京", "上海"], ["人口", "3", "4"]], 0),
    ],
)
def test_a_header_is_distinguished_from_rows_of_values(rows: list[list[str]], place: int | None) -> None:
    assert header_rows(rows) == (range(0) if place is None else range(place, place + 1))


def test_a_table_that_is_only_a_header_is_not_lost() -> None:
    assert list(table_lines([["a", "b"]])) == ["| a | b |"]
    assert table_text([["a", "b", "c"]], headed=True) == "| a | b | c |"
    assert table_text([["", ""]]) == ""


@pytest.mark.parametrize(
    ("rows", "headers", "lines"),
    [
        (
            [["Plan", "Region"], [Span("Basic", rows=2), "North"], ["South"]],
            (0,),
            ["- Plan: Basic; Region: North", "- Plan: Basic; Region: South"],
        ),
        (
            [[Span("Plan", rows=2), Span("Price", columns=2)], ["EU", "US"], ["Basic", "5", "7"]],
            (0, 1),
            ["- Plan: Basic; Price · EU: 5; Price · US: 7"],
        ),
        (
            [["名", "一季", "二季"], [Span("华东", columns=9)], ["甲", Span("3", columns=2)]],
            (0,),
            ["华东", "- 名: 甲; 一季: 3; 二季: 3"],
        ),
        ([[Span("Prices", columns=2)], ["a", "b"], ["c", "d"]], (0,), ["Prices", "- a: b", "- c: d"]),
        (
            [["a", "b", "c"], [Span("x", columns=2), "1"], [Span(None, columns=2), "2"]],
            (0,),
            ["- a: x; b: x; c: 1", "- a: x; b: x; c: 2"],
        ),
        ([["a", "b", "c"], ["x", "y", "1"]], (), ["| a | b | c |", "| x | y | 1 |"]),
    ],
)
def test_a_cell_that_reaches_over_several_places_counts_in_each(
    rows: list[list[Cell]], headers: tuple[int, ...], lines: list[str]
) -> None:
    assert table_text(rows, headed=True, header_rows=headers).split("\n") == lines


def test_two_rows_of_names_are_one_header_where_cells_reach_over_them() -> None:
    top: list[list[Cell]] = [[Span("Plan", rows=2), Span("Revenue", columns=2)], ["2021", "2022"]]
    assert table_text([*top, ["Basic", "5", "7"]]) == "- Plan: Basic; Revenue · 2021: 5; Revenue · 2022: 7"
    assert header_rows(spread([[Span("Plan"), Span("Price", columns=2)], ["Basic", "5", "7"]])) == range(1)


def test_names_below_a_table_head_what_stands_under_them() -> None:
    rows = [["a", "b"], ["1", "2"], ["c", "d"], ["3", "4"], ["e", "f"]]
    assert table_text(rows, headed=True, header_rows=(0, 2, 4)) == "- a: 1; b: 2\n- c: 3; d: 4\n| e | f |"


def test_spans_without_end_make_no_table_without_end() -> None:
    wide: list[list[Cell]] = [[Span("x" * 100_000, rows=10**9, columns=10**9)]]
    wide += [["a", "b"]] * 3000
    made = spread(wide)
    assert sum(len(span.text or "") for row in made for span in row) < 21_000_000
    assert made[0][0].text == "x" * 100_000 and [span.text for span in made[-1]][-2:] == ["a", "b"]
    assert len(spread([[Span("t", columns=1000)], ["a", "b", "c"]])[0]) == 3


_SPANS = st.lists(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)).map(lambda size: Span("", *size)), max_size=5), max_size=6
)


@given(_SPANS)
def test_every_text_of_a_table_stands_in_a_rectangle_of_its_own(shape: list[list[Span]]) -> None:
    rows = [
        [Span(f"r{down}c{place}", cell.rows, cell.columns) for place, cell in enumerate(row)]
        for down, row in enumerate(shape)
    ]
    texts = [[span.text or "" for span in row] for row in spread(rows)]
    made = [row + [""] * (max(map(len, texts)) - len(row)) for row in texts]
    assert len({len(row) for row in made}) <= 1
    for down, row in enumerate(rows):
        columns = [made[down].index(cell.text or "") for cell in row]
        assert columns == sorted(columns)
        for cell, column in zip(row, columns, strict=True):
            places = [(y, x) for y, line in enumerate(made) for x, text in enumerate(line) if text == cell.text]
            down_to, right_to = max(y for y, _ in places), max(x for _, x in places)
            assert len(places) == (down_to - down + 1) * (right_to - column + 1)
            assert down_to == min(down + cell.rows, len(made)) - 1


@pytest.mark.parametrize(
    ("data", "text", "notes"),
    [
        (
            b"item,dose\na,5,spare\nb\nc,7\nd,8,\n",
            "- item: a; dose: 5; spare\n- item: b\n- item: c; dose: 7\n- item: d; dose: 8",
            (note("rows_ragged", count=2, rows="2-3"),),
        ),
        (b"List of 2024\nitem,dose\na,5\n", "List of 2024\n- item: a; dose: 5", ()),
        (b"1,2\n3\n", "| 1 | 2 |\n| 3 |", ()),
        (b"item,dose\na,\x005" + b"\nc,9" * 40, "- item: a; dose: 5" + "\n- item: c; dose: 9" * 40, ()),
        ("名称;剂量\n甲;5\n".encode("gbk") + bytes(5000), "- 名称: 甲; 剂量: 5", ()),
    ],
)
def test_rows_of_other_lengths_are_counted_and_stray_zeros_are_no_harm(data: bytes, text: str, notes: object) -> None:
    contents = load_separated("a.csv", data)
    assert (contents.sections[0].text, contents.notes) == (text, notes)
