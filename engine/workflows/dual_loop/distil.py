"""Memory of an answer: its claim in one or two sentences, with their citations (DL-06).

A chat model may put it into words of its own, as long as nothing new is in them; otherwise those of the answer's own
sentences are taken that answer the question best, whole. What tells a reader what to do instead of answering, such as a
page of the web that wants instructions ignored, is never a claim.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.builtin.answer_reading import figures_in
from engine.builtin.evidence import read_question
from engine.builtin.grader import judged, load_coefficients, model_for
from engine.builtin.phrases import Phrases
from engine.builtin.terms import is_han, terms
from engine.flow.context import Retrieval
from engine.model.language import sentences
from engine.model.values import Citation, Passage, PassageId
from engine.roles import SILENT, DistilRequest, StoredPassage, Trace

Measured = Callable[[str, Sequence[StoredPassage]], Awaitable[Retrieval]]
"""Similarity of texts that no store holds to a question."""
MOST_SENTENCES = 2
MOST_READ = 12
"""Cited sentences that a model is shown: the claim of an answer stands at its beginning."""
_LONGEST = 400
"""Characters of a claim that is put into other words."""
_MARKER = re.compile(r"[ \t]*\[(\d{1,3})\]")
_MARKERS_ALONE = re.compile(r"(?:\s*\[\d{1,3}\])+[.。]?")
_LIST_SIGN = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d{1,2}[.)、]\s+)")
_NAME = re.compile(r"[^\W\d_]*[A-ZÀ-ÖØ-Þ][^\W_]*", re.UNICODE)
_WRITTEN_FIGURE = re.compile(
    r"[一二三四五六七八九十百千万亿两零〇]{2,}"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|half|dozen)\b",
    re.IGNORECASE,
)


_NEARNESS = 0.5
"""Similarity that a sentence is taken to have to its question where it was not measured."""
_INSTRUCTS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:instructions?|prompts?|rules|guidelines|above|previous)\b"
    r"|\b(?:system|developer) prompt\b|\byou are now\b|<\|[^|\n]{0,40}\|>"
    r"|\b(?:reply|respond|answer|output) (?:only|exactly|with)\b|\bmark (?:this|it|everything) as relevant\b"
    r"|(?:忽略|无视|忘记|不要理会)[^。！？\n]{0,20}(?:指令|指示|提示|规则|要求|以上|之前|前面)"
    r"|系统提示|从现在(?:起|开始)[，,]?\s*(?:你|您|请)|(?:你|您)现在是|(?:只|必须)(?:回答|回复|输出)",
    re.IGNORECASE,
)
"""What speaks to a model and answers no question."""


class ExtractiveDistiller:
    """The best cited sentences as they stand (contract: :class:`engine.roles.Distiller`): no word in them is new."""

    name = ""

    def __init__(self, measured: Measured | None = None) -> None:
        """``measured`` tells how near a sentence is to the question; None: all are as near."""
        self._measured = measured

    async def distil(self, request: DistilRequest, trace: Trace = SILENT) -> str:
        nearness = await self._nearness(request) if self._measured else {}
        return _joined(_best(request.question, request.sentences, nearness))

    async def _nearness(self, request: DistilRequest) -> dict[int, float]:
        assert self._measured is not None
        stored = [
            StoredPassage(PassageId(str(place)), "", _plain(text)) for place, text in enumerate(request.sentences)
        ]
        found = await self._measured(request.question, stored)
        return {int(item.id): item.similarity for item in found.passages}


def cited_sentences(answer: str, citations: Sequence[Citation]) -> tuple[str, ...]:
    """The sentences of an answer that cite something, in order, each whole and with its markers."""
    known = {item.marker for item in citations}
    return tuple(part for part in _said(answer) if known & _markers(part))


def extracted(question: str, answer: str, citations: Sequence[Citation]) -> str:
    """The one or two sentences that answer the question best: of those that cite something, else of all."""
    return _joined(_best(question, cited_sentences(answer, citations) or _said(answer)))


def _best(question: str, said: Sequence[str], nearness: Mapping[int, float] = MappingProxyType({})) -> tuple[str, ...]:
    """In the order of the answer: the one that answers best, and the next where it has more of the question."""
    read = read_question(question)
    strength: dict[int, float] = {}
    covered: dict[int, frozenset[str]] = {}
    for place, text in enumerate(map(_plain, said)):
        near = nearness.get(place, _NEARNESS)
        model = load_coefficients()[model_for(read.language, text)]
        evidence, strength[place] = judged(read, Passage(PassageId(""), "", text, near, near), near, model)
        covered[place] = frozenset(evidence.covered)
    ranked = sorted(strength, key=lambda place: (-strength[place], place))[:MOST_SENTENCES]
    kept = [place for place in ranked if place == ranked[0] or _adds(covered[place], covered[ranked[0]])]
    return tuple(said[place] for place in sorted(kept))


def _adds(terms: frozenset[str], best: frozenset[str]) -> bool:
    """Return whether a sentence has question terms beyond the best one; if neither has any, there is no difference."""
    return bool(terms - best) or not (terms or best)


def renumbered(claim: str, citations: Sequence[Citation]) -> tuple[str, tuple[Citation, ...]]:
    """A claim whose citations are numbered from 1; markers that point nowhere are left out."""
    known = {item.marker: item for item in citations}
    numbers = dict.fromkeys(int(number) for number in _MARKER.findall(claim))
    places = {number: place for place, number in enumerate((item for item in numbers if item in known), start=1)}

    def placed(match: re.Match[str]) -> str:
        place = places.get(int(match.group(1)))
        return match.group().replace(match.group(1), str(place)) if place else ""

    return _MARKER.sub(placed, claim).strip(), tuple(
        replace(known[number], marker=place) for number, place in places.items()
    )


def formless(claim: str, said: Sequence[str]) -> bool:
    """Return whether a claim is none of one or two short sentences that cite only what the sentences given cite."""
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
    parts = (_LIST_SIGN.sub("", part) for line in answer.splitlines() for part in _with_markers(line))
    return tuple(part for part in map(_without_lead, parts) if part and not _INSTRUCTS.search(part))


def _without_lead(sentence: str) -> str:
    """A sentence without the words that a built-in answer begins with, which say nothing."""
    for language in ("zh", "en"):
        say = Phrases("answer", language)
        for lead in (say("lead"), say("foreign")):
            sentence = sentence.removeprefix(lead).strip()
    return sentence


def _with_markers(line: str) -> list[str]:
    """Sentences of a line, each with the markers that stand behind its full stop."""
    parts: list[str] = []
    for part in sentences(line, whole=True):
        leading = _MARKERS_ALONE.match(part) if parts else None
        if leading:
            gap = "" if parts[-1].endswith(("。", "！", "？")) else " "
            parts[-1] = f"{parts[-1]}{gap}{leading.group().strip()}"
        if rest := part[leading.end() :].strip() if leading else part:
            parts.append(rest)
    return parts


def _joined(parts: Sequence[str]) -> str:
    chinese = bool(parts) and parts[0].rstrip("[]0123456789 ").endswith(("。", "！", "？"))
    return ("" if chinese else " ").join(parts)
