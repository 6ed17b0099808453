"""The steps of graph + vector retrieval that only it has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, get_args

from engine.builtin.abstain import abstained_answer, no_room_for_tables
from engine.builtin.query_analyst import analysed
from engine.builtin.strips import around_as
from engine.builtin.table_answer import table_coverage
from engine.builtin.table_work import on_tables_alone, worked_out
from engine.errors import AttachmentError, ModelError, RunWarning, StoreError, UnreadableReply, WorkbenchError
from engine.flow.context import NodeTrace, RunContext, model_of, own_roles
from engine.model.events import (
    Analysed,
    AnswerCompleted,
    ContextAssembled,
    Decided,
    Fused,
    PassageGraded,
    Reranked,
    Retrieved,
)
from engine.model.language import language_of
from engine.model.surroundings import texts_around
from engine.model.values import (
    LISTS_OF_MODE,
    SEARCHING_MODES,
    Around,
    Complexity,
    Context,
    Decision,
    GraphEvidence,
    Passage,
    PassageId,
    QueryAnalysis,
    RetrievalList,
    Round,
    Verdict,
)
from engine.retrieval.assemble import gap_for
from engine.retrieval.graph_context import Assembled, assembled, names_along
from engine.retrieval.graph_options import graph_options
from engine.retrieval.mode_values import ModeFound, ModeRequest, QueryLook
from engine.retrieval.ordering import order, rerank_window, reranks, rescored
from engine.retrieval.streaming_citations import AttachingCitations
from engine.roles import AnalysisRequest, DirectRequest, GenerationRequest
from engine.workflows.graph_hybrid.attached import attached_query, attachment_passages, images_of, tables_of
from engine.workflows.graph_hybrid.policy import decide_route, from_tables_alone, mode_of, unless_a_table_answers
from engine.workflows.graph_hybrid.roles import GraphRoles
from engine.workflows.steps.citing import Citing
from engine.workflows.steps.generate import answered
from engine.workflows.steps.grade import grade_step, known_verdicts
from engine.workflows.steps.heard import Heard
from engine.workflows.steps.refine import refined_strips
from engine.workflows.steps.surround import surroundings

LOOK_S = 5.0
"""Longest wait for the names of a graph; the search asks again, and says what is wrong."""
_NODE = "generate_answer"


async def analyze_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Ask the analyst; where it fails or answers nonsense, the built-in one stands in for it."""
    look = await _look(state["question"], run)
    request = AnalysisRequest(state["question"], look.entities, look.modes)
    analysis = await _analysed(request, run, trace)
    run.emit(Analysed(analysis=analysis))
    return {"analysis": analysis}


async def _look(question: str, run: RunContext) -> QueryLook:
    if _searches_nothing(run):
        return QueryLook()
    try:
        async with run.within(max(0.0, min(LOOK_S, run.clock.left_s() / 2))):
            return await own_roles(run, GraphRoles).searcher.look(question)
    except (TimeoutError, WorkbenchError):
        # Not said here: a mode that needs the graph meets the fault itself, and the others do not need it.
        return QueryLook()


async def _analysed(request: AnalysisRequest, run: RunContext, trace: NodeTrace) -> QueryAnalysis:
    if _searches_nothing(run):
        # No matter what an analyst said, nothing would be searched: no call is worth that.
        return analysed(request)
    try:
        async with run.within(max(0.0, run.clock.left_s() / 2)):
            said = await own_roles(run, GraphRoles).analyst.analyse(request, trace)
    except TimeoutError:
        run.warn(
            ModelError.budget_spent(model=model_of(run, "router"), seconds=round(run.clock.elapsed_s(), 1)), trace.node
        )
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
    else:
        if usable(said, request):
            return said
    return analysed(request)


def usable(said: QueryAnalysis, request: AnalysisRequest) -> bool:
    """Return whether an analysis keeps its contract; one that does not must not be able to steer a run."""
    return (
        said.complexity in get_args(Complexity)
        and said.suggested_mode in (request.modes or SEARCHING_MODES)
        and isinstance(said.direct, bool)
        and all(isinstance(name, str) and name in request.query for name in said.entities)
    )


def _searches_nothing(run: RunContext) -> bool:
    if from_tables_alone(run.config, tables=bool(tables_of(run.attachments))):
        return True
    return run.config.mode == "bypass" and graph_options(run.config).mode_from == "config"


