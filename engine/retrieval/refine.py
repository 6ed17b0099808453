"""Cutting passages to the sentences that bear on a question before an answer is written (GH-06).

Pure. What is cut stays in the record, so that a page can show it, and a citation still points to the whole passage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.builtin.answer_form import Asking
from engine.builtin.answer_kind import answer_strength
from engine.builtin.evidence import HARD_KINDS, weigh
from engine.builtin.generator import asking_of
from engine.builtin.quotable import leans_on_previous
from engine.model.language import language_of
from engine.model.values import Passage, PassageId, Sentence

_BOUNDARY = re.compile(
    r"(?<=[。！？；])(?![”’」』）》】)\"'])|(?<=[.!?;])(?=[ \t])|(?<=\n)(?!\n)|(?<=[。！？；.!?][”’」』）》】)\"'])"
)
_OPEN_END = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)\.|(?:^|\s)[A-Z]\.)$"
)
_FULL_STOP = re.compile(r"[.!?…。！？；;:：]['\"”’）)】\]]*$")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_ROW = re.compile(r"^\s*\|")
_LEADING_IN = re.compile(r"[:：]\s*$")
_WRAPPED_FROM = 30
"""Characters from which a line without a full stop is taken to have been broken for its width."""

_KIND = 0.35
"""What an answer of the kind asked for counts beside coverage, as for the built-in generator's own choice."""
_RENAMED = 0.25
_HEADING_COUNTS = 0.15
_LINKED = 0.25
"""What naming two of the entities that a search went along counts."""
_LEANING = 0.9
"""Share of the bearing of a sentence that the one before it gets where it cannot be read without it."""
_BESIDE = 0.6
"""Share of the bearing of a sentence that the next one gets: it often continues with the answer."""
_FULL = 0.8
"""Score that counts as full bearing: no sentence repeats a whole question and answers it too."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    bearing: float


def refined(
    question: str, passages: Sequence[Passage], threshold: float, names: Sequence[str] = ()
) -> dict[PassageId, tuple[Sentence, ...]]:
    """The sentences of each passage with their bearing on the question; those below ``threshold`` are not kept.

    ``names`` are those of entities that the search went along: the sentence that connects two of them seldom repeats
    the question.

    At least the best sentence of each passage is kept, and a heading with what stands under it. A passage of one
    sentence, or in another language than the question, is left whole: what bears could not be told. Passages of which
    nothing is cut are left out of the result.
    """
    asking = asking_of(question)
    folded = tuple(dict.fromkeys(name.casefold() for name in names if len(name) > 1))
    found: dict[PassageId, tuple[Sentence, ...]] = {}
    for passage in passages:
        if language_of(passage.text) != language_of(question):
            continue
        made = _kept(_measured(asking, passage, folded), threshold)
        if not all(item.kept for item in made):
            found[passage.id] = made
    return found


def given_text(passage: Passage, cut: Mapping[PassageId, tuple[Sentence, ...]]) -> str:
    """What is given of a passage: its kept sentences, or all of it where nothing was cut."""
    if passage.id not in cut:
        return passage.text
    return "".join(item.text for item in cut[passage.id] if item.kept).strip()


def sentences_of(text: str) -> list[str]:
    """The sentences of a passage with all that stands between them: joined, they are the passage.

    A table is one sentence, for rows mean nothing without their header; so is a line broken for its width.
    """
    pieces: list[str] = []
    at = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        end = boundary.end() if boundary else len(text)
        piece = text[at:end]
        at = end
        if not piece:
            continue
        if pieces and (not any(map(str.isalnum, piece)) or _goes_on(pieces[-1], piece)):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _goes_on(before: str, piece: str) -> bool:
    ended, rest = before.strip(), piece.lstrip()
    if not any(map(str.isalnum, ended)) or _OPEN_END.search(ended):
        return True
    if _ROW.match(before.rsplit("\n", 2)[-2] if before.endswith("\n") and "\n" in before[:-1] else before):
        return _ROW.match(piece) is not None
    if _FULL_STOP.search(ended) or _HEADING.match(before) or not before.endswith("\n"):
        return False
    wraps = rest[:1].islower() or (language_of(rest[:1]) == "zh" and language_of(ended[-1:]) == "zh")
    return wraps and len(ended.rsplit("\n", 1)[-1]) >= _WRAPPED_FROM


def _measured(asking: Asking, passage: Passage, names: Sequence[str]) -> list[_Piece]:
    """Bearings of the sentences; one that another needs to be understood bears nearly as much as that one."""
    texts = sentences_of(passage.text)
    heading = f"{passage.title}\n{passage.section}".strip()
    above = _coverage(asking, heading) if heading else 0.0
    found = [_bearing(asking, text, above, names) for text in texts]
    for at in range(len(texts) - 1, 0, -1):
        if leans_on_previous(texts[at].lstrip(" \t\n-*+•·")) or _LEADING_IN.search(texts[at - 1]):
            found[at - 1] = max(found[at - 1], _LEANING * found[at])
    goes_on = [
        0.0 if _HEADING.match(text) else _BESIDE * before for text, before in zip(texts[1:], found, strict=False)
    ]
    found = [max(pair) for pair in zip(found, [0.0, *goes_on], strict=True)]
    below = 0.0
    for at in range(len(texts) - 1, -1, -1):
        if _HEADING.match(texts[at]):
            found[at], below = max(found[at], below), 0.0
        else:
            below = max(below, found[at])
    return [_Piece(text, round(bearing, 4)) for text, bearing in zip(texts, found, strict=True)]


def _kept(pieces: Sequence[_Piece], threshold: float) -> tuple[Sentence, ...]:
    best = max((item.bearing for item in pieces), default=0.0)
    first = next((at for at, item in enumerate(pieces) if item.bearing == best and not _HEADING.match(item.text)), 0)
    return tuple(
        Sentence(item.text, item.bearing, kept=item.bearing >= threshold or at == first)
        for at, item in enumerate(pieces)
    )


def _bearing(asking: Asking, text: str, above: float, entities: Sequence[str]) -> float:
    """Score in [0, 1] how much of the question a sentence covers, and whether its answer is of the kind asked for."""
    near = _coverage(asking, text)
    lowered = text.casefold()
    names = [any(name in lowered for name in group) for group in asking.renamed]
    renamed = sum(names) / len(names) if names else 0.0
    linked = min(1.0, sum(name in lowered for name in entities) / 2)
    context = min(1.0, 2.0 * (near + _HEADING_COUNTS * above) + renamed)
    strength = max(
        answer_strength(clause, text) * (1.0 if clause.kind in HARD_KINDS else 0.5) for clause in asking.clauses
    )
    score = near + _KIND * strength * context + _RENAMED * renamed + _HEADING_COUNTS * above + _LINKED * linked
    # The root spreads out the low scores: sentences that complete an answer repeat little of the question.
    return math.sqrt(min(1.0, score / _FULL))


def _coverage(asking: Asking, text: str) -> float:
    """Share of the question's weight that a text covers, whole terms alone."""
    covered = frozenset(weigh(asking.question, text, 0.0).covered)
    total = sum(asking.question.weights)
    if not total:
        return 0.0
    pairs = zip(asking.question.forms.values(), asking.question.weights, strict=True)
    return sum(weight for form, weight in pairs if form in covered) / total
