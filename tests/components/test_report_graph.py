"""Graph + vector retrieval in a report and in a comparison: GH-01, GH-02, GH-05, GH-06, GH-07."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from components.common.i18n import UiLanguage, words_for
from components.runs.compare import comparison_nodes
from components.runs.report import html_of, report_html
from engine.flow import compiled
from engine.flow.graph import WorkflowGraph, graph_of
from engine.model.events import fold_all
from engine.model.values import (
    Attachment,
    CellCitation,
    Entity,
    FoundEntity,
    GraphEvidence,
    PassageId,
    RunRecord,
    Sentence,
    UnsupportedMarker,
)
from engine.records.codec import record_from_dict
from engine.replay.difference import difference
from tests.components.graph_events import FELL_BACK, TABLE, graph_run
from tests.components.laced_run import HOSTILE
from tests.components.test_report import Read, assert_only_ours, safe_shown

EN, ZH = words_for("en"), words_for("zh")


@cache
def drawn() -> WorkflowGraph:
    return graph_of(compiled("graph_hybrid"))


@cache
def record(mode: str = "mix") -> RunRecord:
    return fold_all(graph_run("g1 g2 v1 v2", mode=mode))


def whole() -> RunRecord:
    """With everything that such a run can leave behind."""
    run = record()
    assert run.context is not None
    refined = {PassageId("g1"): (Sentence("One. ", 0.9, True), Sentence("Two.", 0.1, False))}
    return replace(
        run,
        context=replace(run.context, refined=refined),
        attachments=(Attachment("image", "photo.png", "glucose 7.2", read_by="ocr"), TABLE),
        cell_citations=(CellCitation(1, "B2", "500", "Metformin", "Dose"),),
        removed_markers=("9",),
        unsupported=(UnsupportedMarker("2", "It grows on trees.", 0.12),),
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_holds_analysis_graph_context_attachments_and_markers(language: UiLanguage) -> None:
    """GH-01, GH-02, GH-05, GH-06, GH-07"""
    words = words_for(language)
    read = assert_only_ours(report_html(whole(), drawn(), words))
    for key in ("Analysis and graph", "Context", "Markers taken out", "Attached to the question", "Relationships"):
        assert words(key) in read.text
    for text in ("Metformin", "Galega", "Tablets", "What lowers glucose.", "glucose 7.2", "500", "It grows on trees."):
        assert text in read.text
    assert words("cut to {kept} of {n} sentences", kept=1, n=2) in read.text
    run = whole()
    assert run.context is not None
    loop = replace(run, context=replace(run.context, parts=()))
    assert words("{kept} of {n} sentences kept", kept=1, n=2) in report_html(loop, drawn(), words)
    assert words("Share of the graph") in read.text, "options are settings too"
    assert words("reranker")[1:] in read.text


def test_a_mode_that_could_not_do_its_work_says_so_in_the_report() -> None:
    """GH-02"""
    run = fold_all(graph_run("v1 v2", evidence=FELL_BACK, mode="local"))
    read = assert_only_ours(report_html(run, drawn(), EN))
    assert EN("no knowledge graph; build one under Knowledge → Graph") in read.text
    assert "Vectors searched instead" in read.text


def test_a_run_without_a_search_makes_a_report_too() -> None:
    """GH-02"""
    read = assert_only_ours(report_html(fold_all(graph_run("", mode="bypass")), drawn(), ZH))
    assert ZH("Part") not in read.text and ZH("Analysis and graph") in read.text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_word_of_a_graph_or_of_an_attachment_becomes_markup(hostile: str) -> None:
    """GH-03, GH-05"""
    run = whole()
    entity = Entity("e", hostile, hostile, hostile)
    evidence = GraphEvidence("mix", entities=(FoundEntity(entity, "name", 1.0),))
    laced = replace(
        run,
        rounds=tuple(replace(item, graph=evidence) for item in run.rounds),
        attachments=(Attachment("image", hostile, hostile), replace(TABLE, name=hostile, rows=((hostile, hostile),))),
        unsupported=(UnsupportedMarker(hostile, hostile, 0.1),),
        removed_markers=(hostile,),
    )
    read = assert_only_ours(report_html(laced, drawn(), EN))
    assert " ".join(safe_shown(hostile).split()) in read.text


def test_a_record_with_all_of_it_is_read_back_as_it_was() -> None:
    """GH-06: what is exported is the whole record."""
    run = whole()
    assert record_from_dict(run.to_dict()) == run


def test_a_comparison_says_what_only_the_graph_found_and_which_entities_were_given() -> None:
    """GH-02, GH-06"""
    naive = replace(
        record(),
        rounds=tuple(
            replace(
                item,
                graph=None,
                candidates=tuple(
                    replace(one, found_in={"vector": one.found_in["vector"]}, graph_score=None)
                    for one in item.candidates
                    if "vector" in one.found_in
                ),
            )
            for item in record().rounds
        ),
        context=replace(record().context, graph=None),  # type: ignore[type-var]
    )
    found = difference(naive, record())
    assert set(found.context.gained_entities) == {"metformin", "galega"} and not found.context.lost_entities
    by_name: Mapping[str, Any] = {item.passage.id: item for item in found.passages}
    assert by_name["g2"].move == "gained" and by_name["g2"].b.found_by == ("local",)
    assert by_name["v1"].b.found_by == ("vector", "global")
    text = Read("".join(html_of(item) for item in comparison_nodes(found, EN, all_passages=True))).text
    assert "entities: 0 in both, 0 only A, 2 only B" in text
    assert "found by Entities" in text


def test_runs_in_two_modes_differ_in_a_setting_that_has_a_name() -> None:
    """GH-02"""
    found = difference(record(), record("hybrid"))
    assert [(item.name, item.a, item.b) for item in found.settings] == [("mode", "mix", "hybrid")]
