"""A chat model in one role: what it is asked, how its reply becomes a value, and the second try, once for all roles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from engine.errors import (
    ModelError,
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    ModelTimeout,
    PromptTooLong,
    ThoughtTooLong,
    UnreadableReply,
)
from engine.llm.chat import ChatModel, ReplyT, Said
from engine.llm.faults import worth_repeating
from engine.llm.prompts import Schema
from engine.llm.yes_no import YesNo
from engine.model.config import CallRole, RoleModel
from engine.model.values import Message, PassageId
from engine.roles import SILENT, Trace
from engine.settings import Settings

TRIES = 2
OF_ONE_ITEM = (ModelGarbled, ModelInterrupted, ModelRefused, ModelTimeout, PromptTooLong, ThoughtTooLong)
"""Faults that may concern one passage or sentence alone; the rest, such as an unreachable server, end all."""
_USUAL_CONTEXT = RoleModel().num_ctx
RequestT = TypeVar("RequestT")
ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Inquiry(Generic[RequestT, ReplyT, ValueT]):
    """One kind of question to a chat model: its prompt, the form of the reply, and what a reply is worth."""

    messages: Callable[[RequestT, str | None], Sequence[Message]]
    """The prompt for a request; with a former reply that could not be used, that of the second try."""
    schema: Callable[[RequestT, bool], Schema]
    """The form of the reply to a request; True: in a second try after an unusable one."""
    shape: type[ReplyT]
    value: Callable[[RequestT, ReplyT], ValueT | None]
    """What a readable reply says; None where it cannot be used."""
    at_last: Callable[[RequestT, ReplyT], ValueT | None] | None = None
    """What the reply of the last try is worth all the same, where ``value`` has no use for it."""
    prompt: str = ""
    """Its name where it is not the usual one of the role."""


@dataclass(frozen=True, slots=True)
class Taken(Generic[ValueT]):
    """A usable reply with what it said."""

    value: ValueT
    said: Said
    former: str | None
    """The unusable reply before it, where it took a second try."""


class ChatRole:
    """A chat model in the role that a subclass names.

    A reply that cannot be used gets one more try, warmer where no temperature was asked for and in a shorter form
    where the role has one, and is then ``UnreadableReply``; a call that failed is repeated once where that may help.
    """

    role: ClassVar[CallRole]
    reply_tokens: ClassVar[int] = 1024
    """Room for the reply, and for the thinking of models that cannot leave it, in a context of the usual length."""
    reply_share: ClassVar[int] = 0
    """A reply takes at most this part of the context; 0: ``reply_tokens`` however small that is."""
    think: ClassVar[bool | None] = False

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        """``chat`` replaces the model called."""
        self._settings = settings
        # A longer context is asked for where replies need more room, such as that of a model that thinks first.
        self._reply_tokens = self.reply_tokens * max(1, model.num_ctx // _USUAL_CONTEXT)
        if self.reply_share:
            self._reply_tokens = min(self._reply_tokens, model.num_ctx // self.reply_share)
        self._chat = chat or ChatModel(model, settings, self.role, think=self.think, reply_tokens=self._reply_tokens)
        self._one_word = chat or ChatModel(model, settings, self.role, think=False, reply_tokens=1)

    @property
    def name(self) -> str:
        """The model, as ``provider:model``."""
        return self._chat.name

    async def asked(
        self, inquiry: Inquiry[RequestT, ReplyT, ValueT], request: RequestT, trace: Trace = SILENT
    ) -> ValueT:
        """Return a usable reply. Raises ``UnreadableReply``, and the ``ModelError`` of the last call that failed."""
        return (await self.taken(inquiry, request, trace)).value

    async def taken(
        self,
        inquiry: Inquiry[RequestT, ReplyT, ValueT],
        request: RequestT,
        trace: Trace,
        *,
        passage_id: PassageId | None = None,
        warmer: bool | None = None,
    ) -> Taken[ValueT]:
        """:meth:`asked` with the reply itself; ``warmer`` None: in a second try after an unusable reply alone."""
        former: str | None = None
        readable = False
        for attempt in tries():
            second = former is not None
            with attempt:
                reply, said = await self._chat.ask(
                    inquiry.messages(request, former),
                    trace,
                    shape=inquiry.shape,
                    schema=inquiry.schema(request, second),
                    attempt=attempt.number,
                    passage_id=passage_id,
                    warmer=second if warmer is None else warmer,
                    prompt=inquiry.prompt,
                )
                value = None if reply is None else inquiry.value(request, reply)
                readable = reply is not None
                if reply is not None and value is None and inquiry.at_last and attempt.last:
                    value = inquiry.at_last(request, reply)
                if value is not None:
                    return Taken(value, said, former)
                former = said.text
        raise UnreadableReply.unusable(model=self.name) if readable else UnreadableReply(model=self.name)

    async def weighed(
        self,
        messages: Sequence[Message],
        trace: Trace = SILENT,
        *,
        passage_id: PassageId | None = None,
        prompt: str = "",
    ) -> tuple[YesNo | None, Said | None]:
        """The probabilities of yes and no as the answer to a prompt that asks for one word, with the reply.

        None where they cannot be read; see :meth:`ChatModel.weigh`. Raises the ``ModelError`` of a call that failed.
        """
        for attempt in tries():
            with attempt:
                return await self._one_word.weigh(
                    messages, trace, attempt=attempt.number, passage_id=passage_id, prompt=prompt
                )
        raise AssertionError("the last try raises")


@asynccontextmanager
async def at_once() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of calls made at the same time; the first failure ends the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        # Callers wait for a ``ModelError``, not for a group of them.
        first = failures.exceptions[0]
        raise first from first.__cause__


@dataclass(frozen=True, slots=True)
class Try:
    """One of two tries: a failure inside is raised where the same call would fail again, or none may follow."""

    number: int
    final: Callable[[], bool]
    """Whether none may follow."""

    @property
    def last(self) -> bool:
        return self.number == TRIES

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, failure: BaseException | None, trace: object) -> bool:
        repeated = isinstance(failure, ModelError) and worth_repeating(failure)
        return repeated and not self.last and not self.final()


def tries(final: Callable[[], bool] = lambda: False) -> Iterator[Try]:
    """Two tries at a call, each a ``with`` block, for a loop that is left by the first that gives anything."""
    return (Try(number, final) for number in range(1, TRIES + 1))
