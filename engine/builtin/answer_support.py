"""Whether a passage, as an evaluator sees it, bears out a statement: by the words and figures that both have."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.builtin.answer_reading import Statement
from engine.builtin.terms import is_han, terms, weight_of
from engine.model.language import language_of
from engine.model.values import Passage

BORNE_OUT = 0.6
"""Share of a statement's weight that a passage must have; a verbatim quotation has all of it."""
FOREIGN_TO = 0.3
"""Share under which a statement has nothing to do with what is shown of a passage."""
_CUT = "…"
_BEGINNING = 8
"""Letters by which a sentence is recognised where a cut falls into it."""
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST_DIGITS = 2
"""Single digits are too often counted out or written as words to be held against a statement."""


@dataclass(frozen=True)
class Shown:
    """One passage as it is shown, read once."""

    marker: int
    text: str
    heading: str
    stems: frozenset[str]
    figures: frozenset[str]
    cut: bool

    @classmethod
    def of(cls, marker: int, passage: Passage) -> Shown:
        heading = f"{passage.title}\n{passage.section}"
        text = _folded(f"{heading}\n{passage.text}")
        return cls(marker, text, heading, frozenset(terms(text)), figures_in(text), passage.text.endswith(_CUT))

    def share(self, statement: Statement, *, figures: bool = True) -> float:
        """Share of the statement's weight that stands here, in [0, 1]; 1 for a statement without content terms.

        Without ``figures`` only its words count.
        """
        if _bare(statement.plain) in _bare(self.text) or (self.cut and self._breaks_off_in(statement)):
            return 1.0
        counted = (term for term in statement.terms if figures or not term[0].isdigit())
        weights = {term: math.sqrt(weight_of(term)) for term in counted}
        total = math.fsum(weights.values())
        return math.fsum(weight for term, weight in weights.items() if self._has(term)) / total if total else 1.0

    def lacks_figures(self, statement: Statement) -> bool:
        """Whether the statement has a figure of two digits or more that does not stand here."""
        found = figures_in(_folded(statement.plain))
        return any(len(figure) >= _LEAST_DIGITS and figure not in self.figures for figure in found)

    def comparable(self, statement: Statement) -> bool:
        """Whether words can be compared at all; a passage in another language than the statement is believed."""
        return language_of(self.text) == language_of(statement.plain)

    def bears_out(self, statement: Statement) -> bool:
        """Whether what is shown supports the statement, by words and figures."""
        share = self.share(statement)
        return share == 1.0 or (share >= BORNE_OUT and not self.lacks_figures(statement))

    def _breaks_off_in(self, statement: Statement) -> bool:
        """Whether the cut falls into the statement, so that its beginning stands at the end of what is shown."""
        whole, shown = _bare(statement.plain), _bare(self.text)
        begins = shown.rfind(whole[:_BEGINNING])
        return len(whole) > _BEGINNING and begins >= 0 and whole.startswith(shown[begins:])

    def _has(self, term: str) -> bool:
        return term in self.stems or (is_han(term) and term in self.text)


def shown_passages(passages: Sequence[Passage]) -> list[Shown]:
    """The passages in the order of their markers."""
    return [Shown.of(marker, passage) for marker, passage in enumerate(passages, start=1)]


def best_support(statement: Statement, shown: Sequence[Shown], besides: Sequence[int] = ()) -> Shown | None:
    """The passage that bears a statement out by what can be seen of it, leaving out some markers; None where none."""
    bearing = [item for item in shown if item.marker not in besides and item.bears_out(statement)]
    return max(bearing, key=lambda item: (item.share(statement), -item.marker), default=None)


def figures_in(text: str) -> frozenset[str]:
    """Figures in a text, without thousands separators."""
    return frozenset(re.sub(r"(?<=\d),(?=\d{3}\b)", "", found) for found in _FIGURE.findall(text))


@lru_cache(maxsize=256)
def _bare(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
