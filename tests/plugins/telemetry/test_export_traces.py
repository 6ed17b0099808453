"""The command ``export-traces``: recorded runs in a file or at an address, with content only where it is asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.model.config import RunConfig
from engine.model.events import RunStarted
from engine.model.values import RunId
from engine.records.store import RunStore
from engine.samples.demos import demo_record
from tests.api.served import engine_of
from tests.plugins.telemetry.otlp_receiver import OtlpReceiver


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def test_runs_and_demos_become_a_file_of_otlp_json(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TL-08: ids are hexadecimal and times text, as OTLP's JSON has them."""
    with engine_of(here / "data") as engine:
        run = engine.run("How many rows?", RunConfig(max_rewrites=0)).id
    assert main(["export-traces", "demo-rescue-en", "--last", "1", "--to", str(here / "runs.json"), "--content"]) == 0
    (resource, *_) = json.loads((here / "runs.json").read_text(encoding="utf-8"))["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    roots = [span for span in spans if "parentSpanId" not in span]
    record = demo_record("demo-rescue-en")
    assert len(roots) == 2
    assert roots[1]["traceId"] == run
    assert len(roots[0]["traceId"]) == 32
    assert int(roots[0]["endTimeUnixNano"]) - int(roots[0]["startTimeUnixNano"]) == round(record.duration_ms * 1e6)
    attributes = {item["key"]: item["value"] for item in roots[0]["attributes"]}
    assert attributes["input.value"] == {"stringValue": record.question}
    assert capsys.readouterr().err.endswith(": 2\n")


def test_a_line_for_each_run_without_content(capsys: pytest.CaptureFixture[str]) -> None:
    """TL-03"""
    assert main(["export-traces", "demo-rescue-en", "demo-rescue-zh", "--to", "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [len(json.loads(line)["resourceSpans"]) for line in lines] == [1, 1]
    assert demo_record("demo-rescue-zh").question not in lines[1]


def test_the_headers_of_the_settings_are_for_their_own_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """TL-08: a key reaches no other server."""
    with OtlpReceiver() as own, OtlpReceiver() as other:
        monkeypatch.setenv("WORKBENCH_OTLP_ENDPOINT", own.url)
        monkeypatch.setenv("WORKBENCH_OTLP_HEADERS", "x-key=zanthium")
        assert main(["export-traces", "demo-rescue-en"]) == 0
        assert main(["export-traces", "demo-rescue-en", "--to", other.url]) == 0
    assert own.headers[0]["x-key"] == "zanthium"
    assert "x-key" not in other.headers[0]
    assert own.bodies == other.bodies


def test_content_of_a_limited_collection_is_left_out_of_a_file_too(here: Path) -> None:
    """TL-04"""
    wards = pytest.importorskip("tests.plugins.team.people.ward")
    with wards.ward_in(here / "data") as ward, ward.as_(wards.MEMBER):
        run = ward.engine.run(wards.QUESTION, RunConfig(collection="ward")).id
    assert main(["export-traces", run, "--to", str(here / "ward.jsonl"), "--content"]) == 0
    written = (here / "ward.jsonl").read_text(encoding="utf-8")
    assert run in written
    assert wards.SECRET not in written


def test_what_cannot_be_exported_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with RunStore(here / "data" / "runs.db") as store:
        begun = RunStarted(
            run_id=RunId("r" * 32), question="q", config=RunConfig(), started_at="2026-01-01T00:00:00+00:00"
        )
        store.append(begun.run_id, replace(begun, seq=1))
        store.flush()
        assert main(["export-traces", "r" * 32, "--to", "-"]) == 1
        assert "is not over yet and cannot be exported" in capsys.readouterr().err
    assert main(["export-traces", "no-such-run", "--to", "-"]) == 1
    assert main(["export-traces", "demo-rescue-en", "--to", "runs.txt"]) == 2
    assert main(["export-traces", "demo-rescue-en"]) == 2
    assert main(["export-traces", "--to", "-"]) == 2
    for address in ("http://[bad", "http://a b", "ftp://x", "http://"):
        assert main(["export-traces", "demo-rescue-en", "--to", address]) == 2
    assert main(["export-traces", "demo-rescue-en", "--to", str(here / "gone" / "runs.json")]) == 2
    assert "gone" in capsys.readouterr().err
    with OtlpReceiver() as gone:
        address = gone.url
    assert main(["export-traces", "demo-rescue-en", "--to", address]) == 1
    assert "Nothing answers" in capsys.readouterr().err
