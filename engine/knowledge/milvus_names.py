"""Names of collections in a store: aliases, renaming, deleting, and taking another's place.

Each change takes several calls, and none of them can be undone by a crash: what is about to be done is noted in the
catalogue first, and finished by the next opening. Every step may be done twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_catalogue import Catalogue
from engine.knowledge.milvus_database import Database
from engine.knowledge.milvus_schema import check_new_name, readable_name
from engine.knowledge.milvus_summaries import SummaryRows
from engine.roles import CollectionInfo

_log = logging.getLogger(__name__)

_SWITCHING_S = 10.0
"""Longest that a read waits for a name; a switch that was cut off is finished by the next opening."""
_LOOK_S = 0.02


class CollectionNames:
    """Methods block and raise foreign exceptions untranslated.

    ``forget`` is called with each name whose layout changed; ``check_own`` raises where a collection must not be
    written to.
    """

    def __init__(
        self,
        db: Database,
        catalogue: Catalogue,
        summaries: SummaryRows,
        *,
        forget: Callable[[str], object],
        check_own: Callable[[str], object],
    ) -> None:
        self._db = db
        self._catalogue = catalogue
        self._summaries = summaries
        self._forget = forget
        self._check_own = check_own

    def real(self, name: str) -> str:
        """The collection that a name or an alias stands for; raises ``UnknownCollection``."""
        if not self._there(name):
            raise UnknownCollection(name=name)
        return str(self._db.describe(name)["collection_name"])

    def real_or_same(self, name: str) -> str:
        return self.real(name) if self._there(name) else name

    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Aliases by collection, in alphabetical order; none from a server that cannot tell."""
        try:
            named = self._db.client.list_aliases(timeout=self._db.timeout_s)["aliases"]
        except Exception:
            # Servers before 2.3 have no such call; nothing else must fail for it.
            return {}
        found: dict[str, list[str]] = {}
        for alias in sorted(filter(readable_name, named)):
            row = self._db.client.describe_alias(alias, timeout=self._db.timeout_s)
            found.setdefault(str(row["collection_name"]), []).append(alias)
        return {name: tuple(values) for name, values in found.items()}

    def set_alias(self, alias: str, collection: str) -> None:
        """Let an alias lead to a collection, wherever it led before; raises ``StoreError`` for a taken name."""
        check_new_name(alias)
        if not self._there(alias):
            self._create_alias(collection, alias)
            return
        leads_to = self.real(alias)
        if leads_to == alias:
            raise StoreError.collection_exists(name=alias)
        if leads_to != collection:
            self._db.client.alter_alias(collection, alias, timeout=self._db.timeout_s)
        self._forget(alias)

    def drop_alias(self, alias: str) -> None:
        """Drop an alias; raises ``StoreError.unknown_alias``."""
        if not self._there(alias) or self.real(alias) == alias:
            raise StoreError.unknown_alias(alias=alias)
        self._drop_alias(alias)
        self._forget(alias)

    def check_free(self, name: str) -> None:
        """Raise ``StoreError`` unless a name can be given."""
        check_new_name(name)
        if self._there(name):
            leads_to = self.real(name)
            if leads_to == name:
                raise StoreError.collection_exists(name=name)
            raise StoreError.alias_taken(alias=name, collection=leads_to)

    def rename(self, name: str, new_name: str, *, keep_old: bool) -> None:
        """Rename a collection with its sources, summaries and aliases; ``keep_old`` makes the old name an alias."""
        self._check_own(name)
        self.check_free(new_name)
        # What is noted under the new name is of a collection that is gone; an unfinished deletion would reach this one.
        self._catalogue.forget_collection(new_name)
        self._catalogue.put_change(name, {"do": "rename", "to": new_name, "keep_old": keep_old})
        self._rename(name, new_name, keep_old)

    def take_place(self, name: str, copy: str, before: str) -> None:
        """Let ``copy`` be called ``name`` from now on, with its aliases, and what was called so ``before``.

        The name leads nowhere between two calls of the store only, and reads wait for its coming back.
        """
        self._check_own(name)
        self._check_own(copy)
        self.check_free(before)
        aliases = list(self.aliases().get(name, ()))
        # What is noted under that name is of a collection that is gone.
        self._catalogue.forget_collection(before)
        change = {
            "do": "switch",
            "name": name,
            "copy": copy,
            "before": before,
            "aliases": aliases,
            "summaries": self._summaries.there(copy),
        }
        self._catalogue.put_change(_switch(name), change)
        self._take_place(name, copy, before, aliases, summaries=bool(change["summaries"]))

    def comes_back(self, name: str) -> bool:
        """Wait for a name that a switch, also of another process, has taken away for a moment; whether it is there."""
        until = time.monotonic() + _SWITCHING_S
        while not self._there(name):
            if _switch(name) not in self._catalogue.changes() or time.monotonic() > until:
                return self._there(name)
            time.sleep(_LOOK_S)
        return True

    def drop(self, name: str) -> None:
        """Delete a collection with its sources, summaries and aliases."""
        self._catalogue.put_change(name, {"do": "drop", "id": self._id(name)})
        self._drop(name)

    def finish(self) -> None:
        """Do what an earlier process noted and did not come to; what cannot be done now is left for the next time."""
        changes = self._catalogue.changes()
        # A switch consists of renames, so these come first.
        for name, change in sorted(changes.items(), key=lambda item: item[1]["do"] == "switch"):
            try:
                self._finish(name, change)
            except Exception:
                _log.exception("the change of collection %r could not be finished", name)

    def _finish(self, name: str, change: Mapping[str, Any]) -> None:
        match change["do"]:
            case "rename":
                self._rename(name, str(change["to"]), bool(change["keep_old"]))
            case "drop" if not self._there(name) or change["id"] == self._id(name):
                self._drop(name)
            case "drop":
                # Another program has made one of this name since: that is not ours to delete.
                self._catalogue.forget_change(name)
            case "switch":
                self._take_place(
                    str(change["name"]),
                    str(change["copy"]),
                    str(change["before"]),
                    list(change["aliases"]),
                    # A version that did not note it moved summaries with each of two renamings.
                    summaries=bool(change.get("summaries", self._summaries.there(str(change["copy"])))),
                )

    def _rename(self, name: str, new_name: str, keep_old: bool) -> None:
        renamed = not self._own(name)
        if not renamed:
            # Before the collection itself: rows without a collection are never shown, while a collection without its
            # row would be taken for another program's.
            self._copy_rows(name, new_name)
            self._db.rename(name, new_name)
        self._forget(name)
        self._forget(new_name)
        self._db.load(new_name)
        self._summaries.rename(name, new_name)
        if keep_old and not self._there(name):
            self._create_alias(new_name, name)
        # With it goes the note of the change.
        self._catalogue.forget_collection(name)

    def _copy_rows(self, name: str, new_name: str) -> None:
        """Copy the summary of one name to another."""
        self._catalogue.put_sources(new_name, self._catalogue.sources(name).values())
        self._copy_own_row(name, new_name)

    def _copy_own_row(self, name: str, new_name: str) -> None:
        recorded = self._catalogue.collection(name)
        if recorded is not None:
            self._catalogue.put_collection(CollectionInfo(name=new_name, **recorded))
        measured = self._catalogue.recall(name)
        if measured is not None:
            self._catalogue.put_recall(new_name, measured)

    def _take_place(self, name: str, copy: str, before: str, aliases: list[str], *, summaries: bool) -> None:
        if self._there(copy):
            if self._own(name) and not self._there(before):
                # Its own row comes last: where that is there, the others have been copied before a crash.
                if self._catalogue.collection(before) is None:
                    self._copy_rows(name, before)
                # While the old collection is still searched: both tell of the same sources, but for their summaries.
                kept = self._catalogue.sources(copy)
                self._catalogue.put_sources(name, kept.values())
                self._catalogue.forget_sources(name, self._catalogue.sources(name).keys() - kept.keys())
                self._db.rename(name, before)
            if not self._there(name):
                # One row and one call: until then the name leads nowhere.
                self._copy_own_row(copy, name)
                self._db.rename(copy, name)
        for changed in (name, copy, before):
            self._forget(changed)
        self._db.load(name)
        self._tidy(name, copy, before, summaries=summaries)
        for alias in aliases:
            self.set_alias(alias, name)
        self._catalogue.forget_change(_switch(name))

    def _tidy(self, name: str, copy: str, before: str, *, summaries: bool) -> None:
        """Let summaries follow their collections, and forget those under the copy's own name."""
        if not summaries or self._summaries.there(copy):
            # Otherwise those of the copy have moved already, and these are no longer the old ones.
            self._summaries.rename(name, before)
        self._summaries.rename(copy, name)
        self._catalogue.forget_collection(copy)

    def _drop(self, name: str) -> None:
        self._forget(name)
        self._summaries.drop(name)
        if self._own(name):
            for alias in self.aliases().get(name, ()):
                self._drop_alias(alias)
            self._db.drop(name)
        self._catalogue.forget_collection(name)

    def _there(self, name: str) -> bool:
        return readable_name(name) and self._db.there(name)

    def _create_alias(self, collection: str, alias: str) -> None:
        self._db.client.create_alias(collection, alias, timeout=self._db.timeout_s)

    def _drop_alias(self, alias: str) -> None:
        self._db.client.drop_alias(alias, timeout=self._db.timeout_s)

    def _id(self, name: str) -> int:
        """A server's number of a collection, which no other ever has; an embedded store has none."""
        return int(self._db.describe(name).get("collection_id") or 0)

    def _own(self, name: str) -> bool:
        """Return whether a collection itself is called so, not only an alias of one."""
        return self._there(name) and self.real(name) == name


def _switch(name: str) -> str:
    """Under what a switch is noted: renaming forgets what is noted under the names that it takes away."""
    return f"{name} switched"
