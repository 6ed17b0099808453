"""Match passages with what a case expects, and count how many expected sources a collection holds."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from engine.errors import EvaluationError
from engine.evaluation.cases import Case, Expectation
from engine.model.values import Passage, PassageId, RunRecord


def meets(expectation: Expectation, passage: Passage) -> bool:
    """Return whether a passage is what is expected.

    Passages and sources are compared by name, whichever Unicode form the name has; a text must stand in the passage,
    regardless of the case, the white space and the width of its characters. A text without a visible character is never
    met.
    """
    if expectation.kind == "passage":
        return passage.id == expectation.value
    if expectation.kind == "source":
        return folded_name(passage.source) == folded_name(expectation.value)
    wanted = _folded(expectation.value)
    return bool(wanted) and wanted in _folded(passage.text)


def met_by(case: Case, passage: Passage) -> tuple[int, ...]:
    """Indices of the case's expectations that a passage meets, in order."""
    return tuple(place for place, item in enumerate(case.expected) if meets(item, passage))


def met_map(case: Case, record: RunRecord) -> dict[PassageId, tuple[int, ...]]:
    """:func:`met_by` for every candidate of every round, those that meet nothing with an empty tuple."""
    return {passage_id: met_by(case, passage) for passage_id, passage in record.passages.items()}


def folded_name(text: str) -> str:
    """A name in the form in which names are compared: one Unicode form, no space around it."""
    return unicodedata.normalize("NFC", text).strip()


def _folded(text: str) -> str:
    # White space goes altogether: where lines of Chinese were joined, none may stand where the label has some.
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """The number of expected sources of a query set that a collection has."""

    collection: str
    present: int
    expected: int
    """Distinct sources that the set names, of passages those that they stand in; texts name none."""

    @property
    def nowhere(self) -> bool:
        """Nothing of what is expected is there, so nothing right can be found."""
        return self.expected > 0 and not self.present

    @property
    def partly(self) -> bool:
        return 0 < self.present < self.expected


def source_coverage(cases: Iterable[Case], collection: str, sources: Iterable[str]) -> SourceCoverage:
    """Count the expected sources that are there; names are compared in one Unicode form, as in the figures."""
    there = frozenset(map(folded_name, sources))
    wanted = {
        folded_name(item.value if item.kind == "source" else item.value.rpartition("#")[0])
        for case in cases
        for item in case.expected
        if item.kind != "text"
    }
    return SourceCoverage(collection, len(wanted & there), len(wanted))


def refuse_uncovered(found: SourceCoverage) -> None:
    """Refuse a collection that holds nothing of what a set expects, by raising ``EvaluationError.set_not_covered``."""
    if found.nowhere:
        raise EvaluationError.set_not_covered(expected=found.expected, collection=found.collection)
