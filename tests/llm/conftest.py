"""A stand-in of Ollama whose replies the tests write, for the tests of one role each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.ollama_stand_in import OllamaStandIn


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(["qwen3:8b"]) as running:
        yield running
