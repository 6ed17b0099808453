"""The grade_documents step of graph + vector retrieval: the shared one, and an eye on the tables of the question."""

from __future__ import annotations

from engine.builtin.table_answer import table_coverage
from engine.flow.context import RunContext
from engine.model.values import Decision
from engine.workflows.graph_hybrid.attached import tables_of
from engine.workflows.graph_hybrid.policy import unless_a_table_answers
from engine.workflows.steps.grade import grade_step


def _settled(decision: Decision, question: str, run: RunContext) -> Decision:
    tables = tables_of(run.attachments)
    return unless_a_table_answers(decision, table_coverage(question, tables)) if tables else decision


grade_documents = grade_step(answering="generate_answer", rewriting="refine_query", settled=_settled)
