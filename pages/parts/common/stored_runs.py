"""Records of finished runs, read from the store once as they no longer change, and what is known of answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from engine.engine import Engine
from engine.errors import EvaluationError, WorkbenchError
from engine.evaluation.values import RunAnswer
from engine.model.values import RunRecord
from engine.people.readable import may_read

_KEPT = 64
_kept: OrderedDict[tuple[str, str], RunRecord] = OrderedDict()
"""By engine and run: of another engine, the same id would be another run. Of all who look at pages of this process."""


def finished_record(engine: Engine, run_id: str) -> RunRecord | None:
    """The record of a run that has ended; None where it is running, gone, or not for who looks at the page."""
    key = (engine.instance, run_id)
    if key not in _kept:
        try:
            record = engine.record(run_id)
        except WorkbenchError:
            return None
        if record.active:
            return None
        _kept[key] = record
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    known = _kept.get(key)
    return known if known is not None and may_read(known) else None


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


def known_answer(engine: Engine, record: RunRecord) -> RunAnswer | None:
    """Return the facts about the answer from outside the run; None if judgements and query sets are unreadable."""
    # It is not needed before the first question, and the pages are imported before that.
    from engine.evaluation.run_answer import run_answer

    try:
        return run_answer(engine.evaluation, record)
    except EvaluationError:
        return None
