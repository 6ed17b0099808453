"""What of a run's events the replayed picture reads: no prompt and no passage text leaves for the browser with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from engine.events import (
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Event,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    Retrieved,
    Rewritten,
    RunFinished,
    RunStarted,
)


def browser_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The events as ``fold`` of ``live_run_picture.js`` takes them, one for one and JSON-ready."""
    return [{"kind": event.kind, "seq": event.seq, "t_ms": event.t_ms, **_read(event)} for event in events]


def _read(event: Event) -> dict[str, Any]:
    match event:
        case RunStarted():
            config = {"min_confidence": event.config.min_confidence}
            return {"run_id": event.run_id, "started_at": event.started_at, "config": config}
        case NodeStarted():
            return {"node": event.node, "round": event.round, "visit": event.visit}
        case NodeFinished():
            return {"execution": asdict(event.execution)}
        case Retrieved():
            candidates = [{"gate": item.gate} for item in event.candidates]
            return {
                "round": event.round,
                "query": event.query,
                "candidates": candidates,
                "searched": event.searched,
            }
        case PassageGraded():
            verdict = {"relevant": event.verdict.relevant, "confidence": event.verdict.confidence}
            names = {"round": event.round, "passage_id": event.passage_id, "reused": event.reused}
            return {**names, "verdict": verdict}
        case ModelCalled():
            return {"call": {"role": event.call.role, "reply_tokens": event.call.reply_tokens}}
        case Decided():
            return {"decision": asdict(event.decision)}
        case Rewritten():
            return {"rewrite": asdict(event.rewrite)}
        case ContextAssembled():
            return {"context": {"passages": [{"id": passage.id} for passage in event.context.passages]}}
        case AnswerCompleted():
            return {"answer": event.answer, "citations": [asdict(item) for item in event.citations]}
        case RunFinished():
            error = {"node": event.error.node} if event.error else None
            return {"outcome": event.outcome, "reason": event.reason, "error": error}
        case _:
            # Tokens and warnings change nothing in the picture; what the run was made with does not either.
            return {"text": "", "warning": None}
