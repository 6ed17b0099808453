"""Reports of built-in roles as invocations with their whole input and output."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from engine.model.config import BUILTIN, RoleName
from engine.model.values import Message, ModelCall
from engine.roles import Trace

RequestT = TypeVar("RequestT")
ValueT = TypeVar("ValueT")


def plain(value: Any) -> dict[str, Any]:
    """A request or a reply as JSON takes it; mappings that are read-only become dicts."""
    fields = dataclasses.asdict(value)
    return {name: dict(item) if isinstance(item, Mapping) else item for name, item in fields.items()}


def as_messages(asked: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the messages to a built-in role as the record shows them."""
    return (Message("user", json.dumps(asked, ensure_ascii=False)),)


def reported(
    trace: Trace,
    role: RoleName,
    request: RequestT,
    decide: Callable[[RequestT], ValueT],
    *,
    asked: Callable[[RequestT], Mapping[str, Any]] = plain,
    said: Callable[[ValueT], Mapping[str, Any]] = plain,
) -> ValueT:
    """Run ``decide`` on a request and report it as a call; ``asked`` and ``said`` put both into its record."""
    began = trace.now_ms()
    value = decide(request)
    reply = json.dumps(said(value), ensure_ascii=False)
    trace.call(
        ModelCall(
            role=role,
            node="",
            round=0,
            model=BUILTIN,
            messages=as_messages(asked(request)),
            reply=reply,
            # Read back, as a stored record is: JSON has lists where a dataclass has tuples.
            parsed=json.loads(reply),
            start_ms=began,
            duration_ms=trace.now_ms() - began,
            built_in=True,
        )
    )
    return value


async def spoken(trace: Trace, messages: tuple[Message, ...], pieces: Iterable[str]) -> str:
    """Stream the pieces of an answer as they are made, and report it as a call of the generator."""
    began = trace.now_ms()
    said: list[str] = []
    for piece in pieces:
        said.append(piece)
        trace.token(piece)
        # One turn of the loop a piece: the reader sees it, and a cancel can come in between.
        await asyncio.sleep(0)
    text = "".join(said)
    trace.call(
        ModelCall(
            role="generator",
            node="",
            round=0,
            model=BUILTIN,
            messages=messages,
            reply=text,
            parsed={"answer": text},
            start_ms=began,
            duration_ms=trace.now_ms() - began,
            built_in=True,
        )
    )
    return text
