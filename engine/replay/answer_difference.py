"""Changes between two answers, sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from engine.builtin.answer_reading import statements
from engine.model.values import PassageId, RunRecord

SentenceKind = Literal["same", "changed", "added", "removed"]
"""``changed``: other words, or the same words with other citations; ``added``: only b has it; ``removed``: only a."""

_SIMILAR = 0.5
"""Share of characters that two sentences must have in common to count as one that was changed."""
_MOST_PAIRS = 1600
"""A stretch with more pairs of sentences than this is not searched for changed ones."""


@dataclass(frozen=True, slots=True)
class SentenceDifference:
    """One sentence of either answer, or of both; the text is empty where an answer has no such sentence."""

    kind: SentenceKind
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: str
    """Without markers and with single spaces."""
    cites: tuple[PassageId, ...]

    @property
    def identity(self) -> tuple[str, tuple[PassageId, ...]]:
        return self.words, self.cites


def answer_difference(a: RunRecord, b: RunRecord) -> tuple[SentenceDifference, ...]:
    """Align the sentences of two answers, in reading order.

    Markers are compared by the passage that they point to: ``[1]`` and ``[2]`` are the same citation where they name
    the same passage in their runs.
    """
    before, after = _sentences(a), _sentences(b)
    matcher = SequenceMatcher(None, [item.identity for item in before], [item.identity for item in after], False)
    found: list[SentenceDifference] = []
    for code, a0, a1, b0, b1 in matcher.get_opcodes():
        if code == "equal":
            pairs = zip(before[a0:a1], after[b0:b1], strict=True)
            found.extend(SentenceDifference("same", old.text, new.text) for old, new in pairs)
        else:
            found.extend(_replaced(before[a0:a1], after[b0:b1]))
    return tuple(found)


def _replaced(before: Sequence[_Sentence], after: Sequence[_Sentence]) -> list[SentenceDifference]:
    """A stretch where the answers differ: the most similar pair stands for a change, and the rest follows around it."""
    pair = _most_similar(before, after)
    if pair is None:
        removed = [SentenceDifference("removed", item.text, "") for item in before]
        return [*removed, *(SentenceDifference("added", "", item.text) for item in after)]
    old, new = pair
    return [
        *_replaced(before[:old], after[:new]),
        SentenceDifference("changed", before[old].text, after[new].text),
        *_replaced(before[old + 1 :], after[new + 1 :]),
    ]


def _most_similar(before: Sequence[_Sentence], after: Sequence[_Sentence]) -> tuple[int, int] | None:
    if not before or not after or len(before) * len(after) > _MOST_PAIRS:
        return None
    best, place = _SIMILAR, None
    matcher: SequenceMatcher[str] = SequenceMatcher(autojunk=False)
    for new, candidate in enumerate(after):
        # The second sequence is the one that the matcher keeps an index of.
        matcher.set_seq2(candidate.words)
        for old, item in enumerate(before):
            matcher.set_seq1(item.words)
            if matcher.real_quick_ratio() < best or matcher.quick_ratio() < best:
                continue
            ratio = matcher.ratio()
            if ratio > best or (ratio == best and place is None):
                best, place = ratio, (old, new)
    return place


def _sentences(record: RunRecord) -> list[_Sentence]:
    cited = {item.marker: item.passage_id for item in record.citations}
    return [
        _Sentence(item.text, item.plain, tuple(sorted({cited[number] for number in item.markers if number in cited})))
        for item in statements(record.answer)
    ]
