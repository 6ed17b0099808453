"""A chat model as extractor: one call for each passage, and one for each community."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.builtin.extractor import BuiltinExtractor, summary_of
from engine.config import RoleModel
from engine.errors import ModelError
from engine.llm.chat import ChatModel
from engine.llm.extractor_prompts import EXTRACTION_SCHEMA, SUMMARY_SCHEMA, extraction_messages, summary_messages
from engine.llm.extractor_reply import ExtractionReply, SummaryReply, graph_of
from engine.llm.faults import worth_repeating
from engine.llm.parsing import Reply
from engine.llm.prompts import Schema
from engine.roles import SILENT, StoredPassage, Trace
from engine.roles.graph import Extractor, PassageGraph, text_hash
from engine.settings import Settings
from engine.values import Entity, Message, PassageId, Relationship

REPLY_TOKENS = 2048
_TRIES = 2
ReplyT = TypeVar("ReplyT", bound=Reply)


class ChatExtractor:
    """Reads passages with a chat model (contract: :class:`engine.roles.graph.Extractor`).

    Each passage is asked for by itself, ``grader_concurrency`` at once, so that what one says cannot get into another.
    Only names that stand in the passage are kept. A summary that cannot be read is made from sentences of the passages.
    """

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        self._chat = chat or ChatModel(model, settings, "extractor", think=False, reply_tokens=REPLY_TOKENS)
        self._at_once = settings.grader_concurrency
        self._unreadable: list[PassageId] = []

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def unreadable(self) -> tuple[PassageId, ...]:
        return tuple(self._unreadable)

    async def extract(self, passages: Sequence[StoredPassage], trace: Trace = SILENT) -> list[PassageGraph]:
        turns = asyncio.Semaphore(self._at_once)

        async def read(passage: StoredPassage) -> PassageGraph:
            async with turns:
                return await self._read(passage, trace)

        # A group: where one finds the server gone, the others are not asked any more.
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(read(item)) for item in passages]
        except* ModelError as failed:
            raise _first(failed) from None
        return [task.result() for task in tasks]

    async def summarise(
        self, entities: Sequence[Entity], relationships: Sequence[Relationship], passages: Sequence[StoredPassage]
    ) -> tuple[str, str]:
        room = self._chat.model.num_ctx - REPLY_TOKENS - 200

        def messages(former: str | None) -> tuple[Message, ...]:
            return summary_messages(entities, relationships, passages, room, former)

        reply = await self._asked(messages, SummaryReply, SUMMARY_SCHEMA, SILENT)
        return (reply.title, reply.summary) if reply else await asyncio.to_thread(summary_of, entities, passages)

    async def _read(self, passage: StoredPassage, trace: Trace) -> PassageGraph:
        if not passage.text.strip():
            return PassageGraph(passage.id, text_hash(passage.text))

        def messages(former: str | None) -> tuple[Message, ...]:
            return extraction_messages(passage, former)

        reply = await self._asked(messages, ExtractionReply, EXTRACTION_SCHEMA, trace, passage.id)
        if reply is None:
            self._unreadable.append(passage.id)
            return PassageGraph(passage.id, text_hash(passage.text))
        return graph_of(passage, reply)

    async def _asked(
        self,
        messages: Callable[[str | None], tuple[Message, ...]],
        shape: type[ReplyT],
        schema: Schema,
        trace: Trace,
        passage_id: PassageId | None = None,
    ) -> ReplyT | None:
        """A reply of that shape, with one more try; None where neither could be read."""
        former: str | None = None
        for attempt in range(1, _TRIES + 1):
            try:
                reply, said = await self._chat.ask(
                    messages(former),
                    trace,
                    shape=shape,
                    schema=schema,
                    attempt=attempt,
                    passage_id=passage_id,
                    warmer=former is not None,
                )
            except ModelError as failure:
                if attempt == _TRIES or not worth_repeating(failure):
                    raise
                continue
            if reply is not None:
                return reply
            former = said.text
        return None


def make_extractor(model: RoleModel, settings: Settings) -> Extractor:
    """The built-in extractor, or one on ``ollama:MODEL`` or ``provider:model``."""
    return BuiltinExtractor() if model.built_in else ChatExtractor(model, settings)


def _first(failed: BaseExceptionGroup[ModelError]) -> ModelError:
    found = failed.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found
