"""Passages that the other program left ungraded, judged by a grader of this workbench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.model.config import RoleModel
from engine.model.values import IMPORTED, ModelCall, Passage, PassageId, RunRecord, Verdict
from plugins.traces.assembling import with_verdicts
from plugins.traces.deciding import decided


@dataclass(frozen=True, slots=True)
class JudgingPrice:
    """Cost of judging the rest of some runs."""

    runs: int
    passages: int
    calls: int
    """Of a chat model or a server; the built-in grader asks none."""


def ungraded(record: RunRecord) -> tuple[Passage, ...]:
    """Distinct passages of an imported run without a verdict, in the order in which it met them."""
    if record.origin is None:
        return ()
    judged = {name for own in record.rounds for name, verdict in own.verdicts.items() if verdict.relevant is not None}
    found: dict[PassageId, Passage] = {}
    for own in record.rounds:
        for item in own.candidates:
            if item.passage.id not in judged:
                found.setdefault(item.passage.id, item.passage)
    return tuple(found.values())


def price_of(records: Sequence[RunRecord], model: RoleModel) -> JudgingPrice:
    """Count the passages for a grader, and the calls."""
    left = [count for record in records if (count := len(ungraded(record)))]
    return JudgingPrice(len(left), sum(left), 0 if model.in_process else sum(left))


def judged(
    record: RunRecord, verdicts: Mapping[PassageId, Verdict], calls: Sequence[ModelCall], model: RoleModel
) -> RunRecord:
    """The run with verdicts of this workbench on what had none, decided over again.

    Where the other program judged nothing, this grader is the run's own. Where it judged some, its grader stays, and
    both kinds of verdict count equally: each says who gave it.
    """
    assert record.origin is not None
    theirs = any(verdict.grader.startswith(IMPORTED) for own in record.rounds for verdict in own.verdicts.values())
    config = record.config
    if not theirs:
        config = replace(config, models=replace(config.models, grader=model))
    origin = replace(
        record.origin,
        confidence="unknown" if theirs else "given",
        judged_here=tuple(dict.fromkeys((*record.origin.judged_here, model.name))),
        notes=tuple(note for note in record.origin.notes if note.code not in ("no_verdicts", "some_ungraded")),
    )
    first = {item.passage.id: own.index for own in reversed(record.rounds) for item in own.candidates}
    placed = tuple(
        replace(call, node="grade", round=first.get(call.passage_id, 0) if call.passage_id else 0) for call in calls
    )
    evidence = with_verdicts(replace(record, origin=origin, model_calls=(*record.model_calls, *placed)), verdicts)
    return decided(evidence, config)
