"""Runs on their way to a receiver: once each, in the background, and again where nothing answers (TL-04, TL-06)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import InvalidSettings
from engine.model.config import RunConfig
from engine.settings import Settings
from plugins.telemetry.errors import TelemetryError
from plugins.telemetry.sending import Telemetry
from tests.api.served import engine_of
from tests.plugins.telemetry.otlp_receiver import OtlpReceiver, plain
from tests.support.errors import raises
from tests.support.fakes import FakeResources
from tests.system.hosting import until

QUESTION = "How many rows does a truth table need?"


def test_each_run_of_an_engine_is_sent_once_after_its_end(tmp_path: Path) -> None:
    """TL-06"""
    with OtlpReceiver() as receiver:
        with engine_of(tmp_path, otlp_endpoint=receiver.url, otlp_project="mine") as engine:
            records = [engine.run(QUESTION, RunConfig(max_rewrites=0)) for _ in range(3)]
            receiver.wait(3)
            telemetry = engine.part(Telemetry)
            assert telemetry is not None
            state = until(telemetry.state, lambda now: now.waiting == 0)
        assert (state.sent, state.dropped, state.fault) == (3, 0, None)
        assert state.address == f"{receiver.url}/v1/traces"
        roots = [plain(span.attributes) for span in receiver.spans if not span.parent_span_id]
        assert [item["workbench.run_id"] for item in roots] == [record.id for record in records]
        assert [span.trace_id.hex() for span in receiver.spans if not span.parent_span_id] == [
            item.id for item in records
        ]
        resource = plain(receiver.requests[0].resource_spans[0].resource.attributes)
        assert resource["service.name"] == "rag-workbench"
        assert resource["openinference.project.name"] == "mine"


def test_what_has_ended_when_the_process_ends_is_still_sent(tmp_path: Path) -> None:
    """TL-06"""
    with OtlpReceiver() as receiver:
        with engine_of(tmp_path, otlp_endpoint=f"{receiver.url}/v1/traces/") as engine:
            for _ in range(5):
                engine.run(QUESTION, RunConfig(max_rewrites=0))
        assert len(receiver.bodies) == 5


def test_where_nothing_answers_runs_end_as_ever_and_are_sent_once_it_does(tmp_path: Path) -> None:
    """TL-06: the fault is noted with its beginning and its end."""
    with OtlpReceiver() as receiver:
        receiver.answers = [503, 429]
        with engine_of(tmp_path, otlp_endpoint=receiver.url) as engine:
            telemetry = engine.part(Telemetry)
            assert telemetry is not None
            record = engine.run(QUESTION, RunConfig(max_rewrites=0))
            assert record.outcome == "answered"
            (fault,) = until(lambda: engine.faults, bool)
            assert (fault.code, "503" in fault.fact) == ("WB982", True)
            assert telemetry.state().waiting == 1
            until(lambda: engine.faults, lambda now: not now)
            assert len(receiver.bodies) == 1
            assert telemetry.state().sent == 1
            assert all(item.over_since for item in engine.noted_faults)


@pytest.mark.parametrize(("status", "said"), [(401, "another key"), (404, "knows no spans"), (400, "refused a run")])
def test_what_is_refused_is_said_and_the_next_run_is_sent(tmp_path: Path, status: int, said: str) -> None:
    """TL-06"""
    with OtlpReceiver() as receiver:
        receiver.answers = [status]
        with engine_of(tmp_path, otlp_endpoint=receiver.url) as engine:
            telemetry = engine.part(Telemetry)
            assert telemetry is not None
            engine.run(QUESTION, RunConfig(max_rewrites=0))
            state = until(telemetry.state, lambda now: now.dropped == 1)
            assert state.fault is not None
            assert said in state.fault.fact
            engine.run(QUESTION, RunConfig(max_rewrites=0))
            state = until(telemetry.state, lambda now: now.sent == 1)
            assert state.fault is None
            assert not engine.faults


def test_spans_that_a_receiver_rejects_are_said(tmp_path: Path) -> None:
    with OtlpReceiver() as receiver:
        receiver.rejected = 2
        with engine_of(tmp_path, otlp_endpoint=receiver.url) as engine:
            telemetry = engine.part(Telemetry)
            assert telemetry is not None
            engine.run(QUESTION, RunConfig(max_rewrites=0))
            state = until(telemetry.state, lambda now: now.fault is not None)
            assert state.fault is not None
            assert "2 of its spans" in state.fault.fact


def test_an_end_does_not_wait_for_a_receiver_that_is_gone(tmp_path: Path) -> None:
    """TL-06"""
    with OtlpReceiver() as receiver:
        gone = receiver.url
    with engine_of(tmp_path, otlp_endpoint=gone) as engine:
        telemetry = engine.part(Telemetry)
        assert telemetry is not None
        engine.run(QUESTION, RunConfig(max_rewrites=0))
        until(telemetry.state, lambda now: now.fault is not None)
    state = telemetry.state()
    assert (state.sent, state.waiting) == (0, 1)


def test_a_run_that_fails_is_sent_as_a_failure(tmp_path: Path) -> None:
    """TL-01"""
    with OtlpReceiver() as receiver:
        with engine_of(tmp_path, FakeResources(error=RuntimeError("broken")), otlp_endpoint=receiver.url) as engine:
            record = engine.run(QUESTION)
            receiver.wait(1)
        (root,) = receiver.spans
        assert record.outcome == "failed"
        assert (root.status.code, root.status.message) == (2, "WB000")
        assert root.events[0].name == "exception"


def test_without_an_address_nothing_is_imported_and_nothing_is_sent(tmp_path: Path) -> None:
    """TL-04"""
    code = (
        "import sys; from engine.engine import Engine; from engine.settings import Settings\n"
        f"with Engine.open(Settings.load(data_dir={str(tmp_path)!r}, embedding_model='hashing')) as engine:\n"
        "    assert 'plugins.telemetry.sending' not in sys.modules\n"
        "print([name for name in sys.modules if 'opentelemetry' in name or 'openinference' in name])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert printed.stdout.strip() == "[]"


def test_an_address_without_the_packages_is_an_error_that_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TL-04"""
    monkeypatch.delitem(sys.modules, "plugins.telemetry.posting", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    with raises(TelemetryError.cannot_send) as caught, engine_of(tmp_path, otlp_endpoint="http://127.0.0.1:1"):
        pass
    assert "opentelemetry-exporter-otlp-proto-http" in caught.value.remedy


@pytest.mark.parametrize("headers", ["no value", "a b=c", "=x", "a=%0d%0ab", "a=ü"])
def test_headers_that_are_none_are_refused_without_showing_them(headers: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        Settings.load(otlp_headers=headers)
    assert "WORKBENCH_OTLP_HEADERS" in str(caught.value)
    assert headers not in str(caught.value)
