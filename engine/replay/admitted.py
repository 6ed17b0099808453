"""Passages let in by other settings: used in an answer although the run had held them back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.decide import cut_of, gate_in
from engine.model.values import Candidate, Gate, Passage, PassageId, Round, RunRecord, Verdict

HeldBy = Literal["refused", "below_bar", "unreadable", "ungraded"] | Gate
"""``refused``: the grader said no; ``below_bar``: it said yes with less certainty than the run asked for; a gate: the
grader accepts what the run had dropped before grading."""
_UNACCEPTED: frozenset[HeldBy] = frozenset({"refused", "below_bar", "unreadable", "ungraded"})


@dataclass(frozen=True, slots=True)
class Admitted:
    """One passage that is let in, and what had held it back."""

    passage: Passage
    held_by: HeldBy
    value: float | None = None
    """P(relevant), similarity or rank, by what held it back; None where that is not known."""
    limit: float | None = None
    """What the run asked of that value."""

    @property
    def unaccepted(self) -> bool:
        """True if no grader accepts it by the run's own bar."""
        return self.held_by in _UNACCEPTED

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready values."""
        return {"id": self.passage.id, "held_by": self.held_by, "value": self.value, "limit": self.limit}


def admitted(
    record: RunRecord, config: RunConfig, rounds: Sequence[Round], given: Iterable[Passage], *, verified: bool
) -> tuple[Admitted, ...]:
    """Find those of the passages ``given`` under ``config`` that the run's own settings held back.

    ``rounds`` are the run's as they would be under ``config``. A passage that the grader refused is always one of them,
    even where a low bar let it into the run itself. None in a workflow that grades nothing.
    """
    if not workflow(config.workflow).grades:
        return ()
    # Who judges may be another one now: what held a passage back is what was said of it in the run.
    verdicts = {**_newest(rounds), **_newest(record.rounds)}
    seen = _nearest(record)
    found = (_held(passage, verdicts.get(passage.id), seen.get(passage.id), record.config) for passage in given)
    return tuple(item for item in found if item is not None and (not verified or item.held_by != "ungraded"))


def refused_given(record: RunRecord) -> tuple[PassageId, ...]:
    """Find what the answer of a run was written from although the grader refused it: a low bar let it in."""
    given = record.context.passages if record.context else ()
    verdicts = _newest(record.rounds)
    return tuple(item.id for item in given if item.id in verdicts and verdicts[item.id].relevant is False)


def needs_care(admits: Iterable[Admitted], right: Collection[PassageId] = ()) -> bool:
    """Return whether anything is let in that is not marked ``right``, or that no grader accepts."""
    return any(item.unaccepted or item.passage.id not in right for item in admits)


def _held(passage: Passage, verdict: Verdict | None, seen: Candidate | None, run: RunConfig) -> Admitted | None:
    if verdict is None:
        return Admitted(passage, "ungraded")
    if verdict.relevant is None:
        return Admitted(passage, "unreadable")
    if not verdict.relevant and verdict.by_cut:
        return Admitted(passage, "refused", verdict.known_p, cut_of(verdict, run))
    if not verdict.relevant:
        return Admitted(passage, "refused", verdict.known_p, run.min_confidence)
    if not verdict.passes(run.min_confidence):
        return Admitted(passage, "below_bar", verdict.known_p, run.min_confidence)
    gate = "kept" if seen is None else gate_in(seen, run)
    if gate == "kept" or seen is None:
        return None
    if gate == "beyond_top_k":
        return Admitted(passage, gate, seen.rank, run.top_k)
    return Admitted(passage, gate, seen.passage.similarity, run.similarity_threshold)


def _newest(rounds: Sequence[Round]) -> Mapping[PassageId, Verdict]:
    """Map every passage to its newest verdict, a readable one before one that could not be read."""
    found: dict[PassageId, Verdict] = {}
    for current in rounds:
        for name, verdict in current.verdicts.items():
            if verdict.relevant is not None or name not in found:
                found[name] = verdict
    return found


def _nearest(record: RunRecord) -> Mapping[PassageId, Candidate]:
    """Map every passage to the round's candidate that came closest to being kept."""
    found: dict[PassageId, Candidate] = {}
    for current in record.rounds:
        for item in current.candidates:
            former = found.get(item.passage.id)
            if former is None or _closeness(item, record.config) > _closeness(former, record.config):
                found[item.passage.id] = item
    return found


def _closeness(item: Candidate, run: RunConfig) -> tuple[bool, bool, float]:
    return gate_in(item, run) == "kept", item.rank <= run.top_k, item.passage.similarity
