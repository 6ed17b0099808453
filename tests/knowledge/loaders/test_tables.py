"""Tables as lines, and the files that are nothing else."""

from __future__ import annotations

import pytest

from engine.knowledge.chunk import chunk
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import separated
from engine.knowledge.loaders.contents import note
from engine.knowledge.loaders.separated import load_separated
from engine.knowledge.loaders.tables import header_row, table_lines, table_text


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
    contents = load_separated("a.csv", b"a,b\nx,1\ny,2\nz,3\n")
    assert contents.sections[0].text == "- a: x; b: 1\n- a: y; b: 2"
    assert contents.notes == (note("rows_cut", kept=3),)
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
def test_a_header_is_told_from_rows_of_values(rows: list[list[str]], place: int | None) -> None:
    assert header_row(rows) == place


def test_a_table_that_is_only_a_header_is_not_lost() -> None:
    assert list(table_lines([["a", "b"]])) == ["| a | b |"]
    assert table_text([["a", "b", "c"]], headed=True) == "| a | b | c |"
    assert table_text([["", ""]]) == ""
