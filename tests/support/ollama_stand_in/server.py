"""The stand-in itself: a thread with an event loop, the routes, and the script of what goes wrong."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, get_args

from tests.support.log_probabilities import started
from tests.support.ollama_stand_in.behaviours import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Hangs,
    NotFound,
    Reply,
    ServerError,
    Vectors,
)
from tests.support.ollama_stand_in.chat import ReplyFunction, answer_chat, default_reply, pace
from tests.support.ollama_stand_in.embedding import embeddings
from tests.support.ollama_stand_in.models import ModelCard, card_for, find, ps_entry, show_body, tags_entry
from tests.support.ollama_stand_in.pulling import Registry, answer_pull
from tests.support.ollama_stand_in.recorder import Endpoint, RecordedRequest, Recorder
from tests.support.ollama_stand_in.refusals import (
    RefusalError,
    installed,
    not_found,
)
from tests.support.ollama_stand_in.wire import Exchange, WatchedConnection, read_request

VERSION = "0.34.2"
DEFAULT_MODELS = ("qwen3:8b", "qwen3:0.6b", "nomic-embed-text")
_ROUTES: dict[str, tuple[Endpoint, tuple[str, ...]]] = {
    "/": ("root", ("GET", "HEAD")),
    "/api/version": ("version", ("GET", "HEAD")),
    "/api/tags": ("tags", ("GET", "HEAD")),
    "/api/show": ("show", ("POST",)),
    "/api/ps": ("ps", ("GET", "HEAD")),
    "/api/pull": ("pull", ("POST",)),
    "/api/chat": ("chat", ("POST",)),
    "/api/embed": ("embed", ("POST",)),
}


class OllamaStandIn:
    """An Ollama server for tests, on a free port of 127.0.0.1, in a thread of its own.

    Args:
        models: what is installed: names of known models, any other names, or cards. The list ``models`` of the
            instance may be changed while it runs.
        reply: says what a chat model answers, as text or as a ``Reply``. It runs on the server's event loop, so it
            must not block; to answer late, script ``Slow``. What it raises is answered with status 500 and raised
            again when the ``with`` block ends.
        registry: models that can be pulled.
        weigh: gives the log-probabilities of one word; without it every model is known to have none.
    """

    def __init__(
        self,
        models: Sequence[str | ModelCard] = DEFAULT_MODELS,
        reply: ReplyFunction = default_reply,
        *,
        registry: Sequence[str | ModelCard] = (),
        weigh: Callable[[RecordedRequest], Mapping[str, float] | None] | None = None,
    ) -> None:
        self.models = [card_for(model) for model in models]
        self.failures: list[Exception] = []
        self._reply = reply
        self._weigh = weigh
        self.loaded: dict[str, ModelCard] = {}
        self.registry = Registry([card_for(model) for model in registry])
        self._port: int | None = None
        self._recorder = Recorder()
        self._scripts: dict[Endpoint, deque[Behaviour]] = {endpoint: deque() for endpoint in get_args(Endpoint)}
        self._stop: Callable[[], object] | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self.failures:
            raise self.failures[0]

    @property
    def url(self) -> str:
        """Where it listens, or listened before it was closed."""
        if self._port is None:
            raise RuntimeError("The stand-in has not been started; use it in a with statement.")
        return f"http://127.0.0.1:{self._port}"

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request in order of arrival."""
        return self._recorder.requests

    @property
    def in_flight(self) -> int:
        """Requests being answered now."""
        return self._recorder.in_flight

    @property
    def max_concurrent(self) -> int:
        """The most requests that were being answered at once."""
        return self._recorder.max_concurrent

    def requests_to(self, endpoint: Endpoint) -> list[RecordedRequest]:
        return [request for request in self.requests if request.endpoint == endpoint]

    def script(self, endpoint: Endpoint, *behaviours: Behaviour) -> None:
        """Add what the next requests to the endpoint meet, one behaviour each; after the last, answers are normal."""
        for behaviour in behaviours:
            if isinstance(behaviour, EndsEarly) and endpoint == "pull":
                continue
            if isinstance(behaviour, Reply | EndsEarly) and endpoint != "chat":
                raise ValueError(f"{behaviour} is for chat, not for {endpoint}")
            if isinstance(behaviour, Vectors) and endpoint != "embed":
                raise ValueError(f"{behaviour} is for embed, not for {endpoint}")
        self._scripts[endpoint].extend(behaviours)

    def forget_script(self, endpoint: Endpoint) -> None:
        """Drop what is left of the endpoint's script: answers are normal from the next request on."""
        self._scripts[endpoint].clear()

    def wait_for(self, predicate: Callable[[Self], bool], timeout_s: float = 10.0) -> None:
        """Return as soon as the predicate holds of this stand-in.

        Raises:
            TimeoutError: it did not within ``timeout_s`` seconds; the message lists what had been seen.
        """
        if not self._recorder.wait_for(lambda: predicate(self), timeout_s):
            seen = [f"{r.method} {r.path} -> {r.status}, pieces {r.pieces_sent}" for r in self.requests]
            raise TimeoutError(f"not seen within {timeout_s} s; {self.in_flight} in flight; requests: {seen}")

    def start(self) -> None:
        ready: Future[int] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="ollama-stand-in", daemon=True
        )
        self._thread.start()
        self._port = ready.result()
        names = {name for card in self.models for name in (card.name, card.full_name)}
        started(self.url, (f"ollama:{name}" for name in names), self._weigh)

    def close(self) -> None:
        """Drop every connection, release anything that hangs, and free the port. Safe to call twice."""
        if self._thread is not None and self._stop is not None:
            self._stop()
            self._thread.join()
            self._thread = None

    async def _serve(self, ready: Future[int]) -> None:
        loop = asyncio.get_running_loop()
        closing = asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(closing.set)
        conversations: set[asyncio.Task[Any]] = set()

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
            task = asyncio.current_task()
            assert task is not None
            conversations.add(task)
            try:
                await self._converse(reader, writer, gone)
            except asyncio.CancelledError:
                # Only close() cancels; the stream protocol would log the cancellation as an unhandled error.
                writer.transport.abort()
            finally:
                conversations.discard(task)
                writer.close()

        server = await loop.create_server(lambda: WatchedConnection(converse), "127.0.0.1", 0)
        ready.set_result(server.sockets[0].getsockname()[1])
        await closing.wait()
        # What has been accepted takes three turns of the loop until it is made; one that meets a closed server before
        # that is never closed, and its client waits.
        loop.remove_reader(server.sockets[0].fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        server.close()
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        while (raw := await read_request(reader)) is not None:
            endpoint, methods = _ROUTES.get(raw.path, ("unknown", ()))
            request = RecordedRequest(endpoint, raw.method, raw.path, raw.headers, raw.content)
            exchange = Exchange(writer, self._recorder, request)
            if raw.content:
                request.body = json.loads(raw.content)
            self._recorder.begin(request)
            answering = asyncio.ensure_future(self._answer(exchange, methods))
            leaving = asyncio.ensure_future(gone.wait())
            try:
                await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                answering.cancel()
                leaving.cancel()
                await asyncio.gather(answering, leaving, return_exceptions=True)
                self._recorder.end(request, aborted=gone.is_set())
            if gone.is_set() or exchange.dropped:
                return

    async def _answer(self, exchange: Exchange, methods: tuple[str, ...]) -> None:
        request = exchange.request
        if request.method not in methods:
            await exchange.text(*(("405 method not allowed", 405) if methods else ("404 page not found", 404)))
            return
        script = self._scripts[request.endpoint]
        behaviour = script.popleft() if script else None
        try:
            await self._dispatch(exchange, behaviour)
        except RefusalError as refused:
            await exchange.json({"error": refused.message}, refused.status)
        except ConnectionError:
            return
        except Exception as error:
            self.failures.append(error)
            if exchange.head_sent:
                await exchange.drop()
            else:
                await exchange.json({"error": f"the test's own reply failed: {error!r}"}, 500)

    async def _dispatch(self, exchange: Exchange, behaviour: Behaviour | None) -> None:
        request = exchange.request
        match behaviour:
            case NotFound():
                raise not_found(request.endpoint, request.model)
            case ServerError(status=status, message=message):
                raise RefusalError(status, message)
        if request.endpoint == "chat":
            await self._chat(exchange, behaviour)
            return
        if request.endpoint == "pull":
            await answer_pull(exchange, self.registry, self.models, behaviour)
            return
        match behaviour:
            case Hangs():
                await asyncio.Event().wait()
            case DiesMidStream(reset=reset):
                await exchange.drop(reset=reset)
            case ErrorMidStream(message=message):
                raise RefusalError(500, message)
            case Garbage(text=text, status=status):
                await exchange.text(text, status)
            case _:
                await pace(behaviour)
                await self._answer_plainly(exchange, behaviour)

    async def _chat(self, exchange: Exchange, behaviour: Behaviour | None) -> None:
        request = exchange.request
        card = find(self.models, request.model)
        if card is not None and not request.messages and request.body.get("keep_alive") in (0, "0", "0s"):
            self.loaded.pop(card.full_name, None)
        elif card is not None:
            self.loaded[card.full_name] = card
        await answer_chat(exchange, self.models, self._reply, behaviour, self._weigh)

    async def _answer_plainly(self, exchange: Exchange, behaviour: Behaviour | None) -> None:
        match exchange.request.endpoint:
            case "root":
                await exchange.text("Ollama is running")
            case "version":
                await exchange.json({"version": VERSION})
            case "tags":
                await exchange.json({"models": [tags_entry(card) for card in self.models]})
            case "ps":
                await exchange.json({"models": [ps_entry(card) for card in self.loaded.values()]})
            case "show":
                await exchange.json(show_body(installed(self.models, exchange.request)))
            case _:
                await exchange.json(embeddings(exchange.request, self.models, behaviour))
