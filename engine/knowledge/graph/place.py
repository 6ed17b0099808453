"""The place where knowledge graphs are kept, for the page that shows how every part is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """What was found when a store of graphs was looked at."""

    version: str
    """Of the server with its edition, or of SQLite."""
    graphs: int
    """Those of this workbench."""
    size: int | None = None
    """Bytes of the file; None for a server."""
