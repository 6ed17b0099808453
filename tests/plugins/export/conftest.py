"""One engine for the tests of this folder: built-in roles, the samples, and secrets that may go nowhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.engine import Engine
from engine.settings import Settings


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings.load(
        data_dir=tmp_path_factory.mktemp("data"),
        ollama_url="http://127.0.0.1:1",
        openai_url="http://me:secret@127.0.0.1:1/v1",
        openai_api_key="sk-PLANTED",
    )
    with Engine.open(settings) as opened:
        opened.wait_until_ready()
        yield opened
