"""Another index in the place of that of a collection on a server: built on request, and finished after a crash.

It is built from the vectors that the server has: nothing is embedded or sent. The collection is released for
the seconds in which the old index is dropped and the new one started. While that is built, a server searches with a
makeshift index of its own, which finds less (55 % of the nearest ten of 10 000 clustered passages, Milvus 2.3.5), and
so it does with what was put in a moment ago and is in no segment yet. What is about to be done is noted in the
catalogue first, so that the next opening finishes what a crash cut off: a collection without an index cannot be
searched at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from engine.knowledge.milvus_catalogue import Catalogue
from engine.knowledge.milvus_database import Database

_log = logging.getLogger(__name__)


class IndexChanges:
    """Blocks, and raises foreign exceptions untranslated; ``forget`` gets each name whose index changed."""

    def __init__(self, db: Database, catalogue: Catalogue, forget: Callable[[str], object]) -> None:
        self._db = db
        self._catalogue = catalogue
        self._forget = forget

    def change(self, name: str, kind: str, build: Mapping[str, int]) -> None:
        """Begin to build another index; one of that kind, built with the same numbers, stays as it is."""
        self._catalogue.put_change(_noted(name), {"do": "index", "name": name, "kind": kind, "build": dict(build)})
        self._make(name, kind, build)

    def finish(self) -> None:
        """Begin those that an earlier process noted and did not come to; the others are not held up by one."""
        for change in self._catalogue.changes().values():
            if change["do"] == "index":
                try:
                    self._make(str(change["name"]), str(change["kind"]), dict(change["build"]))
                except Exception:
                    _log.exception("the index of collection %r could not be finished", change["name"])

    def _make(self, name: str, kind: str, build: Mapping[str, int]) -> None:
        if self._db.there(name):
            # Our own collections call it so, whichever version made them.
            if not _same(self._db.index_of(name, "vector"), kind, build):
                self._db.reindex(name, "vector", kind, build)
            self._db.load(name)
        self._forget(name)
        self._catalogue.forget_change(_noted(name))


def _same(found: Mapping[str, Any], kind: str, build: Mapping[str, int]) -> bool:
    return found.get("index_type") == kind and all(str(found.get(name)) == str(value) for name, value in build.items())


def _noted(name: str) -> str:
    """Under what the change is noted: not the name itself, whose own note may be of another change."""
    return f"{name} indexed"
