"""The picture of the three other loops: live, replayed and exported, with decisions and facts in words."""

from __future__ import annotations

import re
from functools import cache
from typing import get_args
from xml.etree import ElementTree

import pytest

from components.ask.live_view import layouts
from components.common.i18n import Words, words_for
from components.common.phrases import node_text
from components.picture.export import decision_path_dot, workflow_svg
from components.picture.layout import layout_of
from components.picture.picture import PictureView, picture_of
from components.picture.words import PICTURE, word
from engine.flow import workflow
from engine.flow.graph import END
from engine.model.config import WorkflowName
from engine.model.events import Event, fold_all
from engine.model.values import Quantity, RunRecord, SourceKind, Strategy
from tests.components.loop_events import RUNS, drawn
from tests.components.test_workflow_layout import flaws

EN, ZH = words_for("en"), words_for("zh")

LOOPS: tuple[WorkflowName, ...] = ("quality_loop", "dual_loop", "answer_evaluation")


@cache
def events(name: str) -> list[Event]:
    return RUNS[name].events()


def record(name: str) -> RunRecord:
    return fold_all(events(name))


def picture(name: str, words: Words = EN) -> PictureView:
    return picture_of(drawn(RUNS[name].workflow), record(name), words)


def first_lines(name: str) -> dict[str, str]:
    return {item: view.lines[0][0] for item, view in picture(name).nodes.items() if view.visits}


@pytest.mark.parametrize("vertical", [False, True])
@pytest.mark.parametrize("workflow", LOOPS)
def test_the_compiled_graph_is_drawn_without_collisions_and_every_choice_has_room(
    workflow: WorkflowName, vertical: bool
) -> None:
    """SC-12, QL-03, DL-01, AE-01"""
    graph = drawn(workflow)
    layout = layout_of(graph, vertical=vertical)
    assert flaws(layout, graph) == []
    assert [(r.source, r.target) for r in layout.routes if r.conditional and r.label is None] == []
    assert layout.width <= (392 if vertical else 1250)


@pytest.mark.parametrize("workflow", LOOPS)
def test_a_page_that_is_not_wide_enough_gets_a_drawing_that_is_no_wider_than_it_needs(workflow: WorkflowName) -> None:
    graph = drawn(workflow)
    plans = layouts(graph)
    assert flaws(layout_of(graph, longest=5), graph) == []
    middle = plans.get("middle", plans["wide"])
    assert plans["narrow"].width < middle.width <= 1106
    assert all(route.label for route in middle.routes if route.conditional)


@pytest.mark.parametrize("workflow", [*LOOPS, "graph_hybrid"])
def test_what_is_printed_of_a_choice_stands_at_its_own_way(workflow: WorkflowName) -> None:
    for route in (route for plan in layouts(drawn(workflow)).values() for route in plan.routes):
        if route.label is None:
            continue
        box = route.label.box
        x = {"start": box.x, "middle": box.center[0], "end": box.right}[route.label.anchor]
        outside = min(max(0.0, min(x0, x1) - x, x - max(x0, x1)) for (x0, _), (x1, _) in route.segments)
        assert outside <= 60, (route.source, route.target)


def test_what_leads_back_from_the_second_row_stands_before_it() -> None:
    layout = layout_of(drawn("quality_loop"), longest=5)
    rewrite, grade = layout.box("rewrite"), layout.box("grade_documents")
    assert rewrite.center[1] == grade.center[1] > layout.box("question_router").bottom
    assert rewrite.right < grade.x


def test_a_long_loop_continues_in_a_second_row_that_reads_the_same_way() -> None:
    layout = layout_of(drawn("dual_loop"))
    rows = [
        ["retrieve_memory", "route_query", "rewrite_query", "retrieve_documents", "grade_documents"],
        ["direct_response", "generate_response", "grade_relevance", "consolidate_memory", END],
    ]
    heights = []
    for names in rows:
        boxes = [layout.box(name) for name in names]
        assert [box.x for box in boxes] == sorted(box.x for box in boxes)
        assert len({box.center[1] for box in boxes}) == 1
        heights.append(boxes[0].y)
    assert heights[0] < heights[1]


@pytest.mark.parametrize("name", RUNS)
def test_every_decision_stands_on_the_edge_that_it_chose(name: str) -> None:
    """SC-12: several nodes decide within one run."""
    shown, run = picture(name), record(name)
    for decision in run.decisions:
        target = END if decision.route == "end" else decision.route
        edge = shown.edges[decision.node, target]
        same = [item for item in run.decisions if (item.node, item.route) == (decision.node, decision.route)]
        assert edge.taken == len(same)
        assert len(edge.detail.splitlines()) == len(same)
        assert edge.chips and edge.chips[0]
    travelled = {pair for pair, edge in shown.edges.items() if edge.taken}
    visited = {item.node for item in run.nodes}
    assert {target for _, target in travelled} - {END} == visited


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("name", RUNS)
def test_no_word_of_the_picture_is_missing(name: str, words: Words) -> None:
    shown = picture(name, words)
    said = [part for view in shown.nodes.values() for line in view.lines for part in line]
    said += [chip for edge in shown.edges.values() for chip in edge.chips] + [shown.status]
    assert [text for text in said if "_" in text or "{" in text] == []


