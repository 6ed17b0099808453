"""When a remembered question is the one that is asked now, so that its answer may stand for a search.

Similarity alone cannot tell: "a truth table with three variables" lies nearer to "with five variables" than many a
rewording does. So two questions are the same where they are alike enough, ask for the same kinds of answer, and where
one says no more than a little beyond the other. Measured with the built-in embedder on ``tests/memory``: 48 rewordings
and 48 near misses (one decisive word changed) of 24 sample questions, and all pairs of different sample questions.

====================  ===========  ===========  =======================
                      rewordings   near misses  other sample questions
====================  ===========  ===========  =======================
alike (English)       20 of 24     11 of 24     0 of 1 406 pairs
alike (Chinese)       18 of 24      8 of 24     2 of 1 260 pairs
same (English)        14 of 24      0 of 24     0 of 1 406 pairs
same (Chinese)         8 of 24      0 of 24     0 of 1 260 pairs
====================  ===========  ===========  =======================

A rewording that is missed costs a search; a near miss that is taken costs a wrong answer, so the rule leans to search.
"""

from __future__ import annotations

from functools import lru_cache

from engine.builtin.answer_kind import kinds_asked
from engine.builtin.terms import Idf, is_han, question_terms
from engine.values import Memory

RECALL_BAR = 0.75
"""Similarity (SPEC SC-09) from which a remembered question is *alike*: worth showing to whoever decides."""

_MOST_BEYOND = 7.0
"""Weight of the words (:class:`engine.builtin.terms.Idf`) that one question may have beyond the other: that of one
rare word."""


def alike(memory: Memory) -> bool:
    """Whether a recalled memory's question is so near to the one asked that it may be the same."""
    return memory.similarity >= RECALL_BAR


def same_question(question: str, memory: Memory) -> bool:
    """Whether a recalled memory answers the question that is asked: alike, and the same in words that count."""
    return alike(memory) and same_wording(question, memory.question)


def same_wording(first: str, second: str) -> bool:
    """Whether two questions ask for the same kinds of answer, and one only adds a little to the other.

    Where each has a content word that the other lacks, one of them was replaced, and with it perhaps the subject.
    """
    # "What is" and "which" begin the same question; every other question word asks for something else.
    if kinds_asked(first) - {"definition"} != kinds_asked(second) - {"definition"}:
        return False
    beyond = sorted((_beyond(first, second), _beyond(second, first)))
    return beyond[0] == 0.0 and beyond[1] <= _MOST_BEYOND


def _beyond(text: str, other: str) -> float:
    """Weight of the content words of ``text`` that ``other`` lacks."""
    there = set(question_terms(other))
    # Chinese words are cut differently from sentence to sentence, so one is there where its characters are.
    lacking = [term for term in question_terms(text) if term not in there and not (is_han(term) and term in other)]
    return sum(map(_idf().weight, lacking))


@lru_cache(maxsize=1)
def _idf() -> Idf:
    return Idf.load()
