"""An answer streamed from a chat model, asked for again where no one has read a word of it, or where it is none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from engine.answer_note import denies, wordless
from engine.errors import EmptyReply, ModelError, WordlessReply
from engine.llm.chat import ChatModel
from engine.llm.faults import worth_repeating
from engine.llm.prompts import again
from engine.roles import Trace
from engine.values import Message

_TRIES = 2
_MARKER = re.compile(r"[\[【［](?:\d{1,3}|[Tt]\d{1,2}\s*[:：])")
_WORDS = (
    "Your reply holds nothing but numbers of passages or the question. Write the answer itself, in whole sentences in "
    "the language of the question, with the number of its passage in square brackets behind each statement."
)
_MARKERS = (
    "Your answer names no passage. Write it again, and put behind each statement the number of the passage that it "
    "comes from in square brackets, such as [1]. Leave out what no passage says."
)
_LEFT = 0.9
"""Part of the time left that a second try may take: the first answer must still be told within it."""

Fault = Callable[[str], str]
"""What is wrong with a text as an answer: ``wordless``, ``uncited``, or empty where it will do."""


def fault_of_cited(text: str, question: str = "") -> str:
    """An answer from passages has words of its own, and markers unless it says that it cannot tell."""
    if wordless(text, question):
        return "wordless"
    return "" if _MARKER.search(text) or denies(text) else "uncited"


def fault_of_plain(text: str) -> str:
    """An answer without passages has words."""
    return "wordless" if wordless(text) else ""


async def streamed(chat: ChatModel, messages: Sequence[Message], trace: Trace, fault_of: Fault = fault_of_plain) -> str:
    """The whole answer, its pieces told through ``trace.token``; ``trace.restart`` where another one replaces them.

    A call that failed before its first piece is made once more; after it, a second answer behind half of a first one
    would be read as one text. A reply without words gets one more try and is then ``WordlessReply``, one without a
    marker gets one and is then taken as it is. Raises ``EmptyReply`` where the model says nothing twice.
    """
    heard = False

    def hear(piece: str) -> None:
        nonlocal heard
        heard = True
        trace.token(piece)

    for attempt in range(1, _TRIES + 1):
        last = attempt == _TRIES
        try:
            said = await chat.say(messages, trace, hear, attempt=attempt, fault_of=None if last else fault_of)
        except ModelError as failure:
            if heard or last or not worth_repeating(failure):
                raise
            continue
        # One that was cut would be as long, and be cut again.
        fault = fault_of(said.text) if said.text and not said.truncated else ""
        if said.text and (not fault or last):
            return _worded(said.text, fault, chat)
        if fault:
            return await _again(chat, messages, said.text, trace, fault_of)
    raise EmptyReply(model=chat.name)


async def _again(chat: ChatModel, messages: Sequence[Message], first: str, trace: Trace, fault_of: Fault) -> str:
    """The second try after a first text that will not do; a first text with words stands where this brings none."""
    fault = fault_of(first)
    asked = (*messages, *again(first, _WORDS if fault == "wordless" else _MARKERS))
    trace.restart()
    text = ""
    try:
        async with asyncio.timeout(trace.time_left_s() * _LEFT if fault == "uncited" else None):
            text = (await chat.say(asked, trace, trace.token, attempt=_TRIES, warmer=True)).text
    except (ModelError, TimeoutError):
        if fault == "wordless":
            raise
    if fault == "wordless":
        if not text:
            raise EmptyReply(model=chat.name)
        return _worded(text, fault_of(text), chat)
    if text and fault_of(text) != "wordless":
        return text
    trace.restart()
    trace.token(first)
    return first


def _worded(text: str, fault: str, chat: ChatModel) -> str:
    if fault == "wordless":
        raise WordlessReply(model=chat.name)
    return text
