"""Tuning from evidence: sweeps of many settings over many runs, one setting as a slider moves, a recommendation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine.evaluation.aggregate import evaluate
from engine.evaluation.evidence import gather
from engine.evaluation.question_changes import changes_between
from engine.evaluation.recommend import recommend
from engine.evaluation.sweep import Axis, sweep
from engine.model.config import RunConfig
from tests.benchmarks.harness import Bench, Row, in_turn
from tests.evaluation.gathered import questions

_BASE = RunConfig(grade_probe=True)
_MOVED = replace(_BASE, similarity_threshold=0.41)
_AXES = (
    Axis("similarity_threshold", tuple(place / 20 for place in range(20))),
    Axis("grade_pass_threshold", tuple(place / 20 for place in range(1, 21))),
)


def tuning(bench: Bench) -> Iterator[Row]:
    """Decisions and figures from made-up runs of 1 to 4 rounds with 20 candidates each, every one of them judged."""
    cases, records = questions(bench.sizes.swept, _BASE)
    evidence = gather(cases, records)
    swept = sweep(evidence, _BASE, _AXES)
    of = f"{len(evidence)} runs"
    grid, moved, compared, best, gathered = in_turn(
        lambda: sweep(evidence, _BASE, _AXES),
        lambda: evaluate(evidence, [_MOVED]),
        lambda: changes_between(evidence, evaluate(evidence, [_BASE, _MOVED]), 0, 1),
        lambda: recommend(swept, _BASE),
        lambda: gather(cases, records),
        repeats=min(5, bench.sizes.repeats),
    )
    yield Row(f"sweep of {len(swept.configs)} settings over {of}, decisions and figures", "ms", grid, "< 1000 ms")
    yield Row(f"all figures of one setting over {of}", "ms", moved, "< 1000 ms to the repainted chart")
    yield Row(f"figures of two settings and the flips between them over {of}", "ms", compared, "the same")
    yield Row("recommendation with intervals and tests", "ms", best)
    yield Row(f"evidence from {of}, once", "ms", gathered)
