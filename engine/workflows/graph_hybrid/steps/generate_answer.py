"""The step that answers: graph, tables and passages within one budget, citations attached sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.attachments.passages import tables_of
from engine.builtin.abstain import abstained_answer, no_room_for_tables
from engine.errors import AnswerCut, BudgetSpent, EmptyReply
from engine.model.events import AnswerCompleted, ContextAssembled
from engine.model.language import language_of
from engine.model.values import Context, ModelCall, PassageId, Round, Verdict
from engine.retrieval.graph_context import Assembled, assembled
from engine.retrieval.streaming_citations import AttachingCitations
from engine.roles import DirectRequest, GenerationRequest, Trace
from engine.running.context import NodeTrace, RunContext, model_of, own_roles
from engine.workflows.graph_hybrid.roles import GraphRoles

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
    attaching = AttachingCitations(made.context.passages, tables_of(run.attachments))
    await _answered(generator.generate(_request(state, made), _Attaching(trace, attaching)), attaching, run, trace)
    return {}


async def _unsearched(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Small talk, or mode ``bypass``: there is nothing to cite, and every marker points nowhere."""
    context = Context(())
    run.emit(ContextAssembled(context=context))
    roles = own_roles(run, GraphRoles)
    answerer = roles.direct if state["decision"].reason == "simple" else roles.unsearched
    request = DirectRequest(state["question"], (), language_of(state["question"]))
    attaching = AttachingCitations(())
    await _answered(answerer.answer(request, _Attaching(trace, attaching)), attaching, run, trace)
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


async def _answered(writing: Any, attaching: AttachingCitations, run: RunContext, trace: NodeTrace) -> None:
    """Let an answer be written; what had arrived stays in the record, no matter what ended the writing."""
    model = model_of(run, "generator")
    try:
        async with run.within(trace.limit_s):
            await writing
    except TimeoutError:
        _complete(attaching, run, trace)
        raise BudgetSpent(model=model, seconds=trace.limit_s or 0.0) from None
    except BaseException:
        _complete(attaching, run, trace)
        raise
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not _complete(attaching, run, trace).strip():
        raise EmptyReply(model=model)
    if trace.truncated_at is not None:
        run.warn(AnswerCut(model=model, tokens=trace.truncated_at), _NODE)


def _complete(attaching: AttachingCitations, run: RunContext, trace: NodeTrace) -> str:
    """The text as the record has it."""
    if rest := attaching.finish():
        trace.token(rest)
    made = attaching.answer
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


@dataclass(frozen=True, slots=True)
class _Attaching:
    """The trace of a generator whose tokens go through the citations first."""

    trace: Trace
    attaching: AttachingCitations

    def token(self, text: str) -> None:
        if ready := self.attaching.feed(text):
            self.trace.token(ready)

    def restart(self) -> None:
        self.attaching.restart()
        self.trace.restart()

    def calling(self) -> None:
        self.trace.calling()

    def call(self, call: ModelCall) -> None:
        self.trace.call(call)

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.trace.verdict(passage_id, verdict)

    def now_ms(self) -> float:
        return self.trace.now_ms()

    def time_left_s(self) -> float:
        return self.trace.time_left_s()