async def route_query(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Go to the search, or straight to the answer; nothing is called."""
    tables = tables_of(run.attachments)
    alone = len(tables) == len(run.attachments) and on_tables_alone(state["question"], tables)
    decision = decide_route(
        state["analysis"], run.config, attached=bool(run.attachments), tables=bool(tables), on_tables=alone
    )
    run.emit(Decided(decision=decision))
    if decision.reason == "tables_only" and images_of(run.attachments):
        run.warn(AttachmentError.images_not_looked_at(images=len(images_of(run.attachments))), trace.node)
    if decision.reason == "bypass" and run.attachments:
        run.warn(AttachmentError.not_looked_at_in_mode(mode="bypass"), trace.node)
    return {"decision": decision, "mode": mode_of(run.config, state["analysis"])}


async def retrieve(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Search the query in the mode; where there is nothing new to search, or no time, the former candidates stand."""
    rounds: tuple[Round, ...] = state["rounds"]
    rewrites = state.get("rewrites", ())
    last = rewrites[-1] if rewrites else None
    stale = last is not None and (last.repeated or last.failed)
    found = None if stale or run.clock.left_s() <= 0 else await _search(state, run, trace, first=not rounds)
    opened = Round(
        index=len(rounds),
        query=state["query"],
        candidates=(),
        rewrite_input=last.input_hash if last else "",
    )
    if found is None:
        opened = replace(_standing(opened, rounds), searched=False)
        run.emit(Retrieved.opening(opened))
        return {"rounds": (*rounds, opened)}
    opened = replace(
        opened,
        candidates=order(found.lists, run.config),
        floor=found.floor,
        anchors=found.anchors,
        graph=found.evidence,
    )
    run.emit(Retrieved.opening(opened))
    opened = await rescored_round(opened, rounds, state, run, trace)
    return {"rounds": (*rounds, opened)}


def _standing(opened: Round, rounds: tuple[Round, ...]) -> Round:
    """The round with what the former one found."""
    if not rounds:
        return opened
    former = rounds[-1]
    return replace(
        opened,
        candidates=former.candidates,
        reranked=former.reranked,
        floor=former.floor,
        anchors=former.anchors,
        graph=former.graph,
    )


async def _search(state: Mapping[str, Any], run: RunContext, trace: NodeTrace, *, first: bool) -> ModeFound | None:
    """Search in the mode; None if nothing could be searched in time, or at all after a first round.

    A list that fails costs its own passages alone; that every one does fails a run without former rounds.
    """
    request = ModeRequest(
        mode=state["mode"],
        query=attached_query(state["query"], run.attachments),
        question=state["question"],
        config=run.config,
        attached=attachment_passages(run.attachments),
    )
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            found = await own_roles(run, GraphRoles).searcher.search(request, lambda: max(0.0, run.clock.left_s()))
    except TimeoutError:
        run.warn(StoreError.slow(seconds=run.config.budget_s), trace.node)
        return None
    _say(found, run, trace, first=first)
    if _without_graph(found.evidence, {name for name, items in found.lists.items() if items}) and not any(
        item.graph and _without_graph(item.graph, _searched(item)) for item in state["rounds"]
    ):
        run.warn(RunWarning.mode_fell_back(mode=request.mode, collection=run.config.collection), trace.node)
    # Lists that were searched and are empty are a result; lists that could not be searched are none.
    return found if found.anything or len(found.faults) < len(found.lists) else None


def _without_graph(evidence: GraphEvidence, found_in: Set[RetrievalList]) -> bool:
    """Return whether a graph mode found nothing by the graph: ``mix`` is then vectors alone, as ``naive`` is.

    A graph that cannot be reached is a fault, and warned of as such.
    """
    of_graph = {"local", "global"} & set(LISTS_OF_MODE[evidence.mode])
    unreachable = any(note.code == "graph_unreachable" for note in evidence.notes)
    return bool(evidence.fell_back_to) or (bool(of_graph) and not of_graph & found_in and not unreachable)


def _searched(former: Round) -> set[RetrievalList]:
    return {name for item in former.candidates for name in item.found_in}


def _say(found: ModeFound, run: RunContext, trace: NodeTrace, *, first: bool) -> None:
    failures: list[WorkbenchError] = list(found.faults.values())
    lasting = [item for item in failures if item.code != StoreError.slow.code]
    if first and lasting and len(failures) == len(found.lists):
        raise lasting[0]
    # One store that is gone is one fault, however many lists it owes.
    for failure in {(item.code, item.fact): item for item in failures}.values():
        run.warn(failure, trace.node)


async def rescored_round(
    opened: Round, former: Sequence[Round], state: Mapping[str, Any], run: RunContext, trace: NodeTrace
) -> Round:
    """The round with the passages of the rerank window in their new order; as it is where the mode does not rerank.

    The built-in reranker is the run's grader, so what it judges here is not judged again by ``grade_documents``, and
    what former rounds judged is not asked again here. A reranker that fails leaves the order as it was, and says so.
    """
    if not reranks(state["mode"], run.config):
        return opened
    window = rerank_window(opened.candidates, run.config)
    if not window or run.clock.left_s() <= 0:
        return opened
    shared = run.config.models.reranker.built_in
    known = known_verdicts(former) if shared else {}
    reused = {item.passage.id: known[item.passage.id] for item in window if item.passage.id in known}
    for passage_id, verdict in reused.items():
        run.emit(PassageGraded(round=opened.index, passage_id=passage_id, verdict=verdict, reused=True))
    asked = [item.passage for item in window if item.passage.id not in reused]
    judged, whole = await _reranked(state["question"], asked, run, trace)
    if whole and not shared and any(_unscored(judged.get(passage.id)) for passage in asked):
        # These come last because nothing is known of them, and their verdicts are shown nowhere.
        run.warn(UnreadableReply(model=_judge_of(run)), trace.node)
    if shared:
        opened = replace(opened, verdicts={**reused, **judged}, reused=tuple(reused))
    # Where only some were judged, an order by their scores would put these above the others for no reason.
    scores = _scores({**reused, **judged}) if whole else {}
    candidates = rescored(opened.candidates, scores, run.config)
    order = tuple(item.passage.id for item in candidates if item.rerank_score is not None)
    if not order:
        return opened
    run.emit(Fused(round=opened.index, candidates=candidates))
    run.emit(Reranked(round=opened.index, order=order))
    return replace(opened, candidates=candidates, reranked=order)


async def _reranked(
    question: str, passages: Sequence[Passage], run: RunContext, trace: NodeTrace
) -> tuple[dict[PassageId, Verdict], bool]:
    """Verdicts by passage, and whether they are all that were asked for."""
    if not passages:
        return {}, True
    heard = Heard(trace, tell=run.config.models.reranker.built_in)
    asked = {passage.id for passage in passages}
    try:
        async with run.within(max(0.0, run.clock.left_s())):
            ranked = await own_roles(run, GraphRoles).reranker.rerank(question, passages, heard)
    except TimeoutError:
        run.warn(ModelError.budget_spent(model=_judge_of(run), seconds=run.config.budget_s), trace.node)
        return heard.verdicts, False
    except WorkbenchError as failure:
        run.warn(failure, trace.node)
        return heard.verdicts, False
    judged = {passage.id: verdict for passage, verdict in ranked if passage.id in asked}
    for passage_id, verdict in judged.items():
        # A reranker that scores all passages in one go may have written nothing to the trace yet.
        if heard.verdicts.get(passage_id) != verdict:
            heard.verdict(passage_id, verdict)
    return judged, True


def _judge_of(run: RunContext) -> str:
    own = run.config.models.reranker
    return model_of(run, "grader") if own.built_in else own.model


def _unscored(verdict: Verdict | None) -> bool:
    return verdict is None or verdict.relevant is None


def _scores(verdicts: Mapping[PassageId, Verdict]) -> dict[PassageId, float]:
    """P(relevant) of what could be read, in [0, 1] no matter what an implementation that breaks its contract gave."""
    readable = {name: item.p_relevant for name, item in verdicts.items() if item.relevant is not None}
    return {
        name: round(min(1.0, max(0.0, value)), 9) if math.isfinite(value) else 0.0 for name, value in readable.items()
    }


def _settled(decision: Decision, question: str, run: RunContext) -> Decision:
    tables = tables_of(run.attachments)
    return unless_a_table_answers(decision, table_coverage(question, tables)) if tables else decision


grade_documents = grade_step(answering="generate_answer", rewriting="refine_query", settled=_settled)


async def generate_answer(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Answer from what passed, from the tables of the question, or, where nothing was to be searched, from neither.

    After the deadline this one generation has a reserved allowance of its own, and nothing else runs.
    """
    rounds: tuple[Round, ...] = state.get("rounds", ())
    read = await surroundings(state, run, trace)
    cut = await refined_strips(state, read, run, trace, names_along(rounds, run.config))
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
        cut=cut,
        surroundings=read,
        most_tokens=generator.context_tokens,
        count_tokens=generator.count_tokens,
    )
    run.emit(ContextAssembled(context=made.context))
    if not made.passages and not made.tables:
        answer = no_room_for_tables(state["question"]) if tables_only else abstained_answer(state["question"], rounds)
        run.emit(AnswerCompleted(answer=answer))
        return {}
    around = texts_around(made.context, rounds, read)
    citing = Citing(trace, AttachingCitations(made.context.passages, tables_of(run.attachments), around))
    worked = worked_out(state["question"], tables_of(run.attachments), language_of(state["question"]))
    if tables_only and worked is not None:
        # Sums and orders of cells are exact, no matter which model writes.
        citing.token(worked.text)
        _complete(citing, run, worked.text)
        return {}
    given = around_as(around, cut, gap_for(run.config))
    await answered(generator.generate(_request(state, made, given), citing), citing, run, _complete)
    return {}


async def _unsearched(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Small talk, or mode ``bypass``: there is nothing to cite, and every marker points nowhere."""
    context = Context(())
    run.emit(ContextAssembled(context=context))
    roles = own_roles(run, GraphRoles)
    answerer = roles.direct if state["decision"].reason == "simple" else roles.unsearched
    request = DirectRequest(state["question"], (), language_of(state["question"]))
    citing = Citing(trace, AttachingCitations(()))
    await answered(answerer.answer(request, citing), citing, run, _complete)
    return {}


def _request(state: Mapping[str, Any], made: Assembled, around: Mapping[PassageId, Around]) -> GenerationRequest:
    return GenerationRequest(
        question=state["question"],
        passages=made.passages,
        language=language_of(state["question"]),
        verified=made.context.verified,
        graph=made.context.graph,
        tables=made.tables,
        around=around,
    )


def _complete(citing: Citing[AttachingCitations], run: RunContext, text: str | None) -> str:
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
