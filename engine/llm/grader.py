"""A chat model as grader: one call for each passage, at the same time, each verdict bound to its own passage."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

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
from engine.llm.chat import ChatModel, parsed
from engine.llm.connection import lane
from engine.llm.parsing import VerdictReply, read_reply
from engine.llm.prompts import GRADER_PROMPT_VERSION, grader_messages, shown, verdict_schema
from engine.llm.role import TRIES, ChatRole, Inquiry, Taken, at_once
from engine.model.config import RoleModel
from engine.model.grader_fit import GraderFit
from engine.model.values import Message, ModelCall, Passage, Verdict
from engine.roles import SILENT, Trace
from engine.settings import Settings

_PASSING_FAULTS = (
    ModelGarbled,
    ModelInterrupted,
    ModelRefused,
    ModelTimeout,
    PromptTooLong,
    ThoughtTooLong,
)
"""Faults that may concern one passage alone; the rest, such as an unreachable server, end the whole grading."""
_UNREADABLE = "The model's reply could not be read as a verdict."
_CONTRADICTION = "The model said no, but with a confidence that means yes; that is no verdict."


@dataclass(frozen=True, slots=True)
class CachedReply:
    """One grader's readable reply, as it came."""

    reply: str
    thinking: str = ""
    former: str | None = None
    """The unreadable reply before it, where it took a second try."""
    prompt_tokens: int | None = None
    reply_tokens: int | None = None


class ReplyCache(Protocol):
    """Replies that were paid for once, by :func:`verdict_key`."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, CachedReply]: ...

    def put(self, key: str, reply: CachedReply) -> None: ...


def verdict_key(question: str, passage: str, model: RoleModel, digest: str, prompt_version: str) -> str:
    """Everything that a verdict depends on, hashed; ``passage`` is all that the model is shown of it."""
    text_hash = hashlib.sha256(passage.encode(errors="replace")).hexdigest()
    options = [model.temperature, model.seed, model.num_ctx]
    content = [question, text_hash, model.model, digest, options, prompt_version]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Judged:
    verdict: Verdict
    fault: ModelError | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its parts."""

    question: str
    parts: tuple[str, ...]


