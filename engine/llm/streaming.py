"""An answer streamed from a chat model, asked for again only while nobody has read a word of it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import EmptyReply, ModelError
from engine.llm.chat import ChatModel
from engine.llm.faults import worth_repeating
from engine.roles import Trace
from engine.values import Message

_TRIES = 2


async def streamed(chat: ChatModel, messages: Sequence[Message], trace: Trace) -> str:
    """The whole answer, its pieces told through ``trace.token``.

    A call that failed before its first piece is made once more; after it, a second answer behind half of a first one
    would be read as one text. Raises ``EmptyReply`` where the model says nothing twice.
    """
    heard = False

    def hear(piece: str) -> None:
        nonlocal heard
        heard = True
        trace.token(piece)

    for attempt in range(1, _TRIES + 1):
        try:
            said = await chat.say(messages, trace, hear, attempt=attempt)
        except ModelError as failure:
            if heard or attempt == _TRIES or not worth_repeating(failure):
                raise
            continue
        if said.text:
            return said.text
    raise EmptyReply.from_model(chat.name)
