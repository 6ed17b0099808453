"""The examples in docstrings of what programs may use: each is run, and gives what it shows."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.model.decide import Evidence
from engine.model.events import Decided

MODULES = (
    "engine.engine",
    "engine.flow",
    "engine.model.config.run_config",
    "engine.model.decide",
    "engine.people.authorization",
    "engine.plugins",
    "engine.retrieval.similarity",
    "rag_workbench.observe",
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        with Engine.open() as opened:
            yield opened


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(
    name: str, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    known = {"engine": engine, "replace": replace, "Evidence": Evidence, "Decided": Decided}
    found = doctest.testmod(import_module(name), extraglobs=known)
    assert found.attempted > 0
    assert found.failed == 0, capsys.readouterr().out
