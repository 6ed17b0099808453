"""A job as its folder describes it: as it was started, as a process that died left it, and what it has paid for."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from engine.errors import JobDamaged, WorkbenchError
from engine.knowledge import manifest as manifests
from engine.knowledge.journal import Entry, Journal
from engine.knowledge.manifest import Manifest
from engine.knowledge.progress import IngestReport, Pace, Progress
from engine.library.values import JobState, JobStatus


def begun(manifest: Manifest, state: JobState) -> JobStatus:
    """A job known only by what it was asked to do."""
    status = JobStatus(manifest.id, manifest.kind, manifest.collection, state, manifest.started_at, _files(manifest))
    model = manifest.graph if manifest.kind == "graph" else manifest.model
    return replace(status, extractor=model, author=manifest.author)


def take_over(earlier: Path, place: Path, manifest: Manifest) -> None:
    """Let a new job have what an unfinished one for the same work has paid for."""
    with suppress(OSError):
        shutil.copyfile(manifests.replies_of(earlier), manifests.replies_of(place))
    if manifest.kind in ("graph", "draft", "pull"):  # passages are in the graph, and parts of models at Ollama
        return
    journal = Journal(manifests.journal_of(place))
    journal.take_vectors(manifests.journal_of(earlier))
    journal.close()


def journal_at(path: Path) -> Journal:
    """A job's journal; a damaged one is started over, which costs time and nothing else."""
    try:
        return Journal(path)
    except JobDamaged:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
        return Journal(path)


def as_left(manifest: Manifest, path: Path) -> JobStatus:
    """A job that another process left: how that ended, and how far its journal says that it was."""
    status = replace(begun(manifest, manifest.ended or "interrupted"), fault=manifest.fault)
    seen: list[Progress] = []
    pace = Pace(seen.append, manifest.failed, status.files)
    entries, waiting = _noted(path)
    for entry in entries:
        pace.read(entry)
    pace.planned(entries)
    pace.reused(0)
    last = seen[-1]
    # Summaries are embedded with their source, and are no passages.
    done = min(last.done + waiting, last.total)
    return replace(with_report(status, last.report), done=done, total=last.total, files_done=last.files_done)


def _noted(path: Path) -> tuple[list[Entry], int]:
    """List the result of every file, and the number of vectors already stored for the current one."""
    if not path.exists():
        return [], 0
    try:
        journal = Journal(path)
        try:
            return journal.entries(), journal.waiting()
        finally:
            journal.close()
    except WorkbenchError:
        return [], 0


def _files(manifest: Manifest) -> int:
    return len(manifest.items) + len(manifest.failed)


def with_report(status: JobStatus, report: IngestReport) -> JobStatus:
    return replace(
        status,
        added=report.added,
        replaced=report.replaced,
        skipped=report.skipped_duplicates,
        failed=report.failed,
        notes=report.notes,
        passages=report.passages,
        unreadable=report.unreadable or status.unreadable,
    )
