"""Settings as a LangGraph project, in the menu *Share* of a run and over HTTP: EX-01."""

from __future__ import annotations

import io
import zipfile

from fastapi.testclient import TestClient

from engine.api import create_api
from engine.engine import Engine
from engine.model.config import RunConfig, config_from_dict
from tests.pages.driving import button, opened


def test_a_run_is_made_a_project_and_saved(engine: Engine) -> None:
    app = opened(run="demo-forced-en")
    button(app, lambda label: label == "Make the LangGraph project").click().run()
    assert not app.exception
    config, archive = app.session_state["share_code_made"]
    assert config == engine.record("demo-forced-en").config
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert "self-corrective-rag/graph.py" in files.namelist()
    assert "share_code_save" in {item.key for item in app.get("download_button")}


def test_the_route_gives_the_same_project_and_refuses_by_name(engine: Engine) -> None:
    client = TestClient(create_api(lambda: engine))
    plain = {"search": "fused", "top_k": 4}
    response = client.post("/settings/code", json={"config": plain})
    made = engine.library.code_project(config_from_dict(plain, engine.settings.models))
    assert (response.status_code, response.headers["content-type"]) == (200, "application/zip")
    assert response.content == made.zipped()
    other = client.post("/settings/code", json={"workflow": "dual_loop", "config": {}})
    assert other.content == engine.library.code_project(RunConfig(workflow="dual_loop")).zipped()
    unknown = client.post("/settings/code", json={"config": {"collection": "nowhere"}})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "WB203")
