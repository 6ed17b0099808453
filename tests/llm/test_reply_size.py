"""A server that sends more than a reply can be is left at once, and nothing of it is kept or read (SC-13)."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.api import middleware
from engine.engine import Engine
from engine.errors import ModelError, WebSearchError, WorkbenchError
from engine.llm.chat import ChatModel
from engine.llm.counted import Oversized, counted
from engine.llm.discovery import model_details
from engine.llm.embedder import OllamaEmbedder
from engine.llm.providers import offered_models
from engine.llm.pull import pull
from engine.llm.rerank_server import RerankServer
from engine.llm.sizes import EVENTS, Most
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Message
from engine.roles import SILENT
from engine.settings import Settings
from engine.web import SearxngSearch
from tests.api.served import ADDRESS
from tests.support.errors import raises
from tests.support.flood import LARGE, Flood

OPENAI = "text/event-stream"
LINE = '{"message": {"role": "assistant", "content": "'
THOUGHT = '{"message": {"role": "assistant", "content": "", "thinking": "'
EVENT = 'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "'
PIECE = LINE + '--- "}, "done": false}\n'
"""Signs alone: words that are said again and again are left before they are too many."""
CHATS = {
    "a line": ("ollama:m", Flood(LINE)),
    "a line of thinking": ("ollama:m", Flood(THOUGHT)),
    "a line that ends": ("ollama:m", Flood(LINE, '"}, "done": true}\n' + " " * 1000)),
    "lines without end": ("ollama:m", Flood("", PIECE)),
    "empty lines without end": ("ollama:m", Flood("", "\n")),
    "a fault": ("ollama:m", Flood('{"error": "', status=500)),
    "compressed": ("ollama:m", Flood("", encoding="gzip")),
    "an event": ("openai:m", Flood(EVENT, kind=OPENAI)),
    "lines of one event": ("openai:m", Flood("", "data: x\n", kind=OPENAI)),
    "events without end": ("openai:m", Flood("", EVENT + '--- "}}]}\n\n', kind=OPENAI)),
    "a fault of the other protocol": ("openai:m", Flood('{"error": {"message": "', status=500)),
}


def settings_for(flood: Flood, folder: Path) -> Settings:
    return Settings(
        data_dir=folder, ollama_url=flood.url, openai_url=flood.url, rerank_url=flood.url, embedding_model="hashing"
    )


@pytest.mark.parametrize("what", CHATS)
def test_a_reply_larger_than_the_tokens_asked_for_is_given_up(what: str, tmp_path: Path) -> None:
    model, flood = CHATS[what]
    with flood:
        chat = ChatModel(RoleModel(model), settings_for(flood, tmp_path), "generator", think=None, reply_tokens=500)
        heard: list[str] = []
        with pytest.raises(WorkbenchError) as given_up:
            asyncio.run(chat.say((Message("user", "Why?"),), SILENT, heard.append))
    assert flood.sent < LARGE
    assert sum(map(len, heard)) < 100_000
    if what in ("a line that ends", "compressed", "empty lines without end"):
        return  # the beginning of it is refused as what it is
    assert given_up.value.code == ModelError.reply_too_large.code, given_up.value
    assert model in given_up.value.fact


def _lists(settings: Settings) -> Awaitable[object]:
    return model_details(settings)


OTHERS: dict[str, tuple[Flood, Callable[[Settings], Awaitable[object]]]] = {
    "vectors": (Flood('{"embeddings": [[', "0.1, "), lambda s: OllamaEmbedder("e", s, dim=384).embed_query("Why?")),
    "vectors of any width": (Flood('{"embeddings": [[', "0.1, "), lambda s: OllamaEmbedder("e", s).embed_query("Why?")),
    "models of Ollama": (Flood('{"models": [', '{"model": "m"}, '), _lists),
    "a download": (Flood('{"status": "'), lambda s: pull("m", s, lambda _: None)),
    "ranks": (Flood('{"results": [', '{"index": 0}, '), lambda s: RerankServer("rerank:m", s).scores("Why?", ["a"])),
}


@pytest.mark.parametrize("what", OTHERS)
def test_so_is_everything_else_that_a_server_sends(what: str, tmp_path: Path) -> None:
    flood, ask = OTHERS[what]

    async def asked(settings: Settings) -> object:
        return await ask(settings)

    with flood, raises(ModelError.reply_too_large):
        asyncio.run(asked(settings_for(flood, tmp_path)))
    assert flood.sent < LARGE


def test_a_list_of_another_server_says_so_in_place_of_its_models(tmp_path: Path) -> None:
    with Flood('{"data": [', '{"id": "m"}, ') as flood:
        found = asyncio.run(offered_models(settings_for(flood, tmp_path)))
    assert found.fault is not None and found.fault.code == ModelError.reply_too_large.code
    assert (found.names, flood.sent < LARGE) == ((), True)


def test_a_web_search_reads_no_more_than_its_results(tmp_path: Path) -> None:
    with Flood('{"results": [', '{"url": "u"}, ') as flood, raises(WebSearchError.not_results):
        asyncio.run(SearxngSearch(flood.url).search("why", 3))
    assert flood.sent < LARGE


def test_others_are_answered_while_a_reply_of_one_line_comes_in(tmp_path: Path) -> None:
    flood = Flood(LINE)
    with flood:
        settings = settings_for(flood, tmp_path)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            app = Starlette(middleware=middleware(lambda: engine, settings))
            with TestClient(app, base_url=ADDRESS) as client:
                answers: list[int] = []
                flood.gate = lambda: answers.append(client.get("/api/runs").status_code)
                models = RoleModels(generator=RoleModel("ollama:m"))
                run = engine.start("What is a truth table?", RunConfig(models=models))
                engine.wait(run)
                record = engine.record(run)
    assert answers and set(answers) == {200}
    assert record.outcome == "failed" and ModelError.reply_too_large.code in json.dumps(record.to_dict())
    assert flood.sent < LARGE
    assert len(json.dumps(record.to_dict())) < 1_000_000


# -- what is counted --------------------------------------------------------------------------------------------------


def read(parts: list[bytes], most: Most, headers: dict[str, str] | None = None) -> bytes:
    def respond(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=headers, content=iter(parts))

    hooks: Any = counted(most)
    with httpx.Client(transport=httpx.MockTransport(respond), event_hooks=hooks) as client:
        return client.get("http://127.0.0.1/").content


@pytest.mark.parametrize("end", EVENTS)
def test_what_ends_a_piece_may_be_cut_by_the_network(end: bytes) -> None:
    whole = (b"x" * 40 + end) * 30
    for size in (1, 2, 3, 7, 43, len(whole)):
        parts = [whole[start : start + size] for start in range(0, len(whole), size)]
        assert read(parts, Most(10_000, 50, EVENTS)) == whole
        with pytest.raises(Oversized):
            read([*parts, b"x" * 51], Most(10_000, 50, EVENTS))


def test_nothing_is_unpacked() -> None:
    with pytest.raises(httpx.DecodingError):
        read([gzip.compress(b"0" * 1000)], Most(10_000, 50), {"content-encoding": "gzip"})
