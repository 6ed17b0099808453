"""One question through several workflows: what each found, what it cost, and whether the four-node loop was enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from engine.model.config import USUAL, WorkflowName
from engine.model.values import ANSWERED, PassageId, RunRecord

Enough = Literal["enough", "others_cite_more", "others_answered", "only_it", "nobody", "no_baseline", "alone"]
"""``enough``: it answered, and no other loop cites a source passage that it lacks; ``others_cite_more``: it answered,
and another one cites passages that it lacks; ``others_answered``: another one answered and it did not; ``only_it``:
no other one answered; ``nobody``: none did; ``no_baseline``, ``alone``: there is nothing to hold it against."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One workflow's run in figures."""

    record: RunRecord
    answered: bool
    cited: tuple[PassageId, ...]
    """Distinct passages of its answer, in the order of their markers."""
    searches: int
    """Rounds in which something was searched."""
    rewrites: int
    answers: int
    """How many were written."""
    times_slower: float | None
    """Its duration over the baseline's; None for the baseline and where one of them is running."""
    extra_calls: int | None
    """Model calls beyond the baseline's; steps of built-in roles are none."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    lanes: tuple[Lane, ...]
    enough: Enough | None
    """None while one of the runs continues."""
    better: tuple[WorkflowName, ...]
    """The workflows that ``enough`` speaks of: those that answered, or cite, what the baseline did not."""
    cited: Mapping[PassageId, tuple[WorkflowName, ...]]
    """Every cited passage with the workflows whose answers rest on it, most shared first."""


def side_by_side(records: Sequence[RunRecord]) -> SideBySide:
    """Hold runs of one question against the four-node one; the first run of a workflow counts."""
    base = next((item for item in records if item.workflow == USUAL), None)
    lanes = tuple(_lane(item, base) for item in records)
    enough: Enough | None = None
    better: tuple[WorkflowName, ...] = ()
    if not any(item.active for item in records):
        enough, better = _verdict(lanes)
    return SideBySide(lanes, enough, better, _cited(lanes))


def shared_time(records: Sequence[RunRecord]) -> bool:
    """Return whether each of several finished runs was under way while another one of them was."""
    began = [datetime.fromisoformat(item.started_at) for item in records]
    ended = [start + timedelta(milliseconds=item.duration_ms) for start, item in zip(began, records, strict=True)]
    places = range(len(records))
    return len(records) > 1 and all(
        any(began[one] < ended[other] and began[other] < ended[one] for other in places if other != one)
        for one in places
    )


def _lane(record: RunRecord, base: RunRecord | None) -> Lane:
    compared = base is not None and base is not record and not record.active and not base.active
    return Lane(
        record=record,
        answered=record.outcome in ANSWERED,
        cited=tuple(dict.fromkeys(citation.passage_id for citation in record.citations)),
        searches=sum(item.searched for item in record.rounds),
        rewrites=sum(not item.failed for item in record.rewrites),
        answers=max(len(record.drafts), int(bool(record.answer) and record.outcome in ANSWERED)),
        times_slower=record.duration_ms / base.duration_ms if compared and base and base.duration_ms else None,
        extra_calls=record.calls - base.calls if compared and base else None,
    )


def _verdict(lanes: Sequence[Lane]) -> tuple[Enough, tuple[WorkflowName, ...]]:
    base = next((lane for lane in lanes if lane.record.workflow == USUAL), None)
    others = [lane for lane in lanes if lane is not base]
    if base is None:
        return "no_baseline", ()
    if not others:
        return "alone", ()
    answered = tuple(lane.record.workflow for lane in others if lane.answered)
    if not base.answered:
        return ("others_answered", answered) if answered else ("nobody", ())
    if not answered:
        return "only_it", ()
    more = tuple(lane.record.workflow for lane in others if lane.answered and set(lane.cited) - set(base.cited))
    return ("others_cite_more", more) if more else ("enough", ())


def _cited(lanes: Sequence[Lane]) -> dict[PassageId, tuple[WorkflowName, ...]]:
    by_passage: dict[PassageId, list[WorkflowName]] = {}
    for lane in lanes:
        for passage_id in lane.cited:
            by_passage.setdefault(passage_id, []).append(lane.record.workflow)
    ranked = sorted(by_passage.items(), key=lambda item: -len(item[1]))
    return {passage_id: tuple(names) for passage_id, names in ranked}
