"""``python -m engine load`` and ``index``: vectors made elsewhere, and how those of a collection are found."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from engine.builtin.embedder import HashingEmbedder
from engine.cli.main import main
from engine.engine import Engine
from engine.library.values import JobStatus
from engine.running.ingestions import Ingestions
from engine.settings import Settings
from plugins.scale.actions import Scale
from plugins.scale.values import BreadthFigures, IndexState, IndexView, RecallFigures


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    monkeypatch.setenv("WORKBENCH_EMBEDDING_MODEL", "hashing")
    return folder


def _file(folder: Path, *, broken: bool = False) -> Path:
    embedder = HashingEmbedder()
    texts = [f"tea and milk {number}" for number in range(6)]
    vectors = asyncio.run(embedder.embed_passages(texts))
    rows: list[dict[str, Any]] = [
        {"source": f"s{place // 3}.md", "text": text, "vector": vector.tolist()}
        for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    if broken:
        rows[4]["vector"] = [1.0]
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_vectors_made_elsewhere_go_in_and_the_same_command_again_puts_in_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["load", str(_file(tmp_path)), "--collection", "tea"]
    assert main(command) == 0
    assert "6 passages of 2 sources put into tea\n" in capsys.readouterr().out
    assert main(command) == 0
    assert "0 passages of 0 sources put into tea, 2 sources were there already\n" in capsys.readouterr().out
    with Engine.open(Settings.load()) as engine:
        assert engine.describe("tea").passages == 6
        assert engine.library.search("tea", "tea and milk 3", 1)[0].passage.source == "s1.md"


@pytest.mark.parametrize("name", ["rows.parquet", "rows.jsonl"])
def test_a_damaged_file_is_said_with_a_remedy(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(b"PAR1\xff" + b"x" * 1000)
    assert main(["load", str(tmp_path / name), "--collection", "tea"]) == 1
    said = capsys.readouterr().err
    assert name in said and "Write or copy the file again" in said and "Traceback" not in said


def test_a_row_that_cannot_be_used_is_said_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", str(_file(tmp_path, broken=True)), "--collection", "tea"]) == 1
    printed = capsys.readouterr().err
    assert "The vector of row 5 of 'rows.jsonl' is not" in printed
    assert "Choose the embedding model that made the vectors." in printed


def test_an_embedded_store_says_that_it_compares_with_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", "samples"]) == 0
    assert "samples: FLAT, 252 of 252 passages indexed" in capsys.readouterr().out
    assert main(["index", "samples", "--build", "HNSW"]) == 1
    assert "is in the embedded store" in capsys.readouterr().err


def test_what_was_measured_on_a_server_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun: list[tuple[str, str]] = []
    state = IndexState("HNSW", {"M": 16}, 64, "ef", 900, 1000)
    figures = RecallFigures("HNSW", {"M": 16}, 1000, 10, 100, (BreadthFigures(64, 0.987, 2.0, 4.5),), "2026-01-01")
    job = JobStatus("j", "index", "docs", "done", "2026-01-01", 0)

    def start(_: Scale, collection: str, kind: str = "") -> str:
        begun.append((collection, kind))
        return "j"

    monkeypatch.setattr(Scale, "start_index", start)
    monkeypatch.setattr(Ingestions, "job", lambda *_: job)
    monkeypatch.setattr(Ingestions, "discard", lambda *_: None)
    monkeypatch.setattr(Scale, "index", lambda _, name: IndexView(name, state, figures, ()))
    assert main(["index", "docs", "--measure"]) == 0
    printed = capsys.readouterr().out
    assert "docs: HNSW M 16, 900 of 1000 passages indexed" in printed
    assert "breadth of a search (ef): 64" in printed
    assert "    64  recall@10 0.987  median 2.0 ms  95 % 4.5 ms" in printed
    assert main(["index", "docs", "--build", "FLAT", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recall"]["rows"][0]["recall"] == 0.987
    assert begun == [("docs", ""), ("docs", "FLAT")]
