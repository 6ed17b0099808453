"""Lessons from one collection's judgements for a grader, as a run applies them."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

FitKind = Literal["calibration", "coefficients", "examples"]
"""A table from raw scores to P(relevant); coefficients of the built-in grader; examples for a chat model."""


@dataclass(frozen=True, slots=True)
class GraderFit:
    """A fit of one grader to one collection; equal content has an equal id, and is never changed."""

    kind: FitKind
    model: str
    """The grader, as a config names it without a fit."""
    collection: str
    data: Mapping[str, Any]
    """All that verdicts depend on, as JSON holds it."""
    judgements: int = 0
    """Labelled pairs that it was fitted on."""
    assumed: int = 0
    """Of these, pairs whose label is assumed."""
    figures: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """Held-out figures before and after, by name."""
    made_at: str = ""
    """ISO 8601, UTC."""
    author: str = ""

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits of a hash of all that verdicts depend on."""
        content = json.dumps([self.kind, self.model, self.collection, self.data], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @property
    def name(self) -> str:
        """The grader with this fit, as a config names it."""
        return f"{self.model}#{self.id}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values: what it is and how good it was, without what verdicts depend on."""
        told = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("data", "figures")}
        return {"name": self.name, **told, "figures": {name: list(pair) for name, pair in self.figures.items()}}


def calibrated(table: Mapping[str, Any], raw: float) -> float:
    """P(relevant) of a raw score by a table of ``scores`` and ``chances``.

    ``scores`` rise, and ``chances`` never fall; there are 2n + 1 of them for n scores: below the first, at it, between
    it and the second, and so on.
    """
    scores = table["scores"]
    return float(table["chances"][bisect_left(scores, raw) + bisect_right(scores, raw)])
