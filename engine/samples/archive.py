"""Records that are over: those of the store, and those that ship with the program, which no one can change.

A run of a collection that is kept from the current user does not exist for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import RecordError, UnknownRun
from engine.model.events import Event
from engine.model.values import RunRecord
from engine.people import current_user
from engine.people.readable import may_read
from engine.records.store import RunStore
from engine.samples.shipped import is_shipped, shipped_events, shipped_record


class Archive:
    """A store together with the shipped runs; safe from any thread. Raises what :class:`RunStore` raises."""

    def __init__(self, store: RunStore) -> None:
        self.store = store

    def record(self, run_id: str) -> RunRecord:
        """Return the record of a run; raises ``UnknownRun``."""
        record = shipped_record(run_id) if is_shipped(run_id) else self.store.load(run_id)
        if not may_read(record):
            raise UnknownRun(run=run_id)
        return record

    def events(self, run_id: str, after: int) -> Sequence[Event]:
        """Return the events above a sequence number; raises ``UnknownRun``."""
        self._require_readable(run_id)
        if is_shipped(run_id):
            return [event for event in shipped_events(run_id) if event.seq > after]
        return self.store.events(run_id, after)

    def require_own(self, run_id: str) -> None:
        """Check that a run does not ship with the program: such a one can be neither tagged nor deleted.

        Raises ``RecordError.run_ships_with_program``, and ``UnknownRun`` for a run that the caller may not read.
        """
        if is_shipped(run_id):
            raise RecordError.run_ships_with_program(run=run_id)
        self._require_readable(run_id)

    def _require_readable(self, run_id: str) -> None:
        if not current_user().reads_all:
            self.record(run_id)
