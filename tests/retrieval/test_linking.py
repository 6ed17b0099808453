"""Names of a graph in a text: GH-02."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.knowledge.graph.names import normalised
from engine.retrieval.linking import LEAST_NAME, mentions

NAMES = {
    normalised(name): (normalised(name),)
    for name in (
        "insulin",
        "beta cell",
        "glucose",
        "type 2 diabetes",
        "diabetes",
        "糖尿病",
        "2型糖尿病",
        "胰岛素",
        "AVL tree",
    )
} | {"therapy": ("therapy",), "ada": ("american diabetes association", "ada lovelace")}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What does insulin do?", ["insulin"]),
        ("WHAT DOES INSULIN DO?", ["INSULIN"]),
        ("Type  2 diabetes and glucose", ["Type  2 diabetes", "glucose"]),
        ("Which therapies suit beta cells?", ["therapies", "beta cells"]),
        ("an insulinoma is no such thing", []),
        ("proinsulin", []),
        ("ＡＶＬ tree", ["ＡＶＬ tree"]),
        ("2型糖尿病患者为什么要打胰岛素？", ["2型糖尿病", "胰岛素"]),
        ("12型糖尿病", ["糖尿病"]),
        ("什么是insulin？", ["insulin"]),
        ("為什麼要打胰島素？", ["胰島素"]),
        ("insulin, insulin and again insulin", ["insulin"]),
        ("", []),
    ],
)
def test_the_longest_names_are_found_as_they_stand_and_latin_ones_only_as_whole_words(
    text: str, found: list[str]
) -> None:
    """GH-02"""
    assert [item.text for item in mentions(text, NAMES)] == found


def test_a_name_of_several_entities_names_them_all() -> None:
    (item,) = mentions("What does the ADA say?", NAMES)
    assert item.ids == ("american diabetes association", "ada lovelace")


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=8), max_size=6))
def test_whatever_the_text_a_mention_stands_in_it_and_none_overlaps_another(text: str, names: list[str]) -> None:
    """GH-02"""
    known = {name: (name,) for name in map(normalised, names) if name}
    found = mentions(text, known)
    assert all(item.text in text and item.name in known and item.ids for item in found)
    assert len({item.name for item in found}) == len(found)
    assert all(len(item.name) + 2 >= LEAST_NAME for item in found)


@given(st.sampled_from(sorted(NAMES)), st.text("的了, ，?？。", max_size=4), st.text("的了, ，?？。", max_size=4))
def test_a_name_between_marks_and_particles_is_always_found(name: str, before: str, after: str) -> None:
    assert name in {item.name for item in mentions(before + name + after, NAMES)}


def test_a_short_form_of_two_languages_stands_for_the_entity_of_the_one_that_is_asked_in() -> None:
    """GH-02"""
    names = {"hba1c": ("hba1c", "糖化血红蛋白")}
    assert [item.ids for item in mentions("What distorts HbA1c?", names)] == [("hba1c",)]
    assert [item.ids for item in mentions("什么会影响HbA1c？", names)] == [("糖化血红蛋白",)]
    assert [item.ids for item in mentions("什么会影响HbA1c？", {"hba1c": ("hba1c",)})] == [("hba1c",)]
