"""Result of a run in the form of OpenAI's chat protocol."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engine.model.values import Fault, ModelCall, RunRecord, counted
from plugins.chat.citations import footnotes, in_chat, url_citations
from plugins.chat.errors import RUN_STOPPED


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply to one request."""

    model: str
    link: str
    """The page of the run."""
    footnotes: bool = True
    usage: bool = False
    """Whether a stream is to end with the tokens that were used."""
    ignored: tuple[str, ...] = ()
    """Parameters of the request that would have shortened the answer."""


def completion(record: RunRecord, reply: Reply) -> dict[str, Any]:
    """The whole answer."""
    found = in_chat(record)
    below = footnotes(record, found, reply.link) if reply.footnotes else ""
    message: dict[str, Any] = {"role": "assistant", "content": found.text + below, "refusal": None}
    message["annotations"] = url_citations(record, found, reply.link)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    used = usage(record)
    return {
        **head(record, reply, "chat.completion"),
        "choices": [choice],
        **({"usage": used} if used else {}),
        "workbench": about(record, reply),
    }


def chunk(record: RunRecord, reply: Reply, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One piece of a stream."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**head(record, reply, "chat.completion.chunk"), "choices": [choice]}


def head(record: RunRecord, reply: Reply, kind: str) -> dict[str, Any]:
    created = int(datetime.fromisoformat(record.started_at).timestamp())
    return {"id": f"chatcmpl-{record.id}", "object": kind, "created": created, "model": reply.model}


def about(record: RunRecord, reply: Reply) -> dict[str, Any]:
    """Return what the protocol has no field for: the run, its outcome, and its question."""
    context = record.context
    return {
        "run": record.id,
        "link": reply.link,
        "outcome": record.outcome,
        "reason": record.reason,
        "question": record.question,
        "passed": len(context.passages) if context and context.verified else 0,
        "calls": counted([*record.model_calls, *(record.chat.calls if record.chat else ())]).done,
        "warnings": [item.said() for item in record.warnings],
        "ignored": list(reply.ignored),
    }


def usage(record: RunRecord) -> dict[str, int] | None:
    """Tokens of all calls of chat models; none where no model was called, None where a server did not count them."""
    calls = [*record.model_calls, *(record.chat.calls if record.chat else ())]
    counts = [_tokens(call) for call in calls if not (call.built_in or call.cached)]
    known = [item for item in counts if item is not None]
    if len(known) < len(counts):
        return None
    prompt, written = sum(item[0] for item in known), sum(item[1] for item in known)
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}


def _tokens(call: ModelCall) -> tuple[int, int] | None:
    if call.prompt_tokens is None or call.reply_tokens is None:
        return None
    return call.prompt_tokens, call.reply_tokens


def fault_of(record: RunRecord) -> Fault | None:
    """Return what kept a run from an answer; None if it has one, even one that cannot tell."""
    if record.outcome == "failed" and record.error is not None:
        return record.error
    if record.outcome in ("cancelled", "interrupted", "failed", None):
        return Fault.of(RUN_STOPPED())
    return None
