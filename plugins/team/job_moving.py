"""Copying jobs that are not over between the folder of a machine and the table of a database."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.database.databases import Databases
from engine.database.moving import Checksum, MovedTable, Row
from engine.errors import RecordError
from engine.knowledge import manifest as manifests
from engine.knowledge.job_folder import as_left
from engine.knowledge.manifest import Manifest
from plugins.team.jobs import JobTable

_NAME = "jobs"


@dataclass(frozen=True, slots=True)
class JobMove:
    """Plan of a copy, after a check of both sides; it waits there to be resumed."""

    folder: Path
    """Where the jobs of this machine are."""
    table: JobTable
    into_table: bool
    found: Mapping[str, Row]
    """What each job of the source was asked to do, by its id."""
    source: str
    target: str

    @classmethod
    def planned(cls, folder: Path, source: Databases, target: Databases) -> JobMove:
        """Read the source; raises ``JobDamaged`` for a job that cannot be read, and ``JobsUnreachable``."""
        shared, into_table = source.by_part.get("team"), False
        if shared is None:
            shared, into_table = target.by_part["team"], True
        table = JobTable(shared)
        found = _in_folder(folder) if into_table else _in_table(table)
        places = (str(folder), shared.place)
        return cls(folder, table, into_table, found, *(places if into_table else reversed(places)))

    def done(self) -> MovedTable:
        """Write what is missing, and read it again.

        Raises ``JobsUnreachable``, ``JobError.disk_full``, ``JobError.folder_unusable`` and ``RecordError``.
        """
        present = (
            self.table.rows().keys() if self.into_table else {path.name for path in manifests.jobs_in(self.folder)}
        )
        missing = self.found.keys() - present
        for job_id in sorted(missing):
            if self.into_table:
                manifest = manifests.read(self.folder / job_id)
                status = as_left(manifest, manifests.journal_of(self.folder / job_id))
                self.table.add(manifest, status, self.folder / job_id, owner="")
            else:
                self.table.fetch(job_id, self.folder / job_id)
        there = _in_table(self.table) if self.into_table else _in_folder(self.folder)
        if any(there.get(job_id) != row for job_id, row in self.found.items()):
            raise RecordError.move_differs(table=_NAME, source=self.source, target=self.target)
        checksum = Checksum()
        for row in self.found.values():
            checksum.add(row)
        return MovedTable(_NAME, len(self.found), len(missing), checksum.text)


def _in_folder(folder: Path) -> dict[str, Row]:
    return {path.name: _row(manifests.read(path), path) for path in manifests.jobs_in(folder)}


def _in_table(table: JobTable) -> dict[str, Row]:
    """Jobs of a table that are not done, each as it would be in a folder."""
    found = {}
    for job_id, row in table.rows().items():
        if row.status.state != "done":
            with TemporaryDirectory() as scratch:
                folder = Path(scratch) / job_id
                table.fetch(job_id, folder)
                found[job_id] = _row(manifests.read(folder), folder)
    return found


def _row(manifest: Manifest, folder: Path) -> Row:
    """Return the identity of a job: its request, and the contents of the uploads."""
    asked = manifests.text_of(replace(manifests.moved(manifest, Path()), owner=""))
    uploads = (hashlib.sha256(path.read_bytes()).hexdigest() for path in manifests.uploads_of(manifest, folder))
    return (asked, *uploads)
