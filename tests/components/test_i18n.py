"""The words of the pages: complete in both languages, and codes rendered from operands."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter
from typing import get_args

import pytest

from components.common.i18n import English, words_for
from components.common.outcomes import GATES, OUTCOMES, REASONS, outcome_text, reason_text
from components.common.phrases import (
    WANTED,
    decision_text,
    duration_text,
    inequality_text,
    probability_text,
    verdict_reason,
    verdict_text,
)
from engine.messages import NC_
from engine.model.config import ROLES, RoleName
from engine.model.values import QUANTITIES, AnswerKind, Comparison, Decision, Gate, Outcome, Quantity, Reason, Verdict
from engine.replay.gate_cost import GateCost
from pages.parts.ask.why import gate_cost_text

EN, ZH = words_for("en"), words_for("zh")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_code_of_a_run_has_words() -> None:
    assert set(get_args(Outcome)) <= OUTCOMES.keys()
    assert set(get_args(Reason)) <= REASONS.keys()
    assert set(get_args(Quantity)) <= QUANTITIES.keys()
    assert set(get_args(Gate)) <= GATES.keys()
    assert set(get_args(AnswerKind)) <= WANTED.keys()
    assert set(get_args(RoleName)) <= ROLES.keys()


def test_english_shows_a_message_without_its_context_and_loads_no_catalogue() -> None:
    assert EN(NC_("page", "Ask")) == "Ask"
    assert isinstance(EN.translations, English)


def test_a_message_without_a_translation_is_an_error() -> None:
    with pytest.raises(KeyError):
        ZH("no such message")


def test_one_thing_and_many_things_are_counted_differently_in_english() -> None:
    assert EN.count("1 run", "{n} runs", 1) == "1 run"
    assert EN.count("1 run", "{n} runs", 4) == "4 runs"
    assert ZH.count("1 run", "{n} runs", 1) == "1 次运行"


def test_parameters_with_braces_are_not_read_as_fields() -> None:
    assert EN("not searched again: {query}", query="{0.__class__}") == "not searched again: {0.__class__}"


DECISION = Decision(
    0,
    "rewrite",
    "below_gate",
    (Comparison("pass_rate", 0.4, "<", 0.6), Comparison("rewrites", 0, "<", 3)),
    passed=2,
    kept=5,
)


def test_a_decision_is_printed_with_its_inequality_in_either_language() -> None:
    """SC-04: the inequality as operands, rendered per language."""
    assert (
        decision_text(DECISION, "self_corrective", EN) == "as asked: pass rate 0.40 < 0.60 and rewrites 0 < 3 → Rewrite"
    )
    assert decision_text(DECISION, "self_corrective", ZH) == "原问题：通过率 0.40 < 0.60，且改写次数 0 < 3 → 改写"


def test_an_inequality_never_prints_equal_sides_as_different() -> None:
    """SC-04: never ``0.30 < 0.30``."""
    close = Decision(0, "rewrite", "below_gate", (Comparison("pass_rate", 0.599, "<", 0.6),), 0, 1)
    assert inequality_text(close, EN) == "pass rate 0.599 < 0.600"
    met = Decision(0, "generate", "passed", (Comparison("pass_rate", 0.6, ">=", 0.6),), 3, 5)
    assert inequality_text(met, ZH) == "通过率 0.60 ≥ 0.60"


def test_a_built_in_verdict_is_worded_from_its_terms_and_a_chat_models_is_left_alone() -> None:
    built_in = Verdict(True, 0.8, "covers a, b; nothing missing", covered=("血糖", "症状"))
    assert verdict_reason(built_in, EN) == "covers 血糖, 症状"
    assert verdict_reason(built_in, ZH) == "涵盖血糖、症状"
    headed = replace(built_in, headed=("症状",))
    assert verdict_reason(headed, EN) == "covers 血糖; covers 症状 in its heading alone"
    assert verdict_reason(headed, ZH) == "涵盖血糖；只在标题中涵盖症状"
    asked = Verdict(False, 0.7, "…", covered=("insulin",), missing=("year",), wanted="date", wanted_found=False)
    assert verdict_reason(asked, ZH) == "涵盖insulin；缺year；没有给出时间"
    spoken = Verdict(False, 0.9, "Off topic: {x}", missing=("y",), grader="ollama:qwen3:8b")
    assert verdict_reason(spoken, ZH) == "自报：Off topic: {x}"
    assert verdict_reason(spoken, EN) == "self-reported: Off topic: {x}"
    assert verdict_text(spoken, EN) == "✗ not relevant · P 0.10 (self-reported)"
    weighed = Verdict(True, 0.9, "It says so.", grader="ollama:qwen3:8b", raw=2.2, kind="token")
    assert verdict_reason(weighed, ZH) == "词元概率：It says so."
    assert verdict_reason(replace(weighed, reason="", fit="0123"), EN) == "token probability, fitted (0123)"
    assert verdict_text(weighed, EN) == "✓ relevant · P 0.90"
    assert verdict_text(replace(weighed, by_cut=True), EN) == "✓ relevant · P 0.90 (screener)", "it is no grader's P"


def test_outcomes_and_reasons_are_worded_and_an_unknown_reason_is_shown_as_it_is() -> None:
    assert (outcome_text("abstained", EN), outcome_text(None, ZH)) == ("Refused", "运行中")
    assert (reason_text("deadline", ZH), reason_text("WB401", ZH)) == ("时间用完", "WB401")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.0, "0 ms"),
        (0.42, "0.4 ms"),
        (62.4, "62 ms"),
        (344.0, "340 ms"),
        (994.0, "990 ms"),
        (996.0, "1.0 s"),
        (1612.0, "1.6 s"),
        (9960.0, "10 s"),
        (75_300.0, "75 s"),
    ],
)
def test_durations_have_two_figures(milliseconds: float, text: str) -> None:
    assert duration_text(milliseconds) == text


def test_probabilities_have_two_decimals() -> None:
    assert probability_text(0.9) == "0.90"


def test_chinese_sentences_follow_each_other_without_a_gap() -> None:
    cost = GateCost(round=0, relevant=2, rewrites=3, calls=0, built_in_calls=9, saved_ms=460.0)
    assert "。若" in gate_cost_text(cost, words_for("zh"))
    assert ". A" in gate_cost_text(cost, words_for("en"))
