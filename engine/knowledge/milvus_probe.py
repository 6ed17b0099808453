"""Meaning of a store's scores, learned from vectors with known cosines.

Milvus Lite 3.2 and Milvus servers report the cosine itself, Lite 3.0 reported ``1 - cosine``; a store that ranks unlike
vectors first is refused, because every threshold and every order of the workbench would be upside down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import StoreError

PROBE_VECTORS: Mapping[str, tuple[float, float]] = {
    "probe-same": (1.0, 0.0),
    "probe-near": (0.6, 0.8),
    "probe-across": (0.0, 1.0),
    "probe-against": (-1.0, 0.0),
}
"""Best first for the query (1, 0): cosines 1, 0.6, 0 and -1."""

PROBE_QUERY: tuple[float, float] = (1.0, 0.0)

_TOLERANCE = 0.02
"""Quantised indexes return cosines that are off in the third digit."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The line that turns a store's score into a cosine."""

    slope: float = 1.0
    offset: float = 0.0

    def cosine(self, score: float) -> float:
        """Return the cosine of two vectors in [-1, 1]; rounding of the store is cut off."""
        return min(1.0, max(-1.0, self.slope * score + self.offset))


def learn(hits: Sequence[tuple[str, float]], address: str) -> Scores:
    """The meaning of scores, from the probe's hits (id, score) in the store's order.

    Raises ``StoreError`` where the order is not best first, or where scores are no straight line over the cosine.
    """
    if [name for name, _ in hits] != list(PROBE_VECTORS):
        raise StoreError.ranks_unlike_first(address=address)
    expected = np.array([vector[0] for vector in PROBE_VECTORS.values()])
    found = np.array([score for _, score in hits])
    spread = found[0] - found[-1]
    slope = 2.0 / spread if abs(spread) > _TOLERANCE else 0.0
    scores = Scores(slope, 1.0 - slope * float(found[0]))
    if np.abs(scores.slope * found + scores.offset - expected).max() > _TOLERANCE:
        raise StoreError.no_cosines(address=address)
    exact = abs(scores.slope - 1.0) < _TOLERANCE and abs(scores.offset) < _TOLERANCE
    return Scores() if exact else scores
