"""Models that read question and passage together and give a score: as reranker, and as the run's grader."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.builtin.rerank import BATCH, by_relevance, scored_verdict
from engine.errors import ModelError
from engine.llm.prompts import shortened_above
from engine.llm.role import at_once
from engine.model.config import RoleName
from engine.model.grader_fit import GraderFit, calibrated, sigmoid
from engine.model.values import Message, ModelCall, Passage, PassageId, Verdict
from engine.roles import SILENT, Trace

Scale = Literal["logit", "share"]
"""What scores are: without limits, 0 for even chances; or between 0 and 1."""
_UNSCORED = "The server gave no score."


@dataclass(frozen=True, slots=True)
class Scorer:
    """A model that scores texts against a question."""

    name: str
    """As a config names it."""
    score: Callable[[str, Sequence[str]], Awaitable[Sequence[float]]]
    """One finite number for each text, NaN for one that a server left out; raises ``ModelError``."""
    scale: Scale = "logit"
    in_process: bool = True
    """False where a server is asked."""
    place: Callable[[], AbstractAsyncContextManager[Any]] = nullcontext
    """A place among the calls that its server is given at the same time."""

    def chance(self, raw: float) -> float:
        """P(relevant) of a score until it is calibrated: a share as it is, else its sigmoid.

        Raises ``ModelError`` for a share outside of [0, 1].
        """
        if self.scale == "logit":
            return sigmoid(raw)
        if not 0.0 <= raw <= 1.0:
            raise ModelError.rerank_score_out_of_range(model=self.name, score=f"{raw:.4g}")
        return raw


class ScoringReranker:
    """Reranks by scores (contract: :class:`engine.roles.Reranker`).

    They are no verdicts of the run's grader and are not reported as such. ``TimeoutError`` where the trace's time
    runs out.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    async def rerank(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT
    ) -> list[tuple[Passage, Verdict]]:
        """Each passage with its score as a verdict, best first; those that a server left out come last."""
        verdicts: dict[PassageId, Verdict] = {}
        for start in range(0, len(passages), BATCH):
            batch = passages[start : start + BATCH]
            names = [item.id for item in batch]
            asking = Asking(self._scorer, "reranker", question, list(map(shown, batch)), trace, names)
            for item, (_, chance) in zip(batch, await asking.answers(), strict=True):
                unscored = Verdict(relevant=None, confidence=0.0, reason=_UNSCORED, grader=self._scorer.name)
                verdicts[item.id] = unscored if math.isnan(chance) else scored_verdict(chance, self._scorer.name)
        return [(passage, verdicts[passage.id]) for passage in by_relevance(passages, verdicts)]


class ScoringGrader:
    """Grades by scores (contract: :class:`engine.roles.Grader`), one passage a call so that none bears on another.

    A verdict carries the raw score as well as P(relevant). Raises the ``ModelError`` of the first passage that has no
    score, ``TimeoutError`` where the trace's time runs out.
    """

    def __init__(self, scorer: Scorer, fit: GraderFit | None = None) -> None:
        """``fit`` calibrates the scores for one collection."""
        self._scorer = scorer
        self._fit = fit

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        """One verdict for each passage, in their order; reported to the trace as they come. A part is a call more."""
        if self._scorer.in_process:
            return [await self._judge(question, item, trace, parts) for item in passages]
        async with at_once() as calls:
            judged = [calls.create_task(self._judge(question, item, trace, parts)) for item in passages]
        return [item.result() for item in judged]

    async def _judge(self, question: str, passage: Passage, trace: Trace, parts: Sequence[str]) -> Verdict:
        scores: list[tuple[float, float]] = []
        for asked in (question, *parts):
            async with self._scorer.place():
                asking = Asking(self._scorer, "grader", asked, [shown(passage)], trace, [passage.id], self._fit)
                scores += await asking.answers()
        (raw, chance), *rest = scores
        verdict = replace(self._verdict(raw, chance), parts=tuple(of_part for _, of_part in rest))
        trace.verdict(passage.id, verdict)
        return verdict

    def _verdict(self, raw: float, chance: float) -> Verdict:
        relevant = chance >= 0.5
        return Verdict(
            relevant=relevant,
            confidence=chance if relevant else 1.0 - chance,
            # Without a word on calibration, so that a rewriter reads the same either way.
            reason=f"Score {raw:.4g}.",
            grader=self._scorer.name,
            raw=raw,
            fit=self._fit.id if self._fit else "",
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """One call for the scores of some texts, reported to the trace no matter how it ends."""

    scorer: Scorer
    role: RoleName
    question: str
    """Or what else they are compared with, such as a sentence of an answer."""
    texts: Sequence[str]
    trace: Trace
    passages: Sequence[PassageId] = ()
    """What the texts are of, where they are passages."""
    fit: GraderFit | None = None

    async def answers(self) -> list[tuple[float, float]]:
        """The score of each text with the chance it stands for."""
        start_ms, began = self.trace.now_ms(), time.perf_counter()
        if not self.scorer.in_process:
            self.trace.calling()
        found: list[tuple[float, float]] = []
        error = "interrupted"
        # Neither tokenizers nor JSON take half of a surrogate pair.
        asked, *texts = (text.encode(errors="replace").decode() for text in (self.question, *self.texts))
        try:
            # A thread cannot be stopped, but no one waits for it: a batch is short.
            async with asyncio.timeout(self.trace.time_left_s()):
                raw = await self.scorer.score(asked, texts)
            found = [(score, self._chance(score)) for score in raw]
            error = ""
        except ModelError as failure:
            error = f"{failure.code}: {failure.fact}"
            raise
        finally:
            self.trace.call(self._call(found, start_ms, (time.perf_counter() - began) * 1000.0, error))
        return found

    def _chance(self, raw: float) -> float:
        if math.isnan(raw):
            return raw
        stated = self.scorer.chance(raw)
        return calibrated(self.fit.data, raw) if self.fit else stated

    def _call(self, found: Sequence[tuple[float, float]], start_ms: float, duration_ms: float, error: str) -> ModelCall:
        parsed: dict[str, Any] = {}
        if self.role == "reranker":
            given = zip(self.passages, found, strict=False)
            parsed = {name: round(chance, 4) for name, (_, chance) in given if not math.isnan(chance)}
        elif found:
            # A sentence is supported as far as the best of the texts supports it.
            score, chance = max(found, key=lambda item: -math.inf if math.isnan(item[1]) else item[1])
            parsed = {} if math.isnan(chance) else {"score": score, "probability": round(chance, 4)}
        return ModelCall(
            role=self.role,
            node="",
            round=0,
            model=self.scorer.name,
            messages=(Message("user", self.question), *(Message("user", text) for text in self.texts)),
            reply=" ".join(f"{raw:.6g}" for raw, _ in found),
            parsed=parsed or None,
            passage_id=self.passages[0] if self.role == "grader" else None,
            start_ms=start_ms,
            duration_ms=duration_ms,
            # In this process there is no server: it costs what the other models of this process cost.
            built_in=self.scorer.in_process,
            error=error,
        )


def shown(passage: Passage) -> str:
    """Return the text of a passage below what it stands under, which often says what the passage is about."""
    return f"{shortened_above(passage.above)}\n{passage.text}" if passage.above else passage.text
