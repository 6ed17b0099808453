"""Replies as models really write them: read where they are clear, refused where they are not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.evaluator import EvaluationReply
from engine.llm.examples import given_back
from engine.llm.json_text import LONGEST_REPLY, json_objects
from engine.llm.parsing import (
    RewriteReply,
    VerdictReply,
    plain_text,
    read_confidence,
    read_cut_reply,
    read_reply,
    word_of,
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
    '｛"relevant": "是，相关", "confidence": "0,8", "reason": "It doesn\'t matter."｝',
    '{"relevant": true, "confidence": 0,8, "reason": "It doesn\'t matter."}',
    '{"relevant": true, // it does\n "confidence": "about 80 percent (rather)", "reason": "It doesn\'t matter."}',
    '{"binary_score": "**Yes**", "certainty": "4 out of 5", "explanation": "It doesn\'t matter."}',
    # The calls of tools, as models write them into their text or servers send their arguments.
    '<tool_call>{"name": "verdict", "arguments": '
    '{"relevant": true, "sure": 0.8, "why": "It doesn\'t matter."}}</tool_call>',
    '{"type": "function", "function": {"name": "verdict", "arguments": '
    '"{\\"relevant\\": true, \\"sure\\": 0.8, \\"why\\": \\"It doesn\'t matter.\\"}"}}',
    '"{\\"relevant\\": true, \\"sure\\": 0.8, \\"why\\": \\"It doesn\'t matter.\\"}"',
    "<function=verdict><parameter=relevant>\ntrue\n</parameter><parameter=sure>0.8</parameter>"
    "<parameter=why>It doesn't matter.</parameter></function>",
    # Lines without JSON.
    "**Relevant:** yes\n**Confidence:** 0.8\n**Reason:** It doesn't matter.",
    "- relevant: true\n- sure: 80 %\n- why: It doesn't matter.",
    "相关：是\n置信度：0.8\n理由：It doesn't matter.",
]

BARE = [
    *(
        (word, True)
        for word in ("yes", "Yes.", "**Yes**", "`yes`", "```\nyes\n```", "TRUE", "是", "相关", "Relevant!", "是的。")
    ),
    *((word, False) for word in ("no", "No.", "否", "不相关", "Not relevant", "false", "不是")),
    ('{"relevant": true}', True),
    ('{"verdict": "irrelevant"}', False),
    ("Verdict: yes", True),
    ('{"relevant": "Yes", "confidence": null}', True),
]


@pytest.mark.parametrize(("reply", "relevant"), BARE)
def test_a_yes_or_no_alone_is_read_as_such(reply: str, relevant: bool) -> None:
    """SC-03: with no confidence that it has not given."""
    assert read_reply(reply, VerdictReply) == VerdictReply(relevant=relevant, confidence=None)
    assert read_cut_reply(reply, VerdictReply) is None


@pytest.mark.parametrize("reply", READABLE)
def test_a_verdict_is_read_however_it_is_dressed(reply: str) -> None:
    assert read_reply(reply, VerdictReply) == YES


UNREADABLE = [
    "",
    "Yes, it is relevant.",
    "{}",
    "{" * 5000,
    "{'" * 5000,
    "Yes, but only in part.",
    "yes and no",
    "yes, no",
    "not yes",
    "Relevant: yes\nVerdict: no",
    "relevant: yes\nrelevant: no",
    "<relevant>yes</relevant><relevant>no</relevant>",
    '{"relevant": true, "verdict": "no", "confidence": 0.8}',
    '{"relevant": "Yes, partially", "confidence": 0.8}',
    '{"relevant": "maybe", "finding": {"relevant": true, "sure": 1}}',
    '{"finding": "{\'relevant\': true, \'sure\': 1}", "comment": "none"}',
    '{"finding": "{\\"relevant\\": true, \\"sure\\": 1}", "why": "cut he',
    '{"relevant": 0.9, "confidence": 0.8}',
    '{"relevant": true, "confidence": 0.8',
    '{"relevant": "maybe", "confidence": 0.8}',
    '{"relevant": null, "confidence": 0.8}',
    '{"relevant": true, "confidence": true}',
    '{"relevant": true, "confidence": "unclear"}',
    '{"relevant": true, "confidence": "80-95 %"}',
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
        ("0,8", 0.8), ("0,75", 0.75), ("80,5 %", 0.805), ("1,000", None), ("80 percent", 0.8), ("4 out of 5", 0.8),
        ("~0.8", 0.8), ("0.8 (sure)", 0.8), ("High", 0.9), ("medium", 0.6), ("low", 0.3), ("高", 0.9), ("低。", 0.3),
        ("highly", None), ("0.8 or 0.9", None),
    ],
)  # fmt: skip
def test_a_confidence_of_unknown_scale_is_not_guessed(given_value: object, share: float | None) -> None:
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
    assert read is None or read.confidence is None or 0 <= read.confidence <= 1
    assert all(isinstance(item, dict) for item in json_objects(text))


WORDS = {"yes", "no", "true", "false", "是", "是的", "对", "否", "不", "不是", "有关", "无关"}


@given(st.text(max_size=300) | st.sampled_from(["1", "0", "y", "n", "N.", "Yes and", "ok", "no idea"]))
def test_text_that_names_no_verdict_is_never_read_as_one(text: str) -> None:
    """SC-03: never a silent pass."""
    if "relevant" not in text.casefold() and "相关" not in text and word_of(text) not in WORDS:
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


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"limit of \frac{1}{n} and \theta", r"limit of \frac{1}{n} and \theta"),
        (
            r"\nu, \beta, \rho, \text{kg}, \right), \times 2 \neq 3",
            r"\nu, \beta, \rho, \text{kg}, \right), \times 2 \neq 3",
        ),
        (
            r"x \ne 0, a\ne 1, \(\alpha\), \[x\], \{y\}, \upsilon",
            r"x \ne 0, a\ne 1, \(\alpha\), \[x\], \{y\}, \upsilon",
        ),
        (r"escaped \\frac{1}{n} \\nu", r"escaped \frac{1}{n} \nu"),
        (r"the regex \bword\b and \d+", r"the regex \bword\b and \d+"),
        (r"C:\temp\new\report.txt", r"C:\temp\new\report.txt"),
        (r"two\nlines and\ta tab\r\nno more", "two lines and a tab no more"),
        (r"Option A:\nuse it\nnever", "Option A: use it never"),
        (r"it\'s 5\_000 \$ \u00e9t\u00e9 a\/b", "it's 5_000 $ été a/b"),
    ],
)
def test_latex_and_paths_in_json_are_what_is_meant(written: str, meant: str) -> None:
    reply = read_reply(f'{{"query": "{written}", "reason": "r"}}', RewriteReply)
    assert reply is not None and reply.query == meant


@given(
    st.sampled_from(["alpha", "frac", "nabla", "theta", "beta", "rho", "forall", "tau", "Delta", "uparrow", "notin"])
)
def test_a_command_reads_the_same_escaped_and_not(command: str) -> None:
    for written in (f"\\{command}", f"\\\\{command}"):
        reply = read_reply(f'{{"query": "what is {written} here", "reason": "r"}}', RewriteReply)
        assert reply is not None and reply.query == f"what is \\{command} here"


def test_a_rewrite_is_read_from_lines_and_never_from_a_sentence() -> None:
    reply = read_reply("Query: lighthouse year\nKeywords: lighthouse, year\nReason: Too wide.", RewriteReply)
    assert reply == RewriteReply(query="lighthouse year", keywords=("lighthouse", "year"), reason="Too wide.")
    assert read_reply("lighthouse year", RewriteReply) is None


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
