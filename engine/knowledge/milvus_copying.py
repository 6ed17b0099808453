"""Adding full text to a collection of an earlier version: its rows are copied into a new one that takes its place.

Fields cannot be added to a collection, so it is made again next to the old one, from the stored vectors: nothing is
embedded. Until the copy is whole the old one stays as it is; from then on a note in the catalogue lets the next opening
finish what a crash cut off. Every step of that may be done twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from engine.builtin.full_text import SEGMENTING
from engine.knowledge.milvus_catalogue import Catalogue
from engine.knowledge.milvus_database import BATCH, Database
from engine.knowledge.milvus_names import CollectionNames
from engine.knowledge.milvus_reader import CollectionReader
from engine.knowledge.milvus_schema import RESERVED_PREFIX, own_layout_of
from engine.knowledge.milvus_words import WordIndex
from engine.roles import CollectionInfo

_log = logging.getLogger(__name__)

_COPY = f"{RESERVED_PREFIX}copy_"
_OLD = f"{RESERVED_PREFIX}old_"

CopyProgress = Callable[[int, int], None]
"""Receives rows copied and all rows; what it raises stops the copying, and the collection stays as it was."""


class FullTextCopy:
    """Blocks, and raises foreign exceptions untranslated; ``forget`` gets each name whose layout changed."""

    def __init__(
        self,
        db: Database,
        catalogue: Catalogue,
        names: CollectionNames,
        words: WordIndex,
        forget: Callable[[str], object],
    ) -> None:
        self._db = db
        self._catalogue = catalogue
        self._names = names
        self._words = words
        self._forget = forget

    def make(self, info: CollectionInfo, reader: CollectionReader, progress: CopyProgress | None) -> None:
        """Copy and swap; raises ``FullTextMissing`` where the store has no full-text search."""
        name, copy = info.name, f"{_COPY}{info.name}"
        if not self._words.analyzer:
            raise self._words.missing(name)
        self._db.drop(copy)  # left behind by one that was cut off
        try:
            if not self._words.make_collection(copy, info.dim):
                raise self._words.missing(name)
            self._fill(copy, reader, progress)
        except BaseException:
            self._db.drop(copy)
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
        if self._db.embedded:  # of a server, another process may be making one right now
            for found in self._db.names():
                if found.startswith(_COPY):
                    self._db.drop(found)

    def swap(self, name: str, aliases: list[str]) -> None:
        """Let the whole copy take the collection's name and aliases, and remove the old one."""
        copy, old = f"{_COPY}{name}", f"{_OLD}{name}"
        if self._db.there(copy):
            if self._db.there(name) and not self._db.there(old):
                self._db.rename(name, old)
            self._db.rename(copy, name)
        self._forget(name)
        self._db.load(name)
        for alias in aliases:
            self._names.set_alias(alias, name)
        recorded = self._catalogue.collection(name)
        if recorded is not None:
            info = CollectionInfo(name=name, **recorded)
            self._catalogue.put_collection(replace(info, full_text=True, segmenting=SEGMENTING))
        self._db.drop(old)
        self._catalogue.forget_change(_noted(name))

    def _fill(self, copy: str, reader: CollectionReader, progress: CopyProgress | None) -> None:
        into = own_layout_of(copy, reader.layout.dim, self._db.describe(copy), reader.layout.context)
        ids = reader.ids()
        for start in range(0, len(ids), BATCH):
            page = reader.page(ids[start : start + BATCH])
            self._db.upsert(copy, [into.row(passage, vector.tolist()) for passage, vector in page])
            if progress is not None:
                progress(min(start + BATCH, len(ids)), len(ids))


def _noted(name: str) -> str:
    """Under what the swap is noted: not the name itself, whose own note may be of another change."""
    return f"{name} copied"
