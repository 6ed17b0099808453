"""Advice by size of a collection, from the table that ``python -m tests.benchmarks growth`` measures."""

from __future__ import annotations

from engine.knowledge.milvus_connection import embedded
from engine.library.values import Advice, GrowthAdvice
from engine.roles import CollectionInfo

LITE_SEARCH_MS: tuple[tuple[int, float], ...] = ((1_000, 5.3), (10_000, 27.0), (100_000, 215.0))
"""Passages and the median milliseconds of one search by vectors in the embedded store, 384 dimensions, two cores.

Searching by words as well takes 34, 203 and 1 573 ms there; a server searches by vectors in 6, 8 and 10 ms.
"""
SLOW_FROM = 20_000
"""Passages in an embedded store from which a server is several times as fast, and fused searches are felt."""
LARGE_FROM = 100_000
"""Passages in an embedded store that take 6 s to open, 1.8 GB of memory and over a second for a fused search.

Nothing larger was measured.
"""


def advice(info: CollectionInfo, address: str) -> GrowthAdvice | None:
    """Advice for the owner of a collection in the store at ``address``; None where its size is no trouble."""
    if not embedded(address) or info.passages < SLOW_FROM:
        return None
    code: Advice = "lite_large" if info.passages >= LARGE_FROM else "lite_slow"
    return GrowthAdvice(code, info.passages, lite_search_ms(info.passages))


def lite_search_ms(passages: int) -> float:
    """Expected milliseconds of a search: proportional between the measured sizes and beyond, for all rows are read."""
    (fewer, quick), *rest = LITE_SEARCH_MS
    if passages <= fewer:
        return quick
    for more, slow in rest:
        if passages <= more:
            return quick + (slow - quick) * (passages - fewer) / (more - fewer)
        fewer, quick = more, slow
    return quick * passages / fewer
