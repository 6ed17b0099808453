"""Adding full text to a collection of an earlier version: its rows are copied into a new one that takes its place.

Fields cannot be added to a collection, so it is made again beside the old one, from the stored vectors: nothing is
embedded. Until the copy is whole the old one stays as it is; from then on a note in the catalogue lets the next opening
finish what a crash cut off. Every step of that may be done twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from engine.knowledge.full_text import SEGMENTING
from engine.knowledge.milvus_catalogue import Catalogue
from engine.knowledge.milvus_connection import Client
from engine.knowledge.milvus_names import CollectionNames
from engine.knowledge.milvus_reading import RowReader
from engine.knowledge.milvus_schema import RESERVED_PREFIX, Layout, own_layout_of, row
from engine.knowledge.milvus_words import WordIndex
from engine.knowledge.milvus_writing import RowWriter
from engine.roles import CollectionInfo

_log = logging.getLogger(__name__)

_COPY = f"{RESERVED_PREFIX}copy_"
_OLD = f"{RESERVED_PREFIX}old_"
_BATCH = 500

CopyProgress = Callable[[int, int], None]
"""Told rows copied and all rows; what it raises stops the copying, and the collection stays as it was."""


class FullTextCopy:
    """Blocks, and raises foreign exceptions untranslated; ``forget`` is told each name whose layout changed."""

    def __init__(
        self,
        client: Client,
        catalogue: Catalogue,
        names: CollectionNames,
        *,
        words: WordIndex,
        reader: RowReader,
        writer: RowWriter,
        forget: Callable[[str], object],
        timeout_s: float,
    ) -> None:
        self._client = client
        self._catalogue = catalogue
        self._names = names
        self._words = words
        self._reader = reader
        self._writer = writer
        self._forget = forget
        self._timeout_s = timeout_s

    def make(self, info: CollectionInfo, layout: Layout, progress: CopyProgress | None) -> None:
        """Copy and swap; raises ``FullTextMissing`` where the store has no full-text search."""
        name, copy = info.name, f"{_COPY}{info.name}"
        if not self._words.analyzer:
            raise self._words.missing(name)
        self._drop(copy)  # left behind by one that was cut off
        try:
            if not self._words.make_collection(copy, info.dim):
                raise self._words.missing(name)
            self._fill(copy, name, layout, progress)
        except BaseException:
            self._drop(copy)
            raise
        self._catalogue.put_change(_noted(name), {"do": "swap", "name": name, "aliases": list(info.aliases)})
        self.swap(name, list(info.aliases))

    def finish(self) -> None:
        """Swap where a crash came between, and remove copies that never became whole."""
        for change in self._catalogue.changes().values():
            if change["do"] == "swap":
                try:
                    self.swap(str(change["name"]), list(change["aliases"]))
                except Exception:
                    _log.exception("the full text of collection %r could not be finished", change["name"])
        if self._words.embedded:  # of a server, another process may be making one right now
            for found in self._client.list_collections(timeout=self._timeout_s):
                if found.startswith(_COPY):
                    self._drop(found)

    def swap(self, name: str, aliases: list[str]) -> None:
        """Let the whole copy take the collection's name and aliases, and remove the old one."""
        copy, old = f"{_COPY}{name}", f"{_OLD}{name}"
        if self._there(copy):
            if self._there(name) and not self._there(old):
                self._client.rename_collection(name, old, timeout=self._timeout_s)
            self._client.rename_collection(copy, name, timeout=self._timeout_s)
        self._forget(name)
        self._client.load_collection(name, timeout=max(self._timeout_s, 60.0))
        for alias in aliases:
            self._names.set_alias(alias, name)
        recorded = self._catalogue.collection(name)
        if recorded is not None:
            info = CollectionInfo(name=name, **recorded)
            self._catalogue.put_collection(replace(info, full_text=True, segmenting=SEGMENTING))
        self._drop(old)
        self._catalogue.forget_change(_noted(name))

    def _fill(self, copy: str, name: str, layout: Layout, progress: CopyProgress | None) -> None:
        description = self._client.describe_collection(copy, timeout=self._timeout_s)
        into = own_layout_of(layout.dim, description)
        ids = self._reader.ids(name, layout)
        for start in range(0, len(ids), _BATCH):
            page = self._reader.page(name, layout, ids[start : start + _BATCH])
            rows = [
                row(passage, vector.tolist(), kinded=bool(into.kind), worded=bool(into.words))
                for passage, vector in page
            ]
            self._writer.upsert(copy, rows)
            if progress is not None:
                progress(min(start + _BATCH, len(ids)), len(ids))

    def _there(self, name: str) -> bool:
        return bool(self._client.has_collection(name, timeout=self._timeout_s))

    def _drop(self, name: str) -> None:
        if self._there(name):
            self._client.drop_collection(name, timeout=self._timeout_s)


def _noted(name: str) -> str:
    """Under what the swap is noted: not the name itself, whose own note may be of another change."""
    return f"{name} copied"
