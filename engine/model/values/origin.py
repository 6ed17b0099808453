"""Origin of a run made by another program: the contents of its trace, and what it omits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from engine.model.values.names import PassageId

TraceTool = Literal["phoenix", "otlp", "langfuse", "langsmith", "observed"]
"""``observed`` is what the decorators of :mod:`rag_workbench.observe` wrote; ``otlp`` spans of any other program."""
Scale = Literal["given", "unknown"]
OriginNoteCode = Literal[
    "other_path",
    "other_context",
    "would_refuse",
    "context_order",
    "context_unknown",
    "context_elsewhere",
    "no_verdicts",
    "some_ungraded",
    "by_survival",
    "from_annotations",
    "fused",
    "beyond_top_k",
    "cut_depth",
    "no_answer",
    "their_decision",
    "verdicts_unmatched",
    "question_guessed",
    "contents_missing",
]
THEIR_SCALE = "imported"
"""Anchors of a round whose similarities are the scores of another program as they came."""
NO_SCALE = "imported without a scale"
"""Anchors of a round that has only ranks: its similarities stand for nothing."""
IMPORTED = "imported"
"""Provider in the name of a model that the other program asked, and that nothing here can ask."""


@dataclass(frozen=True, slots=True)
class OriginNote:
    """Something of an imported trace that a reader should know; the code has a sentence in ``components/labels``."""

    code: OriginNoteCode
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Origin:
    """The trace of another program that a run was made from.

    Its passages, verdicts, queries and answer are that program's own. Its decisions are not: the policy of the
    four-node loop was applied to them.
    """

    tool: TraceTool
    trace_id: str
    project: str = ""
    imported_at: str = ""
    """ISO 8601, UTC."""
    similarity: Scale = "unknown"
    """``given``: every score lay in [0, 1] and fell with the rank, so that it was taken as it is. ``unknown``: ranks
    alone are known, and no threshold of similarity can be tried."""
    confidence: Scale = "unknown"
    """``unknown``: a verdict is yes or no alone, so that no other threshold of P(relevant) can be tried."""
    given: tuple[PassageId, ...] | None = None
    """What the generator was given there, in its order; None where the trace does not say."""
    graders: tuple[str, ...] = ()
    """Who judged the passages there: models, or how it is known."""
    judged_here: tuple[str, ...] = ()
    """The graders of this workbench that judged what was not judged there."""
    notes: tuple[OriginNote, ...] = ()
