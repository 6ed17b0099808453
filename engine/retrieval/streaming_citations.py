"""Citations of passages and of cells, each held against the sentence that it stands in (GH-07)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.builtin.answer_reading import BORNE_OUT, FOREIGN_TO, MARKER, Shown, Statement, figures_in, shown_passages
from engine.builtin.cells import cell_named, citation_of, spoken_of
from engine.builtin.markers import markers_in
from engine.model.surroundings import read_with
from engine.model.values import NOTHING_AROUND, Around, Attachment, CellCitation, Passage, PassageId, UnsupportedMarker
from engine.retrieval.citations import ResolvedAnswer, StreamedCitations


@dataclass(frozen=True, slots=True)
class AttachedAnswer(ResolvedAnswer):
    """An answer with the markers that are left, and what became of the others."""

    cell_citations: tuple[CellCitation, ...] = ()
    unsupported: tuple[UnsupportedMarker, ...] = ()
    """Markers of passages and cells that do not bear their sentence out."""


@dataclass(frozen=True, slots=True)
class _Said:
    """Basis for checking the markers of a sentence."""

    sentence: str
    clauses: tuple[str, ...]
    """The words of each marker; empty where they say nothing."""
    figures: frozenset[str]
    """Of everything that the sentence cites."""


class AttachingCitations(StreamedCitations):
    """Removes markers of what does not bear their sentence out, too, and knows the cells of tables."""

    def __init__(
        self,
        passages: Sequence[Passage],
        tables: Sequence[Attachment] = (),
        around: Mapping[PassageId, Around] = NOTHING_AROUND,
    ) -> None:
        self._tables = tables
        self._shown = shown_passages(read_with(passages, around))
        super().__init__(passages, around)

    def restart(self) -> None:
        super().restart()
        self._cells: dict[str, CellCitation] = {}
        self._unsupported: list[UnsupportedMarker] = []

    @property
    def answer(self) -> AttachedAnswer:
        made = super().answer
        return AttachedAnswer(
            made.text, made.citations, made.removed, tuple(self._cells.values()), tuple(self._unsupported)
        )

    def _complete(self, sentence: str) -> str:
        # A sentence that joins two sources has more than either of them: each answers for the words before its marker,
        # and a figure need stand in one of them only.
        without, clauses = _clauses(sentence)
        self._said = _Said(" ".join(without.split()), clauses, self._figures(sentence))
        return super()._complete(sentence)

    def _figures(self, sentence: str) -> frozenset[str]:
        """Figures of all that a sentence cites."""
        found: set[str] = set()
        for part in (part for marker in markers_in(sentence) for part in marker.parts):
            if part.isdigit() and 1 <= int(part) <= len(self._shown):
                found |= self._shown[int(part) - 1].figures
            elif (cell := cell_named(part)) and (cited := citation_of(cell, self._tables)):
                found |= figures_in(cited.value)
        return frozenset(found)

    def _bound(self, part: str, place: int) -> str:
        if part.isdigit():
            return self._passage(part, self._said.clauses[place])
        cell = cell_named(part)
        cited = citation_of(cell, self._tables) if cell else None
        if cell is None or cited is None:
            self._removed.append(cell.marker if cell else f"[{part}]")
            return ""
        if not spoken_of(cited, self._said.sentence):
            self._unsupported.append(UnsupportedMarker(cell.marker, self._said.sentence, 0.0))
            return ""
        self._cells.setdefault(cited.marker, cited)
        return cell.marker

    def _passage(self, part: str, clause: str) -> str:
        number = int(part)
        if 1 <= number <= len(self._shown):
            shown = self._shown[number - 1]
            shown = replace(shown, figures=shown.figures | self._said.figures)
            support = support_of(self._said.sentence, shown)
            if support is not None and (not clause or support_of(clause, shown) is not None):
                self._unsupported.append(UnsupportedMarker(f"[{number}]", self._said.sentence, round(support, 4)))
                return ""
        return super()._bound(part, 0)


def attached(text: str, passages: Sequence[Passage], tables: Sequence[Attachment] = ()) -> AttachedAnswer:
    """A whole answer at once; equal to that from its pieces, however it is cut."""
    attaching = AttachingCitations(passages, tables)
    attaching.feed(text)
    attaching.finish()
    return attaching.answer


def support_of(sentence: str, shown: Shown) -> float | None:
    """Return a passage's support of a sentence if it is surely too low; None if it may suffice.

    Too little is a share of its words under ``FOREIGN_TO``, or one under ``BORNE_OUT`` with a figure that the passage
    does not have: other words may say the same, another number does not. Another language is believed.
    """
    statement = Statement(MARKER.sub(" ", sentence), "claim", (), 0)
    if not statement.terms or not shown.comparable(statement):
        return None
    share = shown.share(statement)
    return share if share < FOREIGN_TO or (share < BORNE_OUT and shown.lacks_figures(statement)) else None


def _clauses(sentence: str) -> tuple[str, tuple[str, ...]]:
    """The sentence without its markers, and for each of them, or of several side by side, the words since the one
    before; empty where they say nothing."""
    found: list[str] = []
    last = without = ""
    end = 0
    for marker in markers_in(sentence):
        text, end = sentence[end : marker.start], marker.end
        without += text
        if any(map(str.isalnum, text)):
            last = text if Statement(text, "claim", (), 0).terms else ""
        found.append(last)
    return without + sentence[end:], tuple(found)
