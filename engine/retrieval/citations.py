"""Markers ``[n]`` in an answer: which passage each one points to, and which point nowhere (SC-07, GH-07).

One grammar for every workflow, streamed or whole: each sentence gets its markers when it is complete, and what has gone
out is never taken back, so the pieces that come out, joined, are the answer. ``row[0]`` in code is no marker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.builtin.cells import CELL
from engine.model.values import Citation, Passage

_ONE = rf"(?:\d{{1,3}}|{CELL})"
_BETWEEN = r"\s*[,，、;；]\s*"
_MARKS = rf"[\[【［](?P<marks>{_ONE}(?:{_BETWEEN}{_ONE})*)[\]】］]"
_MARKER = re.compile(rf"(?P<lead>[ \t]*(?:[,，、;；][ \t]*)?){_MARKS}")
_SEPARATOR = re.compile(_BETWEEN)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_CODE_BEGUN = re.compile(r"`+[^`\n]*\Z")
_BEGUN = re.compile(
    r"[ \t]*(?:[,，、;；][ \t]*)?[\[【［]\s*(?:[Tt]?|(?:\d|[Tt]\d)[\dA-Za-z\s,，、;；:：!$]*)\Z"
    r"|[ \t]*[,，、;；][ \t]*\Z|[ \t]+\Z"
)
"""What may turn out to be a marker, or what stands before one, at the end of what has arrived."""
_STOP = re.compile(r"[。！？]+|[.!?]+(?=\s|$|[”’)\"\]\[])|\n+")
_TAIL = re.compile(rf"(?:[”’」』）》】)\"']|[ \t]*{_MARKS.replace('?P<marks>', '?:')})*[ \t]*")
_ABBREVIATED = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)|(?:^|\s)[A-Z])\.$"
)


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """An answer with markers in the one form ``[n]``."""

    text: str
    citations: tuple[Citation, ...] = ()
    """Distinct, in the order of first use."""
    removed: tuple[str, ...] = ()
    """Markers that point nowhere."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One pair of brackets in a text, with all that it names."""

    start: int
    """Of the blanks, or the comma, before it."""
    end: int
    lead: str
    parts: tuple[str, ...]


class StreamedCitations:
    """Takes an answer piece by piece and gives it on with the markers of every complete sentence in one form.

    A marker that points nowhere is removed and reported, so that no citation can be invented.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self.restart()

    def restart(self) -> None:
        """Forget what has arrived: another answer follows."""
        self.raw = ""
        """All that has arrived."""
        self._sentence = ""
        """What has arrived since the last complete sentence."""
        self._given = 0
        """How much of it has gone out already: never a marker."""
        self._out: list[str] = []
        self._citations: dict[int, Citation] = {}
        self._removed: list[str] = []

    def feed(self, piece: str) -> str:
        """What can go out now that ``piece`` has arrived; may be nothing."""
        self.raw += piece
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
    def answer(self) -> ResolvedAnswer:
        """The answer as far as it has gone out."""
        return ResolvedAnswer("".join(self._out), tuple(self._citations.values()), tuple(self._removed))

    def _complete(self, sentence: str) -> str:
        """The rest of a sentence with its markers resolved; what is removed takes the blank before it along."""
        given, self._given = self._given, 0
        begins = given
        pieces: list[str] = []
        last, lead, kept = -1, "", ""
        for place, marker in enumerate(markers_in(sentence)):
            joined = marker.start == last
            pieces.append(sentence[begins : marker.start])
            # Where one of several markers is kept, it stands where the first of them stood.
            lead = marker.lead if not joined or kept else lead
            kept = "".join(dict.fromkeys(filter(None, (self._bound(part, place) for part in marker.parts))))
            if kept:
                pieces.append(lead + kept)
            elif not joined:
                stays = lead.rstrip(" \t")
                pieces.append(stays)
                lead = lead[len(stays) :]
            last = begins = marker.end
        rest = sentence[begins:]
        bare = last > 0 and not given and not kept and not "".join(pieces)
        return "".join(pieces) + (rest.lstrip(" \t") if bare else rest)

    def _bound(self, part: str, place: int) -> str:
        """What stands in the answer for one part of the marker at this place of its sentence."""
        if not part.isdigit() or not 1 <= int(part) <= len(self._passages):
            self._removed.append(f"[{part}]")
            return ""
        self._citations.setdefault(int(part), cited(int(part), self._passages[int(part) - 1]))
        return f"[{int(part)}]"


def resolve(text: str, passages: Sequence[Passage]) -> ResolvedAnswer:
    """A whole answer at once; the same that comes of its pieces, however it is cut."""
    streamed = StreamedCitations(passages)
    streamed.feed(text)
    streamed.finish()
    return streamed.answer


def cited(marker: int, passage: Passage) -> Citation:
    """The citation of a passage; its section is the document's title where it stands under no heading."""
    title = passage.title if passage.title != passage.source else ""
    return Citation(marker, passage.id, passage.source, passage.section or title)


def markers_in(text: str) -> Iterator[Marker]:
    """The markers of a text, code left out."""
    for match in _MARKER.finditer(_masked(text)):
        yield Marker(match.start(), match.end(), match["lead"], tuple(_SEPARATOR.split(match["marks"])))


def _masked(text: str) -> str:
    """The text with as many letters in the place of code."""
    return _CODE.sub(lambda code: "X" * len(code.group()), text)


def _sentence_end(text: str) -> int | None:
    """Find the end of the first sentence with the markers behind it; None while more of it may come."""
    text = _masked(text)
    begun = _CODE_BEGUN.search(text)
    for stop in _STOP.finditer(text, 0, begun.start() if begun else len(text)):
        tail = _TAIL.match(text, stop.end())
        end = tail.end() if tail else stop.end()
        if end >= len(text) or _may_be_marker(text, end):
            return None
        latin = stop.group()[0] in ".!?"
        marked = next(markers_in(text[stop.end() : end]), None) is not None
        if latin and ((text[end].islower() and not marked) or _ABBREVIATED.search(text[: stop.end()])):
            continue
        return end
    return None


def _may_be_marker(text: str, at: int) -> bool:
    begun = _BEGUN.match(text, at)
    return begun is not None and begun.end() == len(text)


def _safe(text: str) -> int:
    """How much of an unfinished sentence can go out: what lies before anything that may be a marker or code."""
    found = next(markers_in(text), None)
    text = _masked(text)[: found.start if found else None]
    begun = [item.start() for item in (_BEGUN.search(text), _CODE_BEGUN.search(text)) if item]
    return min(begun, default=len(text))
