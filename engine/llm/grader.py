"""A chat model as grader: one call for each passage, at the same time, each verdict bound to its own passage."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from engine.errors import ModelError, UnreadableReply
from engine.llm.chat import ChatModel, parsed
from engine.llm.connection import lane
from engine.llm.parsing import VerdictReply, WhyReply, read_reply
from engine.llm.prompts import (
    GRADER_PROMPT_VERSION,
    REASON_SCHEMA,
    YES_NO_PROMPT_VERSION,
    grader_messages,
    reason_messages,
    shown,
    verdict_schema,
    yes_no_messages,
)
from engine.llm.role import OF_ONE_ITEM, TRIES, ChatRole, Inquiry, Taken, at_once
from engine.llm.yes_no import YesNo
from engine.model.config import RoleModel
from engine.model.grader_fit import GraderFit, calibrated, refitted, sigmoid
from engine.model.language import language_of
from engine.model.values import Message, ModelCall, Passage, Verdict
from engine.roles import SILENT, Trace
from engine.settings import Settings

_UNREADABLE = "The model's reply could not be read as a verdict."
_WORD = "grader_word"
"""The prompt for one word."""
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
    tokens: Mapping[str, float] | None = None
    """Probabilities of the tokens that mean yes or no, where it was one word."""
    least: float = 0.0
    """The most that any other token can have."""

    @property
    def weighed(self) -> YesNo | None:
        """The probabilities of yes and no, where it was one word."""
        return YesNo(self.tokens, self.least) if self.tokens else None


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

    @property
    def each(self) -> tuple[str, ...]:
        """The question and its parts, to be asked one by one."""
        return (self.question, *self.parts)


class ChatGrader(ChatRole):
    """Grades with a chat model (contract: :class:`engine.roles.Grader`).

    Where the server gives log-probabilities it asks for one word, and P(relevant) is that of the tokens that mean yes,
    kind ``token``; a part of the question is a call more. Elsewhere, and where a model begins with another word, the
    model says how sure it is, kind ``said``. One passage alone is judged first while it is not known which.

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
        as_said: bool = False,
        explains: bool = False,
    ) -> None:
        """``digest`` names the model's exact weights in cache keys; ``chat`` replaces the model called.

        ``fit`` has examples for one collection, or calibrates log-odds. ``as_said``: the model always says how sure it
        is, for comparison. ``explains``: a verdict of one word comes with its reason, one call more.
        """
        super().__init__(model, settings, chat=chat)
        self._cache = cache
        self._digest = digest
        self._ignore_cache = ignore_cache
        self._fit = fit
        self._examples = fit.data["examples"] if fit and fit.kind == "examples" else ()
        self._calibration = fit if fit and fit.kind == "calibration" else None
        self._as_said = as_said
        self._explains = explains

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        """One verdict for each passage, in their order; reported to the trace as they come."""
        asked = _Asked(question, tuple(parts))
        known = await self._known(asked, passages)
        first = 0 if self._as_said or self._chat.weighs is not None else 1
        judged = [await self._judge(asked, item, known, trace) for item in passages[:first]]
        async with at_once() as calls:
            tasks = [calls.create_task(self._judge(asked, item, known, trace)) for item in passages[first:]]
        judged += [task.result() for task in tasks]
        faults = [item.fault for item in judged if item.fault is not None]
        if faults and len(faults) == len(judged):
            raise faults[0]
        return [item.verdict for item in judged]

    async def _known(self, asked: _Asked, passages: Sequence[Passage]) -> Mapping[str, CachedReply]:
        if self._cache is None or self._ignore_cache:
            return {}
        questions = () if self._by_words else asked.each
        weighed = [self._yes_no_key(question, passage) for question in questions for passage in passages]
        return await self._cache.get([*weighed, *(self._key(asked, passage) for passage in passages)])

    @property
    def _by_words(self) -> bool:
        """Whether the model says how sure it is."""
        return self._as_said or self._chat.weighs is False

    async def _judge(self, asked: _Asked, passage: Passage, known: Mapping[str, CachedReply], trace: Trace) -> _Judged:
        verdict, fault, reasons = None, None, [_UNREADABLE]
        try:
            verdict = await self._weighed_verdict(asked, passage, known, trace)
            if verdict and self._explains:
                verdict = await self._explained(asked, passage, verdict, trace)
            verdict = verdict or self._recalled(asked, passage, known, trace)
            if verdict is None:
                async with lane(self._settings, self._chat.name):
                    inquiry = self._inquiry(asked, reasons)
                    taken = await self.taken(inquiry, passage, trace, passage_id=passage.id)
                self._keep(asked, passage, taken)
                verdict = taken.value
        except OF_ONE_ITEM as failure:
            if trace.time_left_s() <= 0:
                raise TimeoutError from failure
            reasons, fault = [failure.fact], failure
        except UnreadableReply:
            pass
        verdict = verdict or Verdict(relevant=None, confidence=0.0, reason=reasons[-1], grader=self._chat.name)
        trace.verdict(passage.id, verdict)
        return _Judged(verdict, fault)

    async def _weighed_verdict(
        self, asked: _Asked, passage: Passage, known: Mapping[str, CachedReply], trace: Trace
    ) -> Verdict | None:
        """The verdict by P(yes) for the question and each of its parts; None where one of them has none."""
        chances: list[float] = []
        raw = 0.0
        for question in asked.each:
            found = None if self._by_words else await self._yes_no(question, passage, known, trace)
            if found is None:
                return None
            raw = raw if chances else found.log_odds
            chances.append(self._chance(found.log_odds))
        relevant = chances[0] >= 0.5
        table = self._table
        return Verdict(
            relevant,
            chances[0] if relevant else 1.0 - chances[0],
            "",
            grader=self._chat.name,
            raw=raw,
            fit=self._fit.id if self._fit and (self._examples or table) else "",
            parts=tuple(chances[1:]),
            kind="token",
        )

    async def _explained(self, asked: _Asked, passage: Passage, verdict: Verdict, trace: Trace) -> Verdict:
        """The verdict with its reason; without one where none could be had, as the verdict stands all the same."""
        try:
            return replace(verdict, reason=await self.reason(asked.question, passage, verdict, trace))
        except ModelError:
            return verdict
        except asyncio.CancelledError:
            trace.verdict(passage.id, verdict)
            raise

    async def reason(self, question: str, passage: Passage, verdict: Verdict, trace: Trace = SILENT) -> str:
        """Why a verdict of one word is so: one call.

        Raises ``UnreadableReply``, and the ``ModelError`` of the last call that failed.
        """
        said = verdict.relevant is True
        language = language_of(question)
        prompted = yes_no_messages(question, shown(passage), self._examples)
        inquiry: Inquiry[Passage, WhyReply, str] = Inquiry(
            lambda _, former: reason_messages(prompted, said, language, former),
            lambda *_: REASON_SCHEMA,
            WhyReply,
            lambda _, reply: reply.reason or None,
            prompt="reason",
        )
        async with lane(self._settings, self._chat.name):
            return (await self.taken(inquiry, passage, trace, passage_id=passage.id)).value

    @property
    def _table(self) -> Mapping[str, Any] | None:
        """The calibration of log-odds, where there is one."""
        return self._calibration.data if self._calibration and self._calibration.of == "token" else None

    def _chance(self, log_odds: float) -> float:
        return calibrated(self._table, log_odds) if self._table else sigmoid(log_odds)

    async def _yes_no(
        self, question: str, passage: Passage, known: Mapping[str, CachedReply], trace: Trace
    ) -> YesNo | None:
        """The probabilities of yes and no for one question, from the cache where they are there."""
        messages = yes_no_messages(question, shown(passage), self._examples)
        key = self._yes_no_key(question, passage)
        cached = known.get(key)
        if cached and (found := cached.weighed):
            self._report(cached, messages, found.to_dict(), passage, trace, prompt=_WORD)
            return found
        async with lane(self._settings, self._chat.name):
            found, said = await self.weighed(messages, trace, passage_id=passage.id, prompt=_WORD)
        if found and said and self._cache is not None:
            used = (said.prompt_tokens, said.reply_tokens)
            self._cache.put(key, CachedReply(said.text, "", None, *used, found.tokens, found.least))
        return found

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
        self._report(cached, self._messages(asked, passage, cached.former), parsed(reply), passage, trace)
        return verdict

    def _report(
        self,
        cached: CachedReply,
        messages: tuple[Message, ...],
        parsed_reply: Mapping[str, Any] | None,
        passage: Passage,
        trace: Trace,
        *,
        prompt: str = "grader",
    ) -> None:
        """Report a reply that was paid for before."""
        trace.call(
            ModelCall(
                role="grader",
                node="",
                round=0,
                model=self._chat.name,
                messages=messages,
                reply=cached.reply,
                parsed=parsed_reply,
                passage_id=passage.id,
                prompt_tokens=cached.prompt_tokens,
                reply_tokens=cached.reply_tokens,
                start_ms=trace.now_ms(),
                cached=True,
                attempt=1 if cached.former is None else TRIES,
                thinking=cached.thinking,
                prompt=prompt,
            )
        )

    def _keep(self, asked: _Asked, passage: Passage, taken: Taken[Verdict]) -> None:
        if self._cache is not None:
            said = taken.said
            self._cache.put(
                self._key(asked, passage),
                CachedReply(said.text, said.thinking, taken.former, said.prompt_tokens, said.reply_tokens),
            )

    def _key(self, asked: _Asked, passage: Passage) -> str:
        question = "\n".join((asked.question, *asked.parts))
        return self._key_of(question, passage, GRADER_PROMPT_VERSION)

    def _yes_no_key(self, question: str, passage: Passage) -> str:
        return self._key_of(question, passage, YES_NO_PROMPT_VERSION)

    def _key_of(self, question: str, passage: Passage, version: str) -> str:
        version = prompt_version(self._fit, version)
        # Another server may have another model of the same name.
        weights = self._digest or self._chat.address
        return verdict_key(question, shown(passage), self._chat.model, weights, version)

    def _verdict(self, asked: _Asked, reply: VerdictReply, *, alone: bool = False) -> Verdict | None:
        fit = self._fit.id if self._examples and self._fit else ""
        made = reply.verdict(self._chat.name, fit, alone=alone, parts=len(asked.parts))
        return (refitted(made, self._calibration) or made) if made and self._calibration else made


def prompt_version(fit: GraderFit | None, version: str = GRADER_PROMPT_VERSION) -> str:
    """The version of a prompt; with examples it is another one."""
    return f"{version}+{fit.id}" if fit and fit.kind == "examples" else version
