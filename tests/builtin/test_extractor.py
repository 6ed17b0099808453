"""The built-in extractor: what its rules find, and what they leave alone. GH-03"""

from __future__ import annotations

import pytest

from engine.builtin.extractor import MOST_RELATIONSHIPS, read_passage, summary_of
from engine.builtin.graph_terms import MOST_NAMES, candidates, spans
from engine.knowledge.samples import sample_sources
from engine.model.values import Entity, PassageId
from engine.roles import StoredPassage


def read(text: str, section: str = "") -> tuple[set[str], set[tuple[str, str, str]]]:
    """Names, and relationships that a verb says."""
    found = read_passage(StoredPassage(PassageId("p"), "p.md", text, section=section))
    ties = {(tie.source, tie.type, tie.target) for tie in found.relationships if tie.type != "RELATED_TO"}
    return {item.name for item in found.entities}, ties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The immune system destroys the beta cells.", ("immune system", "DAMAGES", "beta cell")),
        ("Scurvy is caused by malnutrition.", ("malnutrition", "CAUSES", "Scurvy")),
        ("Penicillin was discovered by Alexander Fleming.", ("Alexander Fleming", "DISCOVERED", "Penicillin")),
        ("The mitochondrion is part of the eukaryote.", ("mitochondrion", "PART_OF", "eukaryote")),
        ("A proton is a hadron.", ("proton", "IS_A", "hadron")),
        ("病毒会导致肺炎。", ("病毒", "CAUSES", "肺炎")),
        ("胰腺分泌胰岛素。", ("胰腺", "PRODUCES", "胰岛素")),
        ("哥德巴赫提出了哥德巴赫猜想。", ("哥德巴赫", "DISCOVERED", "哥德巴赫猜想")),
    ],
)
def test_a_verb_between_two_names_says_how_they_are_related(text: str, expected: tuple[str, str, str]) -> None:
    """GH-03: with its direction, in both languages."""
    names, ties = read(text)
    assert {expected[0], expected[2]} <= names
    assert expected in ties


def test_what_is_listed_shares_the_verb() -> None:
    _, ties = read("Metformin treats diabetes and obesity.")
    assert {("Metformin", "TREATS", "diabetes"), ("Metformin", "TREATS", "obesity")} <= ties


@pytest.mark.parametrize(
    "text", ["Aspirin does not cause scurvy.", "阿司匹林不会导致肺癌。", "Aspirin; it causes scurvy."]
)
def test_what_is_denied_or_apart_says_only_that_names_stand_together(text: str) -> None:
    names, ties = read(text)
    assert len(names) == 2
    assert ties == set()


def test_an_abbreviation_is_another_name_of_the_same_thing() -> None:
    found = read_passage(StoredPassage(PassageId("p"), "p.md", "Insulin resistance (IR) causes diabetes."))
    (entity,) = [item for item in found.entities if item.aliases]
    assert (entity.name, entity.aliases) == ("Insulin resistance", ("IR",))
    assert ("Insulin resistance", "CAUSES", "diabetes") in {(t.source, t.type, t.target) for t in found.relationships}


def test_the_end_of_a_longer_chinese_name_is_not_given_its_abbreviation() -> None:
    found = read_passage(StoredPassage(PassageId("p"), "p.md", "糖尿病很常见。成人隐匿性自身免疫糖尿病（LADA）少见。"))
    assert all("LADA" not in item.aliases for item in found.entities)


def test_one_and_many_are_one_entity_and_capitals_make_names() -> None:
    names, _ = read(
        "Beta cells make insulin. Every beta cell was seen by Joseph von Mering at the University of Toronto."
    )
    assert "Beta cell" in names and "Beta cells" not in names
    assert {"Joseph von Mering", "University of Toronto"} <= names


def test_words_of_the_heading_come_first() -> None:
    text = "Protamine slows absorption. Zinc, phenol, cresol, glycerol and heparin are excipients."
    assert candidates(text, "What zinc does")[0].name == "Zinc"


def test_the_longest_name_counts_where_names_overlap() -> None:
    found = spans("2型糖尿病不同于糖尿病。", ["糖尿病", "2型糖尿病"])
    assert [item.name for item in found] == ["2型糖尿病", "糖尿病"]
    assert spans("subgraphs", ["graph"]) == []


@pytest.mark.parametrize("text", ["", "   ", "a b c", "12 % of 7", "的了是", "\ud800 odd", "(((((", "x" * 5000])
def test_texts_without_names_give_nothing_and_break_nothing(text: str) -> None:
    names, ties = read(text)
    assert ties == set() and len(names) <= 1


def test_no_sample_passage_gives_more_than_a_graph_can_bear() -> None:
    """GH-03: every sample in both languages, with names that stand in it."""
    for source in sample_sources():
        for passage in source.passages:
            found = read_passage(passage)
            assert 0 < len(found.entities) <= MOST_NAMES
            assert len(found.relationships) <= MOST_RELATIONSHIPS
            assert all(item.name.casefold() in passage.text.casefold() for item in found.entities)


def test_a_summary_is_made_of_sentences_that_tell_of_most_members() -> None:
    texts = ("Rain falls. Metformin treats diabetes with insulin.", "Metformin is cheap.")
    passages = [StoredPassage(PassageId(text), "p.md", text) for text in texts]
    entities = [Entity(name.casefold(), name, "TERM") for name in ("Metformin", "insulin", "diabetes", "Banting")]
    title, summary = summary_of(entities, passages)
    assert title == "Metformin, insulin, diabetes"
    assert summary == "Metformin treats diabetes with insulin."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("隼三号是一种水壶控制器。", {"隼三号", "水壶控制器"}),
        ("晨星传感器厂是位于苏州的传感器供应商。", {"晨星传感器厂", "传感器供应商", "苏州"}),
        ("林浩是研发部负责人。", {"林浩", "研发部负责人"}),
        ("会议定在三号上午举行。", set()),
        ("Tomas Lind maintains the dispenser. Wei Zhang negotiates with Corvid Sensors.", {"Tomas Lind", "Wei Zhang"}),
        ("An Euler circuit differs from Euler paths.", {"Euler circuit", "Euler paths"}),
    ],
)
def test_a_name_ends_where_the_word_behind_it_begins(text: str, names: set[str]) -> None:
    """GH-03: names of people, products and works that no dictionary knows."""
    found = {item.name for item in candidates(text)}
    assert names <= found
    assert not {"三号", "林浩是", "Tomas Lind maintains", "Wei Zhang negotiates"} & found