def test_every_code_and_node_has_words() -> None:
    keys = [
        *(f"quantity_{code}" for code in get_args(Quantity)),
        *(f"kind_{code}" for code in get_args(SourceKind)),
        *(f"strategy_{code}" for code in get_args(Strategy)),
    ]
    assert [key for key in keys if key not in PICTURE] == []
    for loop in LOOPS:
        flow = workflow(loop).flow
        assert [name for name, node in flow.nodes.items() if not (node.name and node.work)] == []
        # The one that judges passages says how many it has judged instead.
        assert {name for name, node in flow.nodes.items() if not node.doing} == {flow.grading}


def test_the_quality_loop_says_kinds_shares_and_scores() -> None:
    """QL-01, QL-03"""
    lines = first_lines("quality: low, rewritten, high")
    assert re.fullmatch(r"base \d+ % · entities \d+ % · log 50 %", lines["question_router"])
    assert lines["retrieve"] == "base 12 · entities 12 · log 12"
    assert lines["fuse"] == "36 distinct · 10 kept"
    assert lines["rerank"] == "10 verdicts · best 0.90"
    assert lines["grade_documents"].startswith("score 0.60 → 0.7")
    assert lines["grade_documents"].endswith("· high")
    shown = picture("quality: low, rewritten, high")
    assert shown.nodes["rewrite"].lines[1][0].startswith("score +0.")
    assert shown.edges["grade_documents", "rewrite"].chips[0] == "0.60 < 0.65 and 0 < 2 → rewrite"
    assert picture("quality: at the limit").nodes["generate"].tone == "forced"
    assert picture("quality: unreadable").nodes["grade_documents"].tone == "fault"


def test_the_dual_loop_says_what_it_recalled_how_it_searched_and_what_it_kept() -> None:
    """DL-01, DL-06"""
    once = first_lines("dual: at once")
    assert (once["retrieve_memory"], once["route_query"], once["rewrite_query"]) == (
        "nothing recalled",
        "by section",
        "first → second",
    )
    assert once["retrieve_documents"].startswith("by section · ")
    assert (once["grade_relevance"], once["consolidate_memory"]) == ("passed", "kept in memory")
    remembered = first_lines("dual: from memory, corrected")
    assert (remembered["retrieve_memory"], remembered["route_query"]) == ("2 recalled", "direct answer")
    assert remembered["direct_response"] == "from memory"
    assert remembered["grade_relevance"] == "passed · 1 before"
    assert first_lines("dual: memory off")["retrieve_memory"] == "switched off"
    broken = first_lines("dual: memory and evaluator broken")
    assert (broken["retrieve_memory"], broken["grade_relevance"]) == ("could not be read", "not evaluated")
    shown = picture("dual: corrections used up")
    assert shown.nodes["consolidate_memory"].tone == "forced"
    assert shown.nodes["consolidate_memory"].lines[0][0] == "kept as a failure"
    assert shown.status.startswith("Answered below the bar after 2 rewrites")
    # The first rewrite of a run comes before anything was searched.
    assert "after" not in picture("dual: at once").status


def test_the_dual_loop_s_choices_are_distinguished_from_its_fallback() -> None:
    """DL-03"""
    shown = picture("dual: nothing helps")
    assert shown.nodes["grade_documents"].tone == "forced"
    assert shown.edges["grade_documents", END].tone == "forced"
    assert shown.edges["route_query", "rewrite_query"].chips[0] == "needs a search → rewrite"
    assert shown.edges["grade_documents", "retrieve_documents"].chips[0].endswith("→ next search")


def test_the_evaluation_loop_counts_answers_and_suggestions() -> None:
    """AE-01, AE-03"""
    lines = first_lines("answers: revised")
    assert lines["generate_answer"].startswith("answer 3 of at most 3")
    assert lines["eval_answer"] == "passed · 2, 2 before"
    shown = picture("answers: revised")
    assert shown.edges["eval_answer", "generate_answer"].chips[0] == "to fix 2 ≥ 1 and 2 < 3 → write again ×2"
    assert picture("answers: answers used up").nodes["eval_answer"].tone == "forced"
    assert picture("answers: abstains").edges["prepare", END].taken == 1


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("name", RUNS)
def test_the_saved_picture_and_path_are_well_formed_and_hold_every_visit(name: str, words: Words) -> None:
    run = record(name)
    svg = ElementTree.fromstring(workflow_svg(drawn(RUNS[name].workflow), run, words))
    shown = " ".join(item.text or "" for item in svg.iter("{http://www.w3.org/2000/svg}text"))
    dot = decision_path_dot(run, words)
    for item in run.nodes:
        assert node_text(item.node, run.workflow, words).split()[0] in shown
    for place in range(len(run.nodes)):
        assert f"visit{place} [" in dot
    for quantity in {comparison.quantity for decision in run.decisions for comparison in decision.comparisons}:
        assert word(words, "quantity", quantity) in dot


def test_each_further_answer_begins_a_row_of_the_path() -> None:
    dot = decision_path_dot(record("answers: revised"), EN)
    assert all(f"Evaluate · answer {n}" in dot for n in (1, 2, 3))
    assert dot.count("rank=same") == 3


def test_the_path_of_the_graph_shows_what_a_query_was_refined_to() -> None:
    run = record("graph: refined, in vain")
    dot = decision_path_dot(run, EN)
    assert run.rewrites
    assert all(f"→ {item.rewritten_query}" in dot for item in run.rewrites)
