"""Passages that contradict each other on a figure, and which of them to go by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from engine.builtin.answer_conflicts import differing_figures
from engine.builtin.unmentioned import heading_of
from engine.model.values import Passage

if TYPE_CHECKING:
    from engine.builtin.quotes import Quote

_OUT_OF_DATE = re.compile(
    r"\b(?:out of date|outdated|obsolete|superseded|historical interest"
    r"|no longer (?:valid|in force|applies|recommended))\b"
    r"|过时|作废|废止|失效|不再(?:适用|有效|推荐)|已被取代|历史资料",
    re.IGNORECASE,
)
_AS_MUCH = 0.7
"""Share of the question, against that of the sentence it contradicts."""


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
    return f"{heading_of(passage)}\n{passage.text}"
