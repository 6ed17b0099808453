"""Rows of the panel Verdicts: every verdict of a record once, every candidate counted, and the same from the stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ask.verdict_rows import shown_rounds, verdict_values
from components.common.i18n import words_for
from engine.model.config import RunConfig
from engine.model.decide import gated
from engine.model.events import ReasonGiven, fold, fold_all
from engine.model.values import Passage, PassageId, ReasonAsked, Round, RunId, RunRecord, SetVerdict, Verdict
from engine.samples.demos import all_demos, demo_record
from pages.parts.ask.verdicts import reasons_text
from tests.components.sample_run import sample_events, sample_record
from tests.components.test_live_view import NAMES, records

EN = words_for("en")
_SCORE = Verdict(True, 0.95, "a score", grader="cross_encoder:m", raw=2.9)
_SAID = Verdict(True, 0.7, "It says so.", grader="ollama:m")
DEMOS = [demo.id for demo in all_demos()]


def every_run() -> Iterator[RunRecord]:
    yield from map(demo_record, DEMOS)
    for name in NAMES:
        yield from records(name)


def test_every_verdict_of_a_round_is_one_row_and_every_candidate_is_counted() -> None:
    """Nothing that was dropped disappears."""
    seen = 0
    for record in every_run():
        shown = shown_rounds(record, EN)
        assert len(shown) == len(record.rounds)
        for current, made in zip(record.rounds, shown, strict=True):
            ids = [row["id"] for row in made["rows"]]
            assert len(ids) == len(set(ids))
            assert set(current.verdicts) <= set(ids)
            assert len(ids) + made["dropped"] == len(current.candidates)
            counted = made["rest"].partition(": ")[2].split(" · ") if made["rest"] else []
            assert sum(int(part.split()[0]) for part in counted) == made["dropped"]
            seen += len(current.verdicts)
    assert seen > 200


@pytest.mark.parametrize(
    ("verdict", "screened", "reason", "cut"),
    [
        (replace(_SCORE, by_cut=True), _SCORE, "screener: P 0.95 ≥ 0.90", 0.9),
        (replace(_SCORE, relevant=False, confidence=0.9, by_cut=True), _SCORE, "screener: P 0.10 < 0.20", 0.2),
        (replace(_SCORE, by_cut=True, confidence=0.6), _SCORE, "decided by the screener", None),
        (replace(_SCORE, by_cut=True, confidence=0.6, cut=0.55), _SCORE, "screener: P 0.60 ≥ 0.55", 0.55),
        (replace(_SCORE, by_cut=True, cut=0.8), _SCORE, "screener: P 0.95 ≥ 0.80", 0.8),
        (_SAID, replace(_SCORE, confidence=0.5), "screener: P 0.50, so the grader decided; ", None),
        (_SAID, replace(_SCORE, relevant=None), "screener: unreadable, so the grader decided; ", None),
    ],
)
def test_a_row_of_a_cascade_says_who_decided_and_by_which_inequality(
    verdict: Verdict, screened: Verdict, reason: str, cut: float | None
) -> None:
    """BE-03: the mark on the bar is that of the threshold that the P is about."""
    record = sample_record()
    name = record.rounds[0].kept[0].id
    current = replace(record.rounds[0], verdicts={name: verdict}, screened={name: screened}, reused=())
    shown = shown_rounds(replace(record, rounds=(current,)), EN)[0]
    row = next(item for item in shown["rows"] if item["id"] == name)
    assert reason in row["reason"] and row.get("cut") == cut
    asked = 0 if verdict.by_cut else 1
    assert shown["rest"].startswith(f"{asked} of 1 kept passages that were screened went to the grader")


def test_kept_passages_come_first_in_the_order_of_the_search() -> None:
    for record in map(demo_record, DEMOS):
        for current, made in zip(record.rounds, shown_rounds(record, EN), strict=True):
            kept = [item.passage.id for item in current.candidates if item.gate == "kept"]
            assert [row["id"] for row in made["rows"]][: len(kept)] == kept
            dropped = [row["dropped"] for row in made["rows"]]
            assert dropped == sorted(dropped) and dropped.count(False) == len(kept)


@pytest.mark.parametrize("name", NAMES)
def test_the_stream_carries_the_same_rows_one_by_one(name: str) -> None:
    """SC-12: the panel is complete at every event of a run, of what its stream sent until then."""
    sent: dict[str, Any] = {}
    for record in records(name):
        sent |= verdict_values(record, EN)
        rounds = [sent[f"round.{place}"] for place in range(len(record.rounds))]
        rows = [[sent[f"row.{place}.{n}"] for n in range(own["rows"])] for place, own in enumerate(rounds)]
        assert [{**own, "rows": found} for own, found in zip(rounds, rows, strict=True)] == shown_rounds(record, EN)


def test_a_passage_waits_for_its_verdict_while_the_run_is_in_progress() -> None:
    looks: list[str] = []
    record = None
    for event in sample_events():
        record = fold(record, event)
        if record.rounds and record.active:
            looks += [row["look"] for row in shown_rounds(record, EN)[0]["rows"]]
    assert {"wait", "pass"} <= set(looks)
    assert record is not None and "wait" not in str(shown_rounds(record, EN))


@given(st.integers(0, 100), st.booleans(), st.integers(5, 95))
def test_sign_and_side_of_the_threshold_are_those_of_the_verdict(p: int, said: bool, bar: int) -> None:
    record = sample_record()
    name = next(iter(record.rounds[0].verdicts))
    verdict = Verdict(said, p / 100 if said else 1 - p / 100, "why", grader="ollama:m")
    first = replace(record.rounds[0], verdicts={name: verdict}, reused=())
    config = replace(record.config, min_confidence=bar / 100)
    row = next(
        row for row in shown_rounds(replace(record, rounds=(first,), config=config), EN)[0]["rows"] if row["id"] == name
    )
    passes = verdict.passes(bar / 100)
    assert row["look"] == ("pass" if passes else "fail")
    assert row["said"] == ("relevant" if said else "not relevant")
    assert row["p"] == f"{verdict.p_relevant:.2f}".removeprefix("0")
    # Where the grader's word and the sign differ, the row says what decided.
    assert (row["reason"] == "self-reported: why") == (said == passes and not verdict.held_back(bar / 100))


def test_an_unreadable_verdict_has_no_probability() -> None:
    record = sample_record()
    name = next(iter(record.rounds[0].verdicts))
    first = replace(record.rounds[0], verdicts={name: Verdict(None, 0.0, "no reply", grader="ollama:m")}, reused=())
    row = next(row for row in shown_rounds(replace(record, rounds=(first,)), EN)[0]["rows"] if row["id"] == name)
    assert (row["look"], row["said"], "p" in row) == ("fault", "unreadable", False)


def test_rounds_are_named_by_what_was_searched() -> None:
    names = {str(name): [item["name"] for item in shown_rounds(demo_record(name), EN)] for name in DEMOS}
    assert names["demo-rescue-en"] == ["as asked", "rewrite 1"]
    assert names["demo-forced-en"] == ["as asked", "rewrite 1", "rewrite 2", "rewrite 3"]
    assert names["demo-correction-en"][1:] == ["rewrite 1 · hierarchical search", "rewrite 2 · hierarchical search"]


@pytest.mark.parametrize("answered", ["yes", "part", "no"])
def test_the_built_in_judge_says_words_and_never_that_passages_answer(answered: Any) -> None:
    """Where no one asked, nothing is said: that passages cover the words would read as if they answered."""
    record = demo_record("demo-passes-en")
    assert all(item["whole"] == [] for item in shown_rounds(record, EN))
    said = SetVerdict((), answered, "", missing=("cost",))
    (look, text) = shown_rounds(replace(record, rounds=(replace(record.rounds[0], whole=said),)), EN)[0]["whole"]
    assert "of the question" in text and "answer" not in text
    assert ("missing: cost" in text) == (answered != "yes")
    assert look != "pass"


@pytest.mark.parametrize(("language", "asked"), [("en", "do not answer it"), ("zh", "不能")])
def test_what_a_model_says_of_all_passages_is_shown_with_its_reason(language: Any, asked: str) -> None:
    record = fold_all(sample_events())
    said = SetVerdict((), "no", "Nothing at all.", grader="ollama:m")
    changed = replace(record, rounds=(replace(record.rounds[0], whole=said),))
    look, text = shown_rounds(changed, words_for(language))[0]["whole"]
    assert look == "warn" and asked in text and "Nothing at all." in text


WEIGHED = Verdict(True, 0.9, "", grader="ollama:m", raw=2.2, kind="token")


@pytest.mark.parametrize(
    ("reasons", "coming", "text"),
    [
        ((), True, "Reasons of verdicts still to come: 2."),
        ((), False, "Verdicts without a reason, as none was asked for: 2."),
        (("It says so.",), False, "Verdicts without a reason, as none was asked for: 1."),
        (("It says so.", ""), False, "Verdicts without a reason, as none could be had when asked for: 1."),
        (("It says so.", "So it does."), False, ""),
    ],
    ids=["coming", "none", "closed meanwhile", "failed", "all"],
)
def test_it_is_said_which_verdicts_of_one_word_have_no_reason(
    reasons: tuple[str, ...], coming: bool, text: str
) -> None:
    """SC-03"""
    names = ("p1", "p2")
    passages = [Passage(PassageId(name), "a.md", "text", 0.9, 0.9) for name in names]
    judged = Round(0, "q", gated(passages, RunConfig()), verdicts={item.id: WEIGHED for item in passages})
    record = RunRecord(RunId("r"), "q", RunConfig(), "2026-01-01", rounds=(judged,), outcome="answered")
    for seq, (item, reason) in enumerate(zip(passages, reasons, strict=False), start=1):
        record = fold(record, ReasonGiven(seq=seq, asked=ReasonAsked(item.id, reason)))
    assert reasons_text(record, coming, EN) == text
    assert [item.reason for item in record.rounds[0].verdicts.values()] == [*reasons, *[""] * (2 - len(reasons))]
