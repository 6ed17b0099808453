"""How many of our own frames are between a question and its first search, and between a grading and its model.

Counted are functions of the product on the stack, callers that await among them. Where a task, a thread or a callback
begins, the frames that began it are counted too, once; a comprehension belongs to the function that it stands in.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.base_events import BaseEventLoop
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

# Imported at collection: the first import takes seconds, which would count against the budget of a run.
import langchain_openai
import pytest
from pymilvus import MilvusClient

from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.size import ROOT
from tests.support.openai_stand_in import OpenAIStandIn

MODEL = RoleModel("openai:local-model")
CONFIG = RunConfig(top_k=1, max_rewrites=0, models=RoleModels(grader=MODEL))
ENGINE = f"{ROOT}/engine/"
COMPREHENSIONS = ("<listcomp>", "<genexpr>", "<setcomp>", "<dictcomp>")
SCHEDULERS = (asyncio.events.__file__, sys.modules["concurrent.futures.thread"].__file__)
"""Where these are on the stack, something that was begun elsewhere has its own beginning."""
_begun_by: ContextVar[tuple[str, ...]] = ContextVar("begun_by", default=())
assert callable(langchain_openai.ChatOpenAI)


def chain() -> tuple[str, ...]:
    """Our functions that led to the caller, the outermost first, as ``file:function``."""
    found: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename not in SCHEDULERS:
        code = frame.f_code
        if code.co_filename.startswith(ENGINE) and code.co_name not in COMPREHENSIONS:
            found.append(f"{Path(code.co_filename).relative_to(ENGINE)}:{code.co_name}")
        frame = frame.f_back
    return (*_begun_by.get(), *reversed(found))


def followed(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """``schedule`` as before; what it begins knows by whom it was begun."""

    def begin(loop: BaseEventLoop, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("context") is not None:  # LangGraph's tasks have one of their own
            kwargs["context"].run(_begun_by.set, chain())
        before = _begun_by.set(chain())
        try:
            return schedule(loop, *args, **kwargs)
        finally:
            _begun_by.reset(before)

    return begin


def in_thread(loop: BaseEventLoop, executor: Any, work: Callable[..., Any], *args: Any) -> Any:
    return RUN_IN_EXECUTOR(loop, executor, copy_context().run, work, *args)


RUN_IN_EXECUTOR = BaseEventLoop.run_in_executor


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, ...]]]:
    """How one real run came to its first search of passages and to the first call of its grader."""
    found: dict[str, tuple[str, ...]] = {}
    search, send = MilvusClient.search, httpx.AsyncClient.send

    def seen_search(*args: Any, **kwargs: Any) -> Any:
        if kwargs["anns_field"] == "vector" and "text" in kwargs["output_fields"]:
            found.setdefault("search", chain())
        return search(*args, **kwargs)

    async def seen_send(*args: Any, **kwargs: Any) -> Any:
        if b"chat/completions" in args[1].url.raw_path:
            found.setdefault("grading", chain())
        return await send(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch, OpenAIStandIn(["local-model"], reply=obedient, key="sk-key") as server:
        folder = tmp_path_factory.mktemp("paths")
        settings = Settings.load(
            data_dir=folder, ollama_url="http://127.0.0.1:1", openai_url=server.url, openai_api_key="sk-key"
        )
        patch.setattr(BaseEventLoop, "run_in_executor", followed(in_thread))
        for name in ("create_task", "call_soon_threadsafe"):
            patch.setattr(BaseEventLoop, name, followed(getattr(BaseEventLoop, name)))
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            patch.setattr(MilvusClient, "search", seen_search)
            patch.setattr(httpx.AsyncClient, "send", seen_send)
            assert engine.run("What is a truth table?", CONFIG).rounds[0].verdicts
        yield found


def split(chain: tuple[str, ...], file: str, function: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The chain up to a function, and from there on; both with it."""
    place = chain.index(f"{file}:{function}")
    return chain[: place + 1], chain[place:]


def test_a_question_reaches_its_first_search_in_few_functions(chains: dict[str, tuple[str, ...]]) -> None:
    asked, _ = split(chains["search"], "knowledge/milvus_store.py", "search")
    assert asked[0] == "engine.py:run" or "through" in asked[0]
    assert len(asked) <= 18, "\n".join(asked)


def test_a_search_reaches_milvus_in_few_functions(chains: dict[str, tuple[str, ...]]) -> None:
    _, searched = split(chains["search"], "knowledge/milvus_store.py", "search")
    assert len(searched) <= 5, "\n".join(searched)


def test_a_grading_reaches_its_model_in_few_functions(chains: dict[str, tuple[str, ...]]) -> None:
    _, graded = split(chains["grading"], "workflows/steps/grade.py", "step")
    assert len(graded) <= 7, "\n".join(graded)
