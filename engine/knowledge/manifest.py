"""Request of a job in a folder of its own, read again by the process that resumes it.

Uploads are kept in that folder until the job is done; files on this machine are named by their path and not copied.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from engine.errors import InvalidConfig, JobDamaged
from engine.knowledge.items import IngestItem
from engine.knowledge.journal import disk_fault
from engine.library.values import DEFAULT_CHUNKS, ChunkOptions, JobKind
from engine.model.values import Fault, PassageContext

DONE_BY: Mapping[JobKind, str] = {"index": "scale"}
"""The plug-in that does the jobs of a kind, where that is not the core's own."""

_FORMAT = 1
_FILE = "manifest.json"
_JOURNAL = "journal.db"
_REPLIES = "summaries.jsonl"
_UPLOADS = "uploads"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One job as it was started."""

    id: str
    kind: JobKind
    collection: str
    """Where passages go, or drafts come from; empty for the download of a model."""
    started_at: str
    owner: str
    """The process that works on it; see ``engine.database.instance``."""
    items: tuple[IngestItem, ...] = ()
    failed: tuple[tuple[str, Fault], ...] = ()
    """What could not even become an item."""
    chunks: ChunkOptions = DEFAULT_CHUNKS
    embedding_model: str = ""
    query_prefix: str | None = None
    passage_prefix: str | None = None
    context: PassageContext | None = None
    """The form of context of a new collection; None: that of all new ones, of a re-embedding that of its origin."""
    context_model: str = ""
    """What writes its sentences in the form ``written``."""
    description: str = ""
    origin: str = ""
    """Of a re-embedding: the collection that passages come from."""
    switch: bool = False
    graph: str = ""
    """What reads the knowledge graph, ``builtin`` or a chat model; of an ingestion empty where none is wanted."""
    index: str = ""
    """Of the job of an index: the one to build; empty where the one that is there is only measured."""
    model: str = ""
    """The one that is downloaded, or that writes drafts."""
    limit: int = 0
    """Questions to draft at most."""
    author: str = ""
    """Who began it, where people sign in."""
    ended: Literal["", "stopped", "failed"] = ""
    """How it ended without being done; empty while it is running, and where its process died."""
    fault: Fault | None = None
    """What ended it as failed."""

    def same_work(self, other: Manifest) -> bool:
        """Return whether the other is about the same files in the same way; uploads are never the same."""
        if any(item.data is not None for item in (*self.items, *other.items)):
            return False
        own = replace(self, id="", started_at="", owner="", author="", ended="", fault=None)
        return own == replace(other, id="", started_at="", owner="", author="", ended="", fault=None)


def journal_of(folder: Path) -> Path:
    """Return the path of a job's journal in its folder."""
    return folder / _JOURNAL


def replies_of(folder: Path) -> Path:
    """Return the path where a job keeps what a chat model has replied."""
    return folder / _REPLIES


def keep(folder: Path, manifest: Manifest) -> Manifest:
    """Write a new job's uploads and its manifest; the manifest then has paths only.

    The manifest comes last, so a folder without one is no job. Raises ``JobError`` and leaves nothing behind.
    """
    with _translated_errors(folder):
        try:
            (folder / _UPLOADS).mkdir(parents=True)
            kept = replace(manifest, items=tuple(_spooled(folder, manifest.items)))
            rewrite(folder, kept)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return kept


