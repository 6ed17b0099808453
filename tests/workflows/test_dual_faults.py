"""What the dual loop does when roles fail, hang or talk nonsense, and when the budget ends in any node: SC-13, DL-*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ModelError, ModelInterrupted, StoreError, UnreadableReply, WebSearchError, WorkbenchError
from engine.flow import workflow
from engine.flow.context import Retrieval
from engine.model.config import RunConfig
from engine.model.decide import best_draft
from engine.model.events import RunFinished, fold_all
from engine.model.values import STRATEGIES, Evaluation, Passage, RouteChoice, RunRecord, Suggestion, Verdict
from engine.roles import (
    SILENT,
    EvaluationRequest,
    GenerationRequest,
    RewriteProposal,
    RewriteRequest,
    StrategyRequest,
    Trace,
)
from tests.support.dual_fakes import (
    OFF,
    SOLVED,
    WORSE,
    DualResources,
    FakeDirect,
    FakeEvaluator,
    FakeMemory,
    FakeSections,
    FakeStrategyRouter,
    FakeWeb,
    dual,
    events_of,
    finished,
    hang,
    memory,
)
from tests.support.fakes import FakeGenerator, FakeGrader, FakeRetriever, FakeRewriter, path

LOCKED = StoreError.locked(path="knowledge.db")
DOWN = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
SECTION = frozenset({"s1"})
SOON = 0.12
"""Seconds that a run has in tests where something hangs."""


def relevant(names: frozenset[str] = SECTION, **roles: Any) -> DualResources:
    resources = DualResources(grader=FakeGrader(relevant=names), **roles)
    # The allowance for one generation after the deadline, which a test must not wait for.
    resources.settings = resources.settings.model_copy(update={"generation_allowance_s": 0.1})
    return resources


def soon(resources: DualResources, config: RunConfig | None = None) -> RunRecord:
    """A run that has little time."""
    return fold_all(events_of(resources, config, left_s=SOON))


def codes(record: RunRecord) -> list[tuple[str, str]]:
    return [(item.node, item.code) for item in record.warnings]


# -- memory ---------------------------------------------------------------------------------------------------------


def test_a_locked_memory_is_a_warning_on_recall_and_on_keeping_and_the_run_continues() -> None:
    """DL-06, SC-13"""
    record = finished(relevant(memory=FakeMemory(error=LOCKED, keep_error=LOCKED)))
    assert (record.outcome, record.answer) == ("answered", "It is so [1].")
    assert codes(record) == [("retrieve_memory", "WB201"), ("consolidate_memory", "WB201")]
    assert record.recall is not None
    assert record.recall.failed
    assert record.remembered is None


def test_a_memory_that_hangs_is_waited_for_a_while_only() -> None:
    """DL-06, SC-13"""
    record = soon(relevant(memory=FakeMemory(hangs=True)))
    assert codes(record)[0] == ("retrieve_memory", "WB216")
    assert record.outcome == "answered"
    assert path(record)[-1] == "consolidate_memory"


# -- web ------------------------------------------------------------------------------------------------------------


def test_a_web_search_that_hangs_is_bounded_and_noted_as_failed() -> None:
    """DL-07, SC-13"""
    sections = FakeSections(FakeRetriever(otherwise={}))
    resources = relevant(frozenset({"p1"}), sections=sections, web=FakeWeb(hangs=True))
    record = soon(resources, dual(web_search=True))
    assert [(item.strategy, item.status, item.why) for item in record.tried_routes[:2]] == [
        ("hierarchical_search", "nothing_found", ""),
        ("web_search", "failed", "WB902"),
    ]
    assert ("retrieve_documents", "WB902") in codes(record)
    assert record.tried_routes[2].strategy == "direct_chunk_search"
    assert record.outcome == "answered", "half of the time was left for what came after"


def test_a_web_search_that_fails_leaves_what_was_found_locally() -> None:
    """DL-07"""
    web = FakeWeb(error=WebSearchError.unreachable(address="http://127.0.0.1:1"))
    record = finished(relevant(frozenset(), web=web), dual(web_search=True))
    assert record.tried_routes[-1].why == "WB901"
    assert (record.outcome, record.reason) == ("fallback", "strategies_exhausted")
    assert "The search of the web failed." in record.answer


# -- searches -------------------------------------------------------------------------------------------------------


def test_a_search_that_fails_leaves_the_other_strategies() -> None:
    """DL-03"""
    sections = FakeSections(FakeRetriever(error=StoreError.unreachable(address="http://127.0.0.1:1")))
    record = finished(relevant(frozenset({"p1"}), sections=sections))
    assert [(item.status, item.why) for item in record.tried_routes] == [("failed", "WB202"), ("searched", "")]
    assert [item.searched for item in record.rounds] == [False, True]
    assert record.outcome == "answered"


def test_a_search_that_hangs_leaves_time_to_the_next_strategy() -> None:
    """DL-03, SC-13"""
    record = soon(relevant(frozenset({"p1"}), sections=FakeSections(hangs=True)))
    assert (record.tried_routes[0].status, record.tried_routes[0].why) == ("failed", "WB214")
    assert record.outcome == "answered"


def test_a_search_that_fails_in_a_later_pass_takes_no_answer_away() -> None:
    """DL-04, SC-13"""

    @dataclass
    class Dying(FakeRetriever):
        async def search(self, query: str, limit: int) -> Retrieval:
            if self.queries:
                raise LOCKED
            return await super().search(query, limit)

    sections = FakeSections(Dying(otherwise={"s1": 0.9}))
    retriever = FakeRetriever(otherwise={"p9": 0.9})
    rewriter = FakeRewriter(queries=("first", "second"))
    resources = relevant(
        sections=sections, retriever=retriever, rewriter=rewriter, evaluator=FakeEvaluator(says=(OFF,))
    )
    record = finished(resources)
    assert (record.outcome, record.reason) == ("answered_forced", "strategies_exhausted")
    assert record.answer == record.drafts[0].text


# -- judges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [DOWN, UnreadableReply(model="fake")], ids=["out of reach", "unreadable"])
def test_an_evaluator_that_fails_lets_the_answer_stand_marked(error: WorkbenchError) -> None:
    """DL-04, SC-13"""
    resources = relevant(evaluator=FakeEvaluator(error=error))
    record = finished(resources)
    assert (record.outcome, record.reason, record.answer) == ("answered_forced", "evaluator_failed", "It is so [1].")
    assert codes(record) == [("grade_relevance", error.code)]
    assert record.drafts[0].evaluation is None
    assert resources.memory.kept == [], "nobody judged it, so it is neither a fact nor a failure"


def test_an_evaluator_that_hangs_ends_with_the_budget_and_the_answer_stands() -> None:
    """SC-13"""
    record = soon(relevant(evaluator=FakeEvaluator(hangs=True)))
    assert (record.outcome, record.reason, record.answer) == ("answered_forced", "deadline", "It is so [1].")
    assert codes(record) == [("grade_relevance", "WB413")]


def test_a_grader_out_of_reach_fails_a_run_that_has_nothing_yet() -> None:
    record = finished(DualResources(grader=FakeGrader(errors=[DOWN])))
    assert (record.outcome, record.reason) == ("failed", "WB401")


def test_a_grader_out_of_reach_later_leaves_the_answer_that_stands() -> None:
    """DL-04, SC-13"""
    sections = FakeSections(FakeRetriever(hits={"second": {"new": 0.9}}, otherwise={"s1": 0.9}))
    grader = FakeGrader(relevant=SECTION, errors=[None, DOWN])
    rewriter = FakeRewriter(queries=("first", "second"))
    resources = DualResources(grader=grader, sections=sections, rewriter=rewriter, evaluator=FakeEvaluator(says=(OFF,)))
    record = finished(resources)
    assert (record.outcome, record.reason) == ("answered_forced", "grader_unavailable")
    assert record.answer == record.drafts[0].text


def test_only_unreadable_verdicts_fail_the_run() -> None:
    """SC-03"""
    record = finished(DualResources(grader=FakeGrader(unreadable=frozenset({"s1", "s2"}))))
    assert (record.outcome, record.reason) == ("failed", "grader_failed")


# -- writers and routers --------------------------------------------------------------------------------------------


def test_a_first_answer_that_breaks_off_keeps_what_had_arrived() -> None:
    """SC-13"""
    generator = FakeGenerator(error=ModelInterrupted.mid_reply(model="fake"), error_after=2)
    record = finished(relevant(generator=generator))
    assert (record.outcome, record.reason, record.answer) == ("failed", "WB404", "It is")


def test_a_later_answer_that_breaks_off_leaves_the_one_before_it() -> None:
    """DL-04, SC-13"""

    @dataclass
    class Breaking(FakeGenerator):
        async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
            if self.requests:
                trace.token("Half an ")
                raise ModelInterrupted.mid_reply(model="fake")
            return await super().generate(request, trace)

    record = finished(relevant(generator=Breaking(), evaluator=FakeEvaluator(says=(OFF,))))
    assert (record.outcome, record.reason, record.answer) == ("answered_forced", "writer_failed", "It is so [1].")
    assert codes(record) == [("generate_response", "WB404")]
    assert [item.passage_id for item in record.citations] == ["s1"]


@pytest.mark.parametrize("router", [FakeStrategyRouter(error=DOWN), FakeStrategyRouter(hangs=True)])
def test_a_router_that_fails_is_stood_in_for_by_the_built_in_one(router: FakeStrategyRouter) -> None:
    """DL-02, SC-13"""
    record = soon(relevant(frozenset({"p1", "s1"}), router=router))
    assert record.route is not None
    assert record.route.code == "subject"
    assert record.warnings[0].node == "route_query"
    assert record.outcome is not None


def test_a_rewriter_that_fails_leaves_the_question_to_be_searched() -> None:
    """DL-05, SC-13"""
    resources = relevant(rewriter=FakeRewriter(error=DOWN))
    record = finished(resources)
    assert (record.outcome, resources.sections.found.queries) == ("answered", ["first"])
    assert record.rewrites[0].failed
    assert codes(record) == [("rewrite_query", "WB401")]


def test_a_rewriter_that_fails_later_ends_with_the_answer_that_stands() -> None:
    """DL-05"""
    resources = relevant(rewriter=FakeRewriter(error=DOWN), evaluator=FakeEvaluator(says=(OFF,)))
    record = finished(resources)
    assert (record.outcome, record.reason) == ("answered_forced", "rewriter_failed")
    assert len(record.drafts) == 1


def test_a_direct_answerer_that_hangs_ends_with_its_allowance() -> None:
    """SC-13"""
    router = FakeStrategyRouter(RouteChoice("direct", "remembered"))
    record = soon(relevant(router=router, direct=FakeDirect(hangs=True), memory=FakeMemory([memory()])))
    assert record.answer.startswith("From memory")
    assert (record.outcome, record.reason) == ("answered_forced", "deadline")


# -- the budget in every node ---------------------------------------------------------------------------------------

OVER_AT = {
    "retrieve_memory": ("fallback", "deadline"),
    "route_query": ("fallback", "deadline"),
    "rewrite_query": ("fallback", "deadline"),
    "retrieve_documents": ("fallback", "deadline"),
    "grade_documents": ("fallback", "deadline"),
    "generate_response": ("answered_forced", "deadline"),
    "grade_relevance": ("answered_forced", "deadline"),
    "consolidate_memory": ("answered", "answer_relevant"),
}


@pytest.mark.parametrize(("node", "ends"), OVER_AT.items())
def test_a_budget_that_ends_in_any_node_gives_the_best_there_is_with_its_reason(
    node: str, ends: tuple[str, str]
) -> None:
    """SC-13, DL-03, DL-04"""
    record = fold_all(events_of(relevant(), leap_at=(node, 1)))
    assert (record.outcome, record.reason) == ends
    assert record.answer
    if ends[0] == "fallback":
        assert "time of this run was over" in record.answer
    else:
        assert record.answer == "It is so [1]."


def test_a_budget_that_ends_in_a_direct_answer_still_gives_it() -> None:
    """SC-13"""
    resources = relevant(router=FakeStrategyRouter(RouteChoice("direct", "smalltalk")))
    record = fold_all(events_of(resources, leap_at=("direct_response", 1)))
    assert (record.outcome, record.reason, record.answer) == ("answered_forced", "deadline", "As I said before.")


@pytest.mark.parametrize("node", ["rewrite_query", "retrieve_documents", "grade_documents", "generate_response"])
def test_a_budget_that_ends_during_a_correction_leaves_the_answer_before_it(node: str) -> None:
    """DL-04, SC-13: after the deadline nothing is written where an answer stands already."""
    resources = relevant(evaluator=FakeEvaluator(says=(OFF, WORSE)))
    record = fold_all(events_of(resources, leap_at=(node, 2)))
    assert (record.outcome, record.reason) == ("answered_forced", "deadline")
    assert record.answer == record.drafts[0].text
    assert len(record.drafts) == 1


# -- no matter what the roles do ------------------------------------------------------------------------------------


@dataclass
class Moody:
    """Draws what a role does at each call: a reply, an error of ours, nonsense, or hanging."""

    moods: Sequence[str]
    calls: int = 0

    async def mood(self) -> str:
        mood = self.moods[self.calls % len(self.moods)]
        self.calls += 1
        if mood == "hangs":
            await hang()
        if mood == "raises":
            raise DOWN
        if mood == "locked":
            raise LOCKED
        if mood == "foreign":
            raise RuntimeError("secret text")
        return mood


@dataclass
class MoodyRetriever(Moody):
    async def search(self, query: str, limit: int) -> Retrieval:
        mood = await self.mood()
        found = {} if mood == "nonsense" else {f"{query}-{place}": 0.9 - place / 10 for place in range(3)}
        return await FakeRetriever(otherwise=found).search(query, limit)


@dataclass
class MoodyGrader(Moody):
    async def grade(self, question: str, passages: Sequence[Passage], trace: Trace = SILENT) -> list[Verdict]:
        mood = await self.mood()
        made = []
        for place, passage in enumerate(passages):
            relevant = None if mood == "unreadable" else (mood == "yes" or (mood == "alternates" and place % 2 == 0))
            verdict = Verdict(relevant, 0.9, "so", grader="moody")
            trace.verdict(passage.id, verdict)
            made.append(verdict)
        return made


@dataclass
class MoodyRewriter(Moody):
    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        mood = await self.mood()
        texts = {"nonsense": "?!", "same": request.question}
        return RewriteProposal(texts.get(mood, f"query {self.calls}"), "because")


@dataclass
class MoodyGenerator(Moody):
    context_tokens: int = 4000
    requests: list[GenerationRequest] = field(default_factory=list)

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        mood = await self.mood()
        text = " " if mood == "nonsense" else f"Answer {self.calls} [1][7]."
        trace.token(text)
        return text


@dataclass
class MoodyEvaluator(Moody):
    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        mood = await self.mood()
        if mood == "nonsense":
            return Evaluation(True, (Suggestion("evidence_marking", "Say more."),))
        return {"yes": SOLVED, "worse": WORSE}.get(mood, OFF)


@dataclass
class MoodyRouter(Moody):
    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        mood = await self.mood()
        return RouteChoice(mood if mood in (*STRATEGIES, "direct") else "web_search")  # type: ignore[arg-type]


def moods(*names: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=6)


@st.composite
def adversaries(draw: st.DrawFn) -> tuple[DualResources, bool]:
    """Roles that do anything, and whether one of them may hang."""
    hangs = draw(st.sampled_from([False, False, False, True]))
    bad = ("raises", "locked", *(("hangs",) if hangs else ()))
    resources = DualResources(
        retriever=MoodyRetriever(draw(moods("found", "found", "nonsense", *bad))),  # type: ignore[arg-type]
        grader=MoodyGrader(draw(moods("yes", "no", "alternates", "unreadable", "raises"))),  # type: ignore[arg-type]
        rewriter=MoodyRewriter(draw(moods("new", "new", "same", "nonsense", *bad))),  # type: ignore[arg-type]
        generator=MoodyGenerator(draw(moods("text", "text", "text", "nonsense", *bad))),  # type: ignore[arg-type]
        sections=FakeSections(
            MoodyRetriever(draw(moods("found", "nonsense", *bad))),  # type: ignore[arg-type]
            summaries=draw(st.booleans()),
        ),
        router=MoodyRouter(draw(moods(*STRATEGIES, "direct", *bad, "foreign"))),  # type: ignore[arg-type]
        direct=FakeDirect(error=draw(st.sampled_from([None, DOWN])), hangs=hangs and draw(st.booleans())),
        evaluator=MoodyEvaluator(draw(moods("yes", "off", "off", "worse", "nonsense", *bad))),  # type: ignore[arg-type]
        memory=FakeMemory(
            draw(st.sampled_from([(), (memory(),), (memory(passed=False),)])),
            error=draw(st.sampled_from([None, LOCKED])),
            keep_error=draw(st.sampled_from([None, LOCKED])),
            hangs=hangs and draw(st.booleans()),
        ),
        web=draw(st.sampled_from([None, MoodyRetriever(draw(moods("found", "nonsense", *bad)))])),  # type: ignore[arg-type]
    )
    resources.settings = resources.settings.model_copy(update={"generation_allowance_s": 0.03})
    return resources, hangs


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(adversaries(), st.integers(0, 3), st.booleans(), st.booleans())
def test_whatever_the_roles_do_a_run_ends_with_an_outcome_within_its_limits(
    adversary: tuple[DualResources, bool], corrections: int, web_search: bool, keeps: bool
) -> None:
    """DL-03, DL-04, SC-13: never more than three strategies times ``max_corrections + 1`` passes, and never a hang."""
    resources, hangs = adversary
    config = dual(max_corrections=corrections, web_search=web_search, memory=keeps)
    events = events_of(resources, config, left_s=0.03 if hangs else None)
    record = fold_all(events)
    assert [event for event in events if isinstance(event, RunFinished)] == events[-1:]
    _within_limits(record, corrections)
    _best_result(record)
    if record.remembered is not None:
        assert keeps
        assert record.remembered.passed == (record.outcome == "answered")


def _within_limits(record: RunRecord, corrections: int) -> None:
    assert len(record.nodes) < workflow("dual_loop").recursion_limit(record.config)
    assert len(record.rounds) <= len(STRATEGIES) * (corrections + 1)
    assert len(record.drafts) <= corrections + 1
    for attempt in range(corrections + 1):
        tried = [item.strategy for item in record.tried_routes if item.attempt == attempt]
        assert len(tried) == len(set(tried)), "each strategy has one turn in a pass"
    assert all(item.attempt <= corrections for item in record.tried_routes)


def _best_result(record: RunRecord) -> None:
    best = best_draft(record.drafts)
    if record.outcome in ("answered", "answered_forced"):
        assert best is not None
        assert record.answer == best.text
        assert (record.outcome == "answered") == (best.evaluation is not None and best.evaluation.passed)
    elif record.outcome == "fallback":
        assert record.answer
        assert record.citations == ()
    else:
        assert record.outcome == "failed"
        assert record.error is not None
        assert not record.drafts or record.error.code == "WB000"
