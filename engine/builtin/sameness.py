"""When a remembered question is the one that is asked now, so that its answer may stand for a search.

Similarity alone cannot tell: "a truth table with three variables" lies nearer to "with five variables" than many a
rewording does. So two questions are the same where they are alike enough, ask for the same kinds of answer, and where
one adds only words that say nothing to the other; the small words that turn a meaning (:mod:`engine.builtin.turns`),
and where it matters the order of what is named, must be the same too. Measured with the built-in embedder on
``tests/memory``: 48 rewordings and 48 near misses (one decisive word changed) of 24 sample questions, and all pairs of
different sample questions.

====================  ===========  ===========  =======================
                      rewordings   near misses  other sample questions
====================  ===========  ===========  =======================
alike (English)       20 of 24     11 of 24     0 of 1 406 pairs
alike (Chinese)       18 of 24      8 of 24     2 of 1 260 pairs
same (English)        12 of 24      0 of 24     0 of 1 406 pairs
same (Chinese)         6 of 24      0 of 24     0 of 1 260 pairs
====================  ===========  ===========  =======================

A rewording that is missed costs a search; a near miss that is taken costs a wrong answer, so the rule leans to search.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from engine.builtin.answer_kind import kinds_asked
from engine.builtin.terms import is_han, question_terms, stem
from engine.builtin.turns import directed, turns
from engine.model.values import Memory

RECALL_BAR = 0.75
"""Similarity (SC-09) from which a remembered question is *alike*: worth showing to whoever decides."""

_FILLERS = frozenset(
    stem(word)
    for word in "look hold count exist happen occur appear mention describe explain recommend know find mean "
    "usual usually normally exactly please nowadays condition".split()
) | frozenset("出现 发生 存在 具有 具备 情况 具体 分别 建议 推荐 说明 请问 一下 通常 一般 如今".split())
"""Content words that one question may have beyond the other: every other one may name another subject or condition,
common ones too ("in children", "at night")."""
_BOUNDS = frozenset("低于 高于 超过 少于 多于 小于 大于 不足".split())
"""What is above or below a bound is told by ``turns``, however it is put."""


def near_enough(memory: Memory) -> bool:
    """Whether a recalled memory's question is so near to the one asked that it may be the same."""
    return memory.similarity >= RECALL_BAR


def same_question(question: str, memory: Memory) -> bool:
    """Whether a recalled memory answers the question that is asked: alike, and the same in words that count."""
    return near_enough(memory) and same_wording(question, memory.question)


def same_wording(first: str, second: str) -> bool:
    """Whether two questions ask for the same kinds of answer, and one only adds words that say nothing to the other.

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
    """Whether what both questions name stands in the same order in both."""
    return [term for term in ours if term in theirs] == [term for term in theirs if term in ours]


def _plain(question: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", question).casefold().split())
