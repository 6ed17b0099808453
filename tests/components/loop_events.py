"""Events of whole runs of the three other loops, made by running them with hand-written roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.builtin.quality_rewriter import BuiltinQualityRewriter
from engine.errors import ModelError
from engine.flow import compiled
from engine.flow.graph import WorkflowGraph, graph_of
from engine.model.config import RunConfig, WorkflowName
from engine.model.events import Event
from engine.model.values import Evaluation, RouteChoice
from engine.workflows.quality_loop.options import QualityOptions
from tests.components.graph_events import FELL_BACK, graph_run
from tests.support import answer_fakes, dual_fakes, loop_fakes
from tests.support.answer_fakes import FAILED, AnswerResources, answering
from tests.support.dual_fakes import (
    OFF,
    SOLVED,
    WORSE,
    DualResources,
    FakeEvaluator,
    FakeMemory,
    FakeSections,
    FakeStrategyRouter,
    FakeWeb,
    dual,
    memory,
)
from tests.support.fakes import FakeGrader, FakeRetriever, FakeRewriter
from tests.support.loop_fakes import LoopResources, ScriptedReranker

_GONE = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
_REMEMBERED = RouteChoice("direct", "remembered", without_memory="direct_chunk_search")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A run: which workflow, and its events."""

    workflow: WorkflowName
    events: Callable[[], list[Event]]


def drawn(workflow: WorkflowName) -> WorkflowGraph:
    """The shape of the compiled workflow, as a page draws it."""
    return graph_of(compiled(workflow))


def _quality(relevance: float, rewriter: Callable[[], Any] = FakeRewriter, **config: Any) -> Recorded:
    def events() -> list[Event]:
        resources = LoopResources(reranker=ScriptedReranker(otherwise=relevance), rewriter=rewriter())
        return loop_fakes.events_of(resources, RunConfig(workflow="quality_loop", **config), "离散数学")

    return Recorded("quality_loop", events)


def _dual(
    *says: Evaluation, relevant: str = "s1", config: RunConfig | None = None, broken: bool = False, **roles: Any
) -> Recorded:
    def events() -> list[Event]:
        judge = FakeEvaluator(says or (SOLVED,), error=_GONE if broken else None)
        grader = FakeGrader(relevant=frozenset(relevant.split()))
        return dual_fakes.events_of(DualResources(grader=grader, evaluator=judge, **roles), config or dual())

    return Recorded("dual_loop", events)


def _answers(
    *said: Evaluation | Exception, limit: int = 3, relevant: str = "p1 p2 p3 p4 p5", **config: Any
) -> Recorded:
    def events() -> list[Event]:
        evaluator = answer_fakes.FakeEvaluator(said)
        resources = AnswerResources(grader=FakeGrader(relevant=frozenset(relevant.split())), evaluator=evaluator)
        return answer_fakes.events_of(resources, answering(limit, **config))

    return Recorded("answer_evaluation", events)


def _graph(relevant: str = "g1 g2 v1 v2 v3", **settings: Any) -> Recorded:
    return Recorded("graph_hybrid", lambda: graph_run(relevant, **settings))


_EMPTY = FakeSections(FakeRetriever(otherwise={}))

RUNS: Mapping[str, Recorded] = {
    "quality: low, rewritten, high": _quality(0.9, BuiltinQualityRewriter, options=QualityOptions(medium_score=0.65)),
    "quality: at the limit": _quality(0.55, max_rewrites=2),
    "quality: abstains": _quality(0.1, max_rewrites=1),
    "quality: unreadable": _quality(-1),
    "dual: at once": _dual(),
    "dual: next strategy": _dual(relevant="p1"),
    "dual: corrected": _dual(WORSE, SOLVED),
    "dual: corrections used up": _dual(OFF, WORSE, OFF),
    "dual: nothing helps": _dual(relevant=""),
    "dual: on to the web": _dual(relevant="web:1", sections=_EMPTY, web=FakeWeb(), config=dual(web_search=True)),
    "dual: from memory": _dual(router=FakeStrategyRouter(_REMEMBERED), memory=FakeMemory([memory()])),
    "dual: from memory, corrected": _dual(
        OFF, SOLVED, router=FakeStrategyRouter(_REMEMBERED), memory=FakeMemory([memory(), memory(id="m2")])
    ),
    "dual: memory off": _dual(config=dual(memory=False)),
    "dual: memory and evaluator broken": _dual(memory=FakeMemory(error=_GONE, keep_error=_GONE), broken=True),
    "answers: at once": _answers(),
    "answers: revised": _answers(FAILED, FAILED),
    "answers: answers used up": _answers(FAILED, FAILED, limit=2),
    "answers: abstains": _answers(relevant="", max_rewrites=1),
    "answers: evaluator gone": _answers(FAILED, _GONE),
    "graph: at once": _graph(),
    "graph: refined, in vain": _graph("", max_rewrites=1),
    "graph: no graph": _graph("v1 v2 v3 v4", evidence=FELL_BACK, mode="local"),
    "graph: bypass": _graph(mode="bypass"),
    "graph: small talk": _graph(question="Hello!"),
}
"""Runs of every loop: each way to its end that the picture tells apart."""
