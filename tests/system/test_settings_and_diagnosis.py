"""Settings as they stand and a diagnosis to pass on: complete, and without a single secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from engine.api import create_api
from engine.cli.main import main
from engine.engine import Engine
from engine.errors import StoreError
from engine.model.config import RunConfig
from engine.model.system import SettingValue
from engine.model.values import Fault
from engine.running.running_app import NOTE
from engine.settings import Settings
from engine.system.masking import MASK, Redactor, masked_addresses
from engine.system.setting_values import setting_values
from tests.api.served import app_of, serving
from tests.support.ollama_stand_in import OllamaStandIn
from tests.system.hosting import NOWHERE, hosting

PLANTED = {
    "WORKBENCH_MILVUS_TOKEN": "root:PLANTED-milvus-password",
    "WORKBENCH_OPENAI_API_KEY": "sk-PLANTED-openai-key",
    "WORKBENCH_OLLAMA_URL": "http://planted-user:PLANTED-ollama@127.0.0.1:1",
    "WORKBENCH_OPENAI_URL": "http://planted-user:PLANTED-openai@127.0.0.1:1/v1",
    "WORKBENCH_SEARXNG_URL": "http://planted-user:PLANTED-searxng@127.0.0.1:1",
    "WORKBENCH_MILVUS_ADDRESSES": "http://planted-user:PLANTED-milvus@10.0.0.9:19530,http://10.0.0.8:19530",
    "ANTHROPIC_API_KEY": "PLANTED-anthropic-key",
    "OPENAI_API_KEY": "PLANTED-own-openai-key",
}
QUESTION = "Is the PLANTED question kept out of it?"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that ``.env`` and ``workbench.toml`` are read from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def found(name: str, settings: Settings | None = None) -> SettingValue:
    (value,) = [item for item in setting_values(settings or Settings.load()) if item.name == name]
    return value


def test_every_setting_is_reported_with_its_variable_and_meaning() -> None:
    values = setting_values(Settings.load())
    assert [item.name for item in values] == list(Settings.model_fields | type(Settings()).model_fields)
    assert all(item.variable == f"WORKBENCH_{item.name.upper()}" and item.description for item in values)
    assert {item.source for item in values} == {"default"}


def test_where_a_setting_came_from_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "workbench.toml").write_text('port = 1\nhost = "a"\nollama_keep_alive = "1m"\n')
    (folder / ".env").write_text("WORKBENCH_PORT=2\nWORKBENCH_HOST=b\n")
    monkeypatch.setenv("workbench_port", "3")
    settings = Settings.load(max_upload_mb=7)
    assert [(found(name, settings).value, found(name, settings).source) for name in ("port", "host")] == [
        ("3", "environment"),
        ("b", ".env"),
    ]
    assert found("ollama_keep_alive", settings).source == "workbench.toml"
    assert (found("max_upload_mb", settings).value, found("max_upload_mb", settings).source) == ("7", "override")
    assert found("searxng_url", settings).source == "default"


def test_a_setting_given_by_hand_stands_above_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_PORT", "3")
    assert found("port", Settings.load(port=4)).source == "override"


def test_a_file_that_was_spoiled_since_the_start_does_not_hide_the_settings(folder: Path) -> None:
    settings = Settings.load()
    (folder / "workbench.toml").write_text("port = \n")
    assert found("port", settings).value == "8501"


def test_secrets_are_dots_and_addresses_lose_their_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    values = setting_values(Settings.load())
    assert "PLANTED" not in str(values) and "planted-user" not in str(values)
    assert (found("openai_api_key").value, found("openai_api_key").secret) == (MASK, True)
    assert found("ollama_url").value == f"http://{MASK}@127.0.0.1:1"
    assert found("milvus_addresses").value.endswith(", http://10.0.0.8:19530")
    monkeypatch.delenv("WORKBENCH_OPENAI_API_KEY")
    assert found("openai_api_key").value == ""


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://h:1/v1", "http://h:1/v1"),
        ("http://u:p@h/x", f"http://{MASK}@h/x"),
        ("http://u:p/q@h", f"http://{MASK}@h"),
        ("http://u:p@q@h", f"http://{MASK}@h"),
        ("https://h/x?key=abcdef&n=1", f"https://h/x?key={MASK}&n={MASK}"),
        ("look at http://u:p@h now", f"look at http://{MASK}@h now"),
        (".workbench/knowledge.db", ".workbench/knowledge.db"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(address: str, shown: str) -> None:
    assert masked_addresses(address) == shown


def test_what_looks_like_a_secret_is_taken_out_of_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    redact = Redactor(Settings.load(milvus_token="root:Milvus123"))
    assert redact("with Milvus123 at /home/somebody/x and /home/somebody2") == f"with {MASK} at ~/x and /home/somebody2"
    assert redact("sk-abcdefgh12345 or Bearer abc.def-123") == f"{MASK} or Bearer {MASK}"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with OllamaStandIn(["qwen3:8b"]) as server:
        data_dir = tmp_path_factory.mktemp("diagnosed")
        address = server.url.replace("://", "://planted-user:PLANTED-ollama@")
        settings = Settings.load(data_dir=data_dir, ollama_url=address, openai_api_key="sk-PLANTED-openai-key")
        with Engine.open(settings) as opened:
            opened.wait_until_ready()
            opened.run(QUESTION, RunConfig(top_k=1))
            opened._faults.note(StoreError.unreachable(address="http://planted-user:PLANTED-milvus@10.0.0.9:19530"))
            yield opened


def test_a_diagnosis_has_all_that_a_report_needs(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(engine.settings.data_dir.parent))
    text = engine.host.diagnosis()
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert titles == [
        "Machine",
        "Packages",
        "Health",
        "Settings",
        "Models of Ollama",
        "Other providers",
        "Collections",
        "Last faults",
    ]
    for expected in ("python: 3.", "cores: ", "pymilvus 3.", "qwen3:8b: ", "samples: 2", "WB202", "~/"):
        assert expected in text
    assert all(f"WORKBENCH_{name.upper()} = " in text for name in Settings.model_fields)


def test_no_secret_no_question_and_no_passage_is_in_a_diagnosis(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "PLANTED-anthropic-key")
    text = engine.host.diagnosis()
    assert "PLANTED" not in text and "planted-user" not in text
    source = engine.sources("samples")[0].source
    assert engine.passages("samples", source)[0].text[:30] not in text


def test_a_diagnosis_is_made_of_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    with hosting(tmp_path, ollama_url=PLANTED["WORKBENCH_OLLAMA_URL"]) as host:
        text = host.diagnosis()
        assert all("PLANTED" not in str(item) for item in host.health())
        assert "PLANTED" not in str(host.providers())
    assert "PLANTED" not in text and "planted-user" not in text
    assert "ollama: **down**" in text


def test_the_api_tells_health_and_diagnosis_without_secrets(engine: Engine) -> None:
    client = TestClient(create_api(lambda: engine))
    health = client.get("/host/health").json()["parts"]
    assert {item["part"] for item in health} >= {"knowledge", "records", "disk", "ollama"}
    text = client.get("/host/diagnosis").json()["text"]
    assert text.startswith("# Diagnosis")
    assert "PLANTED" not in json.dumps(health) + text


def test_doctor_asks_the_running_app(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir = engine.settings.data_dir
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(data_dir))
    with serving(app_of(engine)) as port:
        note = {"url": f"http://127.0.0.1:{port}", "instance": engine.instance}
        (data_dir / NOTE).write_text(json.dumps(note))
        assert main(["doctor"]) == 0
        said = capsys.readouterr().out
        assert main(["doctor", "--diagnosis"]) == 0
        assert capsys.readouterr().out.startswith("# Diagnosis")
    (data_dir / NOTE).unlink()
    assert "✓ knowledge: ok" in said and "WB" not in said.split("faults")[0]
    assert "PLANTED" not in said


def test_doctor_ends_with_1_where_something_that_is_wanted_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WORKBENCH_OLLAMA_URL", NOWHERE)
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "✗ ollama: down" in said and "Start Ollama" in said


def test_faults_are_reported_with_their_codes(tmp_path: Path) -> None:
    with hosting(tmp_path, faults=[Fault.of(StoreError.unreachable(address="http://u:hush-hush@h:1"))]) as host:
        text = host.diagnosis()
    assert "- WB202:" in text and "hush-hush" not in text
