"""Memories and routes tried by the dual loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from engine.model.values.answers import Citation
from engine.model.values.names import Strategy
from engine.model.values.rounds import Verdict


@dataclass(frozen=True, slots=True)
class Memory:
    """An earlier question with its answer, as long-term memory keeps it (DL-06)."""

    id: str
    question: str
    answer: str
    collection: str
    run_id: str
    kept_at: str
    """ISO 8601, UTC."""
    passed: bool = True
    """False for an answer that did not pass: kept apart, and never recalled."""
    sources: tuple[str, ...] = ()
    """Names of the sources that the answer cited."""
    fingerprint: str = ""
    """Of the collection as it was then."""
    claim: str = ""
    """What the answer says in one or two sentences, with markers of ``citations``; empty in older memories."""
    citations: tuple[Citation, ...] = ()
    """Of the claim, numbered from 1."""
    claim_by: str = ""
    """The model that put the claim into words; empty where it is the answer's own sentences."""
    from_web: bool = False
    """Whether it rests on a page of the web: untrusted text."""
    similarity: float = 0.0
    """Of its question to the one asked, where it was recalled."""


@dataclass(frozen=True, slots=True)
class Recall:
    """Memories recalled for a question."""

    memories: tuple[Memory, ...] = ()
    """Best first."""
    stale: tuple[str, ...] = ()
    """Ids of memories made when the collection held something else: shown, and not answered from."""
    verdicts: Mapping[str, Verdict] | None = None
    """What the grader says of memories that could be answered from, by id: whether they answer this question. None
    where they were not graded, as in older runs."""
    refused: tuple[str, ...] = ()
    """Ids of memories that did not pass the grader, or that it could not judge: shown, and not answered from."""
    own: tuple[str, ...] = ()
    """Ids of memories that runs of this very question left and a trial left out; they are not among ``memories``."""
    off: bool = False
    """Memory was switched off."""
    failed: bool = False
    """Memory could not be read; a warning says why."""

    @property
    def holding(self) -> tuple[Memory, ...]:
        """The memories that may be answered from, best first."""
        return tuple(item for item in self.memories if item.id not in (*self.stale, *self.refused))


@dataclass(frozen=True, slots=True)
class RouteChoice:
    """First route of the dual loop (DL-02)."""

    route: Literal["direct"] | Strategy
    code: str = ""
    """What it went by (``remembered``, ``smalltalk``, ``overview``, ``specific`` …), for rendering per language."""
    reason: str = ""
    without_memory: Literal["direct"] | Strategy | None = None
    """What would have been chosen had nothing been recalled; None where that is not known."""


@dataclass(frozen=True, slots=True)
class TriedRoute:
    """One strategy of one pass: searched, or why not (DL-03)."""

    strategy: Strategy
    attempt: int
    status: Literal["searched", "nothing_found", "skipped", "failed"]
    why: str = ""
    """Code of a skip or a failure: ``web_off``, ``web_not_set``, ``no_summaries``, or the code of an error."""
