"""The steps of the answer-evaluation loop that only it has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engine.builtin.abstain import abstained_answer
from engine.errors import ModelError, RecordError, RunWarning, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.llm.writer_prompts import first_messages, revision_message
from engine.model.decide import open_parts
from engine.model.events import AnswerBegun, AnswerCompleted, ContextAssembled, Decided, Drafted, Evaluated
from engine.model.language import language_of
from engine.model.surroundings import read_with, texts_around
from engine.model.values import Around, Decision, Draft, Evaluation, PassageId, Round
from engine.retrieval.assemble import assemble
from engine.retrieval.citations import ResolvedAnswer, StreamedCitations
from engine.roles import GenerationRequest
from engine.roles.conversation import Revision, newest_answer
from engine.workflows.answer_evaluation.options import gener_epoch
from engine.workflows.answer_evaluation.policy import (
    NODE,
    REVISE,
    EvaluationEvidence,
    decide_evaluation,
    evaluation_request,
    excerpts,
    observation,
    scores_of,
    usable,
)
from engine.workflows.answer_evaluation.roles import AnswerRoles
from engine.workflows.steps.citing import Citing
from engine.workflows.steps.surround import surroundings

_NODE = "generate_answer"
_OBSERVING_S = 5.0
"""Longest wait for one line of a file."""


async def prepare(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Put question and passages into the conversation; with nothing passed, abstain honestly (SC-07, AE-06)."""
    rounds: tuple[Round, ...] = state["rounds"]
    writer = own_roles(run, AnswerRoles).writer
    read = await surroundings(state, run, trace)
    context = assemble(rounds, run.config, writer.context_tokens, writer.count_tokens, surroundings=read)
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
        around=texts_around(context, rounds, read),
        open_parts=open_parts(rounds, run.config),
    )
    made = {"context": context, "messages": first_messages(request), "retrieved_nodes_score": scores}
    return {**made, "surroundings": read}


def after_preparing(state: Mapping[str, Any]) -> str:
    """Decide where to go from here: to the writer, or to the end where there is nothing to answer from."""
    return "generate_answer" if state["context"].passages else "end"


