"""The stand-in under slow and hanging answers, leaving clients and concurrent ones; nothing here sleeps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import ollama
import pytest
from langchain_ollama import ChatOllama

from tests.support.ollama_stand_in import Gate, Hangs, OllamaStandIn, RecordedRequest, Reply, Slow
from tests.support.ollama_stand_in.__main__ import main

ASK = [{"role": "user", "content": "Who wrote it?"}]


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["llama3.2:3b", "nomic-embed-text"], reply=lambda request: "one two three") as running:
        yield running


def test_a_gate_lets_pieces_through_one_by_one(server: OllamaStandIn) -> None:
    gate = Gate()
    server.script("chat", Slow(gate=gate))
    with ollama.Client(server.url, timeout=60) as client:
        stream = client.chat("llama3.2:3b", ASK, stream=True)
        gate.allow()
        assert next(stream).message.content == "one"
        server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].pieces_sent == 1)
        gate.allow()
        assert next(stream).message.content == " two"
        gate.open()
        assert [part.message.content for part in stream] == [" three", ""]


def test_a_slow_answer_waits_its_seconds_and_outlasts_a_shorter_client(server: OllamaStandIn) -> None:
    server.script("chat", Slow(per_token_s=0.01, reply=Reply("a b")), Slow(per_token_s=60))
    with ollama.Client(server.url, timeout=60) as client:
        assert [part.message.content for part in client.chat("llama3.2:3b", ASK, stream=True)] == ["a", " b", ""]
        # The client has the last piece before the server has noted that it is done.
        server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].finished is not None)
        first = server.requests[0]
        assert first.finished is not None and first.finished - first.started >= 0.02
    with ollama.Client(server.url, timeout=0.05) as impatient, pytest.raises(httpx.ReadTimeout):
        list(impatient.chat("llama3.2:3b", ASK, stream=True))
    server.wait_for(lambda seen: seen.requests[1].aborted)
    assert server.requests[1].status is None


def test_a_client_that_leaves_mid_stream_is_noticed(server: OllamaStandIn) -> None:
    gate = Gate()
    gate.allow()
    server.script("chat", Slow(gate=gate))
    with httpx.stream("POST", f"{server.url}/api/chat", json={"model": "llama3.2:3b", "messages": ASK}) as answer:
        assert next(answer.iter_lines())
    server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].aborted)
    assert (server.requests[0].pieces_sent, server.in_flight) == (1, 0)


def test_a_cancelled_langchain_task_closes_its_request(server: OllamaStandIn) -> None:
    server.script("chat", Hangs(after_tokens=1))

    async def ask_and_cancel() -> None:
        model = ChatOllama(model="llama3.2:3b", base_url=server.url)
        asking = asyncio.create_task(model.ainvoke("Who?"))
        await asyncio.to_thread(server.wait_for, lambda seen: seen.in_flight == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(ask_and_cancel())
    server.wait_for(lambda seen: seen.in_flight == 0)
    assert server.requests[0].aborted


@pytest.mark.parametrize("after_tokens", [None, 0, 2])
def test_a_hanging_answer_is_released_when_the_stand_in_closes(after_tokens: int | None) -> None:
    pieces = after_tokens or 0
    with (
        OllamaStandIn(["llama3.2:3b"]) as server,
        ThreadPoolExecutor(1) as pool,
        ollama.Client(server.url, timeout=60) as client,
    ):
        server.script("chat", Hangs(after_tokens))
        asking = pool.submit(lambda: list(client.chat("llama3.2:3b", ASK, stream=True)))
        server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].pieces_sent == pieces)
        assert not asking.done()
        server.close()
        assert isinstance(asking.exception(timeout=60), httpx.TransportError)
        assert not server.requests[0].aborted


@pytest.mark.parametrize("endpoint", ["version", "tags", "show", "embed"])
def test_every_endpoint_can_hang(server: OllamaStandIn, endpoint: str) -> None:
    server.script(endpoint, Hangs())  # type: ignore[arg-type]
    method, body = (
        ("POST", {"model": "nomic-embed-text", "input": "a"}) if endpoint in ("show", "embed") else ("GET", None)
    )
    with pytest.raises(httpx.ReadTimeout):
        httpx.request(method, f"{server.url}/api/{endpoint}", json=body, timeout=0.05)
    server.wait_for(lambda seen: bool(seen.requests) and seen.requests[0].aborted)
    assert httpx.request(method, f"{server.url}/api/{endpoint}", json=body, timeout=60).status_code == 200


def test_the_most_concurrent_requests_are_counted(server: OllamaStandIn) -> None:
    gate = Gate()
    server.script("embed", *[Slow(gate=gate)] * 3)
    with ThreadPoolExecutor(3) as pool, ollama.Client(server.url, timeout=60) as client:
        asking = [pool.submit(client.embed, "nomic-embed-text", "a") for _ in range(3)]
        server.wait_for(lambda seen: seen.in_flight == 3)
        gate.open()
        assert all(len(each.result().embeddings) == 1 for each in asking)
    assert server.max_concurrent == 3


def test_requests_one_after_the_other_are_never_counted_as_concurrent(server: OllamaStandIn) -> None:
    for _ in range(20):
        httpx.get(f"{server.url}/api/version")
    assert (server.max_concurrent, len(server.requests)) == (1, 20)


def test_keep_alive_connections_carry_many_requests(server: OllamaStandIn) -> None:
    with httpx.Client(base_url=server.url) as client:
        texts = [client.post("/api/chat", json={"model": "llama3.2:3b", "messages": ASK}).text for _ in range(20)]
    assert all(text.count("\n") == 4 for text in texts)
    assert not any(request.aborted for request in server.requests)


def test_waiting_for_what_never_comes_says_what_was_seen(server: OllamaStandIn) -> None:
    httpx.get(server.url)
    with pytest.raises(TimeoutError, match=r"0 in flight; requests: \['GET / -> 200, pieces 0'\]"):
        server.wait_for(lambda seen: len(seen.requests) == 2, timeout_s=0.01)


def test_a_reply_that_raises_fails_the_test_that_wrote_it() -> None:
    def reply(request: RecordedRequest) -> str:
        raise KeyError("forgotten case")

    def ask_once() -> None:
        with OllamaStandIn(reply=reply) as server:
            answer = httpx.post(f"{server.url}/api/chat", json={"model": "qwen3:8b", "messages": ASK})
            assert answer.status_code == 500
            assert "the test's own reply failed" in answer.text

    with pytest.raises(KeyError, match="forgotten case"):
        ask_once()


def test_a_closed_stand_in_refuses_connections_and_another_can_take_its_port() -> None:
    with OllamaStandIn() as first:
        port = int(first.url.rpartition(":")[2])
    with pytest.raises(ConnectionError, match="Failed to connect to Ollama"), ollama.Client(first.url) as client:
        client.list()
    with OllamaStandIn(port=port) as second:
        assert httpx.get(first.url).text == "Ollama is running"
        with pytest.raises(OSError, match="in use"):
            OllamaStandIn(port=port).start()
    assert second.url == first.url
    with pytest.raises(RuntimeError, match="has not been started"):
        assert OllamaStandIn().url


def test_the_command_line_serves_until_it_is_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    stop = threading.Event()
    stop.set()
    main(["--port", "0", "--delay", "0", "--models", "qwen3:0.6b"], stop)
    assert "with qwen3:0.6b" in capsys.readouterr().out
