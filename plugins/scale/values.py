"""View of a collection's index: how its vectors are found, and the cost in recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

IndexKind = Literal["FLAT", "IVF_FLAT", "IVF_SQ8", "HNSW", "DISKANN"]
"""An index that a collection of a Milvus server can be given.

``FLAT`` compares with every vector. ``IVF_FLAT`` looks into the nearest of many cells, ``IVF_SQ8`` does so with one
byte a dimension, ``HNSW`` walks a graph of neighbours, ``DISKANN`` walks one that is on the disk of the server.
"""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The index that a collection has now."""

    kind: str
    """As the store calls it: an :data:`IndexKind`, ``AUTOINDEX`` where the server chose, empty where there is none."""
    build: Mapping[str, int] = field(default_factory=dict)
    """What it was built with, such as ``M`` of HNSW."""
    breadth: int = 0
    """How far a search looks (``ef``, ``nprobe`` or ``search_list``); 0 where that is the server's choice."""
    parameter: str = ""
    """What the store calls the breadth; empty for an index that has none."""
    indexed: int = 0
    """Rows that the index holds; those of small or new segments are compared one by one."""
    rows: int = 0
    changeable: bool = True
    """Whether it can be given another one: not in an embedded store, and not where another program made it."""


@dataclass(frozen=True, slots=True)
class BreadthFigures:
    """Recall and time of searches of one breadth."""

    breadth: int
    """0: as the server chose, or an index without one."""
    recall: float
    """Share of the exact nearest passages that were found, in [0, 1], as a mean over the questions."""
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """One measurement of an index against exact search, with vectors of the collection itself as questions."""

    kind: str
    build: Mapping[str, int]
    passages: int
    """How many were compared; the collection may have grown since."""
    limit: int
    """The k of recall@k."""
    questions: int
    rows: tuple[BreadthFigures, ...]
    measured_at: str
    """ISO 8601, UTC."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values, as :meth:`of` takes them."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> RecallFigures:
        """Read what :meth:`to_dict` wrote; raises ``TypeError`` or ``KeyError`` for anything else."""
        return cls(**{**plain, "rows": tuple(BreadthFigures(**row) for row in plain["rows"])})


@dataclass(frozen=True, slots=True)
class IndexOption:
    """One index that the collection could have, at its size of today."""

    kind: IndexKind
    build: Mapping[str, int]
    parameter: str
    breadth: int
    """The breadth that it begins with."""
    memory_mb: float
    """Memory that the vectors take on the server, by formula and not measured."""
    advised: bool = False


@dataclass(frozen=True, slots=True)
class IndexView:
    """All that a page shows of the index of one collection."""

    collection: str
    state: IndexState
    recall: RecallFigures | None
    options: tuple[IndexOption, ...]
    """Empty where it cannot be changed."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {
            "collection": self.collection,
            "state": asdict(self.state),
            "recall": self.recall.to_dict() if self.recall is not None else None,
            "options": [asdict(option) for option in self.options],
        }
