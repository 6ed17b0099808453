"""The graph view: what is drawn of a graph, in both languages, with nothing of it ever markup."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from components.common.graph_picture import GraphPicture, community_picture, entity_picture, evidence_picture
from components.common.graph_view import _PHRASES, graph_data, type_text
from components.common.i18n import UiLanguage, words_for
from components.common.inline import script
from components.labels import BUILTIN_EXTRACTOR, GRAPH_LISTS
from components.workflows.mode_notes import fallback_text, note_text, notes_box
from engine.library.values import GraphState
from engine.model.values import PassageId
from engine.model.values.graphs import (
    RETRIEVAL_LISTS,
    Community,
    Entity,
    FoundCommunity,
    FoundEntity,
    GraphEvidence,
    ModeNote,
    ModeNoteCode,
    Relationship,
)
from engine.roles.graph import GraphInfo
from pages.parts.knowledge.graph import graph_card
from tests.components.sample_run import HOSTILE

EN, ZH = words_for("en"), words_for("zh")


def entity(name: str, kind: str = "DISEASE", community: str = "c1") -> Entity:
    return Entity(
        name.lower(), name, kind, f"About {name}.", passages=(PassageId("p1"),), degree=2, community=community
    )


ENTITIES = (entity("Insulin", "HORMONE"), entity("Diabetes"), entity("Retina", "ORGAN", "c2"), entity("Banting"))
LINES = (
    Relationship("insulin", "diabetes", "TREATS", passages=(PassageId("p1"), PassageId("p2"))),
    Relationship("diabetes", "retina", "DAMAGES", passages=(PassageId("p3"),)),
    Relationship("banting", "elsewhere", "DISCOVERED", passages=(PassageId("p4"),)),
)
COMMUNITIES = (
    Community("c1", "Sugar", "What insulin does.", ("insulin", "diabetes", "banting"), (PassageId("p1"),)),
    Community("c2", "Eyes", "What is harmed.", ("retina",), (PassageId("p3"),)),
)


def test_entities_are_drawn_with_the_relationships_between_them_alone() -> None:
    """GH-03: entities and typed directed relationships, each with its passages."""
    picture = entity_picture(ENTITIES, LINES, COMMUNITIES)
    assert [line.type for line in picture.lines] == ["TREATS", "DAMAGES"]
    assert picture.dots[0].id == "diabetes"
    assert picture.items["insulin|TREATS|diabetes"].passages == ("p1", "p2")
    assert picture.groups == {"c1": "Sugar", "c2": "Eyes"}


def test_what_was_asked_for_stands_first_and_in_the_middle() -> None:
    picture = entity_picture(ENTITIES, LINES, hops={"retina": 0, "diabetes": 1})
    assert (picture.dots[0].id, picture.dots[0].look) == ("retina", "centre")


def test_a_run_shows_how_it_came_to_each_entity() -> None:
    """GH-02, GH-06: the neighbourhood that a run used, the entities of the query apart from what is around them."""
    found = (
        FoundEntity(ENTITIES[0], "name", 1.0),
        FoundEntity(ENTITIES[1], "passage", 0.6),
        FoundEntity(ENTITIES[2], "neighbour", 0.3, hops=1),
    )
    evidence = GraphEvidence("mix", found, LINES, (FoundCommunity(COMMUNITIES[0], 0.5),))
    picture = evidence_picture(evidence)
    assert [dot.look for dot in picture.dots] == ["asked", "linked", "near"]
    assert picture.dots[0].radius > picture.dots[2].radius
    data = graph_data(picture, EN)
    assert data["dots"][2]["facts"] == ["organ", "2 relationships", "1 step away", "score 0.30"]
    assert data["looks"] == ["asked", "linked", "near"]


def test_communities_are_an_overview_with_what_joins_them() -> None:
    picture = community_picture(COMMUNITIES, ENTITIES, LINES)
    assert [(dot.name, dot.size) for dot in picture.dots] == [("Sugar", 3), ("Eyes", 1)]
    assert picture.dots[0].members == ("Insulin", "Diabetes", "Banting")
    (line,) = picture.lines
    assert (line.count, line.passages) == (1, ("p3",))
    data = graph_data(picture, ZH)
    assert data["overview"] and not data["lines"][0]["directed"]
    assert data["lines"][0]["label"] == "1 条关系"


def test_more_types_than_can_be_distinguished_share_one_sign() -> None:
    kinds = [f"KIND_{place}" for place in range(12)]
    picture = entity_picture([entity(f"e{place}", kind) for place, kind in enumerate(kinds)], ())
    legend = graph_data(picture, EN)["kinds"]
    assert len(legend) == 8
    assert legend[-1] == [7, "… and 5 more", 5]


def test_an_empty_graph_is_an_empty_picture() -> None:
    data = graph_data(GraphPicture(()), EN)
    assert (data["dots"], data["lines"], data["overview"]) == ([], [], False)


def test_hostile_names_leave_as_they_are_and_the_browser_never_reads_markup() -> None:
    made = graph_data(entity_picture([entity(HOSTILE)], ()), EN)
    assert made["dots"][0]["name"] == HOSTILE
    assert json.loads(json.dumps(made)) == made
    source = script(*(f"graph_view{part}.js" for part in ("", "_shapes", "_draw", "_detail", "_moves")))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", source)


def test_types_are_said_in_the_language_of_the_page() -> None:
    assert (type_text("DISEASE", EN), type_text("DISEASE", ZH)) == ("disease", "疾病")
    assert (type_text("PART_OF", EN), type_text("PART_OF", ZH)) == ("part of", "属于")
    assert type_text("DARK_MATTER", ZH) == "dark matter"


def test_every_word_that_the_browser_uses_is_handed_over() -> None:
    source = script(*(f"graph_view{part}.js" for part in ("", "_draw", "_detail", "_moves")))
    named = {*re.findall(r"words\.([a-z]+)", source), *re.findall(r'words\["([a-z.]+)"\]', source)}
    assert named <= set(_PHRASES)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_whatever_a_mode_could_not_do_is_said_in_words(language: UiLanguage) -> None:
    """GH-02: a mode that could not do its own work says so."""
    words = words_for(language)
    for code in get_args(ModeNoteCode):
        for name in RETRIEVAL_LISTS:
            assert words(GRAPH_LISTS[name]) in note_text(ModeNote(code, name), words)
    assert words("Vectors") in fallback_text("local", ("vector",), words)
    box = notes_box([ModeNote("no_graph", "local")], "local", ("vector",), words)
    assert box is not None and box.attrs["role"] == "alert"
    assert notes_box([], "local", (), words) is None


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("case", "said"), [("fresh", "up to date"), ("stale", "out of date"), ("unfinished", "unfinished")]
)
def test_the_card_says_how_the_graph_stands(language: UiLanguage, case: str, said: str) -> None:
    """GH-03: a graph that no longer fits its collection says so."""
    words = words_for(language)
    built = "" if case == "unfinished" else "2026-01-01T00:00:00+00:00"
    info = GraphInfo("c", "builtin", 3, 2, 1, 5, "f", built)
    card = graph_card(GraphState(info, case == "stale", 8), words)
    assert words(said) in card.text
    assert words("{done} of {total}", done="5", total="8") in card.text
    assert words(BUILTIN_EXTRACTOR) in card.text
