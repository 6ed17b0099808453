"""Cuts are chosen for few calls that cost no right decision."""

from __future__ import annotations

from engine.model.values import Passage, PassageId
from tests.benchmarks.cascade import Decided, chosen
from tests.benchmarks.labelled_pairs import LabelledPair


def decided(cheap: float | None, dear: float, *, relevant: bool) -> Decided:
    passage = Passage(PassageId("p"), "s.md", "text", 0.5, 0.5)
    return Decided(LabelledPair("XQuAD", "en", "g", "?", passage, relevant), cheap, dear)


def test_the_cuts_leave_to_the_grader_what_the_screener_would_get_wrong() -> None:
    sure = [decided(0.02, 0.1, relevant=False), decided(0.97, 0.9, relevant=True)]
    unsure = [decided(0.4, 0.8, relevant=True), decided(0.6, 0.2, relevant=False)]
    cuts = chosen([*sure, *unsure])
    assert [item.in_cascade(cuts) for item in (*sure, *unsure)] == [(True, False)] * 2 + [(True, True)] * 2
    # Of the cuts that ask no more, those with the widest band.
    assert (cuts.cascade_low, cuts.cascade_high) == (0.05, 0.95)


def test_what_the_screener_cannot_read_is_always_a_call() -> None:
    unread = [decided(None, 0.9, relevant=True)]
    assert unread[0].in_cascade(chosen(unread)) == (True, True)
