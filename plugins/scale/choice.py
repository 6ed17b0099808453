"""Choice of index by number of vectors, its build and search parameters, and its memory: arithmetic only.

The sizes are those of ``docs/scale.md``, measured by ``python -m tests.benchmarks scale``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from engine.knowledge.milvus_reader import MOST_BREADTH, PARAMETER
from plugins.scale.values import IndexKind, IndexOption

EXACT_BELOW = 100_000
"""Passages up to which comparing with every vector takes some 10 ms, and finds everything."""
GRAPH_BELOW = 10_000_000
"""Passages up to which a graph in memory is advised; beyond it, an index of a quarter of the size."""
BREADTHS: Mapping[str, tuple[int, ...]] = {
    "ef": (16, 32, 64, 128, 256, 512),
    "nprobe": (4, 8, 16, 32, 64, 128),
    "search_list": (16, 32, 64, 128, 256),
}
"""Breadths that a measurement tries, by what the store calls them."""
_USUAL: Mapping[str, int] = {"nprobe": 32, "ef": 128, "search_list": 64}
_M = 16
_EF_CONSTRUCTION = 200
_SEGMENT_ROWS = 350_000
"""About so many vectors of 384 dimensions with their texts fill one segment of a server, which is indexed by itself."""
_MB = 1_000_000


def kind_named(name: str) -> IndexKind | None:
    """The index of that name, in capitals or not; None for a name that is none of ours."""
    return next((kind for kind in get_args(IndexKind) if kind == name.strip().upper()), None)


def build_of(kind: IndexKind, passages: int) -> Mapping[str, int]:
    """Return the build parameters of an index over so many passages."""
    if kind == "HNSW":
        return {"M": _M, "efConstruction": _EF_CONSTRUCTION}
    if kind in ("IVF_FLAT", "IVF_SQ8"):
        # Milvus advises four times the root of the vectors of a segment.
        return {"nlist": max(16, min(65_536, round(4 * math.sqrt(min(max(passages, 1), _SEGMENT_ROWS)))))}
    return {}


def usual_breadth(kind: str) -> int:
    """The breadth that an index begins with; 0 where there is none to choose."""
    return _USUAL.get(PARAMETER.get(kind, ""), 0)


def checked_breadth(kind: str, breadth: int) -> int:
    """The breadth within what the store takes; 0 leaves it to the server."""
    most = MOST_BREADTH.get(PARAMETER.get(kind, ""), 0)
    return max(0, min(breadth, most))


def advised(passages: int) -> IndexKind:
    """The index for a collection of that size."""
    if passages < EXACT_BELOW:
        return "FLAT"
    return "HNSW" if passages < GRAPH_BELOW else "IVF_SQ8"


def vector_bytes(kind: IndexKind, dim: int) -> float:
    """Bytes of memory that one vector takes in an index, by its construction."""
    whole = 4.0 * dim
    match kind:
        case "HNSW":
            return whole + 8.0 * _M + 4.0  # two lists of M neighbours on the lowest level, few above
        case "IVF_SQ8":
            return float(dim)
        case "DISKANN":
            return whole / 8.0  # what Milvus keeps of it in memory by default; the rest is on disk
        case _:
            return whole


def options(passages: int, dim: int) -> tuple[IndexOption, ...]:
    """Every index that a collection could have, with what it costs."""
    best = advised(passages)
    return tuple(
        IndexOption(
            kind,
            build_of(kind, passages),
            PARAMETER.get(kind, ""),
            usual_breadth(kind),
            passages * vector_bytes(kind, dim) / _MB,
            kind == best,
        )
        for kind in get_args(IndexKind)
    )