async def generate_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Write the first answer, or revise the last one where there are suggestions for it (AE-06, AE-07).

    The first answer has the reserved allowance after the deadline, as every workflow's generation has. A revision has
    what is left of the budget: where it comes to nothing, the answer that it was to revise stands.
    """
    revising = state["last_evaluation"] is not None
    allowed_s = run.clock.left_s() if revising else max(run.clock.left_s(), run.generation_allowance_s)
    trace.limit_s, trace.began_s = max(0.0, allowed_s), run.clock.elapsed_s()
    trace.draft = state["epoch"]
    if revising:
        run.emit(AnswerBegun(draft=state["epoch"]))
    citing = Citing(trace, StreamedCitations(state["context"].passages, _around(state)))
    try:
        draft = await _written(state, run, citing)
    except ModelError as failure:
        if not revising:
            _keep_what_arrived(citing, run)
            raise
        run.warn(failure, _NODE)
        run.emit(AnswerCompleted.of(state["draft"]))
        return {"writer_failed": True}
    except BaseException:
        # What had arrived stays in the record, no matter what ended the writing; a revision leaves the earlier answer.
        if revising:
            run.emit(AnswerCompleted.of(state["draft"]))
        else:
            _keep_what_arrived(citing, run)
        raise
    run.emit(Drafted(draft=draft))
    run.emit(AnswerCompleted.of(draft))
    if trace.cut is not None:
        run.warn(trace.cut, _NODE)
    return {
        "messages": (*state["messages"], _answer_message(draft.text)),
        "epoch": state["epoch"] + 1,
        "last_answer": draft.text,
        "last_evaluation": None,
        "final_answer": draft.text,
        "draft": draft,
        "writer_failed": False,
    }


async def _written(state: Mapping[str, Any], run: RunContext, citing: Citing[StreamedCitations]) -> Draft:
    """One answer; every way in which none comes about is a ``ModelError``."""
    model, limit_s = model_of(run, "generator"), citing.trace.limit_s or 0.0
    if limit_s <= 0:
        raise ModelError.budget_spent(model=model, seconds=run.config.budget_s)
    try:
        async with run.within(limit_s):
            text = await own_roles(run, AnswerRoles).writer.write(state["messages"], citing)
    except TimeoutError:
        raise ModelError.answer_late(model=model, seconds=round(limit_s, 1)) from None
    draft = _draft(state["epoch"], citing.complete(text).answer)
    # Markers that point nowhere are taken out, and what is left without them may be nothing.
    if not draft.text.strip():
        raise ModelError.empty_reply(model=model)
    return draft


def _draft(index: int, resolved: ResolvedAnswer) -> Draft:
    return Draft(index, resolved.text, resolved.citations, resolved.removed)


def _keep_what_arrived(citing: Citing[StreamedCitations], run: RunContext) -> None:
    if citing.citations.raw:
        run.emit(AnswerCompleted.of(_draft(0, citing.complete().answer)))


def _answer_message(text: str) -> Any:
    from langchain_core.messages import AIMessage

    return AIMessage(text)


async def eval_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge the newest answer by what an evaluator may see of its passages, and decide (AE-01 to AE-04).

    Where a revision came to nothing there is no new answer to judge, and the last evaluation still holds.
    """
    evaluation: Evaluation | None = state["last_evaluation"]
    if not state["writer_failed"]:
        evaluation = await _evaluate(state, run, trace)
    decision = decide_evaluation(
        EvaluationEvidence(
            rounds=state["rounds"],
            epoch=state["epoch"],
            evaluation=evaluation,
            elapsed_s=run.clock.elapsed_s(),
            writer_failed=state["writer_failed"],
        ),
        run.config,
    )
    run.emit(Decided(decision=decision))
    changed: dict[str, Any] = {"decision": decision, "last_evaluation": evaluation}
    if decision.route == REVISE and evaluation is not None:
        asked = revision_message(Revision(state["last_answer"], evaluation))
        changed["messages"] = (*state["messages"], asked)
    elif decision.reason == "evaluation_passed":
        await _observe(state, run)
    elif decision.reason == "max_epochs":
        _say_limit(decision, run)
    return changed


async def _evaluate(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> Evaluation | None:
    """The judgement, or None with a warning where there is none; the answer stands either way."""
    if run.clock.left_s() <= 0:
        return None
    passages, draft = read_with(state["context"].passages, _around(state)), state["draft"]
    seen = excerpts(passages, run.config.top_k)
    request = evaluation_request(state["question"], newest_answer(state["messages"]), draft, passages, seen)
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            evaluation = await own_roles(run, AnswerRoles).evaluator.evaluate(request, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "evaluator"), seconds=run.config.budget_s), NODE)
        return None
    except WorkbenchError as failure:
        run.warn(failure, NODE)
        return None
    if not usable(evaluation):
        # Neither the page nor a revision could make anything of it.
        run.warn(UnreadableReply(model=model_of(run, "evaluator")), NODE)
        return None
    run.emit(Evaluated(draft=draft.index, evaluation=evaluation, seen=seen))
    return evaluation


def _around(state: Mapping[str, Any]) -> dict[PassageId, Around]:
    return texts_around(state["context"], state["rounds"], state.get("surroundings"))


async def _observe(state: Mapping[str, Any], run: RunContext) -> None:
    """Keep what was retrieved and answered; a run is not lost where that cannot be written."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    made = observation(
        state["question"],
        state["retrieved_nodes_score"],
        answer=state["final_answer"],
        epoch=state["epoch"],
        time=now,
        run_id=run.run_id,
    )
    try:
        async with run.within(_OBSERVING_S):
            await own_roles(run, AnswerRoles).observe(made)
    except TimeoutError:
        run.warn(RecordError.observation_late(seconds=_OBSERVING_S), NODE)
    except WorkbenchError as failure:
        run.warn(failure, NODE)


def _say_limit(decision: Decision, run: RunContext) -> None:
    limit, left = gener_epoch(run.config), int(decision.comparisons[0].value)
    reached = RunWarning.answers_spent(answers=limit, suggestions=left)
    # A reader of the log alone must learn of it too (AE-01).
    run.log(f"run {run.run_id}: {reached.fact}")
    run.warn(reached, NODE)
