"""Asking a chat model twice at most: again after a failure that may pass, or after a reply that would not do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.errors import ModelError, UnreadableReply
from engine.llm.chat import ChatModel, ReplyT
from engine.llm.faults import worth_repeating
from engine.llm.prompts import Schema
from engine.roles import Trace
from engine.values import Message

T = TypeVar("T")
_TRIES = 2


async def usable(
    chat: ChatModel,
    trace: Trace,
    *,
    messages: Callable[[str | None], Sequence[Message]],
    shape: type[ReplyT],
    schema: Callable[[bool], Schema],
    take: Callable[[ReplyT], T | None],
) -> T:
    """What ``take`` makes of a reply; None from it means that the reply cannot be used.

    ``messages`` gets the former reply, and ``schema`` whether there was one. Raises ``UnreadableReply`` where neither
    reply can be used, and ``ModelError`` where the last call failed.
    """
    former: str | None = None
    for attempt in range(1, _TRIES + 1):
        second = former is not None
        try:
            reply, said = await chat.ask(
                messages(former), trace, shape=shape, schema=schema(second), attempt=attempt, warmer=second
            )
        except ModelError as failure:
            if attempt == _TRIES or not worth_repeating(failure):
                raise
            continue
        taken = None if reply is None else take(reply)
        if taken is not None:
            return taken
        former = said.text
    raise UnreadableReply(model=chat.name)
