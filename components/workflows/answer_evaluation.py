"""Parts drawn only for the answer-evaluation loop."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node
from components.common.workflow_view import WorkflowView
from components.workflows.drafts import draft_nodes
from engine.model.values import RunRecord


class AnswerEvaluation(WorkflowView):
    """Every answer, what its evaluator wanted, and how the next one responded."""

    def evidence(self, record: RunRecord, words: Words) -> list[Node]:
        return draft_nodes(record, words)


OWN = AnswerEvaluation()
