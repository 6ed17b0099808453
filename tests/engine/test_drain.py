"""The last moments of a replica: it says that it takes nothing more, and lets its runs end."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from engine.model.config import RunConfig
from tests.api.served import calling, relevant
from tests.support.fakes import FakeRetriever
from tests.support.gates import PATIENCE_S, Gate


def test_a_replica_that_drains_is_not_ready_and_waits_for_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TM-04"""
    monkeypatch.setattr("engine.engine._NOTICED_S", 0.0)
    gate = Gate()
    with calling(tmp_path, relevant(retriever=FakeRetriever(gate=gate))) as (client, engine):
        assert (client.get("/api/ready").status_code, client.get("/api/ready").json()["ready"]) == (200, True)
        run = engine.start("What is it?", RunConfig(max_rewrites=0))
        gate.wait_until_reached()
        assert not engine.drain(0.0)
        refused = client.get("/api/ready")
        assert (refused.status_code, refused.json()) == (503, {"ready": False, "draining": True})
        drained: list[bool] = []
        waiting = threading.Thread(target=lambda: drained.append(engine.drain(PATIENCE_S)))
        waiting.start()
        gate.open()
        waiting.join(PATIENCE_S)
        assert drained == [True]
        assert engine.record(run).outcome == "answered"
