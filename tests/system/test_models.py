"""Models of Ollama: what is there, what is loaded, downloads with everything that goes wrong with them, unloading."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.errors import HostError
from engine.llm.pull import checked_name
from engine.model.system import PullStatus
from engine.system.host import Host
from tests.support.errors import raises
from tests.support.ollama_stand_in import (
    Behaviour,
    DiesMidStream,
    EndsEarly,
    ErrorMidStream,
    Garbage,
    Gate,
    Hangs,
    OllamaStandIn,
    ServerError,
    Slow,
)
from tests.support.ollama_stand_in.models import card_for
from tests.support.ollama_stand_in.pulling import NO_SPACE
from tests.system.hosting import hosting, until


def pulled(host: Host) -> PullStatus:
    return until(lambda: host.pulls()[0], lambda status: status.over)


def test_models_come_with_what_ollama_knows_of_them(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        assert host.try_model("ollama:qwen3:8b").fault is None
        embedder, qwen = host.models()
    assert (embedder.name, embedder.capabilities, embedder.embedding_length) == (
        "nomic-embed-text:latest",
        ("embedding",),
        768,
    )
    assert (qwen.family, qwen.quantization, qwen.parameter_size) == ("qwen3", "Q4_K_M", "8.2B")
    assert (qwen.context_length, qwen.digest) == (40_960, card_for("qwen3:8b").digest)
    assert "chat" in qwen.capabilities and "thinking" in qwen.capabilities
    assert (qwen.loaded, embedder.loaded) == (True, False)
    assert qwen.vram == qwen.size and qwen.expires_at.startswith("2030-06-01")
    assert embedder.vram is None and embedder.expires_at == ""


def test_a_model_that_is_unloaded_is_gone_from_memory_and_not_from_the_list(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        host.try_model("ollama:qwen3:8b")
        assert host.models()[0].loaded
        host.unload("ollama:qwen3:8b")
        assert [model.loaded for model in host.models()] == [False]
        assert server.requests_to("chat")[-1].body["keep_alive"] == 0


def test_without_ollama_there_are_no_models_and_no_exception(tmp_path: Path) -> None:
    with hosting(tmp_path) as host:
        assert host.models() == ()


def test_a_download_is_reported_in_bytes_and_ends_with_the_model_there(tmp_path: Path) -> None:
    gate = Gate()
    with OllamaStandIn([], registry=["qwen3:0.6b"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        server.script("pull", Slow(gate=gate))
        assert host.models() == ()
        host.start_pull("qwen3:0.6b")
        gate.allow(4)
        half = until(lambda: host.pulls()[0], lambda status: status.done > 0)
        size = card_for("qwen3:0.6b").size_bytes
        assert (half.state, half.total) == ("running", size) and 0 < half.done < size
        assert half.phase.startswith("pulling ")
        gate.open()
        done = pulled(host)
        assert (done.state, done.fault, done.done == done.total > 0) == ("done", None, True)
        assert [model.name for model in host.models()] == ["qwen3:0.6b"]


def test_a_stopped_download_drops_the_connection_and_continues_where_it_was(tmp_path: Path) -> None:
    gate = Gate()
    with OllamaStandIn([], registry=["qwen3:0.6b"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        server.script("pull", Slow(gate=gate))
        host.start_pull("qwen3:0.6b")
        with raises(HostError.busy):
            host.start_pull(" qwen3:0.6b ")
        gate.allow(4)
        half = until(lambda: host.pulls()[0], lambda status: status.done > 0)
        host.stop_pull("qwen3:0.6b")
        assert host.pulls()[0].state == "stopped"
        server.wait_for(lambda seen: seen.requests_to("pull")[0].aborted)
        again = Gate()
        server.script("pull", Slow(gate=again))
        host.start_pull("qwen3:0.6b")
        again.allow(2)
        resumed = until(lambda: host.pulls()[0], lambda status: status.done > 0)
        assert resumed.done >= half.done
        again.open()
        assert pulled(host).state == "done"
        assert len(host.pulls()) == 1


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (ErrorMidStream(2, NO_SPACE), "WB613"),
        (ErrorMidStream(1, "pull model manifest: Get https://registry.ollama.ai: dial tcp: no such host"), "WB615"),
        (ErrorMidStream(3, "unexpected EOF"), "WB614"),
        (DiesMidStream(2), "WB614"),
        (DiesMidStream(2, reset=True), "WB614"),
        (EndsEarly(3), "WB614"),
        (Garbage("<html>", after_tokens=2), "WB614"),
        (ServerError(500, "something broke"), "WB615"),
    ],
    ids=str,
)
def test_a_download_that_fails_says_how(behaviour: Behaviour, code: str, tmp_path: Path) -> None:
    with OllamaStandIn([], registry=["qwen3:0.6b"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        server.script("pull", behaviour)
        host.start_pull("qwen3:0.6b")
        failed = pulled(host)
    assert failed.state == "failed"
    assert failed.fault is not None and failed.fault.code == code
    assert failed.fault.params["name"] == "qwen3:0.6b"


def test_a_model_that_the_library_lacks_is_named(tmp_path: Path) -> None:
    with OllamaStandIn([], registry=[]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        host.start_pull("no-such-model:7b")
        failed = pulled(host)
    assert failed.fault is not None and (failed.fault.code, failed.fault.params["name"]) == (
        "WB612",
        "no-such-model:7b",
    )


def test_a_download_without_ollama_fails_with_its_address(tmp_path: Path) -> None:
    with hosting(tmp_path) as host:
        host.start_pull("qwen3:0.6b")
        failed = pulled(host)
    assert failed.fault is not None and failed.fault.code == "WB401"


def test_closing_ends_a_download_that_hangs(tmp_path: Path) -> None:
    with OllamaStandIn([], registry=["qwen3:0.6b"]) as server:
        server.script("pull", Hangs(after_tokens=1))
        with hosting(tmp_path, ollama_url=server.url) as host:
            host.start_pull("qwen3:0.6b")
            server.wait_for(lambda seen: seen.in_flight == 1)
        server.wait_for(lambda seen: seen.requests_to("pull")[0].aborted)
        assert host.pulls()[0].state == "stopped"


@pytest.mark.parametrize(
    "name",
    [
        "qwen3:8b",
        "nomic-embed-text",
        "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M",
        "library/qwen3:8b",
        "localhost:5000/me/model:x",
        "ollama:qwen3:8b",
    ],
)
def test_names_of_the_library_are_sent(name: str) -> None:
    assert checked_name(f" {name} ") == name.removeprefix("ollama:")


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "../../etc/passwd", "-x", "a/b/c/d", "a\nb", "a:b:c", "http://x/y", "m?x=1", "é", "x" * 201, "a/"],
)
def test_what_is_no_name_is_never_sent(name: str, tmp_path: Path) -> None:
    with OllamaStandIn() as server, hosting(tmp_path, ollama_url=server.url) as host:
        with raises(HostError.invalid_model_name):
            host.start_pull(name)
        with raises(HostError.invalid_model_name):
            host.unload(name)
        assert server.requests == []
        assert host.pulls() == ()


def test_a_trial_gives_reply_and_tokens_or_says_why_not(tmp_path: Path) -> None:
    with OllamaStandIn(["qwen3:8b"]) as server, hosting(tmp_path, ollama_url=server.url) as host:
        began = time.perf_counter()
        ready = host.try_model("ollama:qwen3:8b")
        most_ms = (time.perf_counter() - began) * 1000
        missing = host.try_model("ollama:absent")
        nonsense = host.try_model("nonsense")
        other = host.try_model("nosuch:model")
        builtin = host.try_model("builtin")
    assert ready.fault is None and ready.reply and ready.reply_tokens and 0 < ready.ms <= most_ms
    assert [trial.fault.code for trial in (missing, nonsense, other) if trial.fault] == ["WB402", "WB100", "WB406"]
    assert builtin.fault is None
