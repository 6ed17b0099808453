"""A look at Ollama: what is there, what is wrong, and never an exception."""

from __future__ import annotations

import asyncio

import pytest

from engine.llm.discovery import OllamaStatus, ollama_status
from tests.llm.recording import settings_for
from tests.support.ollama_stand_in import Behaviour, Garbage, NotFound, OllamaStandIn, ServerError
from tests.support.ollama_stand_in.models import card_for


def look(server: OllamaStandIn | str) -> OllamaStatus:
    return asyncio.run(ollama_status(settings_for(server)))


def test_installed_models_come_with_digest_size_and_capabilities() -> None:
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text", "gemma3:4b"]) as server:
        status = look(server)
    assert (status.reachable, status.version, status.fault) == (True, "0.34.2", None)
    found = {model.name: model for model in status.models}
    assert list(found) == ["gemma3:4b", "nomic-embed-text:latest", "qwen3:8b"]
    qwen = found["qwen3:8b"]
    assert (qwen.digest, qwen.parameter_size) == (card_for("qwen3:8b").digest, "8.2B")
    assert qwen.size > 1_000_000_000
    assert [(model.chats, model.embeds) for model in status.models] == [(True, False), (False, True), (True, False)]
    assert "vision" in found["gemma3:4b"].capabilities and "thinking" in qwen.capabilities
    assert status.digest("nomic-embed-text") == found["nomic-embed-text:latest"].digest
    assert status.digest("absent") == ""
    assert status.smallest == "ollama:gemma3:4b"


def test_a_model_that_cannot_be_described_is_still_listed() -> None:
    with OllamaStandIn(["nomic-embed-text", "llama3.2:3b"]) as server:
        server.script("show", NotFound(), ServerError(500))
        status = look(server)
    assert [(model.name, model.capabilities) for model in status.models] == [
        ("llama3.2:3b", ("chat",)),
        ("nomic-embed-text:latest", ("embedding",)),
    ]


def test_nobody_there_is_a_status_with_a_fault() -> None:
    with OllamaStandIn() as gone:
        url = gone.url
    status = look(url)
    assert not status.looking and not status.reachable and status.models == ()
    assert status.fault is not None and (status.fault.code, status.fault.params["address"]) == ("WB401", url)


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [(Garbage("<html>"), "WB410"), (Garbage("[]"), "WB410"), (ServerError(500), "WB405")],
    ids=str,
)
@pytest.mark.parametrize("endpoint", ["version", "tags"])
def test_a_server_that_is_not_ollama_is_a_status_with_a_fault(endpoint: str, behaviour: Behaviour, code: str) -> None:
    with OllamaStandIn() as server:
        server.script(endpoint, behaviour)  # type: ignore[arg-type]
        status = look(server)
    assert not status.reachable
    assert status.fault is not None and status.fault.code == code


@pytest.mark.parametrize("url", ["", "nonsense", "http://", "ftp://127.0.0.1", "http://[::1", "http://a b"])
def test_no_address_makes_it_raise(url: str) -> None:
    status = look(url or "http://127.0.0.1:1")
    assert not status.reachable
    assert status.fault is not None
