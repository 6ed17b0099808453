"""JSON and JSON lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.errors import SourceDamaged, SourceEmpty
from engine.knowledge.load import load_bytes
from engine.knowledge.loaders import records
from engine.knowledge.loaders.contents import Section, note
from engine.knowledge.loaders.records import load_json, load_json_lines


def load(value: Any) -> tuple[Section, ...]:
    return load_json("a.json", json.dumps(value, ensure_ascii=False).encode()).sections


def test_records_with_a_text_become_sections_and_their_other_fields_lines() -> None:
    value = [
        {"title": "症状", "text": "多饮。", "year": 2024, "tags": ["a", "b"], "none": None, "ok": True},
        {"标题": "治疗", "正文": "运动。", "by": {"name": "李", "at": {"city": "北京"}}},
        {"text": "没有题目。"},
    ]
    assert load(value) == (
        Section(("症状",), "多饮。\n\nyear: 2024\ntags: a, b\nok: true"),
        Section(("治疗",), "运动。\n\nby.name: 李\nby.at.city: 北京"),
        Section(("#3",), "没有题目。"),
    )


def test_records_inside_an_object_keep_what_stands_next_to_them() -> None:
    value = {"title": "集", "version": "1", "meta": {"by": "我"}, "data": [{"id": 1, "text": "甲。"}]}
    contents = load_json("a.json", json.dumps(value).encode())
    assert contents.title == "集"
    assert contents.sections == (
        Section((), "version: 1"),
        Section(("meta",), "by: 我"),
        Section(("data", "#1"), "甲。\n\nid: 1"),
    )
    assert load({"data": [{"text": "甲。"}]}) == (Section(("#1",), "甲。"),)


def test_other_json_is_flattened_readably() -> None:
    assert load({"a": {"b": [1, {"c": 2.5}]}, "d": "e"}) == (
        Section((), "d: e"),
        Section(("a",), "b[1]: 1\nb[2].c: 2.5"),
    )
    assert load(["x", "y"]) == (Section((), "- x\n- y"),)
    assert load("just words") == (Section((), "just words"),)
    assert load({"text": "alone", "id": 7}) == (Section((), "alone\n\nid: 7"),)


def test_a_name_that_stands_in_an_object_several_times_keeps_all_its_values() -> None:
    contents = load_json("a.json", b'{"text":"Rent.","due":"1 May","due":"1 June","by":{"n":1},"by":{"n":2}}')
    assert contents.sections == (Section((), "Rent.\n\ndue: 1 May, 1 June\nby[1].n: 1\nby[2].n: 2"),)


def test_lines_that_are_no_json_are_counted_and_the_others_go_in() -> None:
    contents = load_json_lines("a.jsonl", b'{"text":"a"}\n{broken\n\n{"text":"b"}\n{"text":"c"}\n{"te')
    assert [section.text for section in contents.sections] == ["a", "b", "c"]
    assert contents.notes == (note("lines_unreadable", count=2, lines="2, 6"),)


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.json", b'{\n"a": 1,\n"b" 2}', "3"),
        ("a.jsonl", b"no\njson\n", "1"),
        ("a.json", b'[{"text": "cut', "1"),
    ],
)
def test_broken_json_is_named_with_its_line(name: str, data: bytes, line: str) -> None:
    with pytest.raises(SourceDamaged) as raised:
        load_bytes(name, data)
    assert raised.value.params["line"] == line


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 500 + b"]" * 500, b"9" * 10_000])
def test_nesting_and_numbers_without_end_are_refused(data: bytes) -> None:
    with pytest.raises((SourceDamaged, SourceEmpty)):
        load_bytes("a.json", data)


@pytest.mark.parametrize("data", [b"[]", b"{}", b"null", b'[{"text": ""}]', b'""'])
def test_json_without_words_is_empty(data: bytes) -> None:
    with pytest.raises(SourceEmpty):
        load_bytes("a.json", data)


def test_records_beyond_the_limit_are_said_to_be_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 2)
    contents = load_json_lines("a.jsonl", b'{"text":"a"}\n{"text":"b"}\n{"text":"c"}\n')
    assert len(contents.sections) == 2
    assert contents.notes == (note("rows_beyond", kept=2, count=1),)
    assert load_json("a.json", b"[1, 2, 3, 4]").notes == (note("rows_beyond", kept=2, count=2),)


def test_numbers_stay_as_they_are_written() -> None:
    data = b'{"price": 1.10, "id": 12345678901234567890.5, "far": 1e400, "n": 5}'
    assert load_json("a.json", data).sections[0].text == "price: 1.10\nid: 12345678901234567890.5\nfar: 1E+400\nn: 5"


def test_values_that_say_nothing_are_counted() -> None:
    record: dict[str, Any] = {
        "text": "甲。",
        "approved": None,
        "tags": [],
        "by": {"name": "", "at": {}},
        "seen": False,
        "n": 0,
    }
    for contents in (
        load_json("a.json", json.dumps(record).encode()),
        load_json_lines("a", json.dumps(record).encode()),
    ):
        assert contents.sections[0].text == "甲。\n\nseen: false\nn: 0"
        assert contents.notes == (note("values_empty", count=4),)
