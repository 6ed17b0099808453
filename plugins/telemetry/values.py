"""Spans of a run before encoding: their events and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Value = str | bool | int | float | tuple[str, ...]
"""What an attribute may be."""
Attributes = Mapping[str, Value]
Annotator = Literal["LLM", "CODE", "HUMAN"]


@dataclass(frozen=True, slots=True)
class Score:
    """Score of a span, or of one document in it."""

    name: str
    label: str
    score: float | None = None
    explanation: str = ""
    """Empty where content is not wanted."""
    by: Annotator = "CODE"
    document: int | None = None
    """Place among the documents of a retriever, from 0; None where the whole span was judged."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    name: str
    at_ns: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """One span; times are nanoseconds since 1970, UTC."""

    id: str
    """Sixteen hexadecimal digits."""
    parent: str
    """Empty for a root without a caller."""
    name: str
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None
    """What is said of a failure; None where there was none."""
    scores: tuple[Score, ...] = ()
    remote_parent: bool = False
    """Whether the parent is a span of another program."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of one run, the root first."""

    id: str
    """Thirty-two hexadecimal digits."""
    spans: tuple[Span, ...]
