"""The browser's fold and view, run by the node program that Playwright brings, against their Python twins."""

from __future__ import annotations

from dataclasses import asdict
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.words_live import live_words
from components.workflow_export import fit, width_of
from components.workflow_picture import picture_of
from engine.config import SearchMethod
from engine.events import fold_all
from engine.records.codec import record_to_dict
from engine.values import Outcome, Quantity
from engine.wording import Change, change_of, operands
from tests.components.in_browser import in_browser, node, plain
from tests.components.test_workflow_export import HOSTILE, LOOP
from tests.support.recorded import recorded_run

__all__ = ["node"]

RUNS: list[tuple[int, Outcome]] = [
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


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("rewrites", "outcome"), RUNS)
def test_browser_and_export_tell_the_same_story_at_every_event(
    node: list[str], rewrites: int, outcome: Outcome, language: str
) -> None:
    """SC-12: live, replayed and exported pictures are one."""
    events = recorded_run(rewrites, outcome)
    words = live_words("zh" if language == "zh" else "en")
    shown = in_browser(node, events, language)
    for cut in range(len(events)):
        record = record_to_dict(fold_all(events[: cut + 1]))
        assert shown["views"][cut] == plain(picture_of(LOOP, record, words)), events[cut].kind
    assert shown["stored"] == shown["views"][-1]
    assert shown["rest"] == plain(picture_of(LOOP, None, words))


def test_a_replay_after_a_lost_connection_changes_nothing(node: list[str]) -> None:
    events = recorded_run(1)
    shown = in_browser(node, events)
    assert shown["same"] is True
    assert shown["answer"] == fold_all(events).answer


def test_an_event_before_the_first_is_ignored(node: list[str]) -> None:
    events = recorded_run(0)
    shown = in_browser(node, events, leave_out=1, cuts=[0, len(events) - 2])
    assert shown["views"] == [shown["rest"]] * 2


def test_both_sides_shorten_the_same_texts(node: list[str]) -> None:
    texts = [
        "血糖 → 高血糖 症状",
        "20 probed · 5 kept",
        "WWWmmm",
        "i" * 60,
        "👩‍🚀 emoji",
        *(t for t in HOSTILE if t.isprintable()),
    ]
    shown = in_browser(node, recorded_run(0), texts=texts)
    for text, (width, short) in zip(texts, shown["texts"], strict=True):
        assert width == pytest.approx(width_of(text, 12))
        assert short == fit([text], 60, 12)


def test_both_sides_print_the_same_operands(node: list[str]) -> None:
    decisions = fold_all(recorded_run(1)).decisions
    sample = decisions[0].comparisons[0]
    pairs = [(0.125, 0.13), (0.375, 0.4), (0.29999, 0.3), (0.3, 0.3000001), (0.625, 0.63), (0.065, 0.07), (2 / 3, 0.7)]
    comparisons = [
        type(sample)(quantity=quantity, value=value, relation="<", bound=bound)
        for value, bound in pairs
        for quantity in get_args(Quantity)
    ]
    given = [{"quantity": c.quantity, "value": c.value, "relation": c.relation, "bound": c.bound} for c in comparisons]
    shown = in_browser(node, recorded_run(0), comparisons=given)
    assert [tuple(pair) for pair in shown["operands"]] == [operands(comparison) for comparison in comparisons]


CHANGES = [
    (0.695, 0.694),
    (0.6951, 0.6949),
    (0.69505, 0.69495),
    (0.125, 0.375),
    (0.7, 1 / 3),
    (0.5, 0.5),
    (0.4, 0.6),
    (0.994, 1.0),
]


def test_both_sides_print_the_same_changes_with_the_digits_that_make_them_true(node: list[str]) -> None:
    shown = in_browser(node, recorded_run(0), changes=CHANGES)
    assert shown["changes"] == [asdict(change_of(*pair)) for pair in CHANGES]
    assert change_of(0.695, 0.694) == Change("0.695", "0.694", "0.001", -1)
    assert change_of(0.6951, 0.6949) == Change("0.695", "0.695", "0.000", 0)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_change_looks_like_one_exactly_where_it_is_one(before: float, after: float) -> None:
    change = change_of(before, after)
    assert (change.before == change.after) == (change.direction == 0) == (float(change.size) == 0.0)
    if change.direction:
        assert (float(change.after) > float(change.before)) == (after > before) == (change.direction > 0)


@pytest.mark.parametrize(
    ("search", "said"), [("vector", None), ("full_text", "by words"), ("fused", "by meaning and words")]
)
def test_both_sides_say_how_passages_were_looked_for(node: list[str], search: SearchMethod, said: str | None) -> None:
    events = recorded_run(1, search=search)
    shown = in_browser(node, events)["stored"]
    picture = picture_of(LOOP, record_to_dict(fold_all(events)), live_words("en"))
    assert shown == plain(picture)
    longest = [line[0] for line in picture.nodes["retrieve"].lines]
    assert any(said in line for line in longest) if said else not any("meaning" in line for line in longest)
