"""Bulk import: a server reads passages from files that it can see, past its log and its limits of requests.

Servers before 2.4 get them by a call of their gRPC interface; that is tried with Milvus 2.3.5 on local storage. From
2.4 on it is ``/v2/vectordb/jobs/import`` of their HTTP interface, written from its documentation and **untried**: no
such server was at hand. An import never replaces: rows of the same id would be there twice, so sources that are there
are deleted before, and imports that an earlier process began are waited for.
"""

from __future__ import annotations

import importlib
import json
import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_words import version_numbers
from plugins.scale.errors import NOT_IMPORTED

_BY_HTTP = (2, 4)
_LOOK_S = 0.5
_LONGEST_S = 3600.0
"""One file of some ten thousand passages takes seconds; a server that says nothing for so long will not."""


@dataclass(frozen=True, slots=True)
class ImportFolder:
    """A folder that this program writes to and the server reads from."""

    path: Path
    """As this program calls it."""
    seen_as: str = ""
    """As the server does, relative to its bucket or storage; empty where both are on one machine with local storage."""

    def named(self, file: Path) -> str:
        """A file of the folder as the server sees it."""
        return f"{self.seen_as.rstrip('/')}/{file.name}" if self.seen_as else str(file.absolute())


class _Imports(Protocol):
    """One interface for imports; both block and raise foreign exceptions untranslated."""

    def begin(self, collection: str, file: str) -> str: ...

    def state(self, job: str) -> tuple[str, str]: ...

    def running(self, collection: str) -> list[str]: ...


class BulkImport:
    """Imports into the collections of one server."""

    def __init__(self, db: Database, uri: str, token: str, database: str) -> None:
        self._db = db
        self._by_http = version_numbers(db.version()) >= _BY_HTTP
        self._timeout_s = db.timeout_s
        self._place = (uri, token, database)

    def put(self, collection: str, rows: Sequence[Mapping[str, Any]], folder: ImportFolder) -> None:
        """Write rows to a file, let the server import it, and remove the file; raises ``StoreError``."""
        folder.path.mkdir(parents=True, exist_ok=True)
        file = folder.path / f"{collection}-{uuid.uuid4().hex[:12]}.json"
        try:
            with file.open("w", encoding="ascii") as out:
                json.dump(list(rows) if self._by_http else {"rows": list(rows)}, out)
            with self._imports() as imports:
                self._wait(imports, collection, imports.begin(collection, folder.named(file)))
            self._db.take_in(collection)
        finally:
            file.unlink(missing_ok=True)
        self._complete(collection, rows)

    def _complete(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows that an import left out: a server can apply an earlier deletion of their ids to them."""
        self._db.wrote(collection)
        ids = [str(row["id"]) for row in rows]
        there = {row["id"] for row in self._db.rows_with(collection, "id", ids, ["id"])}
        if missing := [row for row in rows if row["id"] not in there]:
            self._db.upsert(collection, missing)

    def settled(self, collection: str) -> None:
        """Wait for imports that a process which is gone has started, with any result."""
        with self._imports() as imports:
            for job in imports.running(collection):
                self._over(imports, collection, job)

    def _wait(self, imports: _Imports, collection: str, job: str) -> None:
        state, why = self._over(imports, collection, job)
        if state != "Completed":
            raise NOT_IMPORTED(collection=collection, why=why or state)

    def _over(self, imports: _Imports, collection: str, job: str) -> tuple[str, str]:
        until = time.monotonic() + _LONGEST_S
        while True:
            state, why = imports.state(job)
            if state == "Completed" or state.startswith("Failed"):
                return state, why
            if time.monotonic() > until:
                raise NOT_IMPORTED(collection=collection, why=f"{state}, {_LONGEST_S:.0f} s")
            time.sleep(_LOOK_S)

    @contextmanager
    def _imports(self) -> Iterator[_Imports]:
        uri, token, database = self._place
        if self._by_http:
            yield _HttpImports(uri, token, database, self._timeout_s)
            return
        pymilvus = importlib.import_module("pymilvus")
        alias = f"bulk-{uuid.uuid4().hex}"
        with warnings.catch_warnings():
            # The client has no other interface for servers of that age, and warns that it will be gone.
            warnings.simplefilter("ignore")
            pymilvus.connections.connect(alias, uri=uri, token=token, db_name=database, timeout=self._timeout_s)
            try:
                yield _GrpcImports(pymilvus.utility, alias, self._timeout_s)
            finally:
                pymilvus.connections.disconnect(alias)


class _GrpcImports:
    """Of servers before 2.4."""

    def __init__(self, utility: Any, alias: str, timeout_s: float) -> None:
        self._utility = utility
        self._more = {"using": alias, "timeout": timeout_s}

    def begin(self, collection: str, file: str) -> str:
        return str(self._utility.do_bulk_insert(collection, [file], **self._more))

    def state(self, job: str) -> tuple[str, str]:
        found = self._utility.get_bulk_insert_state(int(job), **self._more)
        return str(found.state_name), str(found.failed_reason or "")

    def running(self, collection: str) -> list[str]:
        tasks = self._utility.list_bulk_insert_tasks(collection_name=collection, **self._more)
        return [str(task.task_id) for task in tasks if task.state_name in ("Pending", "Started", "Persisted")]


class _HttpImports:
    """Of servers from 2.4 on, by the documentation of ``/v2/vectordb/jobs/import``; untried."""

    def __init__(self, uri: str, token: str, database: str, timeout_s: float) -> None:
        self._uri = uri.rstrip("/")
        self._token = token
        self._database = database or "default"
        self._timeout_s = timeout_s

    def begin(self, collection: str, file: str) -> str:
        made = self._ask("create", {"collectionName": collection, "files": [[file]]})
        return str(made["jobId"])

    def state(self, job: str) -> tuple[str, str]:
        found = self._ask("get_progress", {"jobId": job})
        return str(found.get("state", "")), str(found.get("reason", ""))

    def running(self, collection: str) -> list[str]:
        found = self._ask("list", {"collectionName": collection}).get("records", [])
        return [str(item["jobId"]) for item in found if item.get("state") in ("Pending", "Importing")]

    def _ask(self, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        import httpx

        answer = httpx.post(
            f"{self._uri}/v2/vectordb/jobs/import/{what}",
            json={"dbName": self._database, **body},
            headers={"Authorization": f"Bearer {self._token}"} if self._token else {},
            timeout=self._timeout_s,
        )
        answer.raise_for_status()
        reply = answer.json()
        if reply.get("code") not in (0, 200):
            raise NOT_IMPORTED(collection=str(body.get("collectionName", "")), why=str(reply.get("message", "")))
        return dict(reply.get("data") or {})
