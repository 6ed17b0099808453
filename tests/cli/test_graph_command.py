"""``python -m engine graph`` against a workbench that has the knowledge base open. GH-03"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.engine import Engine
from tests.cli.test_handing_over import handed_over
from tests.support.graph_knowledge import GraphCollections

TEXTS = {"a": "Metformin treats diabetes.", "b": "Insulin lowers glucose."}


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    with handed_over(folder, knowledge=GraphCollections(folder=tmp_path, texts=dict(TEXTS))) as (_, opened):
        yield opened


def test_a_graph_is_built_shown_and_deleted_in_the_app(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    """GH-03"""
    assert main(["graph", "build", "farm"]) == 0
    assert "read from 2 passages" in " ".join(capsys.readouterr().err.split())
    assert main(["graph", "show", "farm"]) == 0
    shown = capsys.readouterr().out
    assert "2 of 2 passages read by builtin · up to date" in shown and "● Metformin" in shown
    assert main(["graph", "show", "farm", "--entity", "metformin"]) == 0
    assert "Metformin → TREATS → diabetes  [a]" in capsys.readouterr().out
    assert main(["graph", "show", "farm", "--json", "--find", "insu"]) == 0
    assert [item["id"] for item in json.loads(capsys.readouterr().out)["entities"]] == ["insulin"]
    assert main(["graph", "build", "farm", "--extractor", "ollama:m"]) == 1
    assert "--replace" in capsys.readouterr().err
    assert main(["graph", "delete", "farm"]) == 0
    assert engine.graphs.describe("farm") is None
    assert main(["graph", "show", "farm"]) == 1
    assert "has no knowledge graph" in capsys.readouterr().err


def test_files_go_in_and_are_read_into_the_graph(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """GH-03: at ingestion, as an option."""
    (tmp_path / "c.md").write_text("Aspirin treats pain.")
    assert main(["ingest", str(tmp_path / "c.md"), "--collection", "farm", "--graph", "builtin"]) == 0
    assert "read from 3 passages" in " ".join(capsys.readouterr().err.split())
    state = engine.graphs.describe("farm")
    assert state is not None and state.info.passages == 3


@pytest.mark.parametrize(
    "arguments",
    [["graph", "build", "farm", "--extractor", "gpt"], ["ingest", "x", "--collection", "farm", "--graph", "gpt"]],
)
def test_a_name_that_is_no_model_is_said_at_once(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "has no provider" in capsys.readouterr().err
