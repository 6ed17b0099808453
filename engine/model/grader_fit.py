"""Lessons from one collection's judgements for a grader, as a run applies them."""

from __future__ import annotations

import hashlib
import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, cast

from engine.model.language import same_wording
from engine.model.values import Verdict
from engine.model.values.names import VerdictKind

FitKind = Literal["calibration", "coefficients", "examples"]
"""A table from raw scores to P(relevant); coefficients of the built-in grader; examples for a chat model."""
_JUST_BELOW_HALF = math.nextafter(0.5, 0.0)


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
    questions: tuple[str, ...] = ()
    """What it was learnt from, by :func:`taught_by`; nothing guaranteed of a grader may rest on these. Fits from before
    do not say, which counts as every question."""
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

    @property
    def of(self) -> VerdictKind:
        """The kind of verdict that a calibration is for; those from before are for scores."""
        return cast("VerdictKind", self.data.get("of", "score"))

    def learnt(self, question: str) -> bool:
        """Return whether it was learnt from judgements of this question, or does not say of which."""
        return not self.questions or taught_by(question) in self.questions

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values: what it is and how good it was, without what verdicts depend on."""
        left = ("data", "figures", "questions")
        kept = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in left}
        return {
            "name": self.name,
            **kept,
            "questions": len(self.questions),
            "figures": {name: list(pair) for name, pair in self.figures.items()},
        }


def taught_by(question: str) -> str:
    """A short name of a question, the same however it is spaced: 12 hexadecimal digits."""
    return hashlib.sha256(same_wording(question).encode(errors="replace")).hexdigest()[:12]


def raw_of(verdict: Verdict) -> float | None:
    """The number that a calibration of a verdict's kind reads; None where there is none.

    A score and the log-odds of a token as they came. Of a self-reported P that P itself, a *no* at even chances just
    below one half, so that it stays apart from a *yes* there.
    """
    if verdict.relevant is None or verdict.bare:
        return None
    if verdict.raw is not None or verdict.kind != "said" or verdict.fit:
        return verdict.raw
    # Rounded as where it is compared: what was said is 0.9, and not 0.09999999999999998 of the contrary.
    said = round(verdict.p_relevant, 9)
    return said if verdict.relevant else min(said, _JUST_BELOW_HALF)


def chance_of(raw: float, kind: VerdictKind, *, share: bool = False) -> float:
    """P(relevant) without a calibration; ``share``: scores are between 0 and 1, and P(relevant) themselves."""
    return raw if share or kind == "said" else sigmoid(raw)


def refitted(verdict: Verdict, fit: GraderFit | None, *, share: bool = False) -> Verdict | None:
    """The verdict as the same grader would give it with this calibration, or without any.

    A calibration of another kind of verdict leaves it uncalibrated. None where the verdict does not tell, as of one
    with parts, whose numbers were not kept. ``share`` as in :func:`chance_of`.
    """
    if verdict.relevant is None:
        return verdict
    raw = raw_of(verdict)
    if raw is None or verdict.parts:
        return None
    used = fit if fit is not None and fit.of == verdict.kind else None
    chance = calibrated(used.data, raw) if used else chance_of(raw, verdict.kind, share=share)
    relevant = chance >= 0.5
    return replace(
        verdict,
        relevant=relevant,
        confidence=chance if relevant else 1.0 - chance,
        raw=None if verdict.kind == "said" and used is None else raw,
        fit=used.id if used else "",
    )


def sigmoid(logit: float) -> float:
    """Return the logistic function in [0, 1], without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)


def calibrated(table: Mapping[str, Any], raw: float) -> float:
    """P(relevant) of a raw score by a table of ``scores`` and ``chances``.

    ``scores`` rise, and ``chances`` never fall; there are 2n + 1 of them for n scores: below the first, at it, between
    it and the second, and so on.
    """
    scores = table["scores"]
    return float(table["chances"][bisect_left(scores, raw) + bisect_right(scores, raw)])
