"""The history of weak points: what a collection could not answer well, noted by the runs themselves (QL-03)."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from engine.errors import WeakPointsUnusable
from engine.model.language import normalised_query
from engine.model.values import SAMPLE_COLLECTION, WEAK_POINT, Outcome, PassageId, RunRecord
from engine.roles import StoredPassage
from engine.workflows.dual_loop.policy import best_draft

Passages = list[StoredPassage]
"""Named, because a method is called ``list``."""
Why = Literal["refused", "forced", "unhelpful"]
SEARCHED = 30
"""Newest entries that a run looks through: each is embedded once a process."""
SOURCE = "weak-points"
"""What a passage of the history names as its source."""
_BUSY_S = 5.0
_TABLES = (
    """CREATE TABLE IF NOT EXISTS weak_points (
        id TEXT PRIMARY KEY,
        collection TEXT NOT NULL,
        question TEXT NOT NULL,
        why TEXT NOT NULL,
        run_id TEXT NOT NULL,
        noted_at TEXT NOT NULL
    )""",
    "CREATE INDEX IF NOT EXISTS weak_points_by_date ON weak_points (collection, noted_at)",
    'CREATE TABLE IF NOT EXISTS switches (collection TEXT PRIMARY KEY, "on" INTEGER NOT NULL)',
)
_WHY: dict[Outcome, Why] = {
    "abstained": "refused",
    "fallback": "refused",
    "answered_forced": "forced",
    "answered_unverified": "forced",
}


@dataclass(frozen=True, slots=True)
class WeakPoint:
    """One question that a collection did not answer well, on one day."""

    id: str
    collection: str
    question: str
    why: Why
    """``refused``: there was no answer; ``forced``: it was given below the bar; ``unhelpful``: it was judged so."""
    run_id: str
    noted_at: str
    """ISO 8601, UTC."""

    def passage(self) -> StoredPassage:
        """The entry as the search sees it: the question that was asked, as of a day."""
        meta = {"kind": "temporal", "dated": self.noted_at[:10]}
        name = PassageId(f"{WEAK_POINT}{self.id}")
        return StoredPassage(name, SOURCE, self.question, section=self.noted_at[:10], meta=meta)


def weak_point_of(
    record: RunRecord, outcome: Outcome, collection: str, now: datetime | None = None
) -> WeakPoint | None:
    """What a run that is about to end leaves in the history; None for a good answer, and for every trial.

    The same question on the same day is one entry, however often it is asked.
    """
    why = _WHY.get(outcome)
    if why is None or record.trial:
        return None
    draft = best_draft(record.drafts)
    if why == "forced" and draft is not None and draft.evaluation is not None and not draft.evaluation.passed:
        why = "unhelpful"
    noted_at = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
    named = "\n".join((collection, normalised_query(record.question), noted_at[:10]))
    name = hashlib.sha256(named.encode()).hexdigest()[:24]
    return WeakPoint(name, collection, record.question, why, record.id, noted_at)


class WeakPoints:
    """A file of entries, in calls that block; every write is on disk when it returns.

    Several processes may use the file at the same time. Raises ``WeakPointsUnusable`` where it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, point: WeakPoint) -> None:
        """Add an entry, unless its collection is switched off; one of the same id is replaced."""
        with self._writing() as connection:
            if _is_on(connection, point.collection):
                row = (point.id, point.collection, point.question, point.why, point.run_id, point.noted_at)
                connection.execute("INSERT OR REPLACE INTO weak_points VALUES (?, ?, ?, ?, ?, ?)", row)

    def list(self, collection: str = "", limit: int = -1) -> list[WeakPoint]:
        """Entries, newest first, of one collection or of all."""
        if not self._path.exists():
            return []
        query = "SELECT * FROM weak_points WHERE ? IN ('', collection) ORDER BY noted_at DESC, id LIMIT ?"
        with self._writing() as connection:
            return [WeakPoint(*row) for row in connection.execute(query, (collection, limit))]

    def delete(self, point_id: str) -> bool:
        """Remove one entry for good; whether there was one."""
        with self._writing() as connection:
            return connection.execute("DELETE FROM weak_points WHERE id = ?", (point_id,)).rowcount > 0

    def delete_all(self, collection: str) -> int:
        """Remove every entry of a collection for good; returns how many there were."""
        with self._writing() as connection:
            return connection.execute("DELETE FROM weak_points WHERE collection = ?", (collection,)).rowcount

    def is_on(self, collection: str) -> bool:
        """Whether runs of a collection add entries: by default those of every collection but the samples."""
        if not self._path.exists():
            return collection != SAMPLE_COLLECTION
        with self._writing() as connection:
            return _is_on(connection, collection)

    def switch(self, collection: str, *, on: bool) -> None:
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO switches VALUES (?, ?)", (collection, on))

    def rename_collection(self, collection: str, new_name: str) -> None:
        """Let entries and switch follow a collection to its new name."""
        if self._path.exists():
            with self._writing() as connection:
                connection.execute("UPDATE weak_points SET collection = ? WHERE collection = ?", (new_name, collection))
                moved = "UPDATE OR REPLACE switches SET collection = ? WHERE collection = ?"
                connection.execute(moved, (new_name, collection))

    def passages(self, collection: str, question: str) -> Passages:
        """What a run of this question may find: the newest entries, without those of the question itself."""
        asked = normalised_query(question)
        found = self.list(collection, SEARCHED)
        return [item.passage() for item in found if normalised_query(item.question) != asked]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                for statement in _TABLES:
                    connection.execute(statement)
                with connection:
                    yield connection
        except (OSError, sqlite3.Error) as error:
            raise WeakPointsUnusable(path=str(self._path), why=str(error)) from error


def _is_on(connection: sqlite3.Connection, collection: str) -> bool:
    found = connection.execute('SELECT "on" FROM switches WHERE collection = ?', (collection,)).fetchone()
    return bool(found[0]) if found else collection != SAMPLE_COLLECTION
