"""Answers: what they were written from, what they cite, how they were judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.model.config import BUILTIN
from engine.model.values.calls import Fault
from engine.model.values.graphs import GraphContext
from engine.model.values.names import EvaluationDimension, PassageId, VerdictKind
from engine.model.values.rounds import Passage


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One thing that was to go into the context."""

    kind: Literal["passage", "graph", "table"]
    id: str
    """Of a passage; the number of a table; empty for the graph."""
    tokens: int
    given: bool
    """False where the token budget was spent."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage as refinement saw it; the texts of all of them, joined, are the passage."""

    text: str
    bearing: float
    """On the question, in [0, 1]."""
    kept: bool


@dataclass(frozen=True, slots=True)
class Context:
    """Context of the generator, in order."""

    passages: tuple[Passage, ...]
    cut: tuple[PassageId, ...] = ()
    """Passages left out because the token budget was spent."""
    verified: bool = True
    tokens: int = 0
    token_budget: int = 0
    graph: GraphContext | None = None
    """Entities and relationships given with the passages (graph + vector retrieval)."""
    tables: tuple[int, ...] = ()
    """Tables of the question that were given, from 1."""
    parts: tuple[ContextPart, ...] = ()
    """Everything that was to go in, in its order, with what the budget made of it (graph + vector retrieval)."""
    refined: Mapping[PassageId, tuple[Sentence, ...]] = field(default_factory=dict)
    """Sentences of passages that were cut before generation, kept and cut ones, in the order of the passage.

    Surroundings of which none was kept are among them, and not in ``around``.
    """
    around: Mapping[PassageId, tuple[PassageId, ...]] = field(default_factory=dict)
    """By passage: what was given of its surroundings, in the order of the source; texts are in the record once."""
    around_cut: tuple[PassageId, ...] = ()
    """Surroundings left out because the token budget was spent, in the order in which they were to be added."""

    @property
    def emptied(self) -> tuple[PassageId, ...]:
        """Surroundings that were left out because no sentence of theirs bears on the question."""
        return tuple(name for name, strips in self.refined.items() if not any(item.kept for item in strips))

    @property
    def sentences(self) -> tuple[int, int]:
        """How many sentences of the passages that were cut are kept, of how many."""
        strips = [item for sentences in self.refined.values() for item in sentences]
        return sum(item.kept for item in strips), len(strips)


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker ``[n]`` of the answer and the passage it points to."""

    marker: int
    passage_id: PassageId
    source: str
    section: str = ""
    around: tuple[PassageId, ...] = ()
    """Surroundings of the passage that the cited sentences stand in, where that is not the passage itself."""


@dataclass(frozen=True, slots=True)
class UnsupportedMarker:
    """A marker that was taken out: the passage is there, but the sentence does not follow from it."""

    marker: str
    sentence: str
    support: float
    """Of the sentence by the passage, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class UnsupportedSentence:
    """A sentence of an answer that says what does not stand in what it cites."""

    sentence: str
    """As the answer has it, markers included."""
    missing: tuple[str, ...]
    """Figures, names and code words as the sentence writes them."""
    markers: tuple[int, ...] = ()
    """The passages that it cites, by their markers; where it names none, all that were given were searched."""


@dataclass(frozen=True, slots=True)
class SentenceCheck:
    """A sentence of an answer, held against what it cites."""

    sentence: str
    """As the answer has it, markers included."""
    markers: tuple[int, ...] = ()
    """The passages that it cites; where it names none, all that were given were read."""
    p_supported: float | None = None
    """P(what it cites says this), in [0, 1]; None where that could not be found out."""
    verifier: str = BUILTIN
    kind: VerdictKind = "builtin"
    missing: tuple[str, ...] = ()
    """Figures, names and code words that stand nowhere in it, as the built-in verifier found them."""
    fault: Fault | None = None
    """Why it was not checked; None also for one beyond those that a model is asked about."""


def unsupported_of(checks: Iterable[SentenceCheck], min_support: float) -> tuple[UnsupportedSentence, ...]:
    """The sentences whose P(supported) is below ``min_support``."""
    return tuple(
        UnsupportedSentence(item.sentence, item.missing, item.markers)
        for item in checks
        if item.p_supported is not None and item.p_supported < min_support
    )


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Change that an evaluator requests in an answer: concrete and actionable (AE-03)."""

    dimension: EvaluationDimension
    text: str
    code: str = ""
    """Of a built-in evaluator, for rendering per language from ``params``; empty where ``text`` is a model's own."""
    params: Mapping[str, str] = field(default_factory=dict)
    quote: str = ""
    """The sentence of the answer that it is about; empty where it is about the whole."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Excerpt of one passage for an evaluator (AE-04)."""

    passage_id: PassageId
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judgement of an answer; passed exactly where there is nothing to suggest (AE-03)."""

    passed: bool
    suggestions: tuple[Suggestion, ...] = ()
    evaluator: str = BUILTIN


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a gold answer or an answer says, as a model read it."""

    of: Literal["gold", "answer"]
    """Said by a gold answer: does the answer say it too? By the answer: do the passages bear it out?"""
    text: str
    holds: bool
    reason: str = ""
    gold: int = 0
    """Which gold answer says it, from 0; 0 for claims of the answer."""


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
