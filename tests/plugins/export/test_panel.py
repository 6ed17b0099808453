"""Settings as a LangGraph project, in the menu *Share* of a run and over HTTP: EX-01."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from streamlit.testing.v1 import AppTest

from engine.api import create_api
from engine.api.process import use_engine
from engine.engine import Engine
from engine.model.config import RunConfig, config_from_dict
from engine.settings import Settings
from plugins.export.project import code_project
from tests.pages.driving import button, inline, opened


@pytest.fixture
def shown(engine: Engine) -> Iterator[Engine]:
    """The engine that the pages find."""
    use_engine(engine)
    yield engine
    use_engine(None)


def test_a_run_is_made_a_project_and_saved(shown: Engine) -> None:
    app = opened(run="demo-forced-en")
    button(app, lambda label: label == "Make the LangGraph project").click().run()
    assert not app.exception
    config, archive = app.session_state["share_code_made"]
    assert config == shown.record("demo-forced-en").config
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert "self-corrective-rag/graph.py" in files.namelist()
    assert "share_code_save" in {item.key for item in app.get("download_button")}


def taken() -> None:
    from components.common.i18n import words_for
    from engine.api.process import get_engine
    from engine.model.config import RunConfig
    from pages.parts.tune.best import take_away

    take_away(get_engine(), RunConfig(top_k=9), "Why?", words_for("en"))


def test_the_settings_of_tune_are_made_one_in_a_tab_of_its_own(shown: Engine) -> None:
    app = AppTest.from_function(taken).run()
    assert [item.label for item in app.tabs] == ["curl", "Python", "JSON", "eval", "LangGraph"]
    assert [item.key for item in app.tabs[-1].button] == ["tune_code"]
    app.button(key="tune_code").click().run()
    assert app.session_state["tune_code_made"][0] == RunConfig(top_k=9)


def test_the_route_gives_the_same_project_and_refuses_by_name(engine: Engine) -> None:
    client = TestClient(create_api(lambda: engine))
    plain = {"search": "fused", "top_k": 4}
    response = client.post("/settings/code", json={"config": plain})
    made = code_project(engine, config_from_dict(plain, engine.settings.models))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/zip")
    assert response.content == made.zipped()
    other = client.post("/settings/code", json={"workflow": "dual_loop", "config": {}})
    assert other.content == code_project(engine, RunConfig(workflow="dual_loop")).zipped()
    unknown = client.post("/settings/code", json={"config": {"collection": "nowhere"}})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "WB203")


def test_the_menu_of_a_run_says_why_it_is_not_exported(tmp_path: Path) -> None:
    with Engine.open(Settings.load(data_dir=tmp_path, neo4j_uri="bolt://127.0.0.1:1")) as engine:
        engine.wait_until_ready()
        assert code_project(engine, RunConfig()).files
        use_engine(engine)
        app = opened(run="demo-quality-zh", language="zh")
        button(app, lambda label: label == "生成 LangGraph 项目").click().run()
        assert "由 bolt://127.0.0.1:1 保存时，工作流 'quality_loop' 无法导出" in inline(app)
        use_engine(None)
