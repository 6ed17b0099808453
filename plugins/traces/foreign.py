"""A trace of another program as what it did: searches, verdicts, calls and an answer, from any format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.values import ModelCall, OriginNote, PassageId, TraceTool


@dataclass(frozen=True, slots=True)
class ForeignPassage:
    """A document that a search gave, by its own id or else by a hash of its text."""

    id: PassageId
    text: str
    source: str = ""
    title: str = ""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ForeignSearch:
    """One round of searching: one query, or several at once whose lists were merged."""

    query: str
    passages: tuple[ForeignPassage, ...]
    """Best first, each once."""
    start_ms: float = 0.0
    end_ms: float = 0.0
    lists: int = 1
    """How many lists were merged by reciprocal rank."""
    reranked: bool = False


@dataclass(frozen=True, slots=True)
class ForeignVerdict:
    """Verdict by the other program, or a person who annotated its trace, on a passage in a round."""

    round: int
    passage: PassageId
    relevant: bool | None
    score: float | None = None
    """P(relevant), in [0, 1]; None where it was yes or no alone."""
    reason: str = ""
    grader: str = ""


@dataclass(frozen=True, slots=True)
class ForeignTrace:
    """One question put to another program."""

    tool: TraceTool
    trace_id: str
    project: str
    question: str
    started_at: str
    """ISO 8601, UTC."""
    duration_ms: float
    searches: tuple[ForeignSearch, ...]
    verdicts: tuple[ForeignVerdict, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    answer: str = ""
    answered_ms: tuple[float, float] = (0.0, 0.0)
    graded_ms: tuple[tuple[float, float], ...] = ()
    """By round: from when to when its passages were graded."""
    given: tuple[PassageId, ...] | None = None
    error: str = ""
    notes: tuple[OriginNote, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of a file that could not be used, with the reason as a code."""

    code: str
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recognised:
    """Contents of a file of traces."""

    traces: tuple[ForeignTrace, ...]
    spans: int
    left_out: tuple[LeftOut, ...] = ()
