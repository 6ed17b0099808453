"""A local server that speaks OpenAI's chat protocol, as LM Studio, vLLM and llama.cpp do: replies, streams, and faults.

``OpenAIStandIn`` listens on a free port of 127.0.0.1 and keeps what it was asked. Requests without the right key, for
models that it lacks, and with a schema where it takes none, are refused in OpenAI's words::

    with OpenAIStandIn(reply=obedient, key="sk-test") as server:
        server.script(Status(429), Cut(after_pieces=2), Hangs())
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, Self, TypeAlias

from tests.support.http_stand_in import HttpStandIn, begin, body_of, send
from tests.support.log_probabilities import WeighFunction, listed, started
from tests.support.ollama_stand_in.chat import default_reply
from tests.support.ollama_stand_in.recorder import RecordedRequest
from tests.support.ollama_stand_in.text import pieces, token_count

ReplyFunction: TypeAlias = Callable[[RecordedRequest], str]
NO_SCHEMA = "'response_format' of type 'json_schema' is not supported with this model."


@dataclass(frozen=True, slots=True)
class Status:
    """Answer with this status and OpenAI's form of an error."""

    code: int
    message: str = "The server had an error while processing your request."


@dataclass(frozen=True, slots=True)
class Hangs:
    """Say nothing until the client leaves or the server closes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Drop the connection after so many pieces of a stream."""

    after_pieces: int = 1


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stop after so many pieces with the finish reason ``length``."""

    after_pieces: int = 3


@dataclass(frozen=True, slots=True)
class Garbage:
    """Answer with something else than the protocol."""

    text: str = "<html>It works!</html>"


@dataclass(frozen=True, slots=True)
class Events:
    """Stream these deltas word for word, as servers do that keep less of the protocol."""

    deltas: Sequence[Mapping[str, Any]]
    finish: str | None = None
    """The finish reason of a last event; None: there is none."""
    done: bool = True
    """Whether the sign of the end follows."""
    usage: int = 0
    """Tokens of the reply in an event without choices; 0: there is none."""
    first_after_s: float = 0.0
    """From the headers to the first event, as while a long prompt is read."""


Behaviour: TypeAlias = Status | Hangs | Cut | TooLong | Garbage | Events


class OpenAIStandIn(HttpStandIn):
    """See the module."""

    protocol = "HTTP/1.1"

    def __init__(
        self,
        models: Sequence[str] = ("qwen2.5-7b-instruct",),
        reply: ReplyFunction = default_reply,
        *,
        key: str = "",
        takes_schema: bool = True,
        weigh: WeighFunction | None = None,
    ) -> None:
        """``key``: what ``Authorization`` must carry; empty: anything will do.

        ``weigh`` gives the log-probabilities of one word; without it every model is known to have none.
        """
        super().__init__()
        self.models = list(models)
        self.requests: list[Mapping[str, Any]] = []
        """Bodies of chat requests in order of arrival."""
        self.keys: list[str] = []
        """What was sent as key with every request."""
        self._reply = reply
        self._key = key
        self._takes_schema = takes_schema
        self._weigh = weigh

    def __enter__(self) -> Self:
        super().__enter__()
        started(self.url, (f"openai:{name}" for name in self.models), self._weigh)
        return self

    @property
    def url(self) -> str:
        """With ``/v1``, as such servers give their address."""
        return f"{super().url}/v1"

    def forget_script(self) -> None:
        """Drop what is left of the script: answers are normal from the next request on."""
        self._script.clear()

    def answer(self, http: BaseHTTPRequestHandler) -> None:
        content = body_of(http)
        key = (http.headers.get("Authorization") or "").removeprefix("Bearer ")
        self.keys.append(key)
        if self._key and key != self._key:
            _refuse(http, 401, f"Incorrect API key provided: {key[:3]}***.")
        elif http.command == "GET" and http.path == "/v1/models":
            listed = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in self.models]
            _send(http, 200, {"object": "list", "data": listed})
        elif http.command == "POST" and http.path == "/v1/chat/completions":
            self._chat(http, json.loads(content))
        else:
            _refuse(http, 404, f"Unknown request URL: {http.command} {http.path}.")

    def _chat(self, http: BaseHTTPRequestHandler, body: Mapping[str, Any]) -> None:
        self.requests.append(body)
        behaviour = self._script.popleft() if self._script else None
        match behaviour:
            case Status(code, message):
                _refuse(http, code, message)
                return
            case Hangs():
                self._ending.wait()
                http.close_connection = True
                return
            case Garbage(text):
                send(http, 200, text.encode(), "text/html")
                return
            case Events():
                _stream(http, body, behaviour)
                return
        if body["model"] not in self.models:
            _refuse(http, 404, f"The model `{body['model']}` does not exist or you do not have access to it.")
            return
        asked = body.get("response_format")
        if asked is not None and not self._takes_schema:
            _refuse(http, 400, NO_SCHEMA)
            return
        schema = asked["json_schema"]["schema"] if asked else None
        request = RecordedRequest("chat", "POST", http.path, {}, b"", {**body, "format": schema})
        if body.get("logprobs"):
            self._say_one_word(http, body, request)
            return
        self._say(http, body, request, self._reply(request), behaviour)

    def _say_one_word(self, http: BaseHTTPRequestHandler, body: Mapping[str, Any], request: RecordedRequest) -> None:
        chances = self._weigh(request) if self._weigh else None
        word = next(iter(chances)) if chances else "Yes"
        choice = {"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}
        if chances:
            choice["logprobs"] = {"content": [listed(chances)]}
        end = {"index": 0, "delta": {}, "finish_reason": "length"}
        begin(http, 200, {"Content-Type": "text/event-stream"})
        for event in (choice, end):
            made = {**_head(body, "chat.completion.chunk"), "choices": [event]}
            http.wfile.write(f"data: {json.dumps(made)}\n\n".encode())
        http.wfile.write(b"data: [DONE]\n\n")

    def _say(
        self,
        http: BaseHTTPRequestHandler,
        body: Mapping[str, Any],
        request: RecordedRequest,
        text: str,
        behaviour: Behaviour | None,
    ) -> None:
        parts = pieces(text)
        reason = "stop"
        if isinstance(behaviour, TooLong):
            parts, reason = parts[: behaviour.after_pieces], "length"
        prompt = token_count(request.prompt)
        usage = {"prompt_tokens": prompt, "completion_tokens": len(parts), "total_tokens": prompt + len(parts)}
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(parts)}
            choice = {"index": 0, "message": message, "finish_reason": reason}
            _send(http, 200, {**_head(body, "chat.completion"), "choices": [choice], "usage": usage})
            return
        begin(http, 200, {"Content-Type": "text/event-stream"})
        with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        for number, event in enumerate(_events(body, parts, reason, usage if with_usage else None)):
            if isinstance(behaviour, Cut) and number == behaviour.after_pieces:
                return
            http.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            http.wfile.flush()
        http.wfile.write(b"data: [DONE]\n\n")


def _stream(http: BaseHTTPRequestHandler, body: Mapping[str, Any], given: Events) -> None:
    head = _head(body, "chat.completion.chunk")
    choices: list[list[dict[str, Any]]] = [
        [{"index": 0, "delta": delta, "finish_reason": None}] for delta in given.deltas
    ]
    if given.finish:
        choices.append([{"index": 0, "delta": {}, "finish_reason": given.finish}])
    events: list[dict[str, Any]] = [{**head, "choices": choice} for choice in choices]
    if given.usage:
        used = {"prompt_tokens": 9, "completion_tokens": given.usage, "total_tokens": 9 + given.usage}
        events.append({**head, "choices": [], "usage": used})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events] + (["data: [DONE]\n\n"] if given.done else [])
    begin(http, 200, {"Content-Type": "text/event-stream"})
    time.sleep(given.first_after_s)
    for line in lines:
        http.wfile.write(line.encode())
        http.wfile.flush()


def _events(
    body: Mapping[str, Any], parts: Sequence[str], reason: str, usage: Mapping[str, int] | None
) -> Iterator[dict[str, Any]]:
    head = _head(body, "chat.completion.chunk")
    for part in parts:
        yield {
            **head,
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": part}, "finish_reason": None}],
        }
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    if usage is not None:
        yield {**head, "choices": [], "usage": usage}


def _head(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": body["model"]}


def _refuse(http: BaseHTTPRequestHandler, status: int, message: str) -> None:
    _send(http, status, {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}})


def _send(http: BaseHTTPRequestHandler, status: int, body: Mapping[str, Any]) -> None:
    send(http, status, json.dumps(body).encode())
