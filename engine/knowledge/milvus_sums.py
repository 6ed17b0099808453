"""Totals over each collection's sources, cached until they change: adding up a million passages takes 0.7 s.

Every change of sources writes a new revision with them, so that a look at one row says whether another process has
changed them. A server may answer with what is some seconds old; so nothing is kept that changed a short while ago.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from engine.knowledge.milvus_catalogue import Catalogue, Revision, SourceRow, Sum, info_of, sum_of
from engine.roles import CollectionInfo

_SETTLED_S = 30.0
"""More than a server is behind, and clocks of two machines are apart."""


class Sums:
    """Blocks, and raises foreign exceptions untranslated; safe to use from several threads."""

    def __init__(self, catalogue: Catalogue, *, embedded: bool) -> None:
        self._catalogue = catalogue
        self._embedded = embedded
        self._kept: dict[str, tuple[str, Sum]] = {}

    def info(self, name: str, recorded: Mapping[str, Any], revision: Revision | None) -> CollectionInfo:
        """Describe a collection; ``revision`` was read before its sources are."""
        kept = self._of(name, revision)
        if kept is None:
            kept = self._keep(name, revision, self._catalogue.sources(name).values())
        return info_of(name, recorded, kept)

    def infos(self, recorded: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> dict[str, CollectionInfo]:
        """Describe several collections; those without a row are left out."""
        revisions = self._catalogue.revisions()
        own = [name for name in names if name in recorded]
        unknown = [name for name in own if self._of(name, revisions.get(name)) is None]
        if len(unknown) > 1:
            # One query for all of them, as when a page is opened for the first time.
            rows = self._catalogue.all_sources()
            sums = {name: self._keep(name, revisions.get(name), rows.get(name, [])) for name in unknown}
            return {
                name: info_of(name, recorded[name], sums[name])
                if name in sums
                else self.info(name, recorded[name], revisions.get(name))
                for name in own
            }
        return {name: self.info(name, recorded[name], revisions.get(name)) for name in own}

    def _of(self, name: str, revision: Revision | None) -> Sum | None:
        known = self._kept.get(name)
        return known[1] if known is not None and revision is not None and known[0] == revision.id else None

    def _keep(self, name: str, revision: Revision | None, rows: Iterable[SourceRow]) -> Sum:
        found = sum_of(list(rows))
        if revision is not None and (self._embedded or time.time() - revision.at > _SETTLED_S):
            self._kept[name] = (revision.id, found)
        return found
