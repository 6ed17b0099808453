"""Imported trace as a four-node loop: the settings that follow its path, and the decisions under them.

Pure: every decision is a what-if's own, so that a what-if under the same settings cannot say otherwise (TR-04).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from engine.model.config import RunConfig
from engine.model.events import (
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Event,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    Prepared,
    Retrieved,
    Rewritten,
    RunFinished,
    RunStarted,
)
from engine.model.values import (
    Context,
    Decision,
    NodeExecution,
    Origin,
    OriginNote,
    OriginNoteCode,
    Outcome,
    Passage,
    RunRecord,
)
from engine.replay import WhatIf, what_if
from plugins.traces.assembling import with_rewrites
from plugins.traces.foreign import ForeignTrace

_TRIED = 40
"""Traces whose paths settings are compared with; more say the same."""
_NO_LIMIT = 10**12
_OF_DECISIONS = ("other_path", "context_order", "other_context", "would_refuse")
"""Notes that other decisions change."""
_STEPS = {"retrieve": "", "grade": "grader", "rewrite": "rewriter"}
"""The nodes of a round, and whose calls they make."""


def settings_for(records: Sequence[RunRecord], base: RunConfig) -> RunConfig:
    """The settings under which the loop goes the way of most of these runs; the usual ones first (TR-04)."""
    sample = [record for record in records if any(own.verdicts for own in record.rounds)][:_TRIED]
    if not sample:
        return base
    return max(_candidates(sample, base), key=lambda config: sum(_likeness(record, config) for record in sample))


def _candidates(records: Sequence[RunRecord], base: RunConfig) -> Iterator[RunConfig]:
    """Gates that the shares and counts of these runs can tell apart; ``max`` takes the first of the best."""
    passed = {
        (sum(verdict.relevant is True for verdict in own.verdicts.values()), len(own.candidates))
        for record in records
        for own in record.rounds
    }
    shares = sorted({round(yes / found, 4) for yes, found in passed if yes and found})[:8]
    counts = sorted({yes for yes, _ in passed if 1 < yes <= base.top_k})[:6]
    gates: list[dict[str, Any]] = [{}, *({"gate": "min_relevant", "min_relevant": count} for count in counts)]
    gates += [{"gate": "pass_rate", "grade_pass_threshold": share} for share in shares]
    rewrites = {base.max_rewrites, *(len(record.rounds) - 1 for record in records)}
    for unverified in (False, True):
        for context in ("union", "last_round"):
            for gate in gates:
                for most in sorted(rewrites, reverse=True):
                    if 0 <= most <= 5:
                        yield replace(base, context=context, answer_unverified=unverified, max_rewrites=most, **gate)


def _likeness(record: RunRecord, config: RunConfig) -> int:
    """Score how far the loop follows a run: its rounds first, then its generator's context, if it was called."""
    found = what_if(with_rewrites(record, config), config)
    if not _same_way(found.decisions, record):
        return 0
    given = record.origin.given if record.origin else None
    same_passages = given is not None and {item.id for item in found.passages} == set(given)
    return 2 + int(bool(record.answer) == bool(found.passages)) + 2 * int(same_passages)


def _same_way(decisions: Sequence[Decision], record: RunRecord) -> bool:
    routes = [item.route for item in decisions]
    return len(routes) == len(record.rounds) and routes == ["rewrite"] * (len(routes) - 1) + ["generate"]


def decided(record: RunRecord, config: RunConfig) -> RunRecord:
    """The run with the decisions of the loop under ``config``, and how it ended."""
    assert record.origin is not None
    draft = replace(with_rewrites(record, config), context=None, outcome="unanswered")
    found = what_if(draft, config)
    context, note = _context(found, draft)
    notes = [item for item in record.origin.notes if item.code not in _OF_DECISIONS]
    if found.decisions and not _same_way(found.decisions, record) and found.decisions[-1].route != "rewrite":
        notes.append(OriginNote("other_path", {"round": str(found.decisions[-1].round)}))
    notes += [OriginNote(note)] if note else []
    return replace(
        draft,
        decisions=found.decisions,
        context=context,
        outcome=_outcome(found, draft),
        reason=found.reason,
        origin=replace(record.origin, notes=tuple(notes)),
    )


def _context(found: WhatIf, record: RunRecord) -> tuple[Context | None, OriginNoteCode | None]:
    """Return the other program's generator context, in the loop's order if both are equal."""
    origin: Origin | None = record.origin
    if origin is None or origin.given is None or not record.answer:
        return None, None
    seen: dict[str, Passage] = {item.passage.id: item.passage for own in record.rounds for item in own.candidates}
    theirs = tuple(seen[name] for name in origin.given)
    if found.passages and {item.id for item in found.passages} == set(origin.given):
        order: OriginNoteCode | None = "context_order" if [i.id for i in found.passages] != list(origin.given) else None
        return Context(found.passages, verified=found.verified, token_budget=_NO_LIMIT), order
    # While a verdict is missing, nothing says what the loop would give.
    other: OriginNoteCode | None = None
    if found.state != "needs_calls":
        other = "other_context" if found.passages else "would_refuse"
    return Context(theirs, verified=False, token_budget=_NO_LIMIT), other


