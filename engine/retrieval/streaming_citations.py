"""Citations that are attached while an answer streams: each sentence gets its markers when it is complete (GH-07).

What has gone out is never taken back, so the pieces that come out, joined, are the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.builtin.answer_reading import BORNE_OUT, FOREIGN_TO, MARKER, Shown, Statement, figures_in, shown_passages
from engine.builtin.cells import CELL, cell_named, citation_of, spoken_of
from engine.model.values import Attachment, CellCitation, Citation, Passage, UnsupportedMarker
from engine.retrieval.citations import cited

_ONE = rf"(?:\d{{1,3}}|{CELL})"
_BETWEEN = r"\s*[,，、;；]\s*"
_BRACKETED = re.compile(rf"[ \t]*[\[【［]({_ONE}(?:{_BETWEEN}{_ONE})*)[\]】］]")
_SEPARATOR = re.compile(_BETWEEN)
_BEGUN = re.compile(r"[ \t]*[\[【［]\s*(?:[Tt]?|(?:\d|[Tt]\d)[\dA-Za-z\s,，、;；:：!$]*)$|[ \t]+$")
"""What may turn out to be a marker, or the white space before one, at the end of what has arrived."""
_STOP = re.compile(r"[。！？]+|[.!?]+(?=\s|$|[”’)\"\]\[])|\n+")
_TAIL = re.compile(rf"(?:[”’」』）》】)\"']|[ \t]*[\[【［]{_ONE}(?:{_BETWEEN}{_ONE})*[\]】］])*[ \t]*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)|(?:^|\s)[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class AttachedAnswer:
    """An answer with the markers that are left, and what became of the others."""

    text: str
    citations: tuple[Citation, ...] = ()
    cell_citations: tuple[CellCitation, ...] = ()
    removed: tuple[str, ...] = ()
    """Markers that point nowhere."""
    unsupported: tuple[UnsupportedMarker, ...] = ()
    """Markers of passages and cells that do not bear their sentence out."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What a marker is held against."""

    sentence: str
    clause: str
    """Its own part of the sentence; empty where that says nothing."""
    figures: frozenset[str]
    """Of everything that the sentence cites."""


class AttachingCitations:
    """Takes an answer piece by piece and gives it on with the markers of every complete sentence in one form."""

    def __init__(self, passages: Sequence[Passage], tables: Sequence[Attachment] = ()) -> None:
        self._passages = passages
        self._tables = tables
        self._shown = shown_passages(passages)
        self.restart()

    def restart(self) -> None:
        """Forget what has arrived: another answer follows."""
        self._sentence = ""
        """What has arrived since the last complete sentence."""
        self._given = 0
        """How much of it has gone out already: never a marker."""
        self._out: list[str] = []
        self._citations: dict[int, Citation] = {}
        self._cells: dict[str, CellCitation] = {}
        self._removed: list[str] = []
        self._unsupported: list[UnsupportedMarker] = []

    def feed(self, piece: str) -> str:
        """What can go out now that ``piece`` has arrived; may be nothing."""
        self._sentence += piece
        made = ""
        while (end := _sentence_end(self._sentence)) is not None:
            made += self._complete(self._sentence[:end])
            self._sentence = self._sentence[end:]
        safe = _safe(self._sentence)
        if safe > self._given:
            made += self._sentence[self._given : safe]
            self._given = safe
        self._out.append(made)
        return made

    def finish(self) -> str:
        """The rest, when nothing more comes."""
        rest = self._complete(self._sentence)
        self._sentence = ""
        self._out.append(rest)
        return rest

    @property
    def answer(self) -> AttachedAnswer:
        """The answer as far as it has gone out."""
        return AttachedAnswer(
            "".join(self._out),
            tuple(self._citations.values()),
            tuple(self._cells.values()),
            tuple(self._removed),
            tuple(self._unsupported),
        )

    def _complete(self, sentence: str) -> str:
        """The rest of a sentence with its markers resolved."""
        plain = " ".join(_BRACKETED.sub("", sentence).split())
        begins, self._given = self._given, 0
        # A sentence that joins two sources has more than either of them: each answers for the words before its marker,
        # and a figure need stand in one of them only.
        clauses = iter(_clauses(sentence))
        figures = self._figures(sentence)

        def resolved(match: re.Match[str]) -> str:
            said = _Said(plain, next(clauses), figures)
            parts = [self._resolved(part, said) for part in _SEPARATOR.split(match.group(1))]
            kept = "".join(dict.fromkeys(filter(None, parts)))
            space = match.group()[: len(match.group()) - len(match.group().lstrip())]
            return space + kept if kept else ""

        return _BRACKETED.sub(resolved, sentence[begins:])

    def _figures(self, sentence: str) -> frozenset[str]:
        """Figures of all that a sentence cites."""
        found: set[str] = set()
        for match in _BRACKETED.finditer(sentence):
            for part in _SEPARATOR.split(match.group(1)):
                if part.isdigit() and 1 <= int(part) <= len(self._shown):
                    found |= self._shown[int(part) - 1].figures
                elif (cell := cell_named(part)) and (cited := citation_of(cell, self._tables)):
                    found |= figures_in(cited.value)
        return frozenset(found)

    def _resolved(self, part: str, said: _Said) -> str:
        if part.isdigit():
            return self._passage(int(part), said)
        cell = cell_named(part)
        cited = citation_of(cell, self._tables) if cell else None
        if cell is None or cited is None:
            self._removed.append(cell.marker if cell else f"[{part}]")
            return ""
        if not spoken_of(cited, said.sentence):
            self._unsupported.append(UnsupportedMarker(cell.marker, said.sentence, 0.0))
            return ""
        self._cells.setdefault(cited.marker, cited)
        return cell.marker

    def _passage(self, number: int, said: _Said) -> str:
        if not 1 <= number <= len(self._passages):
            self._removed.append(f"[{number}]")
            return ""
        shown = self._shown[number - 1]
        shown = replace(shown, figures=shown.figures | said.figures)
        support = support_of(said.sentence, shown)
        if support is not None and (not said.clause or support_of(said.clause, shown) is not None):
            self._unsupported.append(UnsupportedMarker(f"[{number}]", said.sentence, round(support, 4)))
            return ""
        passage = self._passages[number - 1]
        self._citations.setdefault(number, cited(number, passage))
        return f"[{number}]"


