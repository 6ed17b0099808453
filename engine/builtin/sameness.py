"""Match between a remembered question and the current one, so that its answer may replace a search.

Similarity alone cannot decide: "a truth table with three variables" is nearer to "with five variables" than many a
rewording is. So two questions are the same if they are similar enough, ask for the same kinds of answer, and
one adds only words that say nothing to the other; the small words that turn a meaning (below),
and where it matters the order of what is named, must be the same too. Measured with the built-in embedder on
``tests/memory``: 48 rewordings and 48 near misses (one decisive word changed) of 24 sample questions, and all pairs of
different sample questions.

====================  ===========  ===========  =======================
                      rewordings   near misses  other sample questions
====================  ===========  ===========  =======================
similar (English)     20 of 24     11 of 24     0 of 1 406 pairs
similar (Chinese)     18 of 24      8 of 24     2 of 1 260 pairs
same (English)        12 of 24      0 of 24     0 of 1 406 pairs
same (Chinese)         6 of 24      0 of 24     0 of 1 260 pairs
====================  ===========  ===========  =======================

"Which graphs are planar?" and "Which graphs are not planar?" have the same content words and opposite answers; so have
"Does A cause B?" and "Does B cause A?": hence the small words that turn a question.

A rewording that is missed costs a search; a near miss that is taken costs a wrong answer, so the rule leans to search.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.builtin.answer_kind import kinds_asked
from engine.builtin.terms import is_han, question_terms, stem
from engine.model.values import Memory

RECALL_BAR = 0.75
"""Similarity (SC-09) from which a remembered question is *similar*: worth showing to the person who decides."""

_FILLERS = frozenset(
    stem(word)
    for word in "look hold count exist happen occur appear mention describe explain recommend know find mean "
    "usual usually normally exactly please nowadays condition".split()
) | frozenset("出现 发生 存在 具有 具备 情况 具体 分别 建议 推荐 说明 请问 一下 通常 一般 如今".split())
"""Content words that one question may have beyond the other: every other one may name another subject or condition,
common ones too ("in children", "at night")."""
_BOUNDS = frozenset("低于 高于 超过 少于 多于 小于 大于 不足".split())
"""What is above or below a bound is recognised by ``turns``, however it is put."""
_TURNS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        turn: re.compile(pattern, re.IGNORECASE)
        for turn, pattern in {
            # 是不是, 能不能, 有没有 ask; 不同, 不少 and 非常 deny nothing.
            "not": r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|except)\b|n['’]t\b"
            r"|(?<!是)(?<!能)(?<!会)(?<!可)(?<!要)(?<!该)(?<!差)不(?![同少仅但])|(?<!有)没|无(?!论)"
            r"|(?<![是除])非(?!常)|未|别(?=[吃喝用做打])|勿|除了",
            "before": r"\bbefore\b|\bprior to\b|(?<![目提])前(?!提)|之前|以前",
            "after": r"\bafter(?:wards)?\b|(?<![最然])后(?!果)|之后|以后",
            "more": r"\bmore\b|更多|多于|增加",
            "less": r"\b(?:less|fewer)\b|更少|少(?=[吃喝用做打])|减少",
            "most": r"\bmost\b|最多|最(?![多少近后初])",
            "least": r"\bleast\b|最少",
            "above": r"\b(?:above|over|beyond)\b|以上|高于|超过|大于|多于",
            "below": r"\b(?:below|under(?! what))\b|以下|低于|不足|小于|少于",
            "all": r"\b(?:all|every|always)\b|所有|一切|每|总是|都(?!是(?:谁|什么))",
            "some": r"\b(?:some|sometimes|several|few)\b|有的|有些|有时|某些",
            "only": r"\bonly\b|[只仅](?!不过)",
        }.items()
    }
)
_YES_OR_NO = re.compile(
    r"(?:^|[,;:.]\s*)(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|must|may|might)\b"
    r"|\btrue that\b|\bwhether\b|吗|是否|能否|是不是|会不会|能不能|可不可以|有没有|对不对",
    re.IGNORECASE,
)
_RELATES = re.compile(
    r"\b(?:caus(?:e[sd]?|ing)|le(?:ad|d|ads|ading) to|impl(?:y|ies|ied)|convert\w*|become\w*|turn\w* into|contain\w*|"
    r"includ\w*|belong\w*|infect\w*|transmit\w*|follow\w*|preced\w*|produc\w*|depend\w*|affect\w*|influenc\w*|than|"
    r"from|into|rais\w*|lower\w*|prevent\w*|replac\w*|beat\w*|defeat\w*|divid\w*|subtract\w*)\b"
    r"|导致|引起|造成|推出|蕴含|转换|换算|转化|变成|包含|包括|属于|影响|决定|产生|取代|预防|除以|减去|早于|晚于|比|从|对"
)


def near_enough(memory: Memory) -> bool:
    """Return whether a recalled memory's question is so near to the one asked that it may be the same."""
    return memory.similarity >= RECALL_BAR


def same_question(question: str, memory: Memory) -> bool:
    """Return whether a recalled memory answers the current question: similar, and equal in words that count."""
    return near_enough(memory) and same_wording(question, memory.question)


def same_wording(first: str, second: str) -> bool:
    """Return whether two questions ask for the same kinds of answer, and one adds only words that mean nothing here.

    Where each has a content word that the other lacks, one of them was replaced, and with it perhaps the subject. The
    small words that turn a meaning must be the same, and where it matters so must the order of what is named.
    """
    # "What is" and "which" begin the same question; every other question word asks for something else.
    if kinds_asked(first) - {"definition"} != kinds_asked(second) - {"definition"}:
        return False
    ours, theirs = question_terms(first), question_terms(second)
    if not ours or not theirs:
        return _plain(first) == _plain(second)
    lacking = sorted((_beyond(ours, theirs, second), _beyond(theirs, ours, first)), key=len)
    if lacking[0] or not lacking[1] <= _FILLERS | _BOUNDS or turns(first) != turns(second):
        return False
    return _in_order(ours, theirs) or not (directed(first) or directed(second))


def _beyond(terms: Sequence[str], there: Sequence[str], other: str) -> frozenset[str]:
    """Content words that the other question lacks."""
    # Chinese words are cut differently from sentence to sentence, so one is there where its characters are.
    return frozenset(term for term in terms if term not in there and not (is_han(term) and term in other))


def _in_order(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Return whether what both questions name stands in the same order in both."""
    return [term for term in ours if term in theirs] == [term for term in theirs if term in ours]


def _plain(question: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split())


def turns(question: str) -> frozenset[str]:
    """Return the small words that change the meaning: negation, before and after, more and less, all and some."""
    folded = unicodedata.normalize("NFKC", question)
    return frozenset(turn for turn, pattern in _TURNS.items() if pattern.search(folded))


def directed(question: str) -> bool:
    """Return whether the order of its subjects matters to a question: in yes-or-no questions and about relations."""
    folded = unicodedata.normalize("NFKC", question).strip()
    return bool(_YES_OR_NO.search(folded) or _RELATES.search(folded))
