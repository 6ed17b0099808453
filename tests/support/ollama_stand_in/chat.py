"""``POST /api/chat``: what the model says, piece by piece, and every way in which it can stop saying it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeAlias

from tests.support.log_probabilities import WeighFunction, listed
from tests.support.ollama_stand_in.behaviours import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Hangs,
    Reply,
    Slow,
)
from tests.support.ollama_stand_in.models import DEFAULT_NUM_CTX, LOAD_NS, ModelCard
from tests.support.ollama_stand_in.recorder import RecordedRequest
from tests.support.ollama_stand_in.refusals import RefusalError, check_chat, check_generation, installed
from tests.support.ollama_stand_in.schema import smallest
from tests.support.ollama_stand_in.text import pieces, token_count
from tests.support.ollama_stand_in.wire import NDJSON_TYPE, Exchange

ReplyFunction: TypeAlias = Callable[[RecordedRequest], str | Reply]

STOCK_THOUGHT = "Let me look at this."
STOCK_ANSWER = "The stand-in has read the question [1]."


def default_reply(request: RecordedRequest) -> str:
    """The smallest object that fits the schema, ``{}`` for the format ``json``, else a short fixed text."""
    if request.schema is not None:
        return json.dumps(smallest(request.schema), ensure_ascii=False)
    return "{}" if request.body.get("format") == "json" else STOCK_ANSWER


@dataclass(frozen=True, slots=True)
class Utterance:
    """What the model will say to one request, cut into the messages of its stream."""

    request: RecordedRequest
    card: ModelCard
    parts: tuple[Mapping[str, str], ...]
    done_reason: str
    chances: Mapping[str, float] | None = None
    """Probabilities of the token that it is, where they are listed."""
    began_ns: int = field(default_factory=time.monotonic_ns)

    def part(self, message: Mapping[str, str]) -> dict[str, Any]:
        weighed = {"logprobs": [listed(self.chances)]} if self.chances else {}
        return {**self._head(), "message": {"role": "assistant", **message}, "done": False, **weighed}

    def last(self) -> dict[str, Any]:
        return {**self._head(), "message": {"role": "assistant", "content": ""}, **self._tail()}

    def whole(self) -> dict[str, Any]:
        message = {"role": "assistant", "content": "".join(part["content"] for part in self.parts)}
        if thinking := "".join(part.get("thinking", "") for part in self.parts):
            message["thinking"] = thinking
        return {**self._head(), "message": message, **self._tail()}

    def _head(self) -> dict[str, Any]:
        return {"model": self.request.model, "created_at": timestamp()}

    def _tail(self) -> dict[str, Any]:
        if self.done_reason in ("load", "unload"):
            return {"done": True, "done_reason": self.done_reason}
        spent = max(1, time.monotonic_ns() - self.began_ns)
        num_ctx = min(int(self.request.options.get("num_ctx") or DEFAULT_NUM_CTX), self.card.context_length)
        return {
            "done": True,
            "done_reason": self.done_reason,
            "total_duration": LOAD_NS + spent,
            "load_duration": LOAD_NS,
            # A prompt longer than the window is cut to it, without an error.
            "prompt_eval_count": max(1, min(token_count(self.request.prompt), num_ctx)),
            "prompt_eval_duration": max(1, spent // 4),
            "eval_count": max(1, len(self.parts)),
            "eval_duration": max(1, spent - spent // 4),
        }


def timestamp() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


async def pace(behaviour: Behaviour | None) -> None:
    """Wait as long as one piece takes under this behaviour."""
    if isinstance(behaviour, Slow):
        if behaviour.gate is not None:
            await behaviour.gate.passage()
        await asyncio.sleep(behaviour.per_token_s)


async def answer_chat(
    exchange: Exchange,
    models: Sequence[ModelCard],
    reply: ReplyFunction,
    behaviour: Behaviour | None,
    weigh: WeighFunction | None = None,
) -> None:
    """Answer one chat request.

    Raises:
        RefusalError: the request is one Ollama would not serve.
    """
    request = exchange.request
    card = installed(models, request)
    unload = not request.messages and request.body.get("keep_alive") in (0, "0", "0s")
    if not unload:
        check_chat(request, card)
    if not request.messages:
        await exchange.json(Utterance(request, card, (), "unload" if unload else "load").whole())
        return
    check_generation(request, card)
    if request.body.get("logprobs") and not isinstance(behaviour, Reply):
        chances = weigh(request) if weigh else None
        reply = partial(_one_word, chances)
    else:
        chances = None
    said = replace(_utterance(request, card, _chosen(request, reply, behaviour)), chances=chances)
    if request.body.get("stream") is False:
        await _say_at_once(exchange, said, behaviour)
    else:
        await _say_in_pieces(exchange, said, behaviour)


def _one_word(chances: Mapping[str, float] | None, _: RecordedRequest) -> str:
    return next(iter(chances or {"Yes": 1.0}))


def _chosen(request: RecordedRequest, reply: ReplyFunction, behaviour: Behaviour | None) -> Reply:
    if isinstance(behaviour, Slow) and behaviour.reply is not None:
        return behaviour.reply
    said = behaviour if isinstance(behaviour, Reply) else reply(request)
    return said if isinstance(said, Reply) else Reply(said)


def _utterance(request: RecordedRequest, card: ModelCard, reply: Reply) -> Utterance:
    thought = reply.thinking
    if thought is None:
        # A model that can think does so unless asked not to: leaving ``think`` out is not the same as false.
        thinks = "thinking" in card.capabilities and request.body.get("think") is not False
        thought = STOCK_THOUGHT if thinks and reply.done_reason != "load" else ""
    parts: list[Mapping[str, str]] = [{"content": "", "thinking": piece} for piece in pieces(thought)]
    parts += [{"content": piece} for piece in pieces(reply.content)]
    limit = request.options.get("num_predict")
    if isinstance(limit, int) and 0 < limit < len(parts):
        return Utterance(request, card, tuple(parts[:limit]), "length")
    return Utterance(request, card, tuple(parts), reply.done_reason)


async def _say_at_once(exchange: Exchange, said: Utterance, behaviour: Behaviour | None) -> None:
    match behaviour:
        case Hangs():
            await asyncio.Event().wait()
        case DiesMidStream(reset=reset):
            await exchange.drop(reset=reset)
        case EndsEarly():
            await exchange.drop()
        case ErrorMidStream(message=message):
            raise RefusalError(500, message)
        case Garbage(text=text, status=status):
            await exchange.text(text, status)
        case _:
            await pace(behaviour)
            await exchange.json(said.whole())


async def _say_in_pieces(exchange: Exchange, said: Utterance, behaviour: Behaviour | None) -> None:
    stops_after = len(said.parts)
    if isinstance(behaviour, Hangs | DiesMidStream | ErrorMidStream | EndsEarly | Garbage):
        stops_after = behaviour.after_tokens or 0
    for part in said.parts[:stops_after]:
        await pace(behaviour)
        await exchange.line(said.part(part))
    match behaviour:
        case Hangs(after_tokens=after):
            if after is not None:
                exchange.start_stream()
            await asyncio.Event().wait()
        case DiesMidStream(reset=reset):
            await exchange.drop(reset=reset)
        case ErrorMidStream(message=message) if stops_after == 0:
            raise RefusalError(500, message)
        case ErrorMidStream(message=message):
            await exchange.line({"error": message})
            await exchange.end_stream()
        case EndsEarly():
            await exchange.end_stream()
        case Garbage(text=text, status=status) if stops_after == 0:
            await exchange.text(text, status, NDJSON_TYPE)
        case Garbage(text=text):
            await exchange.raw_line(text)
            await exchange.end_stream()
        case _:
            await exchange.line(said.last())
            await exchange.end_stream()
