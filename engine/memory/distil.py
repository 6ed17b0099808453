"""What is remembered of an answer: its claim in one or two sentences, with their citations (DL-06).

A chat model may put it into words of its own, as long as nothing new is in them; otherwise the answer's own sentences
are taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from engine.builtin.answer_reading import figures_in
from engine.builtin.terms import is_han, terms
from engine.model.language import sentences
from engine.model.values import Citation
from engine.roles import SILENT, DistilRequest, Trace

MOST_SENTENCES = 2
MOST_READ = 12
"""Cited sentences that a model is shown: the claim of an answer stands at its beginning."""
_LONGEST = 400
"""Characters of a claim that is put into other words."""
_MARKER = re.compile(r"\[(\d{1,3})\]")
_MARKERS_ALONE = re.compile(r"(?:\s*\[\d{1,3}\])+[.。]?")
_LIST_SIGN = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)、]\s+)")
_NAME = re.compile(r"[^\W\d_]*[A-ZÀ-ÖØ-Þ][^\W_]*", re.UNICODE)
_WRITTEN_FIGURE = re.compile(
    r"[一二三四五六七八九十百千万亿两零〇]{2,}"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|dozen)\b",
    re.IGNORECASE,
)


class ExtractiveDistiller:
    """The first cited sentences as they stand (contract: :class:`engine.roles.Distiller`): no word in them is new."""

    name = ""

    async def distil(self, request: DistilRequest, trace: Trace = SILENT) -> str:
        return _joined(request.sentences[:MOST_SENTENCES])


def cited_sentences(answer: str, citations: Sequence[Citation]) -> tuple[str, ...]:
    """The sentences of an answer that cite something, in order, each with its markers."""
    known = {item.marker for item in citations}
    return tuple(part for part in _said(answer) if known & _markers(part))


def extracted(answer: str, citations: Sequence[Citation]) -> str:
    """The first sentences that cite something, or the first ones where none does."""
    return _joined((cited_sentences(answer, citations) or _said(answer))[:MOST_SENTENCES])


def renumbered(claim: str, citations: Sequence[Citation]) -> tuple[str, tuple[Citation, ...]]:
    """A claim whose citations are numbered from 1; markers that point nowhere are left out."""
    known = {item.marker: item for item in citations}
    numbers = dict.fromkeys(int(number) for number in _MARKER.findall(claim))
    places = {number: place for place, number in enumerate((item for item in numbers if item in known), start=1)}

    def placed(match: re.Match[str]) -> str:
        place = places.get(int(match.group(1)))
        return f"[{place}]" if place else ""

    return _MARKER.sub(placed, claim).strip(), tuple(
        replace(known[number], marker=place) for number, place in places.items()
    )


def formless(claim: str, said: Sequence[str]) -> bool:
    """Whether a claim is none of one or two short sentences that cite only what the sentences given cite."""
    cited = _markers(claim)
    longest = max(_LONGEST, len(_joined(said[:MOST_SENTENCES])))
    parts = [part for line in claim.splitlines() for part in _with_markers(line)]
    return (
        not cited
        or not cited <= _markers(" ".join(said))
        or not any(map(str.isalpha, claim))
        or len(parts) > MOST_SENTENCES
        or len(claim) > longest
    )


def unsaid(claim: str, said: Sequence[str]) -> str:
    """The first figure or name of a claim that stands in none of the sentences it was made from; empty without one.

    A name is a word with a capital that is no function word, wherever in its sentence it stands. Chinese has no
    capitals: there it is a word without a single sign in common with those sentences.
    """
    text, known = _plain(claim), _plain(" ".join(said))
    if figures := sorted(figures_in(text) - figures_in(known)):
        return figures[0]
    words = known.casefold()
    written = (match.group() for match in _WRITTEN_FIGURE.finditer(text))
    if figure := next((found for found in written if found.casefold() not in words), ""):
        return figure
    there = set(re.findall(r"[^\W_]+", words))
    names = (match.group() for match in _NAME.finditer(text))
    if name := next((found for found in names if found.casefold() not in there and terms(found)), ""):
        return name
    return next((term for term in terms(text) if is_han(term) and not set(term) & set(known)), "")


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _MARKER.sub(" ", text))


def _markers(text: str) -> set[int]:
    return {int(number) for number in _MARKER.findall(text)}


def _said(answer: str) -> tuple[str, ...]:
    return tuple(_LIST_SIGN.sub("", part) for line in answer.splitlines() for part in _with_markers(line))


def _with_markers(line: str) -> list[str]:
    """Sentences of a line, each with the markers that stand behind its full stop."""
    parts: list[str] = []
    for part in sentences(line):
        leading = _MARKERS_ALONE.match(part) if parts else None
        if leading:
            parts[-1] = f"{parts[-1]} {leading.group().strip()}"
        if rest := part[leading.end() :].strip() if leading else part:
            parts.append(rest)
    return parts


def _joined(parts: Sequence[str]) -> str:
    chinese = bool(parts) and parts[0].rstrip("[]0123456789 ").endswith(("。", "！", "？", "；"))
    return ("" if chinese else " ").join(parts)
