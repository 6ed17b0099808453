"""What a run of graph + vector retrieval shows: GH-01, GH-02, GH-04, GH-05, GH-06, GH-07."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from components.ask.answer import answer_body
from components.ask.answer_marks import answer_notes, basis_text
from components.ask.passage_rows import (
    full_text,
    moves_text,
    names_of,
    notes_of,
    passage_row,
    stage_cells,
    stage_drop,
)
from components.common.i18n import Words, words_for
from components.common.life_lines import Sighting, life_lines
from components.common.markup import Node
from components.sentences.steps import sentence
from components.workflows.graph_hybrid import analysis_nodes, taken_nodes
from components.workflows.mode_notes import mode_note_nodes, note_texts
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.values import CellCitation, ContextPart, RunRecord, Sentence, UnsupportedMarker
from engine.model.values.graphs import GraphEvidence, ModeNote
from engine.replay.playback import steps
from engine.retrieval.graph_options import GraphOptions
from pages.parts.ask.answer import context_fold
from tests.components.graph_events import FELL_BACK, TABLE, GraphResources, events_of, graph_config, graph_run
from tests.support.fakes import FakeGrader

EN, ZH = words_for("en"), words_for("zh")
BOTH = pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])


@cache
def answered() -> RunRecord:
    return fold_all(graph_run("g1 g2 v1 v2"))


@cache
def fallen_back() -> RunRecord:
    return fold_all(graph_run("v1 v2 v3 v4", evidence=FELL_BACK, mode="local"))


@cache
def bypassed() -> RunRecord:
    return fold_all(graph_run("", mode="bypass"))


def text_of(nodes: list[Node]) -> str:
    return " ".join(item.text for item in nodes)


def looks(item: Node) -> set[str]:
    own = set(item.attrs.get("class", "").split())
    return own.union(*(looks(kid) for kid in item.kids if isinstance(kid, Node)))


@BOTH
def test_a_mode_that_searched_something_else_says_so_first(words: Words) -> None:
    """GH-02"""
    (box,) = mode_note_nodes(fallen_back(), words)
    assert box.attrs["role"] == "alert"
    assert "warn" in looks(box)
    assert words("Local") in box.text
    assert words("Vectors") in box.text
    assert words("no knowledge graph; build one under Knowledge → Graph") in box.text
    assert mode_note_nodes(answered(), words) == []


def test_lists_that_could_not_work_for_one_reason_share_a_sentence() -> None:
    notes = (ModeNote("no_graph", "local"), ModeNote("no_graph", "global"), ModeNote("graph_stale", "local"))
    first, second = note_texts(GraphEvidence("mix", notes=notes), EN)
    assert first.startswith("Entities, Communities: ")
    assert second.startswith("Entities: ")


@BOTH
def test_the_analysis_says_what_the_query_names_and_which_mode_was_searched(words: Words) -> None:
    """GH-01"""
    said = text_of(analysis_nodes(answered(), words))
    assert "metformin" in said.casefold()
    assert words("Mode {mode}", mode=words("Mix")) in said
    assert words("No search") in text_of(analysis_nodes(bypassed(), words))


@BOTH
def test_what_was_taken_from_the_graph_stands_there_as_text_too(words: Words) -> None:
    """GH-06: for whoever cannot see the picture."""
    evidence = answered().rounds[0].graph
    assert evidence is not None
    said = text_of(taken_nodes(evidence, words))
    for part in ("Metformin", "Galega", "What lowers glucose.", words.count("1 hop away", "{n} hops away", 1)):
        assert part in said


@BOTH
def test_the_context_bar_names_every_part_with_its_tokens(words: Words) -> None:
    """GH-06"""
    record = answered()
    context = record.context
    assert context is not None
    (card,) = context_fold(record, words)
    assert words("Context: {n} of {most} tokens", n=context.tokens, most=context.token_budget) in card.text
    for part in context.parts:
        assert str(part.tokens) in card.text
    assert {"graph", "passage"} <= looks(card)


def test_what_the_budget_left_out_is_named() -> None:
    """GH-06"""
    record = answered()
    assert record.context is not None
    left_out = ContextPart("passage", "v3", 70, given=False)
    cut = replace(record, context=replace(record.context, parts=(*record.context.parts, left_out)))
    said = text_of(context_fold(cut, EN))
    assert "1 left out, 70 tokens" in said
    assert "v3.md" in said


def test_a_run_without_a_search_has_no_context_and_says_so_at_its_answer() -> None:
    """GH-02: grading and citations are shown as skipped."""
    record = bypassed()
    assert context_fold(record, EN) == []
    assert basis_text(record, EN) == EN("without a search")
    assert not record.rounds
    assert record.citations == ()


def test_a_passage_says_which_lists_found_it_along_what_and_where_each_stage_put_it() -> None:
    """GH-04"""
    record = answered()
    lines = {str(line.passage.id): line for line in life_lines(record)}
    names = names_of(record)
    cells = stage_cells(lines["g2"], record, names, EN)
    assert cells["lists"] == [["local", "Entities #2"]]
    assert cells["only_graph"] is True
    assert "Metformin → Galega" in cells["via"]
    assert "reranked #" in cells["moves"]
    assert "graph score 0.60" in cells["scores"]
    assert stage_cells(lines["v1"], record, names, EN)["only_graph"] is False


def found_with(seen: Sighting, **changes: Any) -> Sighting:
    return replace(seen, found=replace(seen.found, **changes))


def test_movement_says_up_and_down_between_the_stages() -> None:
    """GH-04"""
    seen = found_with(life_lines(answered())[0].best, places={"fused": 4, "ranked": 2, "reranked": 3})
    assert moves_text(seen, EN) == "fused #4 → ranked #2 ↑ → reranked #3 ↓"
    assert moves_text(found_with(seen, places={"fused": 2, "ranked": 2}), ZH) == "融合 #2"


def test_duplicates_and_dates_are_said() -> None:
    """GH-04"""
    record = answered()
    line = life_lines(record)[0]
    seen = found_with(line.best, duplicate_of=record.rounds[0].candidates[1].passage.id, freshness=0.5)
    dated = replace(line, passage=replace(line.passage, dated="2026-05-25"), sightings=(seen,))
    said = notes_of(dated, record, EN)
    assert said[0].startswith("nearly repeats ")
    assert said[1] == "dated 2026-05-25, newness 0.50"


@BOTH
def test_a_passage_dropped_by_a_stage_says_by_which_and_by_how_much(words: Words) -> None:
    """GH-04"""
    config = RunConfig(workflow="graph_hybrid", options=GraphOptions(graph_threshold=0.7, rerank_threshold=0.5))
    line = life_lines(answered())[0]
    graph = found_with(line.best, gate="below_graph", graph_score=0.6)
    assert stage_drop(graph, config, words) == f"{words('graph score')} " + words(
        "{value} < {bound}, missed by {missed}", value="0.60", bound="0.70", missed="0.10"
    )
    rerank = found_with(line.best, gate="below_rerank", rerank_score=0.25)
    assert stage_drop(rerank, config, words) == f"{words('rerank score')} " + words(
        "{value} < {bound}, missed by {missed}", value="0.25", bound="0.50", missed="0.25"
    )
    dropped = replace(line, sightings=(graph,), verdict=None, fate="below_graph")
    assert passage_row(dropped, replace(answered(), config=config), (), words)["state"] == "below_graph"


def test_sentences_left_out_before_the_answer_are_marked_in_the_full_text() -> None:
    """GH-06"""
    record = answered()
    assert record.context is not None
    line = life_lines(record)[0]
    refined = {line.passage.id: (Sentence("Kept one. ", 0.9, kept=True), Sentence("Cut one.", 0.1, kept=False))}
    shown = full_text(line, replace(record, context=replace(record.context, refined=refined)), (), ["Kept one. "])
    assert [(text, look) for text, _, look in shown] == [("Kept one. ", "near"), ("Cut one.", "out")]
    whole = full_text(line, record, ())
    assert ("".join(text for text, _, _ in whole), {look for _, _, look in whole}) == (line.passage.text, {""})


def test_a_cell_of_a_table_is_marked_with_its_value_and_unknown_cells_stay_text() -> None:
    """GH-05"""
    cell = CellCitation(1, "B2", "500 <b>", "Metformin", "Dose")
    record = replace(answered(), answer="It is 500 [T1:B2], not [T1:B9].", cell_citations=(cell,))
    body = answer_body(record, EN)
    assert "cell" in looks(body)
    assert "[T1:B9]" in body.text
    marked = next(item for item in walk(body) if "cell" in item.attrs.get("class", "").split())
    assert marked.attrs["title"] == "Table 1, cell B2: 500 <b> (Metformin · Dose)"


def test_markers_that_were_not_borne_out_are_reported_under_the_answer() -> None:
    """GH-07"""
    from components.ask.answer import _footnotes

    record = replace(answered(), unsupported=(UnsupportedMarker("[2]", "It rains.", 0.1),))
    assert "[2]" in " ".join(item.text for item in _footnotes(record, EN))


def walk(item: Node) -> list[Node]:
    return [item, *(below for kid in item.kids if isinstance(kid, Node) for below in walk(kid))]


@BOTH
@pytest.mark.parametrize("run", [answered, fallen_back, bypassed])
def test_every_step_of_a_replay_has_a_sentence_of_its_own(run: object, words: Words) -> None:
    """GH-01, GH-02"""
    events = {
        answered: lambda: graph_run("g1 g2 v1 v2"),
        fallen_back: lambda: graph_run("v1 v2 v3 v4", evidence=FELL_BACK, mode="local"),
        bypassed: lambda: graph_run("", mode="bypass"),
    }[run]()  # type: ignore[index]
    record = fold_all(events)
    shown = steps(events)
    kinds = [step.kind for step in shown]
    assert kinds[:3] == ["asked", "analysed", "routed"]
    assert kinds.count("searched") == len(record.rounds), "reranking is part of the search"
    said = [sentence(step, record, words) for step in shown]
    assert all(said)
    assert not any("{" in text for text in said)


def test_a_table_that_came_with_the_question_is_quoted_and_counts_as_an_answer() -> None:
    """GH-05"""
    from engine.builtin.generator import BuiltinGenerator
    from tests.support.fakes import FakeGrader

    resources = GraphResources(grader=FakeGrader(relevant=frozenset()), generator=BuiltinGenerator())
    question = "What is the dose of metformin?"
    record = fold_all(events_of(resources, graph_config(max_rewrites=0), question, (TABLE,)))
    assert "500 [T1:B2]" in record.answer
    assert [item.marker for item in record.cell_citations] == ["T1:B2"]
    assert record.context is not None
    assert record.context.tables == (1,)
    assert basis_text(record, EN) == EN("from the tables of the question")
    assert answer_notes(record, EN) == [EN("No passage passed: only the attached tables support this answer.")]


def test_a_chain_that_the_built_in_grader_did_not_follow_comes_with_advice() -> None:
    """GH-02: the graph found it, and each passage was judged by itself."""
    words = words_for("en")
    resources = GraphResources(grader=FakeGrader(relevant=frozenset()))
    record = fold_all(events_of(resources, graph_config(max_rewrites=0)))
    said = str(mode_note_nodes(record, words))
    assert record.outcome == "abstained" and "chat model" in said
    chat = replace(record.config, models=RoleModels(grader=RoleModel("ollama:m")))
    assert "chat model" not in str(mode_note_nodes(replace(record, config=chat), words))
    assert "chat model" not in str(mode_note_nodes(replace(record, outcome="answered"), words))
