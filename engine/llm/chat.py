"""The one place that calls a chat model: limits before, a record after, and errors of ours in between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from engine.errors import (
    ModelError,
    ModelInterrupted,
    ModelRefused,
    ModelTimeout,
    PromptTooLong,
    ThoughtTooLong,
)
from engine.llm.adaptive_concurrency import LONGEST_S, Patience
from engine.llm.connection import PerLoop, shown_address, turns_of
from engine.llm.faults import LOCAL_FILE, translate
from engine.llm.local import chatting
from engine.llm.ollama_package import ollama_package
from engine.llm.parsing import Reply, read_cut_reply, read_reply
from engine.llm.pieces import arguments_of, text_of, thinking_of
from engine.llm.prompts import Schema
from engine.llm.providers import OPENAI_PROTOCOL, address_of, openai_extras
from engine.llm.sizes import MESSAGE_TOKENS, StreamEnd, characters_of, estimate_tokens, pieces_of, watched_end
from engine.llm.thinking import ThinkingFilter, split_thinking
from engine.llm.yes_no import TOP, YesNo, yes_no_of
from engine.model.config import CallRole, RoleModel
from engine.model.language import before_loop
from engine.model.values import Message, ModelCall, PassageId
from engine.roles import Trace
from engine.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

ReplyT = TypeVar("ReplyT", bound=Reply)
Pieces = AsyncGenerator[Any, None]
"""LangChain's messages, or chunks of one."""

SHORTEST_REPLY = 64
"""Tokens that must be left for a reply before a prompt is sent."""
_LANGCHAIN_ROLES = {"system": "system", "user": "human", "assistant": "ai"}
_REFUSED_FORM = (400, 422)
_WARMER = 0.5
"""Temperature of a second try where 0 is asked for, at which a model says the same again."""
_SAY_WHEN_DONE = ("ollama", *OPENAI_PROTOCOL)
"""Providers whose last piece says that it is the last, or whose stream has a sign for its end."""


@dataclass(frozen=True, slots=True)
class Said:
    """A complete reply, thinking apart."""

    text: str
    thinking: str
    prompt_tokens: int | None
    reply_tokens: int | None
    truncated: bool = False


class _Reception:
    """Part of a reply received so far; it outlives the failure that ends the reply."""

    def __init__(self, stream: ThinkingFilter | None, model: str, tokens: int) -> None:
        """``tokens`` were asked for at most; a free text goes through ``stream``."""
        self._model = model
        self._tokens = tokens
        self._left = pieces_of(tokens)
        self._most = characters_of(tokens)
        self._filter = stream
        self.steady = stream is not None
        """Whether what comes is shown at once."""
        self._text = ""
        self._thinking = ""
        self.prompt_tokens: int | None = None
        self.reply_tokens: int | None = None
        self.begun = False
        self.done = False
        self.truncated = False
        self.log_probabilities: list[Any] = []
        """Those of the tokens, as they came; none unless they were asked for."""

    def add(self, chunk: Any) -> None:
        """Take one LangChain message or message chunk."""
        text, thinking = text_of(chunk), thinking_of(chunk)
        if not self._filter:
            # A structured reply may come as a tool that is called with it.
            text += arguments_of(chunk)
        self.begun = True
        self._left -= 1
        if self._left < 0 or max(len(self._text) + len(text), len(self._thinking) + len(thinking)) > self._most:
            raise ModelError.reply_too_large(model=self._model, limit_kb=round(self._most / 1000))
        self._thinking += thinking
        self._text += text
        if self._filter and text:
            self._filter.feed(text)
        if usage := getattr(chunk, "usage_metadata", None):
            self.prompt_tokens = usage.get("input_tokens")
            self.reply_tokens = usage.get("output_tokens")
        about = chunk.response_metadata
        if given := about.get("logprobs"):
            self.log_probabilities.append(given)
        self.done = self.done or bool(about.get("done") or about.get("finish_reason"))
        # `length` is Ollama's and OpenAI's word for a reply that reached its limit of tokens.
        self.truncated = self.truncated or "length" in (about.get("done_reason"), about.get("finish_reason"))

    @property
    def loops(self) -> bool:
        """Whether a free text only repeats itself; it is then read no further, as one that was cut."""
        if before_loop(self._text) is None:
            return False
        self.truncated = self.done = True
        return True

    def said(self) -> Said:
        if self._filter:
            self._filter.finish()
            text, inline = self._filter.text, self._filter.thinking
        else:
            text, inline = split_thinking(self._text)
        thinking = "\n".join(part for part in (self._thinking.strip(), inline) if part)
        return Said(text, thinking, self.prompt_tokens, self.reply_tokens, self.truncated)

    def require_room(self) -> None:
        """Raise ``ThoughtTooLong`` where the reply reached its limit before anything but thinking
        was written."""
        said = self.said()
        full = self.truncated or (self.reply_tokens or 0) >= self._tokens
        if full and said.thinking and not said.text.strip():
            raise ThoughtTooLong(model=self._model, tokens=self.reply_tokens or self._tokens)


