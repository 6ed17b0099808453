"""The grade step: one independent judgement per kept passage, then the decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import ModelError
from engine.flow.context import NodeTrace, RunContext, Step, model_of
from engine.model.decide import Evidence, decide, kept_passages, passed_ids, passed_together
from engine.model.events import Decided, PassageGraded, SetJudged
from engine.model.values import Decision, Passage, PassageId, Round, SetVerdict, Verdict


def as_decided(decision: Decision, question: str, run: RunContext) -> Decision:
    """The decision as the gate made it."""
    return decision


def grade_step(
    answering: str = "generate",
    rewriting: str = "rewrite",
    settled: Callable[[Decision, str, RunContext], Decision] = as_decided,
) -> Step:
    """The grade step of a workflow whose node ``answering`` continues to the answer, ``rewriting`` to another round.

    ``settled`` may change the decision by what only that workflow knows; it is given the question as asked.
    """
    targets = {"generate": answering, "rewrite": rewriting}

    async def step(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
        current, fresh = _settled(state["rounds"], run)
        judged, unavailable = await _judge(state, run, trace, fresh)
        rounds = (*state["rounds"][:-1], replace(current, verdicts={**current.verdicts, **judged}))
        last = state["rewrites"][-1] if state.get("rewrites") else None
        evidence = Evidence(
            rounds=rounds,
            elapsed_s=run.clock.elapsed_s(),
            repeated_rewrite=bool(last and last.repeated),
            rewriter_failed=bool(last and last.failed),
            grader_unavailable=unavailable,
        )
        decision = decide(evidence, run.config)
        if run.config.needs_whole and decision.reason == "passed":
            whole = await _whole(state["question"], rounds, run, trace)
            rounds = (*rounds[:-1], replace(rounds[-1], whole=whole))
            sufficiency = whole.sufficiency if whole is not None else 0.0
            evidence = replace(evidence, rounds=rounds, elapsed_s=run.clock.elapsed_s(), sufficiency=sufficiency)
            decision = decide(evidence, run.config)
        decision = replace(decision, route=targets.get(decision.route, decision.route), node=trace.node)
        decision = settled(decision, state["question"], run)
        run.emit(Decided(decision=decision))
        return {"rounds": rounds, "decision": decision}

    return step


grade = grade_step()


def _settled(rounds: Sequence[Round], run: RunContext) -> tuple[Round, list[Passage]]:
    """The newest round with the verdicts that earlier ones gave its passages, and those of these that have none.

    Judged against the question as asked: a rewrite that drifts must not be able to make its own
    off-topic hits look relevant, and verdicts of earlier rounds stay valid.
    """
    current = rounds[-1]
    wanted = (
        [item.passage for item in current.candidates] if run.config.grade_probe else kept_passages(current, run.config)
    )
    # What this round's own reranker has judged already stands; no one is asked twice.
    given = current.verdicts
    known = known_verdicts(rounds[:-1])
    reused = [passage.id for passage in wanted if passage.id in known and passage.id not in given]
    for passage_id in reused:
        run.emit(PassageGraded(round=current.index, passage_id=passage_id, verdict=known[passage_id], reused=True))
    # After a rewrite that repeated itself nothing was searched, and nothing is asked again either.
    settled = known.keys() | given.keys()
    fresh = [passage for passage in wanted if passage.id not in settled] if current.searched else []
    verdicts = {**given, **{passage_id: known[passage_id] for passage_id in reused}}
    return replace(current, verdicts=verdicts, reused=(*current.reused, *reused)), fresh


async def _whole(question: str, rounds: Sequence[Round], run: RunContext, trace: NodeTrace) -> SetVerdict | None:
    """Judge the passed passages jointly; None, which does not suffice, if no model could in time."""
    passages, left_s = passed_together(rounds, run.config), run.clock.left_s()
    if not passages or left_s <= 0 or run.roles.whole is None:
        return None
    try:
        async with run.within(left_s):
            verdict = await run.roles.whole.judge_set(question, passages, trace)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=run.config.budget_s), trace.node)
        return None
    except ModelError as failure:
        run.warn(failure, trace.node)
        return None
    run.emit(SetJudged(round=rounds[-1].index, verdict=verdict))
    return verdict


async def _judge(
    state: Mapping[str, Any], run: RunContext, trace: NodeTrace, passages: Sequence[Passage]
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether the grader could not be reached although earlier rounds have passed ones."""
    if not passages or run.clock.left_s() <= 0:
        return {}, False
    try:
        async with run.within(run.clock.left_s()):
            verdicts = await run.roles.grader.grade(state["question"], passages, trace, state["rounds"][-1].parts)
    except TimeoutError:
        # What was judged in time counts; the rest has no verdict, and the deadline decides.
        run.warn(ModelError.budget_spent(model=model_of(run, "grader"), seconds=run.config.budget_s), trace.node)
        return dict(trace.verdicts), False
    except ModelError as failure:
        if not any(passed_ids(item, run.config) for item in state["rounds"][:-1]):
            raise
        # What passed before is worth an answer; the decision says why it came to that.
        run.warn(failure, trace.node)
        return dict(trace.verdicts), True
    return {passage.id: verdict for passage, verdict in zip(passages, verdicts, strict=True)}, False


def known_verdicts(rounds: Sequence[Round]) -> dict[PassageId, Verdict]:
    """The newest verdict on each passage that could be read."""
    return {
        passage_id: verdict
        for item in rounds
        for passage_id, verdict in item.verdicts.items()
        if verdict.relevant is not None
    }
