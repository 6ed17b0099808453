"""Judging the same passages again, and how far a grader's verdicts scatter when that is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, variance
from typing import Protocol

from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.values import Fault, Passage, PassageId, RunId, RunRecord, Verdict
from engine.roles import Grader, SilentTrace

_WIDTH = 2.0
"""Standard deviations: about 95 of 100 gradings of a passage lie that close to their mean."""
MOST_TIMES = 20
_PATIENCE_S = 120.0
"""How long one grading of all passages of a run may take."""


@dataclass(frozen=True, slots=True)
class PassageNoise:
    """The gradings of one passage."""

    passage_id: PassageId
    n: int
    """Readable gradings."""
    mean_p: float | None
    """None where no grading could be read."""
    sd: float | None
    """Of P(relevant), with n - 1; None under two gradings."""
    flip_rate: float | None
    """Share of gradings on the other side of the cut than most; at most one half."""


@dataclass(frozen=True, slots=True)
class Noise:
    """A grader's noise on some passages."""

    passages: tuple[PassageNoise, ...]
    cut: float
    sd: float | None
    """Pooled over passages; None where none was graded twice."""
    band: float | None
    """Half the width of the noise band around a cut: two pooled standard deviations."""
    flipping_n: int
    """Passages that did not always fall on the same side of the cut."""


def noise(gradings: Mapping[PassageId, Sequence[Verdict]], cut: float = 0.5) -> Noise:
    """The scatter of repeated gradings, by passage and over all; unreadable ones are left out."""
    passages = tuple(_of(passage_id, verdicts, cut) for passage_id, verdicts in gradings.items())
    repeated = [(item.n, item.sd) for item in passages if item.sd is not None]
    freedom = sum(n - 1 for n, _ in repeated)
    sd = (sum((n - 1) * own**2 for n, own in repeated) / freedom) ** 0.5 if freedom else None
    return Noise(
        passages=passages,
        cut=cut,
        sd=sd,
        band=None if sd is None else _WIDTH * sd,
        flipping_n=sum(bool(item.flip_rate) for item in passages),
    )


def coin_flip(p: float, threshold: float, band: float | None) -> bool:
    """Return whether a verdict might as well fall on the other side of ``threshold`` when made again.

    True where P(relevant) is within the noise band around it; never where the grader has no noise or it was not
    measured.
    """
    return bool(band) and abs(p - threshold) <= (band or 0.0) + 1e-9


def _of(passage_id: PassageId, verdicts: Sequence[Verdict], cut: float) -> PassageNoise:
    readable = [item for item in verdicts if item.relevant is not None]
    values = [item.p_relevant for item in readable]
    passed = sum(item.passes(cut) for item in readable)
    n = len(readable)
    return PassageNoise(
        passage_id=passage_id,
        n=n,
        mean_p=fmean(values) if values else None,
        sd=variance(values) ** 0.5 if n > 1 else None,
        flip_rate=min(passed, n - passed) / n if n else None,
    )


class GraderSource(Protocol):
    """Makes graders that have no cache; see :class:`engine.running.resources.Resources`."""

    async def fresh_grader(self, config: RunConfig) -> Grader: ...


@dataclass(frozen=True, slots=True)
class Regraded:
    """Verdicts of repeated gradings."""

    verdicts: Mapping[RunId, Mapping[PassageId, Sequence[Verdict]]]
    """By run and passage, in the order they were made."""
    fault: Fault | None = None
    """What ended it early; what was judged before stands."""


class Patient(SilentTrace):
    """Listens to nothing, and leaves every grading its time."""

    def time_left_s(self) -> float:
        return _PATIENCE_S


def judged_passages(record: RunRecord) -> tuple[Passage, ...]:
    """Distinct passages that the grader of a run judged, in the order it met them; none that its screener decided."""
    found: dict[PassageId, Passage] = {}
    for current in record.rounds:
        for item in current.candidates:
            verdict = current.verdicts.get(item.passage.id)
            if verdict is not None and not verdict.by_cut:
                found.setdefault(item.passage.id, item.passage)
    return tuple(found.values())


async def regrade(
    graders: GraderSource, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None = None
) -> Regraded:
    """Judge what each run judged ``times`` times more; no verdict comes from the cache, and none goes into it.

    ``note`` gets the number of gradings done in a run. A grader that cannot be reached ends it with a fault.
    """
    found: dict[RunId, dict[PassageId, list[Verdict]]] = {}
    done = 0
    for record in records:
        passages = judged_passages(record)
        scattered: dict[PassageId, list[Verdict]] = {passage.id: [] for passage in passages}
        found[record.id] = scattered
        try:
            grader = await graders.fresh_grader(record.config)
            for _ in range(min(times, MOST_TIMES)):
                verdicts = await grader.grade(record.question, passages, Patient()) if passages else []
                for passage, verdict in zip(passages, verdicts, strict=True):
                    scattered[passage.id].append(verdict)
                done += 1
                if note is not None:
                    note(done)
                await asyncio.sleep(0)
        except WorkbenchError as error:
            return Regraded(found, Fault.of(error))
    return Regraded(found)
