"""Where a text only repeats itself."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.chat import ChatModel
from engine.model.config import RoleModel
from engine.model.language import before_loop
from engine.model.values import Message
from engine.settings import Settings
from tests.llm.recording import RecordingTrace
from tests.support.ollama_stand_in import OllamaStandIn
from tests.support.openai_stand_in import OpenAIStandIn

_WORDS = st.text("abcdefgh 集合元素", min_size=8, max_size=120).map(str.strip).filter(lambda text: len(set(text)) > 3)


@given(_WORDS, _WORDS, st.integers(4, 9))
def test_the_end_of_a_loop_is_left_out_and_nothing_before_it(before: str, unit: str, copies: int) -> None:
    text = f"{before}. " + f"{unit}. " * max(copies, 200 // len(unit))
    found = before_loop(text)
    assert found is not None and text.startswith(found)
    assert before in found
    assert len(found) <= len(before) + 2 * (len(unit) + 2) + 2
    assert before_loop(found) is None


@given(st.lists(_WORDS, min_size=1, max_size=8, unique=True))
def test_a_text_that_says_something_else_each_time_is_no_loop(units: list[str]) -> None:
    text = "".join(f"{place}: {unit}. " for place, unit in enumerate(units, 100))
    assert before_loop(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|" + " --- |" * 60,
        "=" * 400,
        "Put it twice:\n" + "docker compose up --detach --wait\n" * 3,
        "",
    ],
)
def test_rules_of_tables_rows_of_signs_and_a_few_copies_are_no_loop(text: str) -> None:
    assert before_loop(text) is None


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_an_answer_that_is_stopped_leaves_the_event_loop_no_connection_to_close(provider: str) -> None:
    """Two generators that hold one connection, closed in no order, leave a traceback of asyncio in the log."""
    said = "It is blue. " + "The sky is wide and blue. " * 300
    left: list[Any] = []

    async def ask(settings: Settings, model: str) -> str:
        chat = ChatModel(RoleModel(model), settings, "generator", think=None, reply_tokens=2048)
        await chat.say([Message("user", "So?")], RecordingTrace(), lambda _: None)
        usual = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(finalizer=left.append)
        try:
            return (await chat.say([Message("user", "So?")], RecordingTrace(), lambda _: None)).text
        finally:
            sys.set_asyncgen_hooks(*usual)
            for generator in left:
                await generator.aclose()

    with (
        OllamaStandIn(["qwen3:8b"], reply=lambda _: said) as ollama,
        OpenAIStandIn(["m"], reply=lambda _: said) as other,
    ):
        settings = Settings(data_dir=Path("unused"), ollama_url=ollama.url, openai_url=other.url)
        answer = asyncio.run(ask(settings, {"ollama": "ollama:qwen3:8b", "openai": "openai:m"}[provider]))
    assert answer == "It is blue. The sky is wide and blue."
    # Generators of bytes remain: they hold nothing once the connection is closed.
    assert [
        item.__qualname__ for item in left if "Stream" not in item.__qualname__ and "body" not in item.__name__
    ] == []
