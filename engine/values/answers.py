"""Answers: what they were written from, what they cite, how they were judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.config import BUILTIN
from engine.values.names import EvaluationDimension, PassageId
from engine.values.rounds import Passage


@dataclass(frozen=True, slots=True)
class Context:
    """What the generator was given, in its order."""

    passages: tuple[Passage, ...]
    cut: tuple[PassageId, ...] = ()
    """Passages left out because the token budget was spent."""
    verified: bool = True
    tokens: int = 0
    token_budget: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker ``[n]`` of the answer and the passage it points to."""

    marker: int
    passage_id: PassageId
    source: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What an evaluator wants changed in an answer: concrete and actionable (SPEC AE-03)."""

    dimension: EvaluationDimension
    text: str
    code: str = ""
    """Of a built-in evaluator, for rendering per language from ``params``; empty where ``text`` is a model's own."""
    params: Mapping[str, str] = field(default_factory=dict)
    quote: str = ""
    """The sentence of the answer that it is about; empty where it is about the whole."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What an evaluator saw of one passage (SPEC AE-04)."""

    passage_id: PassageId
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judgement of an answer; passed exactly where there is nothing to suggest (SPEC AE-03)."""

    passed: bool
    suggestions: tuple[Suggestion, ...] = ()
    evaluator: str = BUILTIN


@dataclass(frozen=True, slots=True)
class Draft:
    """One answer of a run that may write several."""

    index: int
    """From 0."""
    text: str
    citations: tuple[Citation, ...] = ()
    removed_markers: tuple[str, ...] = ()
    attempt: int = 0
    """The pass of the outer loop that wrote it (dual loop)."""
    direct: bool = False
    """Written without a search."""
    evaluation: Evaluation | None = None
    """None where it was not evaluated."""
    seen: tuple[Excerpt, ...] = ()
    """What the evaluator saw of the passages."""
