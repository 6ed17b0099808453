"""Processes of several machines, each with a lease in the database that it renews as long as it lives."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, func, or_, select

from engine.database.base import Database, put
from engine.database.faults import UNUSABLE
from engine.database.tables import INSTANCES
from engine.model.ending import joined

_log = logging.getLogger(__name__)

LEASE_S = 15.0
"""A process that has not renewed its lease for so long is taken for dead."""
_KEPT_S = 86_400.0
"""Leases that ended are kept a day, for whoever looks at what happened."""


class Lease:
    """This process among those that use a database; renewed by :class:`LeaseOwners`."""

    def __init__(self, owners: LeaseOwners, lease_id: str) -> None:
        self._owners = owners
        self.id = lease_id

    def end(self) -> None:
        """Leave; idempotent."""
        self._owners.leave(self.id)


class LeaseOwners:
    """The processes that use a PostgreSQL database, by its own clock.

    While the server is away no lease can be renewed, so each counts for one more term after the server's start, and a
    process that could not renew its own judges no other for one more term. Taking over work from a dead owner
    does so in a statement that names that owner: one that lives after all then finds that the work is no longer its
    own.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._term = timedelta(seconds=LEASE_S)
        self._guard = threading.Lock()
        self._own: set[str] = set()
        self._writing = threading.Lock()
        """Held while leases of this process are written: one that ends must not be written again."""
        self._renewed_at = 0.0
        self._away_until = float("-inf")
        """When the database was last back after a time without it, on the monotonic clock."""
        self._renewing: threading.Thread | None = None
        self._closed = threading.Event()

    @property
    def place(self) -> str:
        return self._database.place

    def join(self) -> Lease:
        """Become one of them, under a new id; where the server is away, as soon as it is back."""
        lease_id = uuid.uuid4().hex
        with self._guard:
            if not self._own:
                self._renewed_at = time.monotonic()
            self._own.add(lease_id)
        self._renew()
        with self._guard:
            if self._renewing is None:
                self._closed.clear()
                self._renewing = threading.Thread(target=self._keep, name="leases", daemon=True)
                self._renewing.start()
        return Lease(self, lease_id)

    def leave(self, lease_id: str) -> None:
        """End a lease of this process."""
        with self._guard:
            self._own.discard(lease_id)
        with self._writing, suppress(*UNUSABLE), self._database.writing() as connection:
            connection.execute(delete(INSTANCES).where(INSTANCES.c.id == lease_id))

    def alive(self, owner: str, connection: Connection | None = None) -> bool:
        """Return whether the process behind an id still renews its lease; true if the server cannot say, or not yet."""
        with self._guard:
            now, term_s = time.monotonic(), self._term.total_seconds()
            lately = now - self._renewed_at > term_s or now - self._away_until < term_s
            if owner in self._own or (self._own and lately):
                return True
        started = func.pg_postmaster_start_time() + self._term
        holds = or_(INSTANCES.c.until > func.now(), started > func.now())
        try:
            with self._database.reading() if connection is None else nullcontext(connection) as asked:
                return asked.scalar(select(INSTANCES.c.id).where(INSTANCES.c.id == owner, holds)) is not None
        except UNUSABLE:
            return True

    def living(self) -> int:
        """Count the leases that have not expired."""
        with self._database.reading() as connection:
            held = select(func.count()).select_from(INSTANCES).where(INSTANCES.c.until > func.now())
            return connection.scalar(held) or 0

    def sweep(self) -> None:
        """Remove leases that ended long ago."""
        with self._database.writing() as connection:
            old = func.now() - timedelta(seconds=_KEPT_S)
            connection.execute(delete(INSTANCES).where(INSTANCES.c.until < old))

    def close(self) -> None:
        """End the leases of this process."""
        self._closed.set()
        with self._guard:
            renewing, self._renewing = self._renewing, None
            own = list(self._own)
        if renewing is not None:
            joined(renewing)
        for lease_id in own:
            self.leave(lease_id)

    def _keep(self) -> None:
        while not self._closed.wait(self._term.total_seconds() / 3):
            self._renew()

    def _renew(self) -> None:
        with self._writing:
            with self._guard:
                own = tuple(self._own)
            try:
                with self._database.writing() as connection:
                    until = _now(connection) + self._term
                    # Made again where it is gone, as after a night without the server, or from a backup.
                    put(connection, INSTANCES, [{"id": lease_id, "until": until} for lease_id in own])
            except UNUSABLE as error:
                _log.warning("the lease of this process could not be renewed: %s", error)
                return
        with self._guard:
            before, self._renewed_at = self._renewed_at, time.monotonic()
            if self._renewed_at - before > self._term.total_seconds():
                self._away_until = self._renewed_at


def _now(connection: Connection) -> datetime:
    now = connection.scalar(select(func.now()))
    assert now is not None
    return now
