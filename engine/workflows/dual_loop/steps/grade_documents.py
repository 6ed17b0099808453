"""The step that judges documents: is one of them relevant, and where to go from here (DL-03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.builtin.fallback import fallback_answer
from engine.errors import ModelError, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.decide import kept_passages, passed_ids
from engine.model.events import AnswerCompleted, Decided, PassageGraded
from engine.model.values import Decision, Passage, PassageId, Round, TriedRoute, Verdict
from engine.workflows.dual_loop.policy import decide_documents, draft_stands, untried
from engine.workflows.dual_loop.steps.parts import evidence_of, let_best_stand, note_passed_over

_NODE = "grade_documents"


async def grade_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Judge what has no verdict yet against the question as asked, and decide; verdicts hold for the whole run."""
    rounds: tuple[Round, ...] = state["rounds"]
    current = rounds[-1]
    known = {
        passage_id: verdict
        for item in rounds[:-1]
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }
    wanted = (
        [item.passage for item in current.candidates] if run.config.grade_probe else kept_passages(current, run.config)
    )
    reused = tuple(passage.id for passage in wanted if passage.id in known)
    for passage_id in reused:
        run.emit(PassageGraded(round=current.index, passage_id=passage_id, verdict=known[passage_id], reused=True))
    fresh = [passage for passage in wanted if passage.id not in known] if current.searched else []
    judged, unavailable = await _judge(state, run, trace, fresh)
    graded = replace(current, verdicts={name: known[name] for name in reused} | judged, reused=reused)
    rounds = (*rounds[:-1], graded)
    evidence = evidence_of(state, run, rounds=rounds, grader_unavailable=unavailable)
    decision = decide_documents(evidence, run.config)
    run.emit(Decided(decision=decision))
    passed = set(passed_ids(graded, run.config))
    changed = {
        "rounds": rounds,
        "decision": decision,
        "documents": tuple(item for item in graded.kept if item.id in passed),
        "documents_are_relevant": bool(passed),
    }
    return {**changed, **_gone_on({**state, **changed}, decision, run)}


def _gone_on(state: Mapping[str, Any], decision: Decision, run: RunContext) -> dict[str, Any]:
    """What a decision brings with it: the next strategy, or what the run ends with."""
    attempt, skipped = state["correction_attempts"], state["skipped"]
    tried: tuple[TriedRoute, ...] = state["tried_routes"]
    if decision.route == "retrieve_documents":
        route = untried(evidence_of(state, run).usable, tried, attempt)[0]
        return {"route": route, "tried_routes": note_passed_over(run, route, skipped, tried, attempt)}
    if decision.route != "end" or decision.reason == "grader_failed":
        return {}
    if decision.reason == "strategies_exhausted":
        tried = note_passed_over(run, None, skipped, tried, attempt)
    if draft_stands(decision, state["drafts"], tried):
        return {"tried_routes": tried, "response": let_best_stand(run, state["drafts"], state["contexts"])}
    answer = fallback_answer(state["question"], state["rounds"], tried, decision.reason, rejected=bool(state["drafts"]))
    run.emit(AnswerCompleted(answer=answer))
    return {"tried_routes": tried, "response": answer}


async def _judge(
    state: Mapping[str, Any], run: RunContext, trace: NodeTrace, passages: Sequence[Passage]
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether the grader could not be reached in a run that has an answer already."""
    if not passages or run.clock.left_s() <= 0:
        return {}, False
    try:
        async with run.within(run.clock.left_s()):
            verdicts = await run.roles.grader.grade(state["question"], passages, trace)
    except TimeoutError:
        # What was judged in time counts; the rest has no verdict, and the deadline decides.
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=run.config.budget_s), _NODE)
        return dict(trace.verdicts), False
    except WorkbenchError as failure:
        if not state["drafts"] and not any(item.passes(run.config.min_confidence) for item in trace.verdicts.values()):
            raise
        run.warn(failure, _NODE)
        return dict(trace.verdicts), True
    return {passage.id: verdict for passage, verdict in zip(passages, verdicts, strict=True)}, False
