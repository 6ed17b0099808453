"""The state of the answer-evaluation loop (AE-06, AE-07)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.flow.state import RunState
from engine.model.values import Context, Draft, Evaluation


class AnswerState(RunState, total=False):
    messages: tuple[Any, ...]
    """The writer's conversation, messages of LangChain: rules, question with passages, then answers and revisions."""
    epoch: int
    """Answers completed so far."""
    last_answer: str
    last_evaluation: Evaluation | None
    """Of ``last_answer``; None before its evaluation, or where that failed."""
    final_answer: str
    retrieved_nodes_score: tuple[Mapping[str, Any], ...]
    """See :func:`engine.workflows.answer_evaluation.policy.scores_of`."""
    context: Context
    draft: Draft
    """The newest complete answer with its resolved citations."""
    writer_failed: bool
    """Whether the newest attempt at a revision came to nothing."""
