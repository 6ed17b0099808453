"""The moments of a run as a page shows them: complete at every event, in words, and without a passage's text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ask.answer import answer_body
from components.ask.live_view import PLANS, moment, plan_of
from components.common.i18n import words_for
from components.common.markup import Node
from components.picture.drawing import painted, shapes_of
from components.picture.picture import picture_of
from engine.flow.graph import WorkflowGraph
from engine.model.config import SearchMethod
from engine.model.events import Event, fold, fold_all
from engine.model.values import Outcome, RunRecord
from engine.model.wording import Change, change_of
from tests.components.loop_events import RUNS as LOOPS
from tests.components.loop_events import drawn
from tests.components.test_workflow_export import LOOP
from tests.support.recorded import recorded_run

FOUR_NODES: list[tuple[int, Outcome]] = [
    (0, "answered"),
    (1, "answered"),
    (4, "answered"),
    (2, "answered_forced"),
    (1, "answered_unverified"),
    (1, "abstained"),
    (1, "cancelled"),
    (1, "failed"),
    (0, "interrupted"),
    (0, "fallback"),
]
EN = words_for("en")
NAMES = [*(f"{rewrites} {outcome}" for rewrites, outcome in FOUR_NODES), *LOOPS]


@cache
def named_run(name: str) -> tuple[WorkflowGraph, tuple[Event, ...]]:
    """A run by name: the graph of its workflow, and its events."""
    if name in LOOPS:
        return drawn(LOOPS[name].workflow), tuple(LOOPS[name].events())
    rewrites, outcome = FOUR_NODES[NAMES.index(name)]
    return LOOP, tuple(recorded_run(rewrites, outcome))


def records(name: str) -> Iterator[RunRecord]:
    """The record after each event."""
    record = None
    for event in named_run(name)[1]:
        record = fold(record, event)
        yield record


def parts_of(shape: Node) -> list[str]:
    own = [shape.attrs["data-part"]] if "data-part" in shape.attrs else []
    return [*own, *(name for kid in shape.kids if isinstance(kid, Node) for name in parts_of(kid))]


@pytest.mark.parametrize("name", NAMES)
def test_every_moment_of_a_run_paints_every_part_in_words(name: str) -> None:
    """SC-12: a part that a moment left out keeps what stood there before it."""
    graph = named_run(name)[0]
    parts = {plan: set(parts_of(shapes_of(plan_of(graph, plan), EN))) for plan in PLANS}
    assert parts["wide"] == parts["narrow"]
    for record in records(name):
        for plan, words in zip(PLANS, (EN, words_for("zh"), EN), strict=True):
            now = moment(graph, record, words, plan)
            paint = {part: attrs for part, attrs in now.items() if ":" in part}
            assert set(paint) == parts[plan]
            said = [attrs.get("text", "") + attrs.get("aria-label", "") for attrs in paint.values()]
            # Names of codes, and places that were not filled.
            assert [text for text in (*said, now["status"]) if "{" in text or "_" in text] == []


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_passages_drafts_or_memories_travels_with_a_moment(name: str) -> None:
    graph, events = named_run(name)
    record = fold_all(events)
    texts = [item.passage.text for current in record.rounds for item in current.candidates]
    texts += [draft.text for draft in record.drafts]
    texts += [item.answer for item in (record.recall.memories if record.recall else ())]
    shown = moment(graph, replace(record, answer=""), EN, "wide")
    sent = json.dumps(shown, ensure_ascii=False)
    assert [text for text in texts if text in sent] == []


def written(shown: Mapping[str, Any]) -> list[Any]:
    """The answer of a moment with its texts put back."""

    def whole(part: Any) -> Any:
        return shown[f"text.{part}"] if isinstance(part, int) else [*part[:2], [whole(kid) for kid in part[2]]]

    return [whole(block) for block in shown["answer"]]


def test_the_last_moment_shows_the_answer_as_the_page_writes_it_afterwards() -> None:
    *_, record = records("1 answered")
    shown = moment(LOOP, record, EN, "wide")
    finished = answer_body(record, EN).plain()[2]
    cited = json.dumps(finished)
    assert record.citations
    assert all(f"open:{item.passage_id}" in cited for item in record.citations)
    # More markers are buttons there: it is not known yet which of them will count.
    assert [block[0] for block in written(shown)] == [block[0] for block in finished]
    assert f"open:{record.citations[0].passage_id}" in json.dumps(written(shown))
    assert (shown["outcome"], shown["began"]) == ("answered", record.started_at)


def test_tokens_only_let_the_last_text_grow_within_a_paragraph() -> None:
    record = replace(fold_all(recorded_run(1)), answer="It needs **thirty-two** rows and")
    before = moment(LOOP, record, EN, "wide")
    after = moment(LOOP, replace(record, answer=f"{record.answer} no more"), EN, "wide")
    changed = {name: after[name] for name in after if after[name] != before.get(name)}
    assert changed == {"text.2": " rows and no more"}
    assert before["text.2"] == " rows and"


def test_hostile_text_of_an_answer_stays_text() -> None:
    bait = "<img src=x onerror=alert(1)> [link](javascript:alert(1)) ![](http://example.org/x)"
    shown = moment(LOOP, replace(fold_all(recorded_run(1)), answer=bait), EN, "wide")
    assert written(shown) == [["p", {}, ["<img src=x onerror=alert(1)> link"]]]


def test_a_further_answer_begins_empty() -> None:
    """AE-07: the answer before it is no longer the answer."""
    graph, events = named_run("answers: revised")
    begun = next(place for place, event in enumerate(events) if event.kind == "answer_begun")
    before, after = (moment(graph, fold_all(events[:end]), EN, "wide") for end in (begun, begun + 1))
    assert before["answer"]
    assert after["answer"] is None


@pytest.mark.parametrize(("search", "said"), [("vector", "by meaning"), ("full_text", "by words"), ("fused", None)])
def test_the_retriever_says_how_passages_were_looked_for(search: SearchMethod, said: str | None) -> None:
    view = picture_of(LOOP, fold_all(recorded_run(1, search=search)), EN)
    longest = [line[0] for line in view.nodes["retrieve"].lines]
    assert any(said in line for line in longest) if said else not any("by " in line for line in longest)


def test_a_grader_at_work_is_measured_and_the_way_to_it_is_alive() -> None:
    seen = []
    for record in records("1 answered"):
        paint = painted(plan_of(LOOP, "wide"), picture_of(LOOP, record, EN))
        if paint["node:grade"]["class"].split()[1] == "active":
            assert "measured" in paint["node:grade"]["class"]
            assert "live" in paint["edge:retrieve>grade"]["class"]
            seen.append(paint["done:grade"]["style"])
    assert len(set(seen)) > 2
    assert seen[0].endswith("scaleX(0.000)")


def test_a_grader_at_work_again_says_what_passed_before() -> None:
    for record in records("1 answered"):
        node = picture_of(LOOP, record, EN).nodes["grade"]
        if node.tone == "active":
            assert ("1/5 before" in str(node.lines)) is (len(record.rounds) == 2)


# -- how much a rewrite gained ---------------------------------------------------------------------------------------


def test_changes_are_printed_with_the_digits_that_make_them_true() -> None:
    assert change_of(0.695, 0.694) == Change("0.695", "0.694", "0.001", -1)
    assert change_of(0.6951, 0.6949) == Change("0.695", "0.695", "0.000", 0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_change_looks_like_one_exactly_where_it_is_one(before: float, after: float) -> None:
    change = change_of(before, after)
    assert (change.before == change.after) == (change.direction == 0) == (float(change.size) == 0.0)
    if change.direction:
        assert (float(change.after) > float(change.before)) == (after > before) == (change.direction > 0)
