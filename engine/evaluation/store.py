"""Query sets, batches, labels and saved settings on disk."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from engine.errors import EngineClosed, EvaluationError, InvalidQuerySet, UnknownBatch, UnknownQuerySet, WorkbenchError
from engine.evaluation.cases import SAMPLE_SET, Case, QuerySet, case_from_dict, sample_set
from engine.evaluation.schema import connect, translated
from engine.evaluation.values import Batch, Label
from engine.messages import N_
from engine.model.config import RunConfig, config_from_stored
from engine.model.values import Fault, PassageId, RunId
from engine.records.format import writing

LONGEST_NAME = 120
_CASE = "INSERT INTO cases (set_name, place, id, data) VALUES (?, ?, ?, ?)"


class EvaluationStore:
    """One SQLite file that several processes may use at once; safe from any thread.

    Everything written is in the file when the call returns. Every method raises ``EvaluationError`` where the file
    cannot be used, and ``EngineClosed`` after :meth:`close`. The samples are a query set of their own, which cannot be
    changed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.RLock()
        self._connection: sqlite3.Connection | None = connect(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def path(self) -> Path:
        return self._path

    def close(self) -> None:
        """Let the file go; a second call does nothing."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # -- query sets ---------------------------------------------------------------------------------------------

    def query_sets(self) -> tuple[str, ...]:
        """Names, the samples first, then by name."""
        rows = self._rows("SELECT name FROM query_sets ORDER BY name")
        return (SAMPLE_SET, *(str(name) for (name,) in rows))

    def query_set(self, name: str) -> QuerySet:
        """Return a query set by its id; raises ``UnknownQuerySet``."""
        if name == SAMPLE_SET:
            return sample_set()
        with self._open() as connection:
            head = "SELECT collection, origin FROM query_sets WHERE name = ?"
            found = connection.execute(head, (_clean(name),)).fetchone()
            query = "SELECT data FROM cases WHERE set_name = ? ORDER BY place"
            rows = connection.execute(query, (_clean(name),)).fetchall()
        if found is None:
            raise UnknownQuerySet(name=name)
        return QuerySet(name, tuple(self._case(data) for (data,) in rows), str(found[0]), str(found[1]))

    def save_query_set(self, query_set: QuerySet) -> None:
        """Keep a set; one of the same name is replaced. Batches keep the cases they were begun with.

        Raises ``InvalidQuerySet`` for the samples' name, an unusable name, or an id that stands twice.
        """
        name = usable_set_name(query_set.name)
        seen: set[str] = set()
        for case in query_set.cases:
            case_id = _clean(case.id)
            if case_id in seen:
                raise InvalidQuerySet.twice(name=name, case=case_id)
            seen.add(case_id)
        rows = [(name, place, _clean(case.id), _json(case.to_dict())) for place, case in enumerate(query_set.cases)]
        with self._writing() as connection:
            connection.execute("DELETE FROM query_sets WHERE name = ?", (name,))
            head = "INSERT INTO query_sets (name, collection, origin, saved_at) VALUES (?, ?, ?, ?)"
            connection.execute(head, (name, _clean(query_set.collection), _clean(query_set.origin), _now()))
            connection.executemany(_CASE, rows)

    def add_case(self, name: str, case: Case, collection: str = "samples") -> None:
        """Put a case at the end of a set, which is made where it is missing; a case of the same id is replaced."""
        usable = usable_set_name(name)
        with self._writing() as connection:
            head = "INSERT INTO query_sets (name, collection, origin, saved_at) VALUES (?, ?, 'runs', ?)"
            connection.execute(f"{head} ON CONFLICT (name) DO NOTHING", (usable, _clean(collection), _now()))
            last = "SELECT coalesce(max(place), -1) + 1 FROM cases WHERE set_name = ?"
            (place,) = connection.execute(last, (usable,)).fetchone()
            connection.execute(
                f"{_CASE} ON CONFLICT (set_name, id) DO UPDATE SET data = excluded.data",
                (usable, place, _clean(case.id), _json(case.to_dict())),
            )

    def bind_query_set(self, name: str, collection: str) -> None:
        """Ask a set of another collection from now on; its batches keep theirs.

        Raises ``UnknownQuerySet``, and ``InvalidQuerySet`` for the samples.
        """
        self._change_set(name, "UPDATE query_sets SET collection = ? WHERE name = ?", _clean(collection))

    def delete_query_set(self, name: str) -> None:
        """Remove a set; its batches stay. Raises ``UnknownQuerySet``, ``InvalidQuerySet`` for the samples."""
        self._change_set(name, "DELETE FROM query_sets WHERE name = ?")

    # -- batches ------------------------------------------------------------------------------------------------

    def add_batch(self, batch: Batch, cases: Sequence[Case], owner: str) -> None:
        """Keep a batch before its first case; ``owner`` is the process that runs it."""
        rows = [(batch.id, place, _clean(case.id), _json(case.to_dict())) for place, case in enumerate(cases)]
        values = (
            batch.id,
            _clean(batch.set_name),
            _json(asdict(batch.config)),
            batch.concurrency,
            batch.created_at,
            owner,
        )
        with self._writing() as connection:
            connection.execute(
                "INSERT INTO batches (id, set_name, config, concurrency, created_at, owner) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
            connection.executemany("INSERT INTO batch_cases (batch_id, place, case_id, data) VALUES (?, ?, ?, ?)", rows)

    def batches(self, set_name: str | None = None) -> tuple[Batch, ...]:
        """List the batches of one query set or of all, newest first."""
        wanted = None if set_name is None else _clean(set_name)
        with self._open() as connection:
            chosen = "SELECT id FROM batches WHERE ? IS NULL OR set_name = ? ORDER BY created_at DESC, rowid DESC"
            ids = [str(row[0]) for row in connection.execute(chosen, (wanted, wanted))]
            return tuple(self.batch(batch_id) for batch_id in ids)

    def batch(self, batch_id: str) -> Batch:
        """Return a batch by its id; raises ``UnknownBatch``."""
        with self._open() as connection:
            head = "SELECT id, set_name, config, concurrency, created_at FROM batches WHERE id = ?"
            found = connection.execute(head, (_clean(batch_id),)).fetchone()
            query = "SELECT case_id, run_id, ended, fault FROM batch_cases WHERE batch_id = ? ORDER BY place"
            rows = connection.execute(query, (_clean(batch_id),)).fetchall()
        if found is None:
            raise UnknownBatch(batch=batch_id)
        failures = {case_id: self._read(fault, _fault) for case_id, _, _, fault in rows if fault is not None}
        return Batch(
            id=str(found[0]),
            set_name=str(found[1]),
            config=self._read(found[2], config_from_stored),
            concurrency=int(found[3]),
            created_at=str(found[4]),
            case_ids=tuple(str(row[0]) for row in rows),
            runs={str(case_id): RunId(run_id) for case_id, run_id, _, _ in rows if run_id is not None},
            failures=failures,
            done=frozenset(str(case_id) for case_id, _, ended, fault in rows if ended and fault is None),
        )

    def batch_cases(self, batch_id: str) -> tuple[Case, ...]:
        """The cases as they were when the batch was begun, in order; raises ``UnknownBatch``."""
        rows = self._rows("SELECT data FROM batch_cases WHERE batch_id = ? ORDER BY place", _clean(batch_id))
        if not rows:
            raise UnknownBatch(batch=batch_id)
        return tuple(self._case(data) for (data,) in rows)

    def begin_case(self, batch_id: str, case_id: str, run_id: str) -> None:
        """Note which run a case gets, before that run begins: what a killed process had finished is then found."""
        self._set_case(batch_id, case_id, "run_id = ?, ended = 0, fault = NULL", run_id)

    def end_case(self, batch_id: str, case_id: str, fault: Fault | None = None) -> None:
        """Note that a case has ended, well or with ``fault``; only after its record is in the file of runs."""
        self._set_case(batch_id, case_id, "ended = 1, fault = ?", None if fault is None else _json(asdict(fault)))

    def forget_case(self, batch_id: str, case_id: str) -> None:
        """Let a case be run again."""
        self._set_case(batch_id, case_id, "ended = 0, fault = ?, run_id = NULL", None)

    def owner_of(self, batch_id: str) -> str:
        """The process that runs a batch, or ran it last; empty where it was let go in order."""
        found = self._rows("SELECT owner FROM batches WHERE id = ?", _clean(batch_id))
        if not found:
            raise UnknownBatch(batch=batch_id)
        return str(found[0][0])

    def claim_batch(self, batch_id: str, owner: str, lives: Callable[[str], bool]) -> bool:
        """Become the owner of a batch; False where a process that ``lives`` has it. Raises ``UnknownBatch``."""
        with self._writing() as connection:
            present = self.owner_of(batch_id)
            if present not in ("", owner) and lives(present):
                return False
            connection.execute("UPDATE batches SET owner = ? WHERE id = ?", (owner, batch_id))
        return True

    def release_batch(self, batch_id: str, owner: str) -> None:
        """Let a batch go, for this or another process to resume it."""
        with self._writing() as connection:
            connection.execute("UPDATE batches SET owner = '' WHERE id = ? AND owner = ?", (batch_id, owner))

    # -- labels -------------------------------------------------------------------------------------------------

    def set_label(self, question: str, passage_id: str, relevant: bool | None) -> None:
        """Say whether a passage helps to answer a question; None takes it back."""
        key = (_clean(question.strip()), _clean(passage_id))
        with self._writing() as connection:
            connection.execute("DELETE FROM labels WHERE question = ? AND passage_id = ?", key)
            if relevant is not None:
                query = "INSERT INTO labels (question, passage_id, relevant, labelled_at) VALUES (?, ?, ?, ?)"
                connection.execute(query, (*key, int(relevant), _now()))

    def labels(self, question: str | None = None) -> tuple[Label, ...]:
        """Every label, or those of one question, by question and passage."""
        wanted = None if question is None else _clean(question.strip())
        rows = self._rows(
            "SELECT question, passage_id, relevant, labelled_at FROM labels WHERE ? IS NULL OR question = ? "
            "ORDER BY question, passage_id",
            *(wanted, wanted),
        )
        return tuple(Label(str(row[0]), PassageId(row[1]), bool(row[2]), str(row[3])) for row in rows)

    # -- saved settings -----------------------------------------------------------------------------------------

    def save_settings(self, name: str, config: RunConfig) -> None:
        """Keep settings under a name; those of the same name are replaced. Raises ``InvalidQuerySet`` for the name."""
        with self._writing() as connection:
            query = "INSERT OR REPLACE INTO saved_settings (name, config, saved_at) VALUES (?, ?, ?)"
            connection.execute(query, (_visible(name), _json(asdict(config)), _now()))

    def settings(self) -> dict[str, RunConfig]:
        """Saved settings by name; those of a later version, which cannot be read, are left out and stay in the file."""
        rows = self._rows("SELECT name, config FROM saved_settings ORDER BY name")
        found = {}
        for name, data in rows:
            try:
                found[str(name)] = self._read(data, config_from_stored)
            except EvaluationError:
                continue
        return found

    def delete_settings(self, name: str) -> None:
        """Delete saved settings; nothing happens where there are none of that name."""
        with self._writing() as connection:
            connection.execute("DELETE FROM saved_settings WHERE name = ?", (_clean(name),))

    # -- the file -----------------------------------------------------------------------------------------------

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._guard, translated(self._path):
            if self._connection is None:
                raise EngineClosed()
            yield self._connection

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._open() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection, writing(connection):
            yield connection

    def _change_set(self, name: str, change: str, *values: str) -> None:
        if name == SAMPLE_SET:
            raise InvalidQuerySet.reserved(name=name)
        with self._writing() as connection:
            changed = connection.execute(change, (*values, _clean(name))).rowcount
        if not changed:
            raise UnknownQuerySet(name=name)

    def _set_case(self, batch_id: str, case_id: str, change: str, value: str | None) -> None:
        with self._writing() as connection:
            query = f"UPDATE batch_cases SET {change} WHERE batch_id = ? AND case_id = ?"  # noqa: S608 - our own words
            if not connection.execute(query, (value, batch_id, _clean(case_id))).rowcount:
                raise UnknownBatch(batch=batch_id)

    def _case(self, data: str) -> Case:
        case: Case = self._read(data, case_from_dict)
        return case

    def _read(self, data: Any, read: Callable[[Any], Any]) -> Any:
        try:
            return read(json.loads(data))
        except (ValueError, TypeError, KeyError, WorkbenchError):
            advice = N_("Restore it from a backup, or delete the set or batch that cannot be read")
            raise EvaluationError.unusable(path=self._path, cause=N_("an entry is damaged"), advice=advice) from None


def usable_set_name(name: str) -> str:
    """The name of a set without the spaces around it; raises ``InvalidQuerySet`` for one that a set cannot have."""
    if name.strip() == SAMPLE_SET:
        raise InvalidQuerySet.reserved(name=name)
    return _visible(name)


def _visible(name: str) -> str:
    trimmed = name.strip()
    if not 1 <= len(trimmed) <= LONGEST_NAME or not trimmed.isprintable():
        raise InvalidQuerySet.bad_name(name=name, longest=LONGEST_NAME)
    return trimmed


def _fault(plain: Any) -> Fault:
    return Fault(**plain)


def _json(value: Any) -> str:
    return _clean(json.dumps(value, ensure_ascii=False, default=dict))


def _clean(text: str) -> str:
    # Half a surrogate pair has no UTF-8 form, and SQLite would not take it.
    return text.encode("utf-8", "replace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
