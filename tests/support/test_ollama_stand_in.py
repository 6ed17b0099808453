"""The stand-in of Ollama claims only what is true of it; what it says is checked by the clients in other tests."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import httpx
import ollama
import pytest

from tests.support.ollama_stand_in import DiesMidStream, Gate, OllamaStandIn, RecordedRequest, Slow

ASK: dict[str, Any] = {"model": "llama3.2:3b", "messages": [{"role": "user", "content": "Who wrote it?"}]}
NANOSECONDS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["llama3.2:3b", "nomic-embed-text"], reply=lambda request: "Ada wrote it [1].") as running:
        yield running


@pytest.fixture
def client(server: OllamaStandIn) -> Iterator[ollama.Client]:
    with ollama.Client(server.url, timeout=60) as made:
        yield made


def test_a_stream_has_one_piece_a_line_and_the_figures_in_the_last(server: OllamaStandIn) -> None:
    answer = httpx.post(f"{server.url}/api/chat", json=ASK)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [line["message"]["content"] for line in lines] == ["Ada", " wrote", " it", " [1].", ""]
    assert [line["done"] for line in lines] == [False] * 4 + [True]
    last = lines[-1]
    assert (last["done_reason"], last["eval_count"], last["prompt_eval_count"]) == ("stop", 4, 4)
    assert all(isinstance(last[name], int) and last[name] > 0 for name in NANOSECONDS)


def test_a_prompt_longer_than_num_ctx_is_cut_in_silence(client: ollama.Client) -> None:
    answer = client.chat("llama3.2:3b", [{"role": "user", "content": "word " * 90}], options={"num_ctx": 64})
    assert answer.prompt_eval_count == 64


@pytest.mark.parametrize("reset", [False, True])
def test_a_server_that_dies_mid_stream_breaks_the_connection(
    server: OllamaStandIn, client: ollama.Client, reset: bool
) -> None:
    server.script("chat", DiesMidStream(after_tokens=2, reset=reset))
    with pytest.raises(httpx.TransportError):
        list(client.chat(**ASK, stream=True))
    dead = server.requests_to("chat")[0]
    assert (dead.pieces_sent, dead.aborted) == (2, False)


def test_a_client_that_leaves_mid_stream_is_noticed(server: OllamaStandIn) -> None:
    gate = Gate()
    gate.allow()
    server.script("chat", Slow(gate=gate))
    with httpx.stream("POST", f"{server.url}/api/chat", json=ASK) as answer:
        assert next(answer.iter_lines())
    server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].aborted)
    assert (server.requests[0].pieces_sent, server.in_flight) == (1, 0)


def test_concurrent_requests_are_counted_and_no_others(server: OllamaStandIn, client: ollama.Client) -> None:
    for _ in range(10):
        httpx.get(f"{server.url}/api/version")
    assert server.max_concurrent == 1
    gate = Gate()
    server.script("embed", *[Slow(gate=gate)] * 3)
    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(client.embed, "nomic-embed-text", "a") for _ in range(3)]
        server.wait_for(lambda seen: seen.in_flight == 3)
        gate.open()
        assert all(len(each.result().embeddings) == 1 for each in asking)
    assert server.max_concurrent == 3


def test_waiting_for_what_never_comes_says_what_was_seen(server: OllamaStandIn) -> None:
    httpx.get(server.url)
    with pytest.raises(TimeoutError, match=r"0 in flight; requests: \['GET / -> 200, pieces 0'\]"):
        server.wait_for(lambda seen: len(seen.requests) == 2, timeout_s=0.01)


def test_a_reply_that_raises_fails_the_test_that_wrote_it() -> None:
    def reply(request: RecordedRequest) -> str:
        raise KeyError("forgotten case")

    def ask_once() -> None:
        with OllamaStandIn(["llama3.2:3b"], reply=reply) as server:
            answer = httpx.post(f"{server.url}/api/chat", json=ASK)
            assert answer.status_code == 500

    with pytest.raises(KeyError, match="forgotten case"):
        ask_once()


def test_a_client_that_connects_while_it_closes_is_dropped_at_once() -> None:
    for _ in range(50):
        with OllamaStandIn() as closing:
            port = httpx.URL(closing.url).port
            assert port is not None
            client = socket.create_connection(("127.0.0.1", port), timeout=60)
        with client, suppress(ConnectionError):
            assert client.recv(1) == b""
