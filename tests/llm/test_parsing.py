"""Replies as models really write them: read where they are clear, refused where they are not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.evaluator import EvaluationReply
from engine.llm.examples import given_back
from engine.llm.parsing import (
    LONGEST_REPLY,
    RewriteReply,
    VerdictReply,
    json_objects,
    plain_text,
    read_confidence,
    read_cut_reply,
    read_reply,
)

YES = VerdictReply(relevant=True, confidence=0.8, reason="It doesn't matter.")

READABLE = [
    '{"relevant": true, "confidence": 0.8, "reason": "It doesn\'t matter."}',
    '```json\n{"relevant": true, "confidence": 0.8, "reason": "It doesn\'t matter."}\n```',
    'Sure! {"relevant": true, "confidence": 0.8, "reason": "It doesn\'t matter.",} I hope this helps.',
    "{'relevant': True, 'confidence': 0.8, 'reason': 'It doesn't matter.'}",
    '{relevant: yes, confidence: 80, reason: "It doesn\'t matter."}',
    '{"relevant": "是", "confidence": "80%", "reason": "It doesn\'t matter."}',
    "{“relevant”：true，“confidence”：0.8，“reason”：“It doesn't matter.”}",
    '{"Relevant": 1, "CONFIDENCE": "8/10", "reason": ["It doesn\'t", "matter."]}',
    '{"verdict": {"relevant": true, "confidence": 0.8, "reason": "It doesn\'t matter."}}',
    '[{"relevant": true, "confidence": 0.8, "reason": "It doesn\'t\\nmatter."}]',
    '{"relevant": true, "confidence": 0.8, "reason": "It doesn\'t\nmatter."}',
    '{"相关": "相关", "置信度": "８０％", "理由": "It doesn\'t matter."}',
]


@pytest.mark.parametrize("reply", READABLE)
def test_a_verdict_is_read_however_it_is_dressed(reply: str) -> None:
    assert read_reply(reply, VerdictReply) == YES


UNREADABLE = [
    "",
    "Yes, it is relevant.",
    "{}",
    "{" * 5000,
    "{'" * 5000,
    '{"relevant": true}',
    '{"relevant": true, "confidence": 0.8',
    '{"relevant": "maybe", "confidence": 0.8}',
    '{"relevant": null, "confidence": 0.8}',
    '{"relevant": true, "confidence": true}',
    '{"relevant": true, "confidence": "high"}',
    '{"relevant": true, "confidence": NaN}',
    '{"relevant": {"type": "boolean"}, "confidence": {"type": "number"}}',
    '{"relevant": false, "confidence": 0.9} or {"relevant": true, "confidence": 0.9}',
    '{"relevant": false, "confidence": 0.9, "reason": "it says ", "relevant": true, "x": ""}',
]


@pytest.mark.parametrize("reply", UNREADABLE, ids=lambda reply: reply[:30])
def test_what_is_unclear_or_contradicts_itself_is_never_a_verdict(reply: str) -> None:
    """SC-03."""
    assert read_reply(reply, VerdictReply) is None


@pytest.mark.parametrize(
    ("given_value", "share"),
    [
        (0, 0.0), (0.25, 0.25), (1, 1.0), (1.2, 1.0), ("0.7", 0.7), ("70 %", 0.7), (70, 0.7), (100, 1.0),
        ("7/10", 0.7), ("150%", None), (2, None), (9, None), (10, None), (101, None), (-0.1, None), ("7/0", None),
        (float("inf"), None), (True, None), ("", None), (None, None), ([0.5], None),
    ],
)  # fmt: skip
def test_a_confidence_whose_scale_cannot_be_told_is_not_guessed(given_value: object, share: float | None) -> None:
    assert read_confidence(given_value) == share


@given(
    st.booleans(), st.floats(0, 1), st.text(max_size=200), st.sampled_from(["{}", "```json\n{}\n```", "Well: {} ok"])
)
def test_whatever_json_writes_is_read_back(relevant: bool, confidence: float, reason: str, frame: str) -> None:
    written = json.dumps({"relevant": relevant, "confidence": confidence, "reason": reason})
    read = read_reply(frame.replace("{}", written), VerdictReply)
    assert read is not None
    assert (read.relevant, read.confidence) == (relevant, confidence)


@given(st.text(alphabet="{}[]\"':,\\ truefals0159.%relvantcofid\n“”，：", max_size=120))
def test_no_text_makes_the_reader_fail_or_leave_the_range(text: str) -> None:
    read = read_reply(text, VerdictReply)
    assert read is None or 0 <= read.confidence <= 1
    assert all(isinstance(item, dict) for item in json_objects(text))


@given(st.text(max_size=300))
def test_text_that_names_no_verdict_is_never_read_as_one(text: str) -> None:
    """SC-03: never a silent pass."""
    if "relevant" not in text.casefold() and "相关" not in text:
        assert read_reply(text, VerdictReply) is None


@given(st.booleans(), st.booleans(), st.floats(0, 1), st.floats(0, 1))
def test_two_objects_count_only_where_they_agree(one: bool, other: bool, sure: float, surer: float) -> None:
    reply = (
        f"{json.dumps({'relevant': one, 'confidence': sure})} {json.dumps({'relevant': other, 'confidence': surer})}"
    )
    assert (read_reply(reply, VerdictReply) is not None) is ((one, sure) == (other, surer))


def test_what_stands_beyond_the_longest_reply_is_not_looked_at() -> None:
    assert read_reply(" " * LONGEST_REPLY + READABLE[0], VerdictReply) is None


def test_a_rewrite_is_read_with_its_keywords_and_a_strategy_that_exists() -> None:
    reply = (
        '{"query": " insulin\\ntypes ", "reason": "too wide", "keywords": "insulin、types, insulin", "strategy": "X"}'
    )
    assert read_reply(reply, RewriteReply) == RewriteReply(
        query="insulin types", reason="too wide", keywords=("insulin", "types"), strategy=""
    )
    known = read_reply('{"query": "a", "keywords": null, "strategy": "Broader"}', RewriteReply)
    assert known is not None and (known.keywords, known.strategy) == ((), "broader")


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("胰岛素应该怎样保存？[1]", "胰岛素应该怎样保存？"),
        ("[1][2] how to store insulin", "how to store insulin"),
        ("store insulin [1] [2]", "store insulin"),
        ("what is list[1]", "what is list[1]"),
        ("the interval [0, 1]", "the interval [0, 1]"),
    ],
)
def test_numbers_of_passages_are_no_part_of_a_query(said: str, query: str) -> None:
    reply = read_reply(json.dumps({"query": said, "reason": "r"}), RewriteReply)
    assert reply is not None and reply.query == query


@pytest.mark.parametrize("query", ["", "  ", "??", "[1]", "a" * 401, None, 3, ["a"]])
def test_a_query_that_cannot_be_searched_is_no_rewrite(query: object) -> None:
    assert read_reply(json.dumps({"query": query, "reason": "r"}), RewriteReply) is None


@given(st.text(max_size=80), st.integers(1, 40))
def test_plain_text_is_one_line_of_bounded_length(text: str, longest: int) -> None:
    plain = plain_text(text, longest)
    assert len(plain) <= longest
    assert len(plain.splitlines()) <= 1
    assert "\x00" not in plain


def test_a_reply_cut_inside_its_reason_counts_with_the_reason_so_far() -> None:
    """M1"""
    for text in (
        '{"relevant": false, "sure": 0.9, "why": "It is about',
        '{"relevant": false, "sure": 0.9, "why": "It is about\\u',
    ):
        assert read_cut_reply(text, VerdictReply) == VerdictReply(relevant=False, confidence=0.9, reason="It is about…")
    cut = '{"query": "insulin dose", "reason": "Too wide.", "keywords": ["insulin", "do'
    assert read_cut_reply(cut, RewriteReply) == RewriteReply(query="insulin dose", reason="Too wide.")


@pytest.mark.parametrize(
    "text",
    [
        '{"relevant": true, "sure": 0.',
        '{"relevant": true, "sure": 0',
        '{"relevant": tr',
        '{"confidence": 0.5, "reason": "It goes on and on',
        "no object",
        "{",
        '{"relevant": false, "sure": 0.9, "relevant": true, "why": "x',
    ],
)
def test_a_reply_cut_before_what_decides_is_none(text: str) -> None:
    assert read_cut_reply(text, VerdictReply) is None


def test_a_cut_evaluation_keeps_its_complete_suggestions_alone() -> None:
    one = '{"dimension": "reasonableness", "suggestion": "Say when.", "quote": ""}'
    reply = read_cut_reply('{"passed": false, "suggestions": [' + one + ', {"dimension": "reas', EvaluationReply)
    assert reply is not None and [item.text for item in reply.suggestions] == ["Say when."]
    nothing = read_cut_reply('{"passed": false, "suggestions": [{"dimension": "reas', EvaluationReply)
    assert nothing is None or not nothing.usable


@given(st.text(max_size=60), st.integers(0, 80))
def test_no_cut_changes_what_decides(reason: str, length: int) -> None:
    whole = json.dumps({"relevant": False, "sure": 0.75, "why": reason}, ensure_ascii=False)
    read = read_cut_reply(whole[:length], VerdictReply)
    assert read is None or (read.relevant, read.confidence) == (False, 0.75)


def test_an_example_with_one_word_put_in_is_still_the_example() -> None:
    assert given_back("它问的是一座真值表的一个年份。") and given_back("It asks for one year of one truth table.")
    assert not given_back("片段说明了真值表的定义。") and not given_back(
        "The passage says when insulin was discovered."
    )
    assert not given_back("它问的是真值表的定义。") and not given_back("It asks for the definition of a truth table.")
