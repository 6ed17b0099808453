"""The samples as a first start leaves them, shipped: copied into an empty folder instead of written row by row.

``stored.zip`` holds the embedded store and the file of graphs, ``stored.json`` their inputs. Both are made by
``python -m engine.samples.precompute``. What does not fit, or is not the samples of today, is put right by the same
code that would have written it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.model.values import Community, PassageId

ARCHIVE, NOTED = "stored.zip", "stored.json"
STORE, GRAPHS = "knowledge.db", "graphs.db"


@dataclass(frozen=True, slots=True)
class Stored:
    """Origin and contents of the shipped store."""

    written_by: str
    """Version of Milvus Lite: another one may not read its files."""
    embedding_model: str
    shipped: str
    """Names the bytes of all shipped sources and graph files."""
    sources: Mapping[str, str]
    """Content hash of every source."""
    graph: str
    """The :func:`graph_digest` of the graph."""


@lru_cache(maxsize=1)
def stored() -> Stored | None:
    """Return the description of the shipped store; None before it was made."""
    entry = _folder() / NOTED
    return Stored(**json.loads(entry.read_text(encoding="utf-8"))) if entry.is_file() else None


@lru_cache(maxsize=1)
def noted() -> Stored | None:
    """The same, as long as it is of the sources and graph files that are shipped: reading them takes 0.1 s."""
    found = stored()
    return found if found is not None and found.shipped == shipped_files() else None


def shipped_files() -> str:
    """Names the bytes of every shipped source and graph file."""
    entries = [*(_folder() / "sources").iterdir(), *(item for item in _folder().iterdir() if _of_a_graph(item.name))]
    found = hashlib.sha256()
    for entry in sorted(entries, key=lambda item: item.name):
        found.update(f"{entry.name}\0".encode() + hashlib.sha256(entry.read_bytes()).digest())
    return found.hexdigest()


def graph_digest(done: Mapping[PassageId, str], communities: Iterable[Community]) -> str:
    """Return a digest of what a graph holds, by what was read of each passage."""
    content = repr((sorted(done.items()), sorted(map(repr, communities))))
    return hashlib.sha256(content.encode()).hexdigest()


def milvus_lite() -> str:
    """Return the installed version of Milvus Lite; empty where it is not installed."""
    try:
        return version("milvus-lite")
    except PackageNotFoundError:
        return ""


def put_stored(store: Path, graphs: Path | None, embedding_model: str) -> None:
    """Copy the shipped store to where none is, and with it the graphs; leave both to be written where it does not fit.

    Either is there whole or not at all, and neither replaces a file that is there.
    """
    made = stored()
    if made is None or store.exists() or (made.written_by, made.embedding_model) != (milvus_lite(), embedding_model):
        return
    # The next write reports a disk that is full or cannot be written to.
    with suppress(OSError):
        store.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".samples-", dir=store.parent, ignore_cleanup_errors=True) as folder:
            with (_folder() / ARCHIVE).open("rb") as file, zipfile.ZipFile(file) as archive:
                archive.extractall(folder)
            Path(folder, STORE).rename(store)
            if graphs is not None and not graphs.exists():
                Path(folder, GRAPHS).rename(graphs)


def _folder() -> Traversable:
    return files("engine.samples")


def _of_a_graph(name: str) -> bool:
    return name.startswith("graph-") and name.endswith(".jsonl")