def _outcome(found: WhatIf, record: RunRecord) -> Outcome:
    """Return how the other program ended, in the loop's terms if it would end equally."""
    if not record.answer:
        return "failed" if record.error is not None else "unanswered"
    return found.outcome if found.outcome in ("answered", "answered_forced") else "answered_unverified"


def events_of(record: RunRecord, trace: ForeignTrace | None = None) -> list[Event]:
    """The run as events, in the order in which the loop would have emitted them."""
    begun = RunStarted(
        run_id=record.id,
        question=record.question,
        config=record.config,
        started_at=record.started_at,
        author=record.author,
        origin=record.origin,
    )
    events: list[Event] = [begun, Prepared(manifest=record.manifest)]
    for own in record.rounds:
        events += _round_events(record, own.index, trace)
    events += _answer_events(record, trace)
    if record.outcome is not None:
        events.append(
            RunFinished(outcome=record.outcome, reason=record.reason, error=record.error, t_ms=record.duration_ms)
        )
    return [replace(event, seq=place) for place, event in enumerate(events, start=1)]


def _round_events(record: RunRecord, index: int, trace: ForeignTrace | None) -> Iterator[Event]:
    own = record.rounds[index]
    times = _times_of(record, index, trace)
    yield from _visit(times["retrieve"], [Retrieved.opening(replace(own, verdicts={}))])
    graded: list[Event] = [ModelCalled(call=call) for call in record.model_calls if _at(call, "grader", index)]
    graded += [PassageGraded(round=index, passage_id=name, verdict=said) for name, said in own.verdicts.items()]
    graded += [Decided(decision=item) for item in record.decisions if item.round == index]
    yield from _visit(times["grade"] if graded else None, graded)
    rewritten: list[Event] = [ModelCalled(call=call) for call in record.model_calls if _at(call, "rewriter", index)]
    rewritten += [Rewritten(rewrite=item) for item in record.rewrites if item.round == index]
    yield from _visit(times["rewrite"] if rewritten else None, rewritten)


def _times_of(record: RunRecord, index: int, trace: ForeignTrace | None) -> dict[str, NodeExecution]:
    """Return the times of a round's steps; of zero length if the trace does not say."""
    found = {node.node: node for node in record.nodes if node.round == index}
    if trace is not None:
        search = trace.searches[index]
        graded = trace.graded_ms[index] if index < len(trace.graded_ms) else (search.end_ms, search.end_ms)
        calls = [call for call in trace.calls if _at(call, "rewriter", index)]
        rewriting = (
            min((call.start_ms for call in calls), default=graded[1]),
            max((call.start_ms + call.duration_ms for call in calls), default=graded[1]),
        )
        spans = {"retrieve": (search.start_ms, search.end_ms), "grade": graded, "rewrite": rewriting}
        for node, (start, end) in spans.items():
            found[node] = NodeExecution(node, index, index + 1, start, max(0.0, end - start))
    at = max((node.start_ms + (node.duration_ms or 0.0) for node in found.values()), default=0.0)
    found = {node: found.get(node, NodeExecution(node, index, index + 1, at, 0.0)) for node in _STEPS}
    counts = {node: sum(_at(call, role, index) for call in record.model_calls) for node, role in _STEPS.items()}
    return {node: replace(visit, model_calls=counts[node]) for node, visit in found.items()}


def _answer_events(record: RunRecord, trace: ForeignTrace | None) -> Iterator[Event]:
    last = len(record.rounds) - 1
    events: list[Event] = [ContextAssembled(context=record.context)] if record.context is not None else []
    events += [ModelCalled(call=call) for call in record.model_calls if call.role == "generator"]
    events += [AnswerCompleted(answer=record.answer)] if record.answer else []
    visit = next((node for node in record.nodes if node.node == "generate"), None)
    if trace is not None and record.answer:
        start, end = trace.answered_ms if trace.answered_ms[1] else (trace.duration_ms, trace.duration_ms)
        visit = NodeExecution(
            "generate", last, 1, start, end - start, model_calls=sum(c.role == "generator" for c in record.model_calls)
        )
    yield from _visit(visit, events)


def _at(call: object, role: str, index: int) -> bool:
    return getattr(call, "role", "") == role and getattr(call, "round", -1) == index


def _visit(visit: NodeExecution | None, events: Sequence[Event]) -> Iterator[Event]:
    """Events of one step between its beginning and its end, where the trace says when these were."""
    if visit is None:
        yield from events
        return
    end = visit.start_ms + (visit.duration_ms or 0.0)
    yield NodeStarted(node=visit.node, round=visit.round, visit=visit.visit, t_ms=visit.start_ms)
    yield from (replace(event, t_ms=end) for event in events)
    yield NodeFinished(execution=visit, t_ms=end)
