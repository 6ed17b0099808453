"""What a rewrite changed, by words and by Chinese characters."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.ask.rewrites import ISSUE_NAMES, WISH_NAMES, Change, issues_answered, rewrite_why, word_diff
from components.common.i18n import words_for
from engine.builtin.quality_rewriter import SHARPER
from engine.builtin.query_intents import INTENTS
from engine.model.config import RoleModel, RoleModels
from engine.model.values import QualityIssueCode, Rewrite, Routing
from engine.samples.demos import demo_record
from tests.components.loop_runs import dual_record, quality_record

EN, ZH = words_for("en"), words_for("zh")


def test_words_are_compared_whole() -> None:
    """SC-12: rewrite history."""
    assert word_diff("high sugar feeling", "high blood sugar symptoms") == (
        Change("same", "high "),
        Change("added", "blood "),
        Change("same", "sugar "),
        Change("removed", "feeling"),
        Change("added", "symptoms"),
    )


def test_a_wholly_new_query_is_one_change_and_not_one_per_word() -> None:
    assert word_diff("what happens then", "thirst and fatigue") == (
        Change("removed", "what happens then"),
        Change("added", "thirst and fatigue"),
    )


def test_chinese_is_compared_by_character() -> None:
    assert word_diff("血糖 症状", "高血糖 症状") == (Change("added", "高"), Change("same", "血糖 症状"))


@pytest.mark.parametrize("text", ["", "same words"])
def test_equal_queries_have_no_changes(text: str) -> None:
    assert all(change.kind == "same" for change in word_diff(text, text))


@given(st.text(alphabet="ab 血糖，。"), st.text(alphabet="ab 血糖，。"))
def test_both_queries_can_be_read_from_the_changes(old: str, new: str) -> None:
    changes = word_diff(old, new)
    assert "".join(item.text for item in changes if item.kind != "added") == old
    assert "".join(item.text for item in changes if item.kind != "removed") == new


def test_a_rewrite_of_the_quality_loop_names_the_issues_that_it_answers() -> None:
    """QL-04"""
    record = quality_record()
    issues = issues_answered(record.rewrites[0], record, EN)
    assert issues == tuple(
        EN(ISSUE_NAMES[code]) for code in ("low_coverage", "low_relevance", "single_source", "too_few")
    )
    without = replace(record.rounds[0], routing=Routing(record.question, {"vector": 1.0}, missing=("temporal",)))
    lacking = replace(record, rounds=(without, *record.rounds[1:]))
    assert EN("too little from the study log") not in issues_answered(record.rewrites[0], lacking, EN)


def test_a_built_in_rewrite_of_the_quality_loop_is_worded_in_both_languages() -> None:
    record = quality_record()
    assert rewrite_why(record.rewrites[0], record, EN) == (
        "The query now asks for the history of weak points; asks for several kinds of sources; "
        "searches with the words: 血糖."
    )
    assert rewrite_why(record.rewrites[0], record, ZH).startswith("这次的查询：要求结合历史薄弱点；")
    models = RoleModels(rewriter=RoleModel("ollama:m"))
    chat = replace(record, config=replace(record.config, models=models))
    assert rewrite_why(replace(record.rewrites[0], reason="Own words."), chat, ZH) == "Own words."


def test_a_corrective_rewrite_names_what_was_wrong_with_the_answer() -> None:
    """DL-05"""
    record = dual_record()
    first, second = record.rewrites
    assert first.initial and not second.initial
    assert issues_answered(first, record, EN) == ()
    assert issues_answered(second, record, EN) == ("Answer what was asked: nothing is said about 感觉.",)
    assert issues_answered(second, record, ZH) == ("请回答所问的内容：回答没有谈到感觉。",)


def test_an_initial_rewrite_says_whether_it_changed_the_question() -> None:
    """DL-05"""
    record = dual_record()
    assert rewrite_why(record.rewrites[0], record, EN) == EN("The question is searched as it was asked.")
    cleared = replace(record.rewrites[0], rewritten_query="血糖太高")
    assert rewrite_why(cleared, record, ZH) == ZH(
        "Greetings and thanks were taken out, so that only the question is searched."
    )


def test_every_wish_and_issue_of_the_quality_loop_has_words() -> None:
    codes = [*INTENTS, SHARPER]
    assert set(codes) <= WISH_NAMES.keys()
    assert set(get_args(QualityIssueCode)) <= ISSUE_NAMES.keys()


def test_a_built_in_rewrite_says_what_its_record_names_and_a_chat_models_reason_is_left_alone() -> None:
    record = demo_record("demo-rescue-zh")
    made = Rewrite(0, "血糖 感觉", "血糖 感觉 口渴", "… were added: 口渴.", ("血糖", "感觉", "口渴"), "synonyms")
    assert rewrite_why(made, record, ZH) == "片段可能换了说法，于是补上近义词：口渴。"
    assert rewrite_why(made, record, EN).endswith("so these were added: 口渴.")
    assert rewrite_why(Rewrite(0, "a", "a", "No reply.", failed=True), record, EN) == "The old query stands. No reply."
    chat = replace(record, config=replace(record.config, models=RoleModels(rewriter=RoleModel("ollama:m"))))
    assert rewrite_why(replace(made, reason="More precise: b."), chat, ZH) == "More precise: b."
