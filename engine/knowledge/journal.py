"""Journal of read and embedded files in one SQLite file, which survives the process however it ends.

A file is read and cut once; its passages wait here until it is its turn to be embedded, so that only one source at a
time is in memory. Vectors are kept by text until their source stands in the collection.
"""

from __future__ import annotations

import errno
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from engine.database.faults import is_damage, primary_code
from engine.database.transaction import writing
from engine.errors import JobDamaged, JobError, WorkbenchError
from engine.model.values import Account, Fault, PassageId, SourceNote
from engine.roles import StoredPassage, Vector

EntryState = Literal["failed", "read", "new", "replaces", "duplicate", "superseded", "added", "replaced"]
"""``read`` until all files are read; ``new`` and ``replaces`` wait to be written, ``added`` and ``replaced`` are.

``superseded``: the same name comes again later in the batch.
"""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    position INTEGER PRIMARY KEY, state TEXT NOT NULL, content_hash TEXT NOT NULL, passages INTEGER NOT NULL,
    told TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS passages (
    position INTEGER, ordinal INTEGER, told TEXT NOT NULL, PRIMARY KEY (position, ordinal)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the batch, and what became of it."""

    position: int
    """Place in the batch, from 0."""
    name: str
    state: EntryState
    content_hash: str = ""
    passages: int = 0
    same_as: str = ""
    """Of a duplicate: the source, or earlier file, with the same content."""
    fault: Fault | None = None
    account: Account | None = None


class Journal:
    """Safe to call from any one thread at a time; every method blocks.

    ``path`` None keeps everything in a file that is gone when it is closed. Raises ``JobError.disk_full``,
    ``JobError.folder_unusable`` and, for a file that is no journal, ``JobDamaged``.
    """

    def __init__(self, path: Path | None) -> None:
        self._place = str(path) if path is not None else "temporary files"
        self._job = path.parent.name if path is not None else ""
        self.durable = path is not None
        self.ahead = False
        """Whether the vectors of many sources are kept before the first of them is written; see ``ahead``."""
        self._guard = threading.Lock()
        with self._translated_errors():
            # An empty name is a temporary database that SQLite spills to disk when it grows.
            self._db = sqlite3.connect(str(path) if path else "", isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def _prepare(self) -> None:
        if self.durable:
            # Nothing is lost when the process dies. What the machine loses with its power is embedded again.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
        else:
            self._db.execute("PRAGMA synchronous = OFF")
        self._db.executescript(_SCHEMA)
        # Whether an earlier process left some: an ingestion that starts over need not look with every batch.
        self.has_vectors = self._db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None

    def close(self) -> None:
        with self._guard:
            self._db.close()

    def entries(self) -> list[Entry]:
        """Every file read so far, in the order of the batch."""
        with self._translated_errors():
            rows = self._db.execute(
                "SELECT position, state, content_hash, passages, told FROM entries ORDER BY position"
            )
            return [_entry(*row) for row in rows]

    def note(self, entry: Entry, passages: Iterable[StoredPassage] = ()) -> None:
        """Keep what became of one file, with its passages where it could be read."""
        with self._change():
            self._put(entry)
            self._db.executemany(
                "INSERT OR REPLACE INTO passages VALUES (?, ?, ?)",
                ((entry.position, item.ordinal, _passage_json(item)) for item in passages),
            )

    def plan(self, entries: Iterable[Entry]) -> None:
        """Keep what is to be done with every file; passages of those that will not be written go."""
        with self._change():
            for entry in entries:
                self._put(entry)
                if entry.state in ("duplicate", "superseded"):
                    self._db.execute("DELETE FROM passages WHERE position = ?", (entry.position,))

    def passages(self, position: int) -> list[StoredPassage]:
        """Passages of one file in their order."""
        with self._translated_errors():
            rows = self._db.execute("SELECT told FROM passages WHERE position = ? ORDER BY ordinal", (position,))
            return [_passage(stored) for (stored,) in rows]

    def vectors(self, model: str, texts: Sequence[str], dim: int) -> Vector | None:
        """Vectors that an earlier process made, shape (n, dim), for all these texts, or None.

        All or none: a batch that is embedded again is embedded whole, for in some models a text's vector depends in its
        last digits on what it is embedded together with.
        """
        if not self.has_vectors:
            return None
        rows: list[Vector] = []
        with self._translated_errors():
            for text in texts:
                found = self._db.execute("SELECT vector FROM vectors WHERE key = ?", (_key(model, text),)).fetchone()
                if found is None or len(found[0]) != 4 * dim:
                    return None
                rows.append(np.frombuffer(found[0], dtype=np.float32))
        return np.stack(rows) if rows else None

    def waiting(self) -> int:
        """Vectors of a source that is not written yet."""
        with self._translated_errors():
            (count,) = self._db.execute("SELECT count(*) FROM vectors").fetchone()
            return int(count)

    def keep(self, model: str, texts: Sequence[str], vectors: Vector) -> None:
        """Keep the vectors of a batch, shape (n, dim), until their source is written."""
        if not self.durable:
            return
        rows = [
            (_key(model, text), np.ascontiguousarray(row, dtype=np.float32).tobytes())
            for text, row in zip(texts, vectors, strict=True)
        ]
        with self._change():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self.has_vectors = self.has_vectors or self.ahead

    def forget_vectors(self) -> None:
        """All sources stand in the collection whose vectors were kept ahead."""
        with self._change():
            self._db.execute("DELETE FROM vectors")
        self.has_vectors = self.ahead = False

    def finish(self, entry: Entry) -> None:
        """A source stands in the collection: its passages, and all vectors, are not needed any more."""
        with self._change():
            self._put(entry)
            self._db.execute("DELETE FROM passages WHERE position = ?", (entry.position,))
            if not self.ahead:
                self._db.execute("DELETE FROM vectors")
        self.has_vectors = self.ahead

    def take_vectors(self, other: Path) -> None:
        """Take over what the journal of an ingestion that is given up has embedded; one that cannot be read has none.

        Raises as the journal itself does where its own file cannot be written.
        """
        try:
            source = sqlite3.connect(f"{other.absolute().as_uri()}?mode=ro", uri=True)
            rows = source.execute("SELECT key, vector FROM vectors").fetchall()
            source.close()
        except sqlite3.Error:
            return
        with self._change():
            self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self.has_vectors = self.has_vectors or bool(rows)

    def _put(self, entry: Entry) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)",
            (entry.position, entry.state, entry.content_hash, entry.passages, _entry_json(entry)),
        )

    @contextmanager
    def _change(self) -> Iterator[None]:
        """One transaction: all of it or nothing."""
        with self._translated_errors(), writing(self._db):
            yield

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        with self._guard:
            try:
                yield
            except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
                # The last three: rows that this program did not write.
                raise _fault(error, self._job, self._place) from error


def disk_fault(error: OSError, place: str) -> WorkbenchError:
    """Turn an error of the file system on a job's folder into one of ours."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return JobError.disk_full(path=place)
    return JobError.folder_unusable(path=place, why=error.strerror or type(error).__name__)


def _fault(error: Exception, job: str, place: str) -> WorkbenchError:
    if primary_code(error) == sqlite3.SQLITE_FULL:
        return JobError.disk_full(path=place)
    if not isinstance(error, sqlite3.Error) or is_damage(error):
        return JobDamaged(job=job, why=str(error))
    return JobError.folder_unusable(path=place, why=str(error))


def _key(model: str, text: str) -> bytes:
    return hashlib.sha256(f"{model}\n{text}".encode(errors="surrogatepass")).digest()


def _entry_json(entry: Entry) -> str:
    # As ASCII: half a surrogate pair, which a file's name may hold, has no UTF-8 form.
    return json.dumps(
        {
            "name": entry.name,
            "same_as": entry.same_as,
            "fault": asdict(entry.fault) if entry.fault else None,
            "account": entry.account.to_dict() if entry.account else None,
        }
    )


def _entry(position: int, state: EntryState, content_hash: str, passages: int, stored: str) -> Entry:
    plain = json.loads(stored)
    fault = Fault(**plain["fault"]) if plain["fault"] else None
    account = Account.of(plain.get("account"))
    if plain.get("notes"):  # of an earlier version, which did not count what was read
        account = Account(notes=tuple(SourceNote(str(code), dict(params)) for code, params in plain["notes"]))
    return Entry(position, plain["name"], state, content_hash, passages, plain["same_as"], fault, account)


def _passage_json(item: StoredPassage) -> str:
    return json.dumps([item.id, item.source, item.text, item.section, item.title, item.ordinal, dict(item.meta)])


def _passage(stored: str) -> StoredPassage:
    passage_id, source, text, section, title, ordinal, meta = json.loads(stored)
    return StoredPassage(PassageId(passage_id), source, text, section, title, ordinal, meta)
