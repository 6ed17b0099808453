"""The preparing step: the context, and with it the first messages of the writer's conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.builtin.abstain import abstained_answer
from engine.errors import RunWarning
from engine.flow.context import NodeTrace, RunContext, own_roles
from engine.llm.writer_prompts import first_messages
from engine.model.events import AnswerCompleted, ContextAssembled
from engine.model.language import language_of
from engine.model.values import Round
from engine.retrieval.assemble import assemble
from engine.roles import GenerationRequest
from engine.workflows.answer_evaluation.policy import scores_of
from engine.workflows.answer_evaluation.roles import AnswerRoles


async def prepare(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Put question and passages into the conversation; with nothing passed, abstain honestly (SC-07, AE-06)."""
    rounds: tuple[Round, ...] = state["rounds"]
    writer = own_roles(run, AnswerRoles).writer
    context = assemble(rounds, run.config, writer.context_tokens, writer.count_tokens)
    run.emit(ContextAssembled(context=context))
    scores = scores_of(rounds, run.config)
    if not context.passages:
        answer = abstained_answer(state["question"], rounds)
        run.emit(AnswerCompleted(answer=answer))
        return {"context": context, "final_answer": answer, "retrieved_nodes_score": scores}
    if (model := run.config.models.writes_and_judges) is not None:
        run.warn(RunWarning.judges_its_own_answers(model=model), "prepare")
    request = GenerationRequest(
        question=state["question"],
        passages=context.passages,
        language=language_of(state["question"]),
        verified=context.verified,
    )
    return {"context": context, "messages": first_messages(request), "retrieved_nodes_score": scores}


def after_preparing(state: Mapping[str, Any]) -> str:
    """Decide where to go from here: to the writer, or to the end where there is nothing to answer from."""
    return "generate_answer" if state["context"].passages else "end"
