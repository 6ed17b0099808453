"""Records of finished runs for the pages, read from the store once: such a record does not change any more."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.values import RunRecord

_KEPT = 64


def finished_record(engine: Engine, run_id: str) -> RunRecord | None:
    """The record of a run that has ended; None where it goes on, cannot be read, or is gone."""
    try:
        return _finished(engine, run_id)
    except (WorkbenchError, _GoesOn):
        return None


def recent_records(engine: Engine, first: RunRecord | None, limit: int) -> Iterator[RunRecord]:
    """``first``, then the newest finished runs; read one by one as they are asked for."""
    if first is not None:
        yield first
    try:
        summaries = engine.runs(limit)
    except WorkbenchError:
        return
    for summary in summaries:
        record = finished_record(engine, summary.id) if summary.outcome else None
        if record is not None:
            yield record


class _GoesOn(Exception):
    """Keeps a record that still changes from being kept."""


@lru_cache(maxsize=_KEPT)
def _finished(engine: Engine, run_id: str) -> RunRecord:
    record = engine.record(run_id)
    if record.active:
        raise _GoesOn
    return record
