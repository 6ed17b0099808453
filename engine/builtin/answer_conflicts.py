"""Statements that contradict each other, and passages that contradict each other on a figure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

from engine.builtin.answer_reading import Statement
from engine.builtin.terms import terms
from engine.model.values import Passage

if TYPE_CHECKING:
    from engine.builtin.answer_form import Quote

_SAME = 0.85
"""Share of their terms that two statements have in common when one says or denies what the other says."""
_LEAST_TERMS = 4
_AROUND = 3
"""Content terms on each side of a figure that say what it is a figure of."""
_SHARED = 2
"""Terms next to a figure that two statements must share to speak of the same thing."""
_FIGURE = re.compile(
    r"(?<![\d.,第])(\d+(?:\.\d+)?)(?![\d.,]*\d)\s*(%|℃|°C|[A-Za-z]+(?:/[A-Za-z]+)?|[\u4e00-\u9fff]{1,2})?"
)
_ORDINAL = re.compile(r"[号届年月日章节次位世条款项期]|(?:st|nd|rd|th|bc|ad|am|pm)\b")
"""What follows a number that names one of several things, and measures none of them."""
_NAMING = re.compile(r"\w\W*\b[A-Z][\w'’]*[\s-]$")
"""A capital word inside a sentence before a number: Route 168, Apollo 11."""
_NOT = re.compile(
    r"\b(?:not|no|never|cannot|can't|isn't|aren't|doesn't|don't|without|neither|nor)\b|不|没有|并非|无法|未", re.I
)
_OLD = re.compile(
    r"\b(?:wrong|mistake|formerly|used to|once|earlier|previously|old|outdated|until|before|in 1\d{3})\b"
    r"|错|曾|过去|以前|旧|从前|当时|那时",
    re.I,
)
"""A statement about what was believed elsewhere or before contradicts nothing."""
_SENTENCE_PARTS = re.compile(r"[,;:，；：、()（）]")
_OUT_OF_DATE = re.compile(
    r"\b(?:out of date|outdated|obsolete|superseded|historical interest"
    r"|no longer (?:valid|in force|applies|recommended))\b"
    r"|过时|作废|废止|失效|不再(?:适用|有效|推荐)|已被取代|历史资料",
    re.IGNORECASE,
)
_AS_MUCH = 0.7
"""Share of the question, against that of the sentence it contradicts."""


@dataclass(frozen=True, slots=True)
class _Fact:
    value: str
    unit: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    written: str = ""

    def conflicts(self, other: _Fact) -> bool:
        """The same unit of measure and the same words next to it, with another figure."""
        if self.value == other.value or self.unit != other.unit or not self.unit or _ORDINAL.match(self.unit):
            return False
        return self.same_quantity(other)

    def same_quantity(self, other: _Fact) -> bool:
        """Return whether both are figures of one thing: no other word before them, and enough of the same around."""
        same = _head(self.before[::-1], other.before[::-1])
        return same == min(len(self.before), len(other.before)) and same + _head(self.after, other.after) >= _SHARED


def contradictions(statements: Sequence[Statement]) -> list[tuple[Statement, Statement]]:
    """Pairs that give different figures of the same thing, or contradict each other.

    Each statement stands in one pair at most.
    """
    pairs: list[tuple[Statement, Statement]] = []
    paired: set[str] = set()
    for first, second in combinations(statements, 2):
        if first.text in paired or second.text in paired or first.text == second.text:
            continue
        if differing_figures(first.plain, second.plain) or _denies(first, second):
            pairs.append((first, second))
            paired.update((first.text, second.text))
    return pairs


def differing_figures(first: str, second: str) -> tuple[str, str] | None:
    """The figures of one thing, as written, on which two sentences differ; None where they do not."""
    one, other = list(_facts(first)), list(_facts(second))
    # A list of figures gives several of one thing itself, and says nothing against another one.
    if _agree(one, other) or _lists_one_thing(one) or _lists_one_thing(other):
        return None
    return next(((a.written, b.written) for a in one for b in other if a.conflicts(b)), None)


def _denies(first: Statement, second: Statement) -> bool:
    if _OLD.search(first.plain) or _OLD.search(second.plain):
        return False
    many = min(len(first.terms), len(second.terms)) >= _LEAST_TERMS
    negated = bool(_NOT.search(first.plain)) != bool(_NOT.search(second.plain))
    return many and negated and _likeness(first, second) >= _SAME


def _agree(first: Sequence[_Fact], second: Sequence[_Fact]) -> bool:
    """Return whether both have some figure of the same thing in common, so that the others are of something else."""
    return any(a.value == b.value and a.unit == b.unit and a.same_quantity(b) for a in first for b in second)


def _lists_one_thing(facts: Sequence[_Fact]) -> bool:
    return any(a.conflicts(b) for a, b in combinations(facts, 2))


def _facts(text: str) -> Iterator[_Fact]:
    folded = unicodedata.normalize("NFKC", text)
    for found in _FIGURE.finditer(folded):
        value, unit = found.group(1), (found.group(2) or "").casefold()
        if _NAMING.search(folded[: found.start()]):
            continue
        before = _SENTENCE_PARTS.split(folded[: found.start()])[-1]
        after = _SENTENCE_PARTS.split(folded[found.end() :])[0]
        yield _Fact(value, unit, tuple(terms(before)[-_AROUND:]), tuple(terms(after)[:_AROUND]), found.group().strip())


def _head(first: Sequence[str], second: Sequence[str]) -> int:
    same = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        same += 1
    return same


def _likeness(first: Statement, second: Statement) -> float:
    union = first.terms | second.terms
    return len(first.terms & second.terms) / len(union) if union else 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """Two quotes that give different figures of one thing; the one to go by stands first."""

    first: Quote
    second: Quote
    figures: tuple[str, str]
    outdated: bool
    """The passage of the second says itself that it is out of date."""


def differing(chosen: Sequence[Quote], quotes: Sequence[Quote], passages: Sequence[Passage]) -> Difference | None:
    """The first quote that is contradicted out of another passage, by one that speaks of the question as much as it.

    The newer one stands first where both are dated, and one whose passage says that it is out of date last.
    """
    for one, other in product(chosen, quotes):
        apart = one.marker != other.marker and _share(other) >= _AS_MUCH * _share(one) > 0
        figures = differing_figures(one.text, other.text) if apart else None
        if figures is None:
            continue
        old = [_OUT_OF_DATE.search(_said_by(passages[quote.marker - 1])) is not None for quote in (one, other)]
        dates = [passages[quote.marker - 1].dated for quote in (one, other)]
        later = all(dates) and dates[0] < dates[1]
        if (old[0] and not old[1]) or (old[0] == old[1] and later):
            return Difference(other, one, (figures[1], figures[0]), old[0] != old[1])
        return Difference(one, other, figures, old[0] != old[1])
    return None


def _share(quote: Quote) -> float:
    return sum(quote.covers.values())


def _said_by(passage: Passage) -> str:
    return f"{passage.heading}\n{passage.text}"
