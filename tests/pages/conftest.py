"""One engine on a folder of its own for all page tests: built-in roles, the samples, no Ollama."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.api.process import use_engine
from engine.engine import Engine
from engine.settings import Settings
from pages.parts.system import work


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    # Port 1 of this machine refuses at once, as an Ollama does that is not running.
    settings = Settings(data_dir=tmp_path_factory.mktemp("pages"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        yield engine


@pytest.fixture
def engine(shared_engine: Engine) -> Iterator[Engine]:
    """The engine that the pages find."""
    use_engine(shared_engine)
    yield shared_engine
    use_engine(None)


@pytest.fixture(autouse=True)
def answers_are_awaited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows what it asked of the machine, however busy that is, and not that it still looks."""
    monkeypatch.setattr(work, "_SOON_S", 60.0)
