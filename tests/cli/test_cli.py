"""The command line with built-in roles and a real embedded store: SC-11, and bad input as the design asks."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette

from engine.api import middleware
from engine.cli.main import main
from engine.engine import Engine
from engine.running.running_app import NOTE, RunningApp
from engine.settings import Settings


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "tea.md").write_text("# Tea\n\n## Green\nGreen tea is brewed at 80 degrees for two minutes.\n")
    (folder / "copy.md").write_text("# Tea\n\n## Green\nGreen tea is brewed at 80 degrees for two minutes.\n")
    (folder / "broken.txt").write_bytes(b"\x00\x01\x02\x03")
    return folder


def test_ask_prints_the_json_of_the_seed_route(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SC-11"""
    assert main(["ask", "How many rows does a truth table with five variables need?", "--json"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert reply["success"]
    assert "32" in reply["answer"]
    assert set(reply) >= {"query", "rewriteHistory", "retrieval", "graderResult", "workflow", "runId", "citations"}


@pytest.mark.parametrize("top_k", ["2", "10"])
def test_ask_says_before_the_run_that_a_bar_is_out_of_reach(
    top_k: str, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """QL-08"""
    flags = ["--workflow", "quality_loop", "--max-rewrites", "0", "--top-k", top_k, "--json"]
    assert main(["ask", "insulin", *flags]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["workflow"] == "quality_loop"
    assert ("below the 0.50 that it needs" in printed.err) == (top_k == "2")


def test_ask_in_words_shows_path_answer_and_sources(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "哪一种胰岛素起效最快？"]) == 0
    shown = capsys.readouterr().out
    assert "round 0: relevant passages" in shown
    assert "[1] dc-insulin" in shown


def test_ingest_reports_every_file_and_the_good_ones_go_in(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(documents), str(documents / "absent.md"), "--collection", "tea"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "absent.md: There is no file" in said
    assert "broken.txt" in said
    assert "already in the collection" in said
    assert "1 added, 0 replaced, 1 skipped, 1 failed; 1 passages" in said
    assert main(["ask", "At how many degrees is green tea brewed?", "--collection", "tea", "--max-rewrites", "0"]) == 0
    assert "80 degrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "  "], "The question is empty."),
        (["ask", "hi", "--top-k", "99"], "top_k must lie between 1 and 20."),
        (["ask", "hi", "--grader", "qwen"], "has no provider"),
    ],
)
def test_bad_use_says_what_is_wrong(
    data_dir: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_an_unknown_collection_is_a_failed_run_with_its_remedy(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "hi", "--collection", "nowhere"]) == 1
    assert "There is no collection named 'nowhere'." in " ".join(capsys.readouterr().out.split())


def test_work_is_handed_to_the_app_that_has_the_knowledge_base_open(
    data_dir: Path, documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Engine.open(Settings.load()) as engine, _served(engine):
        assert main(["ingest", str(documents), "--collection", "tea"]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "has the knowledge base open" in said
        assert "1 added, 0 replaced, 1 skipped, 1 failed" in said
        assert main(["ask", "How hot should water for green tea be?", "--collection", "tea", "--json"]) == 0
        reply = json.loads(capsys.readouterr().out)
        assert engine.record(reply["runId"]).answer == reply["answer"]
        assert main(["ask", "hi", "--collection", "nowhere"]) == 1
        assert "no collection named" in " ".join(capsys.readouterr().err.split())


def test_a_note_left_by_a_killed_app_is_not_believed(data_dir: Path) -> None:
    with Engine.open(Settings.load()) as engine, _served(engine):
        assert RunningApp.find(data_dir) is not None
        note = json.loads((data_dir / NOTE).read_text())
        (data_dir / NOTE).write_text(json.dumps({**note, "instance": "another"}))
        assert RunningApp.find(data_dir) is None
    assert RunningApp.find(data_dir) is None


@contextmanager
def _served(engine: Engine) -> Iterator[None]:
    """The engine's API on a free port of loopback, with the note that an app keeps."""
    settings = engine.settings
    app = Starlette(middleware=middleware(lambda: engine, settings))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert time.monotonic() < deadline, "the server did not start"
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    note = {"url": f"http://127.0.0.1:{port}", "instance": engine.instance}
    (settings.data_dir / NOTE).write_text(json.dumps(note))
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(60)