def attached(text: str, passages: Sequence[Passage], tables: Sequence[Attachment] = ()) -> AttachedAnswer:
    """A whole answer at once; the same that comes of its pieces, however it is cut."""
    attaching = AttachingCitations(passages, tables)
    attaching.feed(text)
    attaching.finish()
    return attaching.answer


def support_of(sentence: str, shown: Shown) -> float | None:
    """How far a passage bears a sentence out where that is surely too little; None where it may be enough.

    Too little is a share of its words under ``FOREIGN_TO``, or one under ``BORNE_OUT`` with a figure that the passage
    does not have: other words may say the same, another number does not. Another language is believed.
    """
    statement = Statement(MARKER.sub(" ", sentence), "claim", (), 0)
    if not statement.terms or not shown.comparable(statement):
        return None
    share = shown.share(statement)
    return share if share < FOREIGN_TO or (share < BORNE_OUT and shown.lacks_figures(statement)) else None


def _clauses(sentence: str) -> list[str]:
    """Yield for each marker, or markers side by side, the words since the one before; empty where they say nothing."""
    found: list[str] = []
    last = ""
    for text in _BRACKETED.split(sentence)[:-1:2]:
        if any(map(str.isalnum, text)):
            last = text if Statement(text, "claim", (), 0).terms else ""
        found.append(last)
    return found


def _sentence_end(text: str) -> int | None:
    """Find the end of the first sentence with the markers behind it; None while more of it may come."""
    for stop in _STOP.finditer(text):
        tail = _TAIL.match(text, stop.end())
        end = tail.end() if tail else stop.end()
        if end >= len(text) or _may_be_marker(text, end):
            return None
        latin = stop.group()[0] in ".!?"
        marked = _BRACKETED.search(text, stop.end(), end) is not None
        if latin and ((text[end].islower() and not marked) or _ABBREVIATED.search(text[: stop.end()])):
            continue
        return end
    return None


def _may_be_marker(text: str, at: int) -> bool:
    begun = _BEGUN.match(text, at)
    return begun is not None and begun.end() == len(text)


def _safe(text: str) -> int:
    """How much of an unfinished sentence can go out: what lies before anything that may be a marker."""
    found = _BRACKETED.search(text)
    first = found.start() if found else len(text)
    begun = _BEGUN.search(text[:first])
    return begun.start() if begun else first
