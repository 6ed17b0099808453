"""A run as a stream of chunks; a client that leaves stops the run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from engine.api.encoding import as_json
from engine.api.waiting import SILENCE, bursts
from engine.engine import Engine
from engine.errors import status_of
from engine.flow import workflow
from engine.model.language import language_of
from engine.model.values import RunRecord
from plugins.chat.answer_stream import AnswerStream
from plugins.chat.citations import footnotes, in_chat, url_citations
from plugins.chat.openai_errors import body_of
from plugins.chat.replies import Reply, about, chunk, fault_of, head, usage

DONE = b"data: [DONE]\n\n"
_CHANGED = {
    "zh": "\n\n回答在写成后有改动，以下为最终内容：\n\n",
    "en": "\n\nThe answer was changed after it was written; this is the one that stands:\n\n",
}


async def chunks(engine: Engine, run_id: str, reply: Reply, heartbeat_s: float) -> AsyncIterator[bytes]:
    """The stream of a started run: role, answer, citations, tokens, and a comment after each silence."""
    over = False
    try:
        record = await asyncio.to_thread(engine.record, run_id)
        growing = AnswerStream(replaceable=workflow(record.workflow).most_answers(record.config) > 1)
        yield _event(chunk(record, reply, {"role": "assistant", "content": ""}))
        async with aclosing(bursts(engine, run_id, 0, heartbeat_s)) as arriving:
            async for burst in arriving:
                if not burst:
                    yield SILENCE
                if piece := "".join(growing.feed(event) for event in burst):
                    yield _event(chunk(record, reply, {"content": piece}))
        over = True
        record = await asyncio.to_thread(engine.record, run_id)
        for item in _ending(record, reply, growing):
            yield _event(item)
        yield DONE
    finally:
        if not over:
            engine.cancel(run_id)


def _ending(record: RunRecord, reply: Reply, growing: AnswerStream) -> list[dict[str, Any]]:
    if (fault := fault_of(record)) is not None:
        said = body_of(status_of(fault.code), fault.code, fault.fact, fault.remedy)
        return [{**said, "workbench": about(record, reply)}]
    found = in_chat(record)
    rest = growing.rest(found.text)
    if rest is None:
        rest = _CHANGED["zh" if language_of(record.question) == "zh" else "en"] + found.text
    rest += footnotes(record, found, reply.link) if reply.footnotes else ""
    made = [chunk(record, reply, {"content": rest})] if rest else []
    last = chunk(record, reply, {"annotations": url_citations(record, found, reply.link)}, "stop")
    made.append({**last, "workbench": about(record, reply)})
    if reply.usage and (used := usage(record)) is not None:
        made.append({**head(record, reply, "chat.completion.chunk"), "choices": [], "usage": used})
    return made


def _event(data: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % as_json(data)
