"""Health and diagnosis over HTTP: every part is said as it is, and no secret leaves the machine (SC-11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from engine.api import middleware
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.settings import Settings
from tests.api.served import ADDRESS

PATHS = ("/api/host/health", "/api/host/diagnosis")
PASSWORD = "Pw-of-7"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine none of whose servers answers, with a password in each of their addresses."""
    folder: Path = tmp_path_factory.mktemp("host")
    settings = Settings(
        data_dir=folder,
        milvus_uri=f"http://root:{PASSWORD}@127.0.0.1:9",
        milvus_addresses=(f"http://root:{PASSWORD}@127.0.0.1:10",),
        ollama_url=f"http://u:{PASSWORD}@127.0.0.1:11",
        openai_url=f"http://u:{PASSWORD}@127.0.0.1:12/v1",
        searxng_url=f"http://u:{PASSWORD}@127.0.0.1:13",
    )
    with Engine.open(settings) as opened:
        with pytest.raises(WorkbenchError):
            opened.wait_until_ready()
        yield opened


@pytest.fixture
def client(engine: Engine) -> TestClient:
    app = Starlette(middleware=middleware(lambda: engine, engine.settings))
    return TestClient(app, base_url=ADDRESS)


def test_a_part_that_is_down_says_so_with_its_remedy(client: TestClient) -> None:
    parts = {item["part"]: item for item in client.get(PATHS[0]).json()["parts"]}
    assert parts["knowledge"]["health"] == "down"
    assert parts["knowledge"]["fault"]["code"] == "WB202"
    assert "WORKBENCH_MILVUS_URI" in parts["knowledge"]["fault"]["remedy"]


def test_no_password_of_an_address_is_in_an_answer_or_a_record(client: TestClient, engine: Engine) -> None:
    texts = [client.get(path).text for path in (*PATHS, "/api/health", "/api/collections")]
    for address in ("", "127.0.0.1:9", "127.0.0.1:10"):
        body = {"question": "What is tea?", "config": {"milvus_address": address}}
        texts.append(client.post("/api/runs", json=body).text)
    texts += [repr(engine.record(summary.id)) for summary in engine.runs(9)]
    assert len(texts) == 10
    assert [text for text in texts if PASSWORD in text] == []
    assert engine.record(engine.runs(1)[0].id).config == RunConfig(milvus_address="http://127.0.0.1:10")


@pytest.mark.parametrize("path", PATHS)
def test_other_hosts_and_origins_learn_nothing(client: TestClient, path: str) -> None:
    assert client.get(path, headers={"host": "evil.example"}).status_code == 400
    assert client.get(path, headers={"origin": "http://evil.example"}).status_code == 403
