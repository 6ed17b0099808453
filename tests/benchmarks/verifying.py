"""Verifiers on a hundred sentences that were marked by hand, English and Chinese, before any of them was asked."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engine.builtin.answer_support import word_checks
from engine.model.values import Passage, PassageId, SentenceCheck
from engine.roles import SILENT, Given, Trace, Verifier
from tests.benchmarks.model_grading import Kept

MARKED = Path(__file__).parent / "marked_sentences.json"
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence with the passage that it cites, and whether a person found it supported."""

    id: str
    language: str
    passage: str
    sentence: str
    supported: bool
    kind: str
    """How it is right (``said``, ``paraphrase``) or wrong (``number``, ``entity``, ``relation``, ``partial`` …)."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a verifier said of a marked sentence."""

    marked: Marked
    p_supported: float | None
    seconds: float


class WordVerifier:
    """What the program checks by words, as a verifier (contract: :class:`engine.roles.Verifier`)."""

    async def verify(
        self, question: str, answer: str, given: Given, trace: Trace = SILENT
    ) -> tuple[SentenceCheck, ...]:
        return word_checks(question, answer, given)


def marked() -> tuple[Marked, ...]:
    """The sentences in their order."""
    held = json.loads(MARKED.read_text(encoding="utf-8"))
    return tuple(Marked(**{**item, "passage": held["passages"][item["passage"]]}) for item in held["sentences"])


def checked(verifier: Verifier, sentences: Iterable[Marked], kept: Kept) -> list[Found]:
    """Ask about one sentence after another, each as the answer to no question; what is kept is not asked again."""
    found = ((item, kept.of(f"verify {item.id}", partial(_checked, verifier, item))) for item in sentences)
    return [Found(item, *said) for item, said in found if said is not None]


def _checked(verifier: Verifier, item: Marked) -> tuple[float | None, float]:
    began = time.perf_counter()
    (check,) = asyncio.run(verifier.verify("", f"{item.sentence[:-1]} [1]{item.sentence[-1]}", _given(item)))
    return check.p_supported, round(time.perf_counter() - began, 3)


def _given(item: Marked) -> Given:
    return Given((Passage(PassageId("p"), "", item.passage, 0.5, 0.5),))


def f1_of_unsupported(found: Sequence[Found], cut: float = 0.5) -> float:
    """F1 of finding the sentences that are not supported; one that was not checked is not found."""
    called = [item.p_supported is not None and item.p_supported < cut for item in found]
    wrong = [not item.marked.supported for item in found]
    hits = sum(map(all, zip(called, wrong, strict=True)))
    return 2 * hits / (sum(called) + sum(wrong)) if hits else 0.0


def interval(found: Sequence[Found], cut: float = 0.5, seed: int = 7) -> tuple[float, float]:
    """95 % of F1 over sentences drawn again with replacement."""
    drawn = random.Random(seed)
    scores = sorted(f1_of_unsupported(drawn.choices(found, k=len(found)), cut) for _ in range(_DRAWS))
    return scores[int(0.025 * _DRAWS)], scores[int(0.975 * _DRAWS)]


def auc(found: Sequence[Found]) -> float:
    """Chance that a supported sentence has a higher P than an unsupported one; half for equal ones."""
    right = [item.p_supported for item in found if item.marked.supported and item.p_supported is not None]
    wrong = [item.p_supported for item in found if not item.marked.supported and item.p_supported is not None]
    wins = sum((one > other) + 0.5 * (one == other) for one in right for other in wrong)
    return wins / (len(right) * len(wrong)) if right and wrong else 0.5
