"""The place where knowledge graphs are kept: what a plug-in offers, and what a look at it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.roles.graph import GraphStore


@dataclass(frozen=True, slots=True)
class GraphPlace:
    """State of a store of graphs."""

    version: str
    """Of the server with its edition, or of SQLite."""
    graphs: int
    """Those of this workbench."""
    size: int | None = None
    """Bytes of the file; None for a server."""


class KeptGraphs(GraphStore, Protocol):
    """A store of graphs that can also say where they are kept."""

    async def look(self) -> GraphPlace: ...


@dataclass(frozen=True, slots=True)
class GraphHome:
    """A place for the graphs of this machine, before anything there is opened."""

    facts: Mapping[str, str]
    """``kind``, which is the plug-in's name unless it is the file, and ``path`` or ``address``, without a login."""
    open: Callable[[], KeptGraphs]
    """Makes the store, which opens nothing before its first call; raises ``GraphStoreError`` for a missing package."""
    file: Path | None = None
    """Where a file keeps them."""
