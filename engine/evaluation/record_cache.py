"""Finished records in memory: reading a thousand takes seconds, and charts ask for them again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlalchemy import select

from engine.database.base import Database, among
from engine.database.faults import UNUSABLE
from engine.database.tables import RUNS
from engine.errors import RecordError
from engine.model.values import Outcome, RunId, RunRecord
from engine.records import faults
from engine.samples.shipped import is_shipped

MOST_KEPT = 3000
"""Records kept; one takes about 0.1 MB."""


class RecordCache:
    """Records by run id, without the texts of prompts and replies, which no figure needs; safe from any thread."""

    def __init__(self, database: Database, load: Callable[[str], RunRecord]) -> None:
        self._database = database
        self._load = load
        self._guard = threading.Lock()
        self._kept: OrderedDict[RunId, RunRecord] = OrderedDict()

    def keep(self, record: RunRecord) -> RunRecord:
        """Take a finished record, so that it need not be read; returns what is kept of it."""
        calls = tuple(replace(call, messages=(), reply="", thinking="") for call in record.model_calls)
        slim = replace(record, model_calls=calls)
        with self._guard:
            self._kept[record.id] = slim
            self._kept.move_to_end(record.id)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return slim

    def records(self, run_ids: Iterable[RunId]) -> dict[RunId, RunRecord]:
        """The finished ones among the runs named; deleted and damaged ones are left out.

        Raises ``RecordError`` where the database cannot be read.
        """
        wanted = list(run_ids)
        stored = stored_outcomes(self._database, wanted)
        found = {}
        for run_id in wanted:
            with self._guard:
                record = self._kept.get(run_id) if run_id in stored or is_shipped(run_id) else None
            if record is None:
                # What the file does not have may still be in the memory of the engine: a full disk takes nothing.
                record = self._read(run_id)
            if record is not None:
                found[run_id] = record
        return found

    def _read(self, run_id: RunId) -> RunRecord | None:
        try:
            record = self._load(run_id)
        except RecordError:
            return None
        return self.keep(record) if record.outcome is not None else None


def stored_outcomes(database: Database, run_ids: Iterable[RunId]) -> dict[RunId, Outcome | None]:
    """Return the outcomes of runs without reading their records; None for interrupted or continued ones.

    Raises ``RecordError`` where the database cannot be read.
    """
    if not database.exists:
        return {}
    try:
        with database.reading() as connection:
            query = select(RUNS.c.id, RUNS.c.outcome).where(among(connection, RUNS.c.id, run_ids))
            return {RunId(run_id): outcome for run_id, outcome in connection.execute(query)}
    except UNUSABLE as error:
        raise faults.unreadable(database.place, error) from None
