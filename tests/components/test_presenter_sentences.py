"""One plain sentence a step: every reason, outcome and count in both languages, and never a wrong number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest

from components.ask.presenter_sentences import number, percent, sentence, what_if_sentence
from components.common.i18n import UiLanguage, words_for
from engine.model.config import RunConfig
from engine.model.decide import gated
from engine.model.values import (
    Comparison,
    Decision,
    Fault,
    Fork,
    GateReason,
    Outcome,
    Passage,
    PassageId,
    Quantity,
    Rewrite,
    Round,
    RunId,
    RunRecord,
)
from engine.replay import what_if
from engine.replay.playback import ReplayStep, steps
from engine.samples.demos import demo_events, demo_record

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])
UNMET = Comparison("pass_rate", 0.4, "<", 0.6)
CAUSES: Mapping[GateReason, tuple[Comparison, ...]] = {
    "passed": (Comparison("pass_rate", 0.6, ">=", 0.6),),
    "below_gate": (UNMET, Comparison("rewrites", 0, "<", 3)),
    "deadline": (UNMET, Comparison("elapsed_s", 130.0, ">=", 120.0)),
    "max_rewrites": (UNMET, Comparison("rewrites", 3, ">=", 3)),
    "repeated_rewrite": (UNMET, Comparison("repeated_rewrites", 1, ">=", 1)),
    "rewriter_failed": (UNMET, Comparison("failed_rewrites", 1, ">=", 1)),
    "no_passages": (UNMET, Comparison("candidates", 0, "==", 0)),
    "grader_unavailable": (UNMET, Comparison("ungraded", 3, ">=", 1)),
    "grader_failed": (Comparison("unreadable", 5, "==", 5),),
}


def passage(place: int, similarity: float = 0.5) -> Passage:
    return Passage(PassageId(f"p{place}"), "source.md", "Some text.", similarity, 0.9)


def round_of(total: int = 20, similar: int = 20, index: int = 0, config: RunConfig | None = None) -> Round:
    found = [passage(place, 0.5 if place < similar else 0.1) for place in range(total)]
    return Round(index=index, query="words", candidates=gated(found, config or RunConfig()))


def run(*decisions: Decision, config: RunConfig | None = None, **more: object) -> RunRecord:
    rounds = tuple(round_of(index=item.round) for item in decisions) or (round_of(),)
    record = RunRecord(
        id=RunId("r"),
        question="Why?",
        config=config or RunConfig(),
        started_at="2026-01-01T00:00:00+00:00",
        rounds=rounds,
        decisions=decisions,
    )
    return replace(record, **more)  # type: ignore[arg-type]


def decided(reason: GateReason, passed: int = 2, kept: int = 5, *comparisons: Comparison) -> Decision:
    route = {"below_gate": "rewrite", "grader_failed": "end"}.get(reason, "generate")
    return Decision(0, route, reason, comparisons or CAUSES[reason], passed, kept)


def judged(decision: Decision, language: UiLanguage = "en", config: RunConfig | None = None) -> str:
    return sentence(ReplayStep("judged", 9, 0, "grade"), run(decision, config=config), words_for(language))


def searched(current: Round, language: UiLanguage = "en", config: RunConfig | None = None) -> str:
    record = replace(run(config=config), rounds=(round_of(),) * current.index + (current,))
    return sentence(ReplayStep("searched", 4, current.index, "retrieve"), record, words_for(language))


@LANGUAGES
def test_every_reason_has_a_sentence_of_its_own(language: UiLanguage) -> None:
    """SC-04"""
    assert set(CAUSES) == set(get_args(GateReason))
    said = {reason: judged(decided(reason), language) for reason in CAUSES}
    assert len(set(said.values())) == len(said)
    for text in said.values():
        assert "{" not in text and "presenter." not in text
        assert text[-1] in ".。"


def test_the_sentence_of_the_picture_is_said_word_for_word() -> None:
    wanted = "Two of five passages help. That is under the bar of 60 %, so the question is rephrased."
    assert judged(decided("below_gate")) == wanted
    assert judged(decided("below_gate"), "zh") == "5 个片段中有 2 个有用。低于 60% 的及格线，于是换一种问法再找。"


@pytest.mark.parametrize(
    ("passed", "kept", "said"),
    [
        (0, 0, "No passage was similar enough to be judged."),
        (0, 1, "The one passage does not help."),
        (1, 1, "The one passage helps."),
        (0, 2, "Neither of the two passages helps."),
        (2, 2, "Both passages help."),
        (0, 5, "None of the five passages helps."),
        (1, 5, "One of five passages helps."),
        (13, 20, "13 of 20 passages help."),
        (5, 5, "All five passages help."),
    ],
)
def test_counts_are_put_in_correct_english(passed: int, kept: int, said: str) -> None:
    assert judged(decided("below_gate", passed, kept)).startswith(said)


@pytest.mark.parametrize(
    ("bound", "said"),
    [(0, "no rewrite is allowed"), (1, "the one rewrite is used up"), (2, "both rewrites"), (3, "all three rewrites")],
)
def test_a_spent_budget_of_rewrites_is_counted(bound: int, said: str) -> None:
    spent = Comparison("rewrites", bound, ">=", bound)
    assert f"but {said}" in judged(decided("max_rewrites", 2, 5, UNMET, spent))


def test_a_forced_answer_says_on_what_it_will_rest() -> None:
    none = decided("max_rewrites", 0)
    assert "make do with what did pass" in judged(decided("max_rewrites", 1))
    assert "say so honestly" in judged(none)
    assert "unverified" in judged(none, config=RunConfig(answer_unverified=True))
    before = replace(decided("below_gate", 1), round=0)
    record = run(before, replace(none, round=1))
    last = ReplayStep("judged", 20, 1, "grade")
    assert "what did pass" in sentence(last, record, words_for("en"))
    strict = replace(record, config=RunConfig(context="last_round"))
    assert "say so honestly" in sentence(last, strict, words_for("en"))


@LANGUAGES
@pytest.mark.parametrize("reason", [item for item in get_args(GateReason) if item != "grader_failed"])
def test_the_gate_by_number_is_said_as_a_number(language: UiLanguage, reason: GateReason) -> None:
    """SC-05"""
    relation = ">=" if reason == "passed" else "<"
    gate = Comparison("relevant_passages", 2, relation, 3)  # type: ignore[arg-type]
    said = judged(decided(reason, 1, 5, gate, *CAUSES[reason][1:]), language)
    # Two of all rounds where one is of this round, and the bound of three.
    assert ("Together with earlier rounds it is two." if language == "en" else "连同前几轮共有 2 个") in said
    assert ("three" if language == "en" else "至少 3 个") in said
    assert "%" not in said


@LANGUAGES
@pytest.mark.parametrize("quantity", get_args(Quantity))
def test_no_quantity_that_a_decision_may_carry_breaks_a_sentence(language: UiLanguage, quantity: Quantity) -> None:
    odd = Comparison(quantity, 1, "<", 2)
    assert judged(decided("below_gate", 2, 5, odd), language)


def test_what_a_search_kept_is_counted() -> None:
    """SC-02"""
    assert searched(round_of()) == "The retriever finds 20 passages; the best five go on to the grader."
    assert "all of them" in searched(round_of(total=3, similar=3))
    assert "Of the best five, only two are" in searched(round_of(similar=2))
    assert "only one is similar enough" in searched(round_of(similar=1))
    assert "none of the best five" in searched(round_of(similar=0))
    assert "holds no passages" in searched(round_of(total=0))
    assert "one passage, and it continues" in searched(round_of(total=1, similar=1))
    assert searched(round_of(index=1)).startswith("With the new words: the retriever finds")
    assert "passages of the round before stand" in searched(replace(round_of(index=1), searched=False))
    assert "time was used up" in searched(replace(round_of(), searched=False, candidates=()))


@LANGUAGES
def test_every_search_has_words_in_both_languages(language: UiLanguage) -> None:
    cases = [round_of(total=total, similar=similar) for total in (0, 1, 2, 20) for similar in range(min(total, 5) + 1)]
    assert all("{" not in searched(item, language) for item in cases)


@LANGUAGES
@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_has_a_last_sentence(language: UiLanguage, outcome: Outcome) -> None:
    record = run(decided("passed"), outcome=outcome)
    said = sentence(ReplayStep("ended", 30), record, words_for(language))
    assert said and "{" not in said and "presenter." not in said


def test_a_failed_run_says_what_failed() -> None:
    fault = Fault("WB301", "The model did not answer.", "Start it.", {})
    record = run(decided("passed"), outcome="failed", error=fault)
    assert "The model did not answer." in sentence(ReplayStep("ended", 30), record, words_for("en"))


def test_grading_that_was_cut_off_says_how_far_it_came() -> None:
    events = demo_events("demo-noise-en")
    from engine.model.events import fold_all

    cut = [event for event in events if event.seq <= [e.seq for e in events if e.kind == "passage_graded"][2]]
    said = sentence(steps(cut)[-1], fold_all(cut), words_for("en"))
    assert said == "The grader has judged three of five passages when the run ends."


@LANGUAGES
def test_rewrites_by_models_by_hand_repeated_and_failed_are_told_apart(language: UiLanguage) -> None:
    """SC-06"""
    plain = Rewrite(round=0, query="a", rewritten_query="b c", reason="", strategy="feedback")
    kinds = [plain, replace(plain, strategy="by_hand"), replace(plain, repeated=True), replace(plain, failed=True)]
    step = ReplayStep("rewritten", 12, 0, "rewrite")
    said = [sentence(step, run(rewrites=(item,)), words_for(language)) for item in kinds]
    assert len(set(said)) == 4
    assert "b c" in said[0] and "b c" in said[1]


@pytest.mark.parametrize(
    ("fork", "said"),
    [
        (Fork(RunId("p"), 1), "in round 1."),
        (Fork(RunId("p"), 0, settings=("top_k", "max_rewrites")), "Changed there: Top-k, Max rewrites."),
        (Fork(RunId("p"), 2, query="other"), "Changed there: the query."),
        (Fork(RunId("p"), 0, verdicts={PassageId("a"): True}), "Changed there: one verdict."),
        (Fork(RunId("p"), 0, verdicts={PassageId("a"): True, PassageId("b"): False}), "two verdicts."),
    ],
)
def test_a_fork_says_where_it_branched_off_and_what_was_changed(fork: Fork, said: str) -> None:
    asked = ReplayStep("asked", 1)
    assert said in sentence(asked, run(fork=fork), words_for("en"))
    assert "另一次运行" in sentence(asked, run(fork=fork), words_for("zh"))
    assert "another" not in sentence(asked, run(), words_for("en"))


@LANGUAGES
def test_what_if_says_where_the_run_would_have_gone(language: UiLanguage) -> None:
    record = demo_record(f"demo-forced-{language}")
    words = words_for(language)
    said = {
        bar: what_if_sentence(what_if(record, replace(record.config, grade_pass_threshold=bar)), record, words)
        for bar in (0.2, 0.8)
    }
    if language == "en":
        assert said[0.2] == (
            "With a bar of 20 % the run answers in round 0: no rewrites instead of three. The recorded answer stands."
        )
        assert said[0.8] == "With a bar of 80 % the run takes exactly the same path."
    else:
        assert said[0.2] == "及格线为 20% 时，运行在第 0 轮就能作答：重写 0 次，而不是 3 次。录制的回答原样成立。"
    noise = demo_record("demo-noise-en")
    beyond = what_if(noise, replace(noise.config, gate="pass_rate", grade_pass_threshold=1.0))
    assert ("beyond" if language == "en" else "录制之外") in what_if_sentence(beyond, noise, words)


def test_numbers_and_percentages() -> None:
    en, zh = words_for("en"), words_for("zh")
    assert [number(item, en) for item in (0, 2, 12, 13)] == ["no", "two", "twelve", "13"]
    assert [number(item, zh) for item in (0, 2, 13)] == ["0", "2", "13"]
    assert [percent(item, en) for item in (0.6, 0.125, 1 / 3, 1.0)] == ["60 %", "12.5 %", "33.33 %", "100 %"]
    assert percent(0.6, zh) == "60%"


@LANGUAGES
def test_a_fused_search_is_told_and_what_words_alone_brought_up_is_counted(language: UiLanguage) -> None:
    config = RunConfig(search="fused")
    found = [replace(passage(place), text_rank=place + 1, vector_rank=place or None) for place in range(20)]
    current = Round(0, "words", gated(found, config))
    said = searched(current, language, config)
    assert ("by words" if language == "en" else "按词语") in said
    assert ("Meaning alone would not have brought up one of them." if language == "en" else "其中 1 个只按语义") in said
    assert "按词语" not in searched(replace(current, index=1), language, config)
    by_words = searched(current, language, RunConfig(search="full_text"))
    assert by_words.startswith("By words alone: the retriever" if language == "en" else "只按词语检索：")
