"""A real engine on the samples and a stand-in of Ollama that does what it is asked, for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.support.ollama_stand_in import OllamaStandIn


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=obedient) as running:
        yield running


@pytest.fixture
def ollama(server: OllamaStandIn) -> Iterator[OllamaStandIn]:
    yield server
    server.forget_script("chat")


@pytest.fixture(scope="module")
def engine(server: OllamaStandIn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder: Path = tmp_path_factory.mktemp("engine")
    with Engine.open(Settings.load(data_dir=folder, ollama_url=server.url)) as opened:
        opened.wait_until_ready()
        yield opened