@dataclass(slots=True)
class _Call:
    """One call under way, with what its record says of it in the end."""

    client: BaseChatModel
    reception: _Reception
    limit_s: float
    parsed: Mapping[str, Any] | None = None
    error: str = "interrupted"
    began: float = field(default_factory=time.perf_counter)

    @property
    def spent_s(self) -> float:
        return time.perf_counter() - self.began


_unopened: set[tuple[str, str]] = set()
"""Models, by server, whose last reply closed thinking that it had not opened: the next one is held until it does."""


_AGAIN_S = 600.0
"""After so long a model that gave none is asked again: its server may be another version by then."""
weighing: dict[tuple[str, str], float] = {}
"""Until when it is held that models, by server, give no probabilities of yes and no; 0 where they gave them."""


@lru_cache(maxsize=256)
def _patience(address: str, model: str, one_word: bool) -> Patience:
    """One for each model of a server, for all roles and runs of this process; of one word, nothing else is learnt."""
    return Patience()


class ChatModel:
    """A chat model in one role.

    Every call is reported through the trace as a ``ModelCall`` with exact messages and raw reply, failed and
    cancelled ones too. A structured reply is bounded by ``call_timeout_s`` (longer where that was not set
    and the model has shown to be slower), a streamed text by that long a silence, and
    both by what the trace has left, which the step enforces; cancelling the task drops the connection. Raises
    ``ModelError`` and its subclasses only.
    """

    def __init__(
        self,
        model: RoleModel,
        settings: Settings,
        role: CallRole,
        *,
        think: bool | None,
        reply_tokens: int,
        make: Callable[[], BaseChatModel] | None = None,
    ) -> None:
        """``think`` None leaves it to the model; ``reply_tokens`` bounds a reply; ``make`` replaces the client."""
        self.model = model
        self.name = model.model
        self.provider, _, bare_name = model.model.partition(":")
        self._settings = settings
        self._role = role
        self._think = think
        self._reply_tokens = reply_tokens
        self._make = make
        self._clients: PerLoop[BaseChatModel] = PerLoop()
        self._making = threading.Lock()
        self._takes_schema = True
        if not bare_name:
            raise ModelError.nameless(model=model.model)

    async def ask(
        self,
        messages: Sequence[Message],
        trace: Trace,
        *,
        shape: type[ReplyT],
        schema: Schema,
        attempt: int = 1,
        passage_id: PassageId | None = None,
        warmer: bool = False,
        prompt: str = "",
    ) -> tuple[ReplyT | None, Said]:
        """A reply of the given shape; None with the reply itself where it cannot be read.

        One that was cut at its limit counts where what decides was complete. ``warmer`` is for a second try after a
        reply that would not do, where no temperature was asked for. ``prompt`` names another than the role's usual one.
        """
        while True:
            form = schema if self._takes_schema else None
            try:
                async with self._call(
                    messages,
                    trace,
                    attempt,
                    passage_id=passage_id,
                    temperature=self._warmed(warmer),
                    prompt=prompt,
                ) as call:
                    said = await self._receive(call, messages, form)
                    value = read_reply(said.text, shape)
                    if value is None and said.truncated:
                        value = read_cut_reply(said.text, shape)
                    call.parsed = parsed(value)
                    call.error = "" if value is not None else "unreadable"
                    return value, said
            except ModelRefused as refused:
                status = int(refused.params.get("status", 0))
                if form is None or self.provider == "ollama" or status not in _REFUSED_FORM:
                    raise
                # This model takes no schema; the prompt asks for the same JSON.
                self._takes_schema = False

    async def say(
        self,
        messages: Sequence[Message],
        trace: Trace,
        hear: Callable[[str], None],
        *,
        attempt: int = 1,
        warmer: bool = False,
        fault_of: Callable[[str], str] | None = None,
        take_back: Callable[[], None] = lambda: None,
        prompt: str = "",
    ) -> Said:
        """A free text, its pieces given to ``hear`` as they arrive; together they are the text returned.

        One that only repeats itself is broken off; the copies are left out of the text, not of the call's record.
        ``take_back`` is called where what was given turns out to be thinking: the text follows from its beginning.
        ``fault_of`` names what is wrong with a whole text that will not be taken, for the record of the call.
        """
        known = (self.address, self.name)
        stream = ThinkingFilter(hear, take_back, unopened=known in _unopened)
        warmth = self._warmed(warmer)
        async with self._call(messages, trace, attempt, temperature=warmth, stream=stream, prompt=prompt) as call:
            said = await self._receive(call, messages)
            call.error = fault_of(said.text) if fault_of is not None and said.text and not said.truncated else ""
            said = replace(said, text=before_loop(said.text) or said.text)
        (_unopened.add if stream.unopened else _unopened.discard)(known)
        return said

    @property
    def weighs(self) -> bool | None:
        """Whether its server gives the probabilities of yes and no; None where it is to be asked for them."""
        if self.provider not in _SAY_WHEN_DONE:
            return False
        until = weighing.get((self.address, self.name))
        return None if until is None or 0 < until <= time.monotonic() else until == 0

    async def weigh(
        self,
        messages: Sequence[Message],
        trace: Trace,
        *,
        attempt: int = 1,
        passage_id: PassageId | None = None,
        prompt: str = "",
    ) -> tuple[YesNo | None, Said | None]:
        """The probabilities of yes and no where a reply begins, at temperature 0, with the reply.

        None where they cannot be read: the server gives or takes none, the model thinks first or says another word.
        """
        found: YesNo | None = None
        said: Said | None = None
        try:
            async with self._call(
                messages, trace, attempt, passage_id=passage_id, temperature=0.0, prompt=prompt
            ) as call:
                said = await self._receive(call, messages, weighed=True)
                # One word is all that was asked for.
                call.reception.truncated = False
                found = None if said.thinking else yes_no_of(call.reception.log_probabilities)
                call.parsed = found.to_dict() if found else None
                call.error = "" if found else "unreadable"
        except ModelRefused as refused:
            if "logprob" not in str(refused.params.get("message", "")).casefold():
                if int(refused.params.get("status", 0)) not in _REFUSED_FORM:
                    raise
                # It may be about this prompt alone, such as one that is too long.
                return None, None
        except ThoughtTooLong:
            pass
        if found or not self.weighs:
            weighing[self.address, self.name] = 0 if found else time.monotonic() + _AGAIN_S
        return found, said

    def prompt_tokens(self, messages: Sequence[Message]) -> int:
        """Estimated tokens of a prompt."""
        return sum(estimate_tokens(message.content) + MESSAGE_TOKENS for message in messages)

    @asynccontextmanager
    async def _turn(self, trace: Trace) -> AsyncIterator[Settings]:
        """A place among the calls that all who share the database give the model's server, and how that is reached.

        A model of a file is started here, which takes no time of the call.
        """
        turns = turns_of(self._settings)
        if turns is None and self.provider != LOCAL_FILE:
            yield self._settings
            return
        left_s = max(0.0, trace.time_left_s())
        async with AsyncExitStack() as held:
            settings = self._settings
            try:
                async with asyncio.timeout(left_s):
                    if self.provider == LOCAL_FILE:
                        settings = await held.enter_async_context(chatting(self.name, settings, self.model.num_ctx))
                    elif turns is not None:
                        await held.enter_async_context(turns.turn(self.address or self.provider))
            except TimeoutError:
                raise ModelTimeout(model=self.name, seconds=f"{left_s:.0f}") from None
            yield settings

    @asynccontextmanager
    async def _call(
        self,
        messages: Sequence[Message],
        trace: Trace,
        attempt: int,
        *,
        passage_id: PassageId | None = None,
        temperature: float,
        stream: ThinkingFilter | None = None,
        prompt: str = "",
    ) -> AsyncIterator[_Call]:
        """A call in its turn, which the trace is given with all that came, however it ends."""
        self._check_size(messages)
        async with self._turn(trace) as settings:
            reception = _Reception(stream, self.name, self._reply_tokens)
            client = await self._client(temperature, settings)
            call = _Call(client, reception, self._limit_s(trace))
            start_ms = trace.now_ms()
            trace.calling()
            try:
                yield call
            except asyncio.CancelledError:
                call.error = "cancelled"
                raise
            except ModelError as failure:
                call.error = f"{failure.code}: {failure.fact}"
                raise
            finally:
                said = reception.said()
                trace.call(
                    ModelCall(
                        role=self._role,
                        node="",
                        round=0,
                        model=self.name,
                        messages=tuple(messages),
                        reply=said.text,
                        parsed=call.parsed,
                        passage_id=passage_id,
                        prompt_tokens=said.prompt_tokens,
                        reply_tokens=said.reply_tokens,
                        start_ms=start_ms,
                        duration_ms=call.spent_s * 1000.0,
                        attempt=attempt,
                        truncated=reception.truncated,
                        error=call.error,
                        thinking=said.thinking,
                        temperature=temperature if temperature != self.model.temperature else None,
                        prompt=prompt or self._role,
                    )
                )

    def _warmed(self, warmer: bool) -> float:
        """The temperature of a call; one that was asked for stays (QL-04)."""
        return self.model.temperature or (_WARMER if warmer else 0.0)

    @property
    def _patience(self) -> Patience:
        return _patience(self.address, self.name, self._reply_tokens == 1)

    def _limit_s(self, trace: Trace) -> float:
        """Return the time limit of a call; raises ``ModelTimeout`` if no time is left."""
        by_hand = "call_timeout_s" in self._settings.model_fields_set
        usual_s = self._patience.limit_s(self._settings.call_timeout_s, by_hand=by_hand)
        limit_s = min(usual_s, trace.time_left_s())
        if limit_s <= 0:
            raise ModelTimeout(model=self.name, seconds="0")
        return limit_s

    async def _receive(
        self, call: _Call, messages: Sequence[Message], schema: Schema | None = None, *, weighed: bool = False
    ) -> Said:
        """The whole reply; for a free text the limit is the longest silence, so that a slow model is heard out."""
        reception, limit_s = call.reception, call.limit_s
        limit = asyncio.timeout(limit_s)
        loop = asyncio.get_running_loop()
        end = watched_end()
        try:
            stream = self._stream(call.client, self._sent(messages), schema, weighed)
            async with limit, _in_order(stream, end) as pieces:
                async for piece in pieces:
                    reception.add(piece)
                    if reception.steady:
                        limit.reschedule(loop.time() + limit_s)
                        if reception.loops:
                            break
        except Exception as foreign:
            if limit.expired():
                raise ModelTimeout(model=self.name, seconds=f"{limit_s:.0f}") from foreign
            if self.provider == "ollama" and type(foreign) is ValueError and not reception.begun:
                # LangChain says this of a stream without a single piece, as of a model that was only loaded.
                raise ModelInterrupted.mid_reply(model=self.name) from foreign
            raise translate(foreign, self.name, address=self.address, seconds=limit_s) from foreign
        if self.provider in _SAY_WHEN_DONE and not (reception.done or end.seen):
            # A stream that ends in good order, but without a sign of its end, is a reply cut short all the same.
            raise ModelInterrupted.mid_reply(model=self.name)
        self._patience.note(call.spent_s)
        reception.require_room()
        return reception.said()

    def _stream(
        self, client: BaseChatModel, sent: list[tuple[str, Any]], schema: Schema | None, weighed: bool
    ) -> Pieces:
        """The reply as it comes; one that is left early keeps its connection until it is closed."""
        form: dict[str, Any] = {"logprobs": True, "top_logprobs": TOP} if weighed else {}
        if schema is not None and self.provider == "ollama":
            form = {"format": dict(schema)}
        elif schema is not None and self.provider in OPENAI_PROTOCOL and self._make is None:
            own = bool(self._settings.openai_url) or self.provider == LOCAL_FILE
            form = {"extra_body": openai_extras(own, reply_tokens=self._reply_tokens, schema=schema)}
        elif schema is not None and (structured := _structured(client, schema)):
            return _whole(structured, sent)
        return cast("Pieces", client.astream(sent, **form))

    def _sent(self, messages: Sequence[Message]) -> list[tuple[str, Any]]:
        """The messages as LangChain takes them."""
        return [(_LANGCHAIN_ROLES[message.role], message.content) for message in messages]

    async def _client(self, temperature: float, settings: Settings) -> BaseChatModel:
        # A process that was started again has another address.
        key = (temperature, settings.openai_url)
        made = self._clients.find(key)
        # The first one imports LangChain, which takes a second or more: not on the event loop.
        return (
            made
            if made is not None
            else self._clients.keep(await asyncio.to_thread(self._build, temperature, settings), key)
        )

    def _build(self, temperature: float, settings: Settings) -> BaseChatModel:
        with self._making:
            if self._make is not None:
                return self._make()
            ollama_package()
            from engine.llm import chat_clients

            # Each call has its own limit, which may be longer than the setting.
            timeout_s = max(settings.call_timeout_s, LONGEST_S)
            model = replace(self.model, temperature=temperature)
            try:
                if self.provider == "ollama":
                    return chat_clients.ollama_chat(
                        model, settings, think=self._think, reply_tokens=self._reply_tokens, timeout_s=timeout_s
                    )
                return chat_clients.provider_chat(model, settings, reply_tokens=self._reply_tokens, timeout_s=timeout_s)
            except Exception as foreign:
                raise translate(foreign, self.name, address=self.address, seconds=timeout_s) from foreign

    @property
    def address(self) -> str:
        """The address of the model's server as messages name it; empty where it is the provider's own."""
        return shown_address(self._settings) if self.provider == "ollama" else address_of(self.provider, self._settings)

    def _check_size(self, messages: Sequence[Message]) -> None:
        # Only these get the length of their context; a longer prompt would lose its beginning without a word.
        tokens = self.prompt_tokens(messages)
        if self.provider in ("ollama", LOCAL_FILE) and tokens + SHORTEST_REPLY > self.model.num_ctx:
            raise PromptTooLong(model=self.name, tokens=tokens, num_ctx=self.model.num_ctx)


def parsed(value: Reply | None) -> Mapping[str, Any] | None:
    """Return the parsed reply as a record keeps it."""
    return value.model_dump(mode="json", exclude_unset=True) if value is not None else None


def _structured(client: BaseChatModel, schema: Schema) -> Any:
    """The client bound to a JSON schema, or None where its provider cannot do that."""
    try:
        return client.with_structured_output(dict(schema), include_raw=True)
    except (NotImplementedError, ValueError):
        return None


@asynccontextmanager
async def _in_order(stream: Pieces, end: StreamEnd) -> AsyncIterator[Pieces]:
    """The stream; where it is left early, the body of the answer ends, and with it all that reads from it.

    Clients leave their inner generators to the event loop, which may close the connection before them.
    """
    async with aclosing(stream):
        try:
            yield stream
        finally:
            if end.leave():
                # What had come already; its end may be half a line.
                with suppress(Exception):
                    async for _ in stream:
                        pass


async def _whole(structured: Any, sent: list[tuple[str, Any]]) -> Pieces:
    yield (await structured.ainvoke(sent))["raw"]
