"""Limits of one person's runs at a time and per hour, over all replicas."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from engine.errors import RecordError, TooManyRuns
from engine.people.current_user import current_user
from engine.records.store import RunStore, RunSummary
from engine.settings import Settings
from plugins.team.settings import TeamSettings

_HOUR = timedelta(hours=1)
_LOOKED_AT = 200
"""Newest runs of a person among which those under way are looked for."""


class Quota:
    """The limits of the settings, by what the database knows of a person's runs; safe from any thread.

    Two replicas that are asked in the very same moment may each let one begin. Where the database cannot be read, runs
    begin all the same, as they do without limits.
    """

    def __init__(self, settings: Settings, store: RunStore) -> None:
        own = settings.of(TeamSettings)
        self._at_once = own.runs_per_person
        self._hourly = own.runs_per_person_hour
        self._store = store
        self._guard = threading.Lock()

    @contextmanager
    def room(self) -> Iterator[None]:
        """Within this block who acts may begin one run; without sign-in there is no limit.

        Raises ``TooManyRuns``.
        """
        author = current_user().author
        if not author or not (self._at_once or self._hourly):
            yield
            return
        # Held until the run is started: of two at once the second sees the first.
        with self._guard:
            try:
                found = self._store.list(max(_LOOKED_AT, self._hourly), author=author)
            except RecordError:
                found = []
            self._require_room(found)
            yield

    def _require_room(self, newest: list[RunSummary]) -> None:
        under_way = sum(run.outcome is None for run in newest)
        if self._at_once and under_way >= self._at_once:
            raise TooManyRuns.person_under_way(limit=self._at_once)
        if self._hourly and len(newest) >= self._hourly:
            free = datetime.fromisoformat(newest[self._hourly - 1].started_at) + _HOUR - datetime.now(UTC)
            if free > timedelta():
                minutes = int(free.total_seconds() // 60) + 1
                raise TooManyRuns.person_in_an_hour(limit=self._hourly, minutes=minutes)
