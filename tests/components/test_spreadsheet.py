"""Tables for spreadsheets hold anybody's words, and none of them may run."""

from __future__ import annotations

import csv
import io

import pytest

from components.common.controls import table_csv


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
def test_a_cell_that_begins_like_a_formula_is_defused(sign: str) -> None:
    cell = f"{sign}cmd|' /C calc'!A0"
    assert read(table_csv(["a"], [[cell]]))[1] == [f"'{cell}"]


def test_numbers_and_other_words_stay_as_they_are() -> None:
    row = ["-0.25", "+3", "a=b", "", "正文\n第二行", 'with "quotes", commas']
    assert read(table_csv(["a"], [row]))[1] == row


def test_half_a_character_does_not_cost_the_table() -> None:
    assert read(table_csv(["a"], [["x\ud83d"], ["y"]])) == [["a"], ["x?"], ["y"]]
