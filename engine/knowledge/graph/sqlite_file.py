"""The file of knowledge graphs: its tables, its connections, and what SQLite says as errors of our own."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.database.faults import cause_of, is_damage, primary_code
from engine.database.transaction import writing
from engine.errors import EngineClosed, GraphStoreError

FORMAT = 1
_AGAIN_S = 0.01
_BUSY_S = 10.0
"""How long a write waits for another process that is writing, such as an ingestion on the command line."""

# Mentions and tellings are what passages say; entities, names and relationships are made from them, and are kept so
# that a search reads a few rows. Every table is keyed by the number of its graph, so renaming touches one row.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS graphs (
    number INTEGER PRIMARY KEY, space TEXT NOT NULL, collection TEXT NOT NULL, extractor TEXT NOT NULL,
    fingerprint TEXT NOT NULL DEFAULT '', built_at TEXT NOT NULL DEFAULT '', UNIQUE (space, collection)
);
CREATE TABLE IF NOT EXISTS passages (
    graph INTEGER, passage TEXT, text_hash TEXT NOT NULL, PRIMARY KEY (graph, passage)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS mentions (
    graph INTEGER, entity TEXT, passage TEXT, name TEXT NOT NULL, type TEXT NOT NULL, description TEXT NOT NULL,
    aliases TEXT NOT NULL, PRIMARY KEY (graph, entity, passage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS mentions_by_passage ON mentions (graph, passage, entity);
CREATE TABLE IF NOT EXISTS tellings (
    graph INTEGER, source TEXT, type TEXT, target TEXT, passage TEXT, description TEXT NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (graph, source, type, target, passage)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS tellings_by_passage ON tellings (graph, passage);
CREATE TABLE IF NOT EXISTS entities (
    graph INTEGER, id TEXT, name TEXT NOT NULL, type TEXT NOT NULL, description TEXT NOT NULL, aliases TEXT NOT NULL,
    mentions INTEGER NOT NULL, degree INTEGER NOT NULL DEFAULT 0, community TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (graph, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entities_by_degree ON entities (graph, degree DESC, mentions DESC, id);
CREATE TABLE IF NOT EXISTS names (
    graph INTEGER, name TEXT, entity TEXT, PRIMARY KEY (graph, name, entity)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS names_by_entity ON names (graph, entity);
CREATE TABLE IF NOT EXISTS relationships (
    graph INTEGER, source TEXT, type TEXT, target TEXT, description TEXT NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (graph, source, type, target)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS relationships_by_target ON relationships (graph, target, source);
CREATE TABLE IF NOT EXISTS communities (
    graph INTEGER, id TEXT, title TEXT NOT NULL, summary TEXT NOT NULL, summarised_by TEXT NOT NULL,
    PRIMARY KEY (graph, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    graph INTEGER, community TEXT, position INTEGER, entity TEXT NOT NULL, PRIMARY KEY (graph, community, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS members_by_entity ON members (graph, entity);
CREATE TABLE IF NOT EXISTS evidence (
    graph INTEGER, community TEXT, position INTEGER, passage TEXT NOT NULL, PRIMARY KEY (graph, community, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS evidence_by_passage ON evidence (graph, passage);
"""
TABLES = (
    "passages",
    "mentions",
    "tellings",
    "entities",
    "names",
    "relationships",
    "communities",
    "members",
    "evidence",
)
"""All but ``graphs`` itself."""


class GraphFile:
    """Connections to one file; every method blocks and may be called from any thread.

    One connection writes, a transaction at a time. Readers have one each, and see the last whole transaction however
    long a write takes. Nothing is opened, and no file made, before the first use.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self._guard = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: whole if the block ends, undone if it raises; raises ``GraphStoreError``."""
        with self._writing, self._translated_errors():
            db = self._writer = self._writer or self._open()
            with writing(db):
                yield db

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One moment of the file; raises ``GraphStoreError``."""
        with self._translated_errors():
            with self._guard:
                idle = self._idle.pop() if self._idle else None
            db = idle or self._open()
            try:
                db.execute("BEGIN")
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                self._put_back(db)

    def size(self) -> int:
        """Bytes of the file and of its journal, which is not in it yet."""
        with self._translated_errors():
            log = self.path.with_name(f"{self.path.name}-wal")
            return sum(file.stat().st_size for file in (self.path, log) if file.exists())

    def close(self) -> None:
        """Wait for a write that is running and let the file go; a second call does nothing."""
        with self._writing, self._guard:
            self._closed = True
            open_ones = [*self._idle, *([self._writer] if self._writer else [])]
            self._idle, self._writer = [], None
            for db in open_ones:
                db.close()

    def _put_back(self, db: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(db)
                return
        db.close()

    def _open(self) -> sqlite3.Connection:
        if self._closed:
            raise EngineClosed()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            found = int(db.execute("PRAGMA user_version").fetchone()[0])
            if found > FORMAT:
                raise GraphStoreError.file_newer(path=str(self.path), found=found, known=FORMAT)
            # SQLite answers at once, regardless of the timeout, where two connections ask for the log at the same time.
            _patiently(lambda: db.execute("PRAGMA journal_mode = WAL"))
            db.execute("PRAGMA synchronous = NORMAL")
            if found < FORMAT:
                db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {FORMAT}; COMMIT;")
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise self._fault(error) from None

    def _fault(self, error: sqlite3.Error | OSError) -> GraphStoreError:
        if is_damage(error):
            return GraphStoreError.damaged(path=self.path)
        return GraphStoreError.file_unusable(path=self.path, found=cause_of(error)[0])


def _patiently(work: Callable[[], object]) -> None:
    """Do what may meet another connection doing the same, again and again for as long as a write would wait."""
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            work()
            return
        except sqlite3.OperationalError as error:
            busy = primary_code(error) == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= until:
                raise
            time.sleep(_AGAIN_S)
