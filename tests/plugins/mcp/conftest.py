"""One real engine with the samples, and MCP servers over it on real sockets, for all tests of agents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.applications import Starlette

from engine.api import middleware
from engine.engine import Engine
from engine.plugins import SignIn
from engine.settings import Settings
from tests.api.served import serving
from tests.plugins.mcp.agents import Agent


@dataclass(frozen=True)
class Served:
    """An engine behind the address of an MCP server."""

    engine: Engine
    url: str

    def agent(self, **options: Any) -> Agent:
        return Agent(self.url, **options)


@contextmanager
def served(engine: Engine, sign_in: SignIn | None = None, **settings: Any) -> Iterator[Served]:
    """The app of an engine, without pages, under settings that differ from its own."""
    chosen = engine.settings.model_copy(update=settings)
    app = Starlette(middleware=middleware(lambda: engine, chosen, sign_in=sign_in))
    with serving(app) as port:
        yield Served(engine, f"http://127.0.0.1:{port}/mcp")


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("agents")
    settings = Settings(data_dir=folder, ollama_url="http://127.0.0.1:1", embedding_model="hashing")
    with Engine.open(settings) as opened:
        opened.wait_until_ready()
        yield opened


@pytest.fixture(scope="package")
def reading(engine: Engine) -> Iterator[Served]:
    """With ``WORKBENCH_MCP=read``."""
    with served(engine, mcp="read") as app:
        yield app


@pytest.fixture(scope="package")
def writing(engine: Engine) -> Iterator[Served]:
    """With ``WORKBENCH_MCP=write``."""
    with served(engine, mcp="write") as app:
        yield app
