"""Concurrency and rate of calls to a model server, shared by all processes of a PostgreSQL database.

A named actor of a cluster would forget what it lent when its process died, and the app's own runs would pass it by. A
row with a lease outlives both: what a dead process held is free again when the lease is over.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import Interval as Span
from sqlalchemy import bindparam, delete, func, select, text, update

from engine.database.base import Database
from engine.database.tables import MODEL_SLOTS

LEASE_S = 20.0
"""A process that has not renewed its slots for so long is taken for dead. While the server is away nothing can be
renewed, so that each slot counts for one more term after its start."""

_TAKE = text("""
    INSERT INTO model_slots AS lent (server, slot, holder, until)
    SELECT :server, free.slot, :holder, clock_timestamp() + :lease
    FROM generate_series(1, :most) AS free (slot)
    LEFT JOIN model_slots AS held ON held.server = :server AND held.slot = free.slot
    WHERE held.slot IS NULL
       OR (held.until < clock_timestamp() AND pg_postmaster_start_time() + :lease < clock_timestamp())
    ORDER BY free.slot
    LIMIT :wanted
    ON CONFLICT (server, slot) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE lent.until < clock_timestamp()
    RETURNING slot
""").bindparams(bindparam("lease", type_=Span))
_NEXT = text("""
    INSERT INTO model_paces AS pace (server, next_at) VALUES (:server, clock_timestamp() + :step)
    ON CONFLICT (server) DO UPDATE SET next_at = greatest(pace.next_at, clock_timestamp()) + :step
    RETURNING extract(epoch FROM next_at - :step - clock_timestamp())
""").bindparams(bindparam("step", type_=Span))


class SlotTable:
    """This process among those that ask model servers; every method blocks, and raises what using a database raises."""

    def __init__(self, database: Database, lease_s: float = LEASE_S) -> None:
        self._database = database
        self._lease = timedelta(seconds=lease_s)
        self.lease_s = lease_s
        self.holder = uuid.uuid4().hex

    def take(self, server: str, wanted: int, most: int) -> list[int]:
        """Borrow up to so many of the ``most`` slots of a server; those that were free."""
        values = {"server": server, "holder": self.holder, "wanted": wanted, "most": most, "lease": self._lease}
        with self._database.writing() as connection:
            return [int(slot) for (slot,) in connection.execute(_TAKE, values)]

    def lent_out(self, server: str, most: int) -> bool:
        """Return whether all of the ``most`` slots of a server are lent, so that a call may be waiting for one."""
        lent = select(func.count()).where(MODEL_SLOTS.c.server == server, MODEL_SLOTS.c.until > func.clock_timestamp())
        with self._database.reading() as connection:
            return (connection.scalar(lent) or 0) >= most

    def renew(self) -> None:
        """Keep what this process holds for another term."""
        with self._database.writing() as connection:
            own = update(MODEL_SLOTS).where(MODEL_SLOTS.c.holder == self.holder)
            connection.execute(own.values(until=func.clock_timestamp() + self._lease))

    def give_back(self, server: str, slots: Collection[int]) -> None:
        """Let slots go."""
        with self._database.writing() as connection:
            ours = (MODEL_SLOTS.c.server == server, MODEL_SLOTS.c.holder == self.holder)
            connection.execute(delete(MODEL_SLOTS).where(*ours, MODEL_SLOTS.c.slot.in_(list(slots))))

    def wait_s(self, server: str, per_second: float) -> float:
        """Reserve the next moment at which a server may be given a call; seconds until then.

        Moments lie evenly apart. One whose process died is lost, and no other.
        """
        with self._database.writing() as connection:
            step = timedelta(seconds=1.0 / per_second)
            return max(0.0, float(connection.execute(_NEXT, {"server": server, "step": step}).scalar_one()))
