"""The chat models that pickers offer: those of every server that is set up, looked up without holding a page up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from components.common.i18n import words_for
from components.common.panel import OllamaNote, ollama_text
from engine.api.process import use_engine
from engine.engine import Engine
from engine.llm import providers
from engine.llm.faults import known_provider
from engine.running.resources import KeptLook
from engine.settings import Settings
from tests.pages.driving import opened, setting
from tests.support.ollama_stand_in import OllamaStandIn
from tests.support.openai_stand_in import OpenAIStandIn
from tests.support.tiny_gguf import write_chat, write_embedder

EN = words_for("en")
ADDRESS = "http://127.0.0.1:1"
NONE = f"No Ollama at `{ADDRESS}`"


def test_the_models_of_every_server_are_offered_and_those_that_embed_are_not(tmp_path: Path) -> None:
    with (
        OllamaStandIn(["qwen3:8b", "nomic-embed-text"]) as ollama,
        OpenAIStandIn(["qwen2.5-7b-instruct", "text-embedding-nomic"]) as server,
    ):
        settings = Settings(data_dir=tmp_path, ollama_url=ollama.url, openai_url=server.url)
        write_chat(tmp_path / "models/chat.gguf")
        write_embedder(tmp_path / "models/embed.gguf")
        with Engine.open(settings) as engine:
            offered = ("ollama:qwen3:8b", "local:chat.gguf", "openai:qwen2.5-7b-instruct")
            assert engine.chat_models(fresh=True) == offered
            assert [item.model for item in engine.library.embedding_models() if item.model.startswith("local:")] == [
                "local:embed.gguf"
            ]
            assert engine.host.offered().names == ("openai:qwen2.5-7b-instruct", "openai:text-embedding-nomic")


@pytest.mark.parametrize(("provider", "variable"), [("groq", "GROQ_API_KEY"), ("google_genai", "GOOGLE_API_KEY")])
def test_a_provider_with_a_key_is_asked_when_its_list_is_wanted_and_then_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, variable: str
) -> None:
    monkeypatch.setenv(variable, "sk-planted")
    with OpenAIStandIn(["models/large"], key="sk-planted") as server:
        known = replace(known_provider(provider), lists_at=server.url)
        monkeypatch.setattr(providers, "KNOWN", (known,))
        with Engine.open(Settings(data_dir=tmp_path, ollama_url=ADDRESS)) as engine:
            assert engine.chat_models(fresh=True) == (), "no one asked for it yet"
            assert engine.host.offered(provider).names == (f"{provider}:large",)
            assert engine.chat_models() == (f"{provider}:large",)


def test_a_provider_without_a_key_is_asked_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with Engine.open(Settings(data_dir=tmp_path, ollama_url=ADDRESS)) as engine:
        assert (engine.host.offered("groq").names, engine.host.offered("nobody").names) == ((), ())


def test_a_picker_of_a_page_lists_them(tmp_path: Path) -> None:
    with OpenAIStandIn(["qwen2.5-7b-instruct"]) as server:
        settings = Settings(data_dir=tmp_path, ollama_url=ADDRESS, openai_url=server.url)
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            engine.chat_models(fresh=True)
            use_engine(engine)
            try:
                assert "openai:qwen2.5-7b-instruct" in setting(opened(""), "grader").options
            finally:
                use_engine(None)


def test_a_look_that_lasts_holds_nobody_up_and_is_made_once() -> None:
    begun: list[int] = []

    async def go() -> tuple[str | None, str | None]:
        over = asyncio.Event()

        async def look() -> str:
            begun.append(1)
            await over.wait()
            return "found"

        kept = KeptLook(look)
        early = await kept(patience_s=0.01)
        over.set()
        return early, await kept()

    assert asyncio.run(go()) == (None, "found")
    assert len(begun) == 1


@pytest.mark.parametrize(
    ("note", "models", "said"),
    [
        (OllamaNote(ADDRESS, "0.9", ("ollama:a", "openai:b")), ("builtin",), "Ollama 0.9 · 1 model"),
        (
            OllamaNote(ADDRESS),
            ("builtin", "builtin#0123456789ab"),
            f"No Ollama at `{ADDRESS}`: built-in models do the work.",
        ),
        (OllamaNote(ADDRESS), ("builtin", "ollama:a"), f"No Ollama at `{ADDRESS}`, and a model chosen here needs it."),
        (OllamaNote(ADDRESS), ("openai:b", "openai:b"), ""),
        (OllamaNote(ADDRESS), ("builtin", "openai:b"), ""),
    ],
)
def test_who_does_the_work_is_said_by_the_roles_as_they_are(
    note: OllamaNote, models: tuple[str, ...], said: str
) -> None:
    assert ollama_text(EN, note, models) == said
