"""The history of weak points: what a collection could not answer well, noted by the runs themselves (QL-03)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from sqlalchemy import ColumnElement, Connection, delete, select, update

from engine.database.base import Database, clean, put
from engine.database.faults import UNUSABLE, original
from engine.database.sqlite import SqliteFile
from engine.database.tables import SWITCHES, WEAK_POINTS
from engine.errors import RunError, UnknownCollection
from engine.messages import N_
from engine.model.decide import best_draft
from engine.model.language import normalised_query
from engine.model.values import SAMPLE_COLLECTION, WEAK_POINT, Outcome, PassageId, RunRecord
from engine.people import current_user
from engine.people.authorization import authorized, needs
from engine.roles import StoredPassage

Passages = list[StoredPassage]
"""Named, because a method is called ``list``."""
Why = Literal["refused", "forced", "unhelpful"]
SEARCHED = 30
"""Newest entries that a run looks through: each is embedded once a process."""
SOURCE = "weak-points"
"""What a passage of the history names as its source."""
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


def weak_point_of(record: RunRecord, outcome: Outcome, collection: str) -> WeakPoint | None:
    """Return the history entry of a run about to end; None for a good answer, and for every trial.

    The same question on the same day is one entry, however often it is asked.
    """
    why = _WHY.get(outcome)
    if why is None or record.trial:
        return None
    draft = best_draft(record.drafts)
    if why == "forced" and draft is not None and draft.evaluation is not None and not draft.evaluation.passed:
        why = "unhelpful"
    noted_at = datetime.now(UTC).isoformat(timespec="milliseconds")
    named = "\n".join((collection, normalised_query(record.question), noted_at[:10]))
    name = hashlib.sha256(named.encode()).hexdigest()[:24]
    return WeakPoint(name, collection, record.question, why, record.id, noted_at)


@authorized
class WeakPoints:
    """Entries in calls that block; every write is kept when it returns.

    Several processes may use them at the same time. Raises ``RunError.weak_points_unusable`` where the database cannot
    be used.
    """

    def __init__(self, database: Database | Path) -> None:
        """``database`` is a path where they have an SQLite file of their own."""
        self._database = SqliteFile(database, "weak_points", durable=True) if isinstance(database, Path) else database

    @needs("editor")
    def note(self, point: WeakPoint) -> None:
        """Add an entry, unless its collection is switched off; one of the same id is replaced.

        Raises ``UnknownCollection`` where its collection is kept from who acts, or that of the one to be replaced.
        """
        with self._writing() as connection:
            present = connection.scalar(select(WEAK_POINTS.c.collection).where(WEAK_POINTS.c.id == point.id))
            for collection in (point.collection, present):
                if collection is not None and not current_user().may_read(collection):
                    raise UnknownCollection(name=point.collection)
            if _is_on(connection, point.collection):
                put(connection, WEAK_POINTS, asdict(point) | {"question": clean(point.question)})

    @needs("viewer")
    def list(self, collection: str = "", limit: int | None = None) -> list[WeakPoint]:
        """Entries, newest first, of one collection or of all."""
        query = select(WEAK_POINTS).order_by(WEAK_POINTS.c.noted_at.desc(), WEAK_POINTS.c.id).limit(limit)
        if collection:
            query = query.where(WEAK_POINTS.c.collection == clean(collection))
        if not self._database.exists:
            return []
        with self._translated(), self._database.reading() as connection:
            found = [WeakPoint(*row) for row in connection.execute(query)]
        return [item for item in found if current_user().may_read(item.collection)]

    @needs("viewer")
    def collections(self) -> frozenset[str]:
        """Names of the collections that have entries."""
        if not self._database.exists:
            return frozenset()
        with self._translated(), self._database.reading() as connection:
            found = frozenset(connection.scalars(select(WEAK_POINTS.c.collection).distinct()))
        return frozenset(name for name in found if current_user().may_read(name))

    @needs("admin", log=N_("Weak point deleted"))
    def delete(self, point_id: str) -> bool:
        """Remove one entry for good; whether there was one."""
        return self._deleted(WEAK_POINTS.c.id == clean(point_id)) > 0

    @needs("admin", log=N_("Weak points of a collection deleted"))
    def delete_all(self, collection: str) -> int:
        """Remove every entry of a collection for good; returns how many there were."""
        return self._deleted(WEAK_POINTS.c.collection == clean(collection))

    @needs("viewer")
    def is_on(self, collection: str) -> bool:
        """Return whether runs of a collection add entries: by default those of every collection but the samples."""
        if not self._database.exists:
            return collection != SAMPLE_COLLECTION
        with self._translated(), self._database.reading() as connection:
            return _is_on(connection, collection)

    @needs("admin", log=N_("History of weak points switched"), on=("collection", "on"))
    def switch(self, collection: str, *, on: bool) -> None:
        with self._writing() as connection:
            put(connection, SWITCHES, {"collection": clean(collection), "on": int(on)})

    @needs("admin")
    def rename_collection(self, collection: str, new_name: str) -> None:
        """Let entries and switch follow a collection to its new name."""
        if not self._database.exists:
            return
        with self._writing() as connection:
            moved = update(WEAK_POINTS).where(WEAK_POINTS.c.collection == collection)
            connection.execute(moved.values(collection=new_name))
            found = connection.scalar(select(SWITCHES.c.on).where(SWITCHES.c.collection == collection))
            if found is not None:
                put(connection, SWITCHES, {"collection": new_name, "on": found})
                connection.execute(delete(SWITCHES).where(SWITCHES.c.collection == collection))

    @needs("viewer")
    def passages(self, collection: str, question: str) -> Passages:
        """Return the newest entries as passages for a run, without those of its own question."""
        asked = normalised_query(question)
        found = self.list(collection, SEARCHED)
        return [item.passage() for item in found if normalised_query(item.question) != asked]

    def _deleted(self, which: ColumnElement[bool]) -> int:
        with self._writing() as connection:
            return connection.execute(delete(WEAK_POINTS).where(which)).rowcount

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._translated(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNUSABLE as error:
            raise RunError.weak_points_unusable(path=self._database.place, why=str(original(error))) from error


def _is_on(connection: Connection, collection: str) -> bool:
    found = connection.scalar(select(SWITCHES.c.on).where(SWITCHES.c.collection == clean(collection)))
    return bool(found) if found is not None else collection != SAMPLE_COLLECTION
