"""Compare an answer with the gold answers of its question, and its sentences with the passages that they cite."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from engine.builtin.answer_reading import Shown, statements
from engine.builtin.direct import without_markers
from engine.evaluation.cases import Case
from engine.model.language import language_of
from engine.model.values import RunRecord

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_HAN = re.compile(r"([\u4e00-\u9fa5])")
_ASCII = frozenset(string.punctuation)


Basis = Literal["gold", "judgement", "passage", "refusal"]
"""What tells whether a question ended right: a gold answer that the answer contains, what people said of exactly this
answer, an expected passage in the context, or, where it cannot be answered, that it was refused."""
BASES: tuple[Basis, ...] = get_args(Basis)


@dataclass(frozen=True, slots=True)
class Match:
    """Similarity of an answer to the nearest of several gold answers, each figure by itself."""

    exact: float
    """1 where they are equal after normalisation, else 0."""
    f1: float
    """Of precision and recall over tokens, in [0, 1]."""
    contained: float
    """1 where all tokens of a gold answer stand in the answer side by side, else 0."""


@dataclass(frozen=True, slots=True)
class Cited:
    """Support of one answer's citations, as far as words can tell."""

    pairs: int
    """Sentence and cited passage, in a language that can be compared."""
    held: int
    """Pairs whose passage bears the sentence out."""
    claims: int
    """Sentences that say something which could be wrong."""
    borne_out: int
    """Of these, how many are borne out by a passage that they cite."""


def basis_of(case: Case, *, judged: bool = False) -> Basis | None:
    """Return the basis on which a question counts as right; None if there is none.

    ``judged``: people judged the very answer that it ended with.
    """
    if case.gold_answers and case.answerable is not False:
        return "gold"
    if judged:
        return "judgement"
    if case.answerable is False:
        return "refusal"
    return "passage" if case.expected else None


def tokens(text: str, language: str) -> list[str]:
    """The words of an answer as SQuAD compares them, Chinese by characters.

    Case, punctuation and, outside of Chinese, English articles do not count (Rajpurkar et al. 2016; for Chinese Lewis
    et al. 2020, MLQA).
    """
    plain = "".join(char for char in text.lower() if char not in _ASCII and unicodedata.category(char)[0] != "P")
    return (_HAN.sub(r" \1 ", plain) if language == "zh" else _ARTICLES.sub(" ", plain)).split()


def match_of(answer: str, gold: Sequence[str], language: str = "") -> Match:
    """Compare an answer with gold answers; markers of citations do not count, and each figure is that of the best one.

    Without a ``language`` it is that of each gold answer. Raises ``ValueError`` without a gold answer.
    """
    if not gold:
        raise ValueError("an answer is compared with at least one gold answer")
    said = without_markers(answer)
    found = [_match(said, item, language or language_of(item)) for item in gold]
    return Match(*(max(values) for values in zip(*found, strict=True)))


def _match(said: str, gold: str, language: str) -> tuple[float, float, float]:
    have, want = tokens(said, language), tokens(gold, language)
    common = sum((Counter(have) & Counter(want)).values())
    # Padded, so that no token is found within another one.
    contained = bool(want) and f" {' '.join(want)} " in f" {' '.join(have)} "
    return float(have == want), 2 * common / (len(have) + len(want)) if common else 0.0, float(contained)


def cited_of(record: RunRecord) -> Cited:
    """Hold each sentence of a run's answer against the passages that it cites, by words and figures.

    A passage in another language than the sentence cannot be compared so: such a pair is left out, and a sentence that
    has no other one with it.
    """
    given = {item.id: item for item in record.context.passages} if record.context else {}
    shown = {
        item.marker: Shown.of(item.marker, given[item.passage_id])
        for item in record.citations
        if item.passage_id in given
    }
    pairs = held = claims = borne_out = 0
    for statement in statements(record.answer):
        if statement.part != "claim":
            continue
        known = [shown[number] for number in statement.markers if number in shown]
        known = [item for item in known if item.comparable(statement)]
        if statement.markers and not known:
            continue
        bearing = sum(item.bears_out(statement) for item in known)
        pairs, held = pairs + len(known), held + bearing
        claims, borne_out = claims + 1, borne_out + bool(bearing)
    return Cited(pairs, held, claims, borne_out)
