"""Markers in an answer: which passage each one points to, and which point nowhere (SC-07, GH-07).

The same for every workflow, streamed or whole: each sentence gets its markers when it is complete, in the form ``[n]``,
and what has gone out is never taken back, so the pieces that come out, joined, are the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from engine.builtin.markers import LABEL, Marker, before_markers, markers_in, sentence_end
from engine.builtin.terms import terms
from engine.model.values import NOTHING_AROUND, Around, Citation, Passage, PassageId


@dataclass(frozen=True, slots=True)
class ResolvedAnswer:
    """An answer with markers in the one form ``[n]``."""

    text: str
    citations: tuple[Citation, ...] = ()
    """Distinct, in the order of first use."""
    removed: tuple[str, ...] = ()
    """Markers that point nowhere."""


class StreamedCitations:
    """Takes an answer piece by piece and gives it on with the markers of every complete sentence in one form.

    A marker that points nowhere is removed and reported, so that no citation can be invented.
    """

    def __init__(self, passages: Sequence[Passage], around: Mapping[PassageId, Around] = NOTHING_AROUND) -> None:
        self._passages = passages
        self._around = around
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
        """Return the text that can be sent now that ``piece`` has arrived; may be empty."""
        self.raw += piece
        self._sentence += piece
        made = ""
        while (end := sentence_end(self._sentence)) is not None:
            made += self._complete(self._sentence[:end])
            self._sentence = self._sentence[end:]
        safe = before_markers(self._sentence)
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
        self._cited_in = sentence
        begins = given
        pieces: list[str] = []
        last, lead, kept = -1, "", ""
        for place, marker in enumerate(markers_in(sentence)):
            joined = marker.start == last
            if marker.spans and int(marker.parts[0]) > len(self._passages):
                # A range of figures, such as [10-20] mg.
                continue
            if marker.start < begins:
                continue
            if marker.note is not None and self._names_source(marker):
                pieces.append(sentence[begins : marker.start])
                after = sentence[marker.end + len(marker.note) :]
                begins = len(sentence) - len(after.lstrip("\n"))
                continue
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

    def _names_source(self, marker: Marker) -> bool:
        """Return whether a footnote says nothing but where it is from, as the page does."""
        number = int(marker.parts[0])
        return 1 <= number <= len(self._passages) and _names(marker.note or "", self._passages[number - 1])

    def _bound(self, part: str, place: int) -> str:
        """Return the text in the answer for one part of the marker at this place of its sentence."""
        if not part.isdigit() or not 1 <= int(part) <= len(self._passages):
            self._removed.append(f"[{part}]")
            return ""
        number = int(part)
        passage = self._passages[number - 1]
        known = self._citations.setdefault(number, cited(number, passage))
        if (where := standing_in(self._cited_in, passage, self._around.get(passage.id, Around()))) is not None:
            self._citations[number] = replace(known, around=tuple(dict.fromkeys((*known.around, where))))
        return f"[{number}]"


def resolve(text: str, passages: Sequence[Passage]) -> ResolvedAnswer:
    """A whole answer at once; equal to that from its pieces, however it is cut."""
    streamed = StreamedCitations(passages)
    streamed.feed(text)
    streamed.finish()
    return streamed.answer


def cited(marker: int, passage: Passage) -> Citation:
    """The citation of a passage; its section is the document's title where it stands under no heading."""
    title = passage.title if passage.title != passage.source else ""
    return Citation(marker, passage.id, passage.source, passage.section or title)


def standing_in(sentence: str, passage: Passage, around: Around) -> PassageId | None:
    """The surroundings of a passage that a sentence stands in; None where it stands in the passage itself.

    That is where most of its words are, and most of them in its own order.
    """
    said = _in_order(sentence)
    shared = {item.id: len(said & _in_order(item.text)) for item in around.every}
    best = max(shared, key=lambda name: shared[name], default=None)
    return best if best is not None and shared[best] > len(said & _in_order(passage.text)) else None


def _in_order(text: str) -> set[tuple[str, ...]]:
    """The words of a text, and each with the next one."""
    words = terms(text)
    return {(word,) for word in words} | set(pairwise(words))


def _names(note: str, passage: Passage) -> bool:
    """Return whether a footnote says nothing but where it is from."""
    said = _folded(re.sub(LABEL + r"\d{0,3}", "", note))
    names = [
        _folded(name) for name in (passage.source, passage.source.rpartition(".")[0], passage.title, passage.section)
    ]
    return "://" in note or not said or any(name and (name in said or said in name) for name in names)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
