"""Signals over PostgreSQL's LISTEN and NOTIFY."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from engine.database.faults import UNUSABLE
from engine.database.signals import Hear
from engine.model.ending import joined

if TYPE_CHECKING:
    import psycopg

    from engine.database.base import Database

_log = logging.getLogger(__name__)
_CHANNEL = "workbench"
_STEP_S = 0.5
"""How long closing may wait for the listener."""
_RETRY_S = 1.0


class Notifications:
    """Sends within transactions, so that who hears of a change can read it; listens on a connection of its own."""

    def __init__(self, database: Database, connect: Callable[[], psycopg.Connection]) -> None:
        """``connect`` opens a connection that commits by itself."""
        self._database = database
        self._connect = connect
        self._hear: list[Hear] = []
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self.listening = threading.Event()
        """Set while signals arrive."""

    def send(self, signal: str, connection: Connection | None = None) -> bool:
        notify = select(func.pg_notify(_CHANNEL, signal))
        if connection is not None:
            connection.execute(notify)
            return True
        try:
            with self._database.writing() as own:
                own.execute(notify)
        except UNUSABLE as error:
            _log.warning("a signal could not be sent: %s", error)
            return False
        return True

    def listen(self, hear: Hear) -> None:
        with self._guard:
            self._hear.append(hear)
            if self._thread is None:
                self._closed.clear()
                self._thread = threading.Thread(target=self._work, name="database-signals", daemon=True)
                self._thread.start()

    def close(self) -> None:
        self._closed.set()
        with self._guard:
            thread, self._thread = self._thread, None
            self._hear.clear()
        if thread is not None:
            joined(thread)

    def _work(self) -> None:
        # Not at the top: it comes with an extra, and an installation without one gets this error.
        import psycopg

        while not self._closed.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(f"LISTEN {_CHANNEL}".encode())
                    self.listening.set()
                    while not self._closed.is_set():
                        for notice in connection.notifies(timeout=_STEP_S):
                            self._tell(notice.payload)
            except psycopg.Error as error:
                self.listening.clear()
                if not self._closed.wait(_RETRY_S):
                    _log.warning("signals of other processes do not arrive at the moment: %s", error)
        self.listening.clear()

    def _tell(self, signal: str) -> None:
        with self._guard:
            hear = tuple(self._hear)
        for listener in hear:
            try:
                listener(signal)
            except Exception:
                _log.exception("a listener failed at %r", signal)
