"""``python -m engine export-code``: settings by name, file or run, as a folder or a zip: EX-01."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.running.running_app import NOTE
from engine.settings import Settings
from engine.version import ROOT
from tests.api.served import app_of, serving
from tests.api.test_openapi import routes_in, routes_of
from tests.plugins.export import PATHS


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_saved_settings_are_written_and_unknown_ones_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-code", "--settings", "lenient"]) == 2
    assert "page Tune" in capsys.readouterr().err
    with Engine.open(Settings.load()) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_settings("strict", RunConfig(top_k=9, grade_pass_threshold=0.8))
    folder, archive = tmp_path / "mine", tmp_path / "mine.zip"
    assert main(["export-code", "--settings", "strict", "--out", str(folder)]) == 0
    assert f"Written to {folder}" in capsys.readouterr().out
    config = json.loads((folder / "settings.json").read_text())["config"]
    assert (config["top_k"], config["grade_pass_threshold"]) == (9, 0.8)
    assert (folder / "engine" / "workflows" / "self_corrective" / "workflow.py").is_file()
    assert main(["export-code", "--run", "demo-forced-en", "--out", str(archive)]) == 0
    with zipfile.ZipFile(archive) as files:
        assert "self-corrective-rag/langgraph.json" in files.namelist()
    assert main(["export-code", "--settings", "lenient"]) == 2
    assert "strict" in capsys.readouterr().err


def test_a_workflow_that_searches_graphs_is_not_exported_from_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_NEO4J_URI", "bolt://127.0.0.1:1")
    assert main(["export-code", "--run", "demo-quality-en", "--out", str(tmp_path / "mine")]) == 2
    said = capsys.readouterr().err
    assert "'quality_loop' cannot be exported as code where bolt://127.0.0.1:1 keeps the knowledge graphs" in said
    assert not (tmp_path / "mine").exists()


def test_an_app_that_has_the_knowledge_base_open_makes_it(data_dir: Path, tmp_path: Path) -> None:
    config = tmp_path / "strict.json"
    config.write_text(json.dumps({"workflow": "dual_loop", "top_k": 9}))
    with Engine.open(Settings.load()) as engine, serving(app_of(engine)) as port:
        engine.wait_until_ready()
        (data_dir / NOTE).write_text(json.dumps({"url": f"http://127.0.0.1:{port}", "instance": engine.instance}))
        assert main(["export-code", "--config", str(config), "--out", str(tmp_path / "mine")]) == 0
    saved = json.loads((tmp_path / "mine" / "settings.json").read_text())["config"]
    assert (saved["workflow"], saved["top_k"]) == ("dual_loop", 9)


def test_the_page_of_the_documentation_names_the_route() -> None:
    assert routes_of(PATHS) <= routes_in(ROOT / "docs" / "export.md")
