"""What of a run's events the replayed picture reads: no prompt and no passage text leaves for the browser with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from components.workflow_facts import slim_verdict
from engine.events import (
    Analysed,
    AnswerBegun,
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Drafted,
    Evaluated,
    Event,
    Fused,
    MemoryKept,
    MemoryRecalled,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    QualityChecked,
    Retrieved,
    Rewritten,
    RouteChosen,
    RouteTried,
    RunFinished,
    RunStarted,
)
from engine.values import Candidate


def browser_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The events as ``fold`` of ``live_run_picture.js`` takes them, one for one and JSON-ready."""
    return [{"kind": event.kind, "seq": event.seq, "t_ms": event.t_ms, **_read(event)} for event in events]


def _read(event: Event) -> dict[str, Any]:  # noqa: PLR0912 - one case an event
    match event:
        case RunStarted():
            config = {
                "workflow": event.config.workflow,
                "mode": event.config.mode,
                "min_confidence": event.config.min_confidence,
                "search": event.config.search,
                "options": asdict(event.config.options),
            }
            return {"run_id": event.run_id, "started_at": event.started_at, "config": config}
        case NodeStarted():
            return {"node": event.node, "round": event.round, "visit": event.visit}
        case NodeFinished():
            return {"execution": asdict(event.execution)}
        case Retrieved():
            return {
                "round": event.round,
                "query": event.query,
                "candidates": _gates(event.candidates),
                "searched": event.searched,
                "strategy": event.strategy,
                "routing": asdict(event.routing) if event.routing else None,
                "graph": {"mode": graph.mode, "fell_back_to": graph.fell_back_to} if (graph := event.graph) else None,
            }
        case Analysed():
            return {"analysis": {"complexity": event.analysis.complexity, "entities": event.analysis.entities}}
        case Fused():
            return {"round": event.round, "candidates": _gates(event.candidates)}
        case QualityChecked():
            return {"round": event.round, "check": asdict(event.check)}
        case PassageGraded():
            verdict = slim_verdict(asdict(event.verdict))
            names = {"round": event.round, "passage_id": event.passage_id, "reused": event.reused}
            return {**names, "verdict": verdict}
        case MemoryRecalled() | RouteChosen() | RouteTried() | MemoryKept() | AnswerBegun() | Drafted() | Evaluated():
            return _of_answers(event)
        case ModelCalled():
            call = event.call
            return {"call": {"role": call.role, "node": call.node, "reply_tokens": call.reply_tokens}}
        case Decided():
            return {"decision": asdict(event.decision)}
        case Rewritten():
            return {"rewrite": asdict(event.rewrite)}
        case ContextAssembled():
            spent = {"tokens": event.context.tokens, "token_budget": event.context.token_budget}
            return {"context": {**spent, "passages": [{"id": passage.id} for passage in event.context.passages]}}
        case AnswerCompleted():
            cited = {"citations": [asdict(item) for item in event.citations]}
            return {"answer": event.answer, **cited, "cell_citations": [asdict(item) for item in event.cell_citations]}
        case RunFinished():
            error = {"node": event.error.node} if event.error else None
            return {"outcome": event.outcome, "reason": event.reason, "error": error, "answer_note": event.answer_note}
        case _:
            # Tokens and warnings change nothing in the picture; what the run was made with does not either.
            return {"text": "", "warning": None}


def _of_answers(
    event: MemoryRecalled | RouteChosen | RouteTried | MemoryKept | AnswerBegun | Drafted | Evaluated,
) -> dict[str, Any]:
    """Counts and codes; remembered and drafted texts stay here."""
    match event:
        case MemoryRecalled():
            memories = [{"id": item.id} for item in event.recall.memories]
            return {"recall": {**asdict(replace(event.recall, memories=())), "memories": memories}}
        case RouteChosen():
            return {"choice": asdict(replace(event.choice, reason=""))}
        case RouteTried():
            return {"tried": asdict(event.tried)}
        case MemoryKept():
            return {"memory": {"id": event.memory.id, "passed": event.memory.passed}}
        case AnswerBegun():
            return {"draft": event.draft}
        case Drafted():
            draft = {"index": event.draft.index, "attempt": event.draft.attempt, "direct": event.draft.direct}
            return {"draft": {**draft, "evaluation": None}}
        case Evaluated():
            suggestions = [{"code": item.code} for item in event.evaluation.suggestions]
            return {"draft": event.draft, "evaluation": {"passed": event.evaluation.passed, "suggestions": suggestions}}


def _gates(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    return [
        {"gate": item.gate, "kind": item.kind, "found_at": dict(item.found_at), "graph_score": item.graph_score}
        for item in candidates
    ]