class ChatGrader(ChatRole):
    """Grades with a chat model (contract: :class:`engine.roles.Grader`).

    A reply that cannot be read gets one more try and then becomes an ``unreadable`` verdict, as does a passage whose
    call failed; a yes or no alone gets one too, and is then ``bare``. Where every call failed, the first failure is
    raised instead. At most ``grader_concurrency`` calls are under way at a time, for all graders of a host together.
    Readable replies are kept in ``cache``; a hit is reported as a ``ModelCall`` with ``cached``, and ``ignore_cache``
    only stops reading. ``TimeoutError`` where the trace's time runs out: what was judged until then has been reported
    to the trace.
    """

    role = "grader"

    def __init__(
        self,
        model: RoleModel,
        settings: Settings,
        cache: ReplyCache | None = None,
        *,
        digest: str = "",
        ignore_cache: bool = False,
        chat: ChatModel | None = None,
        fit: GraderFit | None = None,
    ) -> None:
        """``digest`` names the model's exact weights in cache keys; ``chat`` replaces the model called.

        ``fit`` has examples for one collection.
        """
        super().__init__(model, settings, chat=chat)
        self._cache = cache
        self._digest = digest
        self._ignore_cache = ignore_cache
        self._fit = fit
        self._examples = fit.data["examples"] if fit else ()

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        """One verdict for each passage, in their order; reported to the trace as they come."""
        asked = _Asked(question, tuple(parts))
        known = await self._known(asked, passages)
        async with at_once() as calls:
            tasks = [calls.create_task(self._judge(asked, item, known, trace)) for item in passages]
        judged = [task.result() for task in tasks]
        faults = [item.fault for item in judged if item.fault is not None]
        if faults and len(faults) == len(judged):
            raise faults[0]
        return [item.verdict for item in judged]

    async def _known(self, asked: _Asked, passages: Sequence[Passage]) -> Mapping[str, CachedReply]:
        if self._cache is None or self._ignore_cache:
            return {}
        return await self._cache.get([self._key(asked, passage) for passage in passages])

    async def _judge(self, asked: _Asked, passage: Passage, known: Mapping[str, CachedReply], trace: Trace) -> _Judged:
        verdict, fault = self._recalled(asked, passage, known, trace), None
        if verdict is None:
            reasons = [_UNREADABLE]
            async with lane(self._settings, self._chat.name):
                try:
                    inquiry = self._inquiry(asked, reasons)
                    taken = await self.taken(inquiry, passage, trace, passage_id=passage.id)
                except _PASSING_FAULTS as failure:
                    if trace.time_left_s() <= 0:
                        raise TimeoutError from failure
                    reasons, fault = [failure.fact], failure
                except UnreadableReply:
                    pass
                else:
                    self._keep(asked, passage, taken)
                    verdict = taken.value
            verdict = verdict or Verdict(relevant=None, confidence=0.0, reason=reasons[-1], grader=self._chat.name)
        trace.verdict(passage.id, verdict)
        return _Judged(verdict, fault)

    def _inquiry(self, asked: _Asked, reasons: list[str]) -> Inquiry[Passage, VerdictReply, Verdict]:
        """``reasons``: the last one is why the newest reply could not be used."""

        def messages(passage: Passage, former: str | None) -> tuple[Message, ...]:
            reasons.append(_UNREADABLE)
            return self._messages(asked, passage, former)

        def verdict(_: Passage, reply: VerdictReply) -> Verdict | None:
            reasons.append(_CONTRADICTION if reply.contradicts_itself else _UNREADABLE)
            # How sure a yes or no alone is, is worth a second try.
            return self._verdict(asked, reply)

        return Inquiry(
            messages,
            lambda _, second: verdict_schema(asked.parts, short=second),
            VerdictReply,
            verdict,
            lambda _, reply: self._verdict(asked, reply, alone=True),
        )

    def _messages(self, asked: _Asked, passage: Passage, former: str | None) -> tuple[Message, ...]:
        return grader_messages(asked.question, shown(passage), former, self._examples, asked.parts)

    def _recalled(
        self, asked: _Asked, passage: Passage, known: Mapping[str, CachedReply], trace: Trace
    ) -> Verdict | None:
        cached = known.get(self._key(asked, passage)) if known else None
        reply = read_reply(cached.reply, VerdictReply) if cached else None
        verdict = self._verdict(asked, reply, alone=reply.confidence is None) if reply else None
        if cached is None or reply is None or verdict is None:
            return None
        trace.call(
            ModelCall(
                role="grader",
                node="",
                round=0,
                model=self._chat.name,
                messages=self._messages(asked, passage, cached.former),
                reply=cached.reply,
                parsed=parsed(reply),
                passage_id=passage.id,
                prompt_tokens=cached.prompt_tokens,
                reply_tokens=cached.reply_tokens,
                start_ms=trace.now_ms(),
                cached=True,
                attempt=1 if cached.former is None else TRIES,
                thinking=cached.thinking,
            )
        )
        return verdict

    def _keep(self, asked: _Asked, passage: Passage, taken: Taken[Verdict]) -> None:
        if self._cache is not None:
            said = taken.said
            self._cache.put(
                self._key(asked, passage),
                CachedReply(said.text, said.thinking, taken.former, said.prompt_tokens, said.reply_tokens),
            )

    def _key(self, asked: _Asked, passage: Passage) -> str:
        question = "\n".join((asked.question, *asked.parts))
        return verdict_key(question, shown(passage), self._chat.model, self._digest, prompt_version(self._fit))

    def _verdict(self, asked: _Asked, reply: VerdictReply, *, alone: bool = False) -> Verdict | None:
        fit = self._fit.id if self._fit else ""
        return reply.verdict(self._chat.name, fit, alone=alone, parts=len(asked.parts))


def prompt_version(fit: GraderFit | None) -> str:
    """The version of the prompt; with examples it is another one."""
    return f"{GRADER_PROMPT_VERSION}+{fit.id}" if fit else GRADER_PROMPT_VERSION
