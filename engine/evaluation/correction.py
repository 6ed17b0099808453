"""Whether correction pays: a loop against the same one that never corrects, question by question.

Most loops correct by rewriting the question. What a run without that would have answered is known only where an answer
for what it had found is recorded, or where it surely refuses. Everything else is unknown, and never counts as helped or
harmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from engine.evaluation.aggregate import evaluate
from engine.evaluation.evidence import Evidence
from engine.evaluation.figures import Evaluation, Figure
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.values import RunId
from engine.replay.cost import cost_model

Effect = Literal["helped", "harmed", "unknown", "same"]
"""Right only with correction, right only without, not known, and as right with as without."""
EFFECTS: tuple[Effect, ...] = get_args(Effect)
Unknown = Literal["", "not_generated", "unlabelled", "unchecked", "failed"]
"""``unchecked``: an answer that is right unless a sentence of it is not supported, which was not found out."""


@dataclass(frozen=True, slots=True)
class CorrectedQuestion:
    """One question with and without correction."""

    case_id: str
    question: str
    run_id: RunId | None
    """Its recorded run; None where it failed."""
    effect: Effect
    why: Unknown
    """Why the effect is unknown."""
    right: tuple[bool | None, bool | None]
    """With and without correction; None where nothing tells."""
    steps: tuple[int | None, int | None]
    best: int | None
    """The fewest corrections after which the answer is right, in hindsight; None where none is, or it is not known."""


@dataclass(frozen=True, slots=True)
class Correction:
    """The effect of correction on every question: helped, harmed, unknown, then the rest."""

    config: RunConfig
    without: RunConfig
    rows: tuple[CorrectedQuestion, ...]
    right: tuple[Figure, Figure]
    """Share answered right, with and without correction."""
    steps: tuple[Figure, Figure]
    calls: tuple[Figure, Figure]
    """Mean of all steps, and of calls of chat models, a question."""
    hindsight: Figure
    """Share that ends right if each question stops at its best round, which no loop can know."""
    missing: tuple[str, ...]
    """Questions whose answer without correction was never generated."""
    price: Cost
    """Of generating these, at most."""

    def count(self, effect: Effect) -> int:
        return Counter(row.effect for row in self.rows)[effect]

    def figure(self, effect: Literal["helped", "harmed"]) -> Figure:
        """Count the questions, with every unknown one at its lowest and at its highest."""
        known = self.count(effect)
        place = 0 if effect == "helped" else 1
        # A question that is known to be wrong with correction cannot be helped by it, and so on.
        able = sum(
            row.effect == "unknown" and row.right[place] is not False and row.right[1 - place] is not True
            for row in self.rows
        )
        value = None if able else float(known)
        return Figure(value, known, known + able, len(self.rows) - self.count("unknown"), len(self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        sides = ("with", "without")
        return {
            "without": dict([workflow(self.config.workflow).corrected_by]),
            **{effect: self.count(effect) for effect in EFFECTS},
            **{
                name: dict(zip(sides, (asdict(side) for side in getattr(self, name)), strict=True))
                for name in ("right", "steps", "calls")
            },
            "best_round_in_hindsight": asdict(self.hindsight),
            "to_generate": {"cases": list(self.missing), "at_most": asdict(self.price)},
            "questions": [
                {"case": row.case_id, "effect": row.effect, "why": row.why, "best_after": row.best} for row in self.rows
            ],
        }


def corrections(config: RunConfig) -> int:
    """Count the corrections that a config may make: rewrites in most workflows."""
    name, none = workflow(config.workflow).corrected_by
    return int(getattr(config if hasattr(config, name) else config.options, name)) - none


def _correcting(config: RunConfig, times: int) -> RunConfig:
    name, none = workflow(config.workflow).corrected_by
    changes: dict[str, Any] = {name: none + times}
    if hasattr(config, name):
        return replace(config, **changes)
    return replace(config, options=replace(config.options, **changes))


def correction(evidence: Evidence, config: RunConfig) -> Correction:
    """Compare ``config`` with the same settings without any correction; calls nothing.

    Raises ``ValueError`` for settings that never correct.
    """
    if not (most := corrections(config)):
        raise ValueError("these settings never correct")
    evaluation = evaluate(evidence, [_correcting(config, times) for times in range(most + 1)])
    right = np.stack([evaluation.measures["answered_right"].of(place) for place in range(most + 1)], 1)
    steps = [evaluation.measures["steps"].of(place) for place in (-1, 0)]
    recorded, tells = (getattr(evaluation.right_by, name)[:, [-1, 0]] for name in ("recorded", "tells"))
    rows = [
        _row(
            (item.case.id, item.case.question, item.run_id),
            right[place],
            _why(bool(recorded[place].all()), bool(tells[place].all())),
            (_whole(steps[0][place]), _whole(steps[1][place])),
        )
        for place, item in enumerate(evidence.gathered)
    ]
    rows += [
        CorrectedQuestion(case.id, case.question, None, "unknown", "failed", (None, None), (None, None), None)
        for case in evidence.lost
    ]
    missing = tuple(item.case.id for item, known in zip(evidence.gathered, recorded, strict=True) if not known[1])
    return Correction(
        config,
        evaluation.configs[0],
        tuple(sorted(rows, key=lambda row: EFFECTS.index(row.effect))),
        right=_sides(evaluation, "answered_right"),
        steps=_sides(evaluation, "steps"),
        calls=_sides(evaluation, "calls"),
        hindsight=_hindsight(evaluation, right),
        missing=missing,
        price=_price(evidence, evaluation.configs[0]) * len(missing),
    )


def _why(recorded: bool, tells: bool) -> Unknown:
    """Why it is not known on both sides whether a question ended right."""
    return "unchecked" if tells else "unlabelled" if recorded else "not_generated"


def _row(
    named: tuple[str, str, RunId], right: Sequence[float], why: Unknown, steps: tuple[int | None, int | None]
) -> CorrectedQuestion:
    with_, without = (None if np.isnan(side) else bool(side) for side in (right[-1], right[0]))
    effect: Effect = "unknown"
    if with_ is not None and without is not None:
        effect = "same" if with_ == without else "helped" if with_ else "harmed"
    first = next((place for place, value in enumerate(right) if value != 0), None)
    best = first if first is not None and right[first] == 1 else None
    return CorrectedQuestion(*named, effect, why if effect == "unknown" else "", (with_, without), steps, best)


def _sides(evaluation: Evaluation, measure: Literal["answered_right", "steps", "calls"]) -> tuple[Figure, Figure]:
    return evaluation.figure(measure, len(evaluation.configs) - 1), evaluation.figure(measure, 0)


def _hindsight(evaluation: Evaluation, right: np.ndarray[Any, np.dtype[np.float64]]) -> Figure:
    measured = evaluation.measures["answered_right"]
    unknown = np.asarray(measured.unknown.any(axis=1))
    counted = unknown | ~np.isnan(right).all(axis=1)
    best = (right == 1).any(axis=1)
    n, lost = int(counted.sum()) + measured.lost_n, measured.lost_n
    if not n:
        return Figure(None, None, None, 0, 0)
    open_ = int((unknown & ~best).sum()) + lost
    low = int(best.sum())
    return Figure(None if open_ else low / n, low / n, (low + open_) / n, n - open_, n)


def _price(evidence: Evidence, config: RunConfig) -> Cost:
    """Of one question at most."""
    if not evidence.gathered:
        return Cost()
    record = evidence.gathered[0].table.record
    plain = replace(config, grade_probe=False)
    return cost_model(record, plain).longest_run(plain)


def _whole(value: float) -> int | None:
    return None if np.isnan(value) else int(value)
