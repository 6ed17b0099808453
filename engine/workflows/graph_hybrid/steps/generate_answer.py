"""The step that answers: graph, tables and passages within one budget, citations attached sentence by sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

from engine.builtin.abstain import abstained_answer, no_room_for_tables
from engine.builtin.table_work import worked_out
from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import AnswerCompleted, ContextAssembled
from engine.model.language import language_of
from engine.model.values import Context, Round
from engine.retrieval.graph_context import Assembled, assembled
from engine.retrieval.streaming_citations import AttachingCitations
from engine.roles import DirectRequest, GenerationRequest
from engine.workflows.graph_hybrid.attached import tables_of
from engine.workflows.graph_hybrid.roles import GraphRoles
from engine.workflows.steps.citing import Citing

_NODE = "generate_answer"


async def generate_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer from what passed, from the tables of the question, or, where nothing was to be searched, from neither.

    After the deadline this one generation has a reserved allowance of its own, and nothing else runs.
    """
    rounds: tuple[Round, ...] = state.get("rounds", ())
    trace.limit_s = max(run.clock.left_s(), run.generation_allowance_s)
    trace.began_s = run.clock.elapsed_s()
    tables_only = state["decision"].reason == "tables_only"
    if not rounds and not tables_only:
        return await _unsearched(state, run, trace)
    generator = run.roles.generator
    made = assembled(
        state["question"],
        rounds,
        run.config,
        tables=tables_of(run.attachments),
        most_tokens=generator.context_tokens,
        count_tokens=generator.count_tokens,
    )
    run.emit(ContextAssembled(context=made.context))
    if not made.passages and not made.tables:
        answer = no_room_for_tables(state["question"]) if tables_only else abstained_answer(state["question"], rounds)
        run.emit(AnswerCompleted(answer=answer))
        return {}
    citing = Citing(trace, AttachingCitations(made.context.passages, tables_of(run.attachments)))
    worked = worked_out(state["question"], tables_of(run.attachments), language_of(state["question"]))
    if tables_only and worked is not None:
        # Sums and orders of cells are exact, no matter which model writes.
        citing.token(worked.text)
        _complete(citing, run, worked.text)
        return {}
    await _answered(generator.generate(_request(state, made), citing), citing, run)
    return {}


async def _unsearched(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Small talk, or mode ``bypass``: there is nothing to cite, and every marker points nowhere."""
    context = Context(())
    run.emit(ContextAssembled(context=context))
    roles = own_roles(run, GraphRoles)
    answerer = roles.direct if state["decision"].reason == "simple" else roles.unsearched
    request = DirectRequest(state["question"], (), language_of(state["question"]))
    citing = Citing(trace, AttachingCitations(()))
    await _answered(answerer.answer(request, citing), citing, run)
    return {}


def _request(state: Mapping[str, Any], made: Assembled) -> GenerationRequest:
    return GenerationRequest(
        question=state["question"],
        passages=made.passages,
        language=language_of(state["question"]),
        verified=made.context.verified,
        graph=made.context.graph,
        tables=made.tables,
    )


async def _answered(writing: Awaitable[str], citing: Citing[AttachingCitations], run: RunContext) -> None:
    """Let an answer be written; what had arrived stays in the record, no matter what ended the writing."""
    model, trace = model_of(run, "generator"), citing.trace
    try:
        async with run.within(trace.limit_s):
            text = await writing
    except TimeoutError:
        _complete(citing, run)
        raise ModelError.budget_spent(model=model, seconds=trace.limit_s or 0.0) from None
    except BaseException:
        _complete(citing, run)
        raise
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not _complete(citing, run, text).strip():
        raise ModelError.empty_reply(model=model)
    if trace.truncated_at is not None:
        run.warn(ModelError.answer_cut(model=model, tokens=trace.truncated_at), _NODE)


def _complete(citing: Citing[AttachingCitations], run: RunContext, text: str | None = None) -> str:
    """The text as the record has it."""
    made = citing.complete(text).answer
    if made.text:
        run.emit(
            AnswerCompleted(
                answer=made.text,
                citations=made.citations,
                removed_markers=made.removed,
                cell_citations=made.cell_citations,
                unsupported=made.unsupported,
            )
        )
    return made.text