def rewrite(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in the place of the one that is there, at once or not at all; raises as :func:`keep`."""
    scratch = folder / f"{_FILE}.tmp"
    with _translated_errors(folder):
        with scratch.open("w", encoding="ascii") as file:
            file.write(text_of(manifest))
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(folder / _FILE)


def read(folder: Path) -> Manifest:
    """The manifest of a folder; raises ``JobDamaged`` where it cannot be read."""
    try:
        text = (folder / _FILE).read_text(encoding="ascii")
    except OSError as error:
        raise JobDamaged(job=folder.name, why=error.strerror or type(error).__name__) from error
    except ValueError as error:
        raise JobDamaged(job=folder.name, why=str(error)) from error
    return from_text(folder, text)


def text_of(manifest: Manifest) -> str:
    """A manifest as the text of its file."""
    return json.dumps(_plain(manifest), indent=1)


def from_text(folder: Path, text: str) -> Manifest:
    """Read what :func:`text_of` wrote of the job of a folder; raises ``JobDamaged``."""
    try:
        return _manifest(folder, json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, InvalidConfig) as error:
        raise JobDamaged(job=folder.name, why=str(error)) from error


def put_uploads(folder: Path, blocks: Iterable[Iterable[Any]]) -> None:
    """Write uploads from their names, numbers of blocks and contents, in order; raises as :func:`keep`."""
    with _translated_errors(folder):
        uploads = folder / _UPLOADS
        uploads.mkdir(parents=True, exist_ok=True)
        for name, block, content in blocks:
            with (uploads / Path(name).name).open("ab" if block else "wb") as file:
                file.write(content)


def uploads_of(manifest: Manifest, folder: Path) -> Iterator[Path]:
    """The uploads among the files of a job, without those that it only names."""
    for item in manifest.items:
        if item.path is not None and item.path.parent == folder / _UPLOADS:
            yield item.path


def moved(manifest: Manifest, folder: Path) -> Manifest:
    """A manifest of another machine's folder, with its uploads in the folder here."""

    def here(item: IngestItem) -> IngestItem:
        if item.path is None or item.path.parent.parts[-2:] != (manifest.id, _UPLOADS):
            return item
        return replace(item, path=folder / _UPLOADS / item.path.name)

    return replace(manifest, items=tuple(here(item) for item in manifest.items))


def jobs_in(folder: Path) -> list[Path]:
    """The folders of jobs below a folder, which may be missing."""
    return sorted(path for path in folder.iterdir() if is_job(path)) if folder.is_dir() else []


def is_job(folder: Path) -> bool:
    return (folder / _FILE).exists()


def forget(folder: Path) -> None:
    """Remove a job's folder, the manifest first: what is left of it then is no job any more."""
    (folder / _FILE).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _spooled(folder: Path, items: Sequence[IngestItem]) -> Iterator[IngestItem]:
    archives: dict[int, Path] = {}
    """By the identity of the bytes, which the files of one archive share."""
    for number, item in enumerate(items):
        if item.data is None:
            yield replace(item, path=item.path.absolute() if item.path else None)
            continue
        place = archives.get(id(item.data)) or folder / _UPLOADS / f"{number:05}"
        if id(item.data) not in archives:
            place.write_bytes(item.data)
            archives[id(item.data)] = place
        yield replace(item, data=None, path=place)


@contextmanager
def _translated_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise disk_fault(error, str(folder)) from error


def _plain(manifest: Manifest) -> dict[str, Any]:
    plain = asdict(replace(manifest, items=(), failed=()))
    items = [[item.name, str(item.path) if item.path else "", item.hidden, item.member] for item in manifest.items]
    failed = [[name, asdict(fault)] for name, fault in manifest.failed]
    return {**plain, "format": _FORMAT, "items": items, "failed": failed}


def _manifest(folder: Path, plain: dict[str, Any]) -> Manifest:
    """Read a manifest.

    Raises ``ValueError``, ``KeyError``, ``TypeError`` or ``InvalidConfig`` for what this program did not write.
    """
    if plain["format"] != _FORMAT or plain["id"] != folder.name:
        raise ValueError("it is of another version, or not of this folder")
    # Jobs of earlier versions, which left out all that is hidden, do not say so.
    items = [
        IngestItem(str(name), Path(path) if path else None, hidden=bool(rest and rest[0]), member="".join(rest[1:]))
        for name, path, *rest in plain["items"]
    ]
    failed = [(str(name), Fault(**fault)) for name, fault in plain["failed"]]
    return _adapter().validate_python({**plain, "items": items, "failed": failed})


@cache
def _adapter() -> TypeAdapter[Manifest]:
    return TypeAdapter(Manifest)
