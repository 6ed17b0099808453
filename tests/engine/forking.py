"""A branch of a run in a real engine, and what was paid for it."""

from __future__ import annotations

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.values import RunRecord


def forked(engine: Engine, parent: RunRecord, config: RunConfig, **changes: object) -> RunRecord:
    run_id = engine.fork(parent, config, **changes)  # type: ignore[arg-type]
    assert engine.wait(run_id, 60)
    return engine.record(run_id)


def paid(record: RunRecord) -> int:
    """Calls that were really made."""
    return sum(not call.cached for call in record.model_calls)


def routes(record: RunRecord) -> list[tuple[str, str]]:
    """Route and reason of each decision."""
    return [(item.route, item.reason) for item in record.decisions]
