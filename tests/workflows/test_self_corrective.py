"""The four-node loop with hand-written roles: SC-01, SC-03, SC-04, SC-06, SC-07, SC-10 and SC-13."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ModelError, ModelInterrupted, StoreError
from engine.flow import compiled, workflow
from engine.flow.context import Roles
from engine.flow.graph import graph_of
from engine.model.config import RunConfig
from engine.model.events import Event, RunFinished, TokenStreamed, fold_all
from engine.model.values import Passage, RunId, RunRecord, Verdict
from engine.roles import SILENT, GenerationRequest, Trace
from engine.running.execution import execute
from engine.running.runs import LiveRun
from tests.support.fakes import FakeGenerator, FakeGrader, FakeResources, FakeRetriever, FakeRewriter, events_of, path

ALL = frozenset({"p1", "p2", "p3", "p4", "p5"})

BY_RATE = RunConfig(gate="pass_rate")
"""The gate under which a round can be rewritten although a passage has passed."""


def finished(resources: FakeResources, config: RunConfig | None = None, question: str = "first") -> RunRecord:
    return fold_all(events_of(resources, config or BY_RATE, question))


def test_the_compiled_graph_has_exactly_four_nodes_and_draws_its_true_edges() -> None:
    """SC-01"""
    graph = graph_of(compiled("self_corrective"))
    assert set(graph.nodes) == {"retrieve", "grade", "rewrite", "generate"}
    edges = {(edge.source, edge.target) for edge in graph.edges}
    assert edges == {
        ("__start__", "retrieve"),
        ("retrieve", "grade"),
        ("grade", "rewrite"),
        ("grade", "generate"),
        ("grade", "__end__"),
        ("rewrite", "retrieve"),
        ("generate", "__end__"),
    }


def test_a_question_whose_passages_pass_is_answered_at_once() -> None:
    """SC-01, SC-07"""
    record = finished(FakeResources(grader=FakeGrader(relevant=ALL)))
    assert path(record) == ["retrieve", "grade", "generate"]
    assert (record.outcome, record.reason) == ("answered", "passed")
    assert [item.marker for item in record.citations] == [1, 2, 3, 4, 5]


def test_a_failing_round_is_rewritten_and_searched_again() -> None:
    """SC-04, SC-06"""
    retriever = FakeRetriever(hits={"second": {"x1": 0.9, "x2": 0.8}})
    record = finished(FakeResources(retriever=retriever, grader=FakeGrader(relevant=frozenset({"x1", "x2"}))))
    assert path(record) == ["retrieve", "grade", "rewrite", "retrieve", "grade", "generate"]
    assert [item.inequality for item in record.decisions] == [
        "pass rate 0.00 < 0.60 and rewrites 0 < 3",
        "pass rate 1.00 >= 0.60",
    ]
    assert retriever.queries == ["first", "second"]


def test_the_grader_always_judges_against_the_question_as_asked_and_never_twice() -> None:
    """SC-03"""
    grader = FakeGrader()
    record = finished(FakeResources(grader=grader), RunConfig(gate="pass_rate", max_rewrites=2))
    assert grader.asked == [("first", ["p1", "p2", "p3", "p4", "p5"])]
    assert record.rounds[2].reused == ("p1", "p2", "p3", "p4", "p5")
    assert record.outcome == "abstained"


def test_passages_that_a_rewrite_brings_are_judged_against_the_question_as_asked() -> None:
    """SC-03, SC-06: a rewrite that drifts must not make its own hits look relevant."""
    grader, rewriter = FakeGrader(), FakeRewriter()
    retriever = FakeRetriever(hits={"second": {"x1": 0.9}, "third": {"y1": 0.9}})
    finished(FakeResources(retriever=retriever, grader=grader, rewriter=rewriter), RunConfig(max_rewrites=2))
    assert grader.asked[1:] == [("first", ["x1"]), ("first", ["y1"])]
    assert [request.question for request in rewriter.requests] == ["first", "first"]
    assert [request.current_query for request in rewriter.requests] == ["first", "second"]


def test_an_unreadable_verdict_is_asked_for_again_in_the_next_round() -> None:
    """SC-03: never cached."""
    grader = FakeGrader(unreadable=frozenset({"p1"}))
    record = finished(FakeResources(grader=grader), RunConfig(gate="pass_rate", max_rewrites=1))
    assert [ids for _, ids in grader.asked] == [["p1", "p2", "p3", "p4", "p5"], ["p1"]]
    assert record.rounds[0].verdicts[record.rounds[0].kept[0].id].relevant is None


def test_only_unreadable_verdicts_end_the_run_as_failed() -> None:
    """SC-03"""
    record = finished(FakeResources(grader=FakeGrader(unreadable=ALL)))
    assert path(record) == ["retrieve", "grade"]
    assert (record.outcome, record.reason) == ("failed", "grader_failed")
    assert record.error is not None
    assert "5 verdicts" in record.error.fact


def test_a_repeated_rewrite_gets_one_retry_then_counts_and_nothing_is_searched_again() -> None:
    """SC-06"""
    resources = FakeResources(rewriter=FakeRewriter(queries=("FIRST!", "first")))
    record = finished(resources)
    assert resources.retriever.queries == ["first"]
    assert [item.searched for item in record.rounds] == [True, False]
    assert record.rewrites[0].refused == ("FIRST!", "first")
    assert record.rewrites[0].repeated
    assert record.decisions[-1].inequality == "pass rate 0.00 < 0.60 and repeated rewrites 1 >= 1"
    assert resources.rewriter.requests[1].history[-1].refused == ("FIRST!",)


def test_a_refused_proposal_may_be_followed_by_a_new_one() -> None:
    """SC-06"""
    resources = FakeResources(rewriter=FakeRewriter(queries=("First", "second")))
    record = finished(resources, RunConfig(gate="pass_rate", max_rewrites=1))
    assert resources.retriever.queries == ["first", "second"]
    assert (record.rewrites[0].repeated, record.rewrites[0].refused) == (False, ("First",))


def test_the_rewriter_never_sees_a_threshold_and_its_input_is_hashed_into_the_round() -> None:
    """SC-06"""
    first, second = FakeResources(), FakeResources()
    one = finished(first, RunConfig(gate="pass_rate", max_rewrites=1))
    other = finished(second, RunConfig(gate="pass_rate", max_rewrites=2, grade_pass_threshold=0.9, budget_s=99))
    assert first.rewriter.requests[0] == second.rewriter.requests[0]
    assert one.rounds[1].rewrite_input == other.rounds[1].rewrite_input == one.rewrites[0].input_hash != ""


def test_a_failing_rewriter_loses_nothing_that_had_passed() -> None:
    """SC-13"""
    rewriter = FakeRewriter(error=ModelError.ollama_unreachable(address="http://127.0.0.1:1"))
    record = finished(FakeResources(grader=FakeGrader(relevant=frozenset({"p1"})), rewriter=rewriter))
    assert (record.outcome, record.reason) == ("answered_forced", "rewriter_failed")
    assert record.decisions[-1].inequality == "pass rate 0.20 < 0.60 and failed rewrites 1 >= 1"
    assert [item.code for item in record.warnings] == ["WB401"]


def test_a_grader_that_dies_later_loses_nothing_that_had_passed() -> None:
    """SC-13"""
    gone = ModelError.ollama_unreachable(address="http://127.0.0.1:1")
    hits = {"second": {"x1": 0.9, "x2": 0.8}}
    grader = FakeGrader(relevant=frozenset({"p1"}), errors=[None, gone])
    record = finished(FakeResources(retriever=FakeRetriever(hits=hits), grader=grader))
    assert (record.outcome, record.reason) == ("answered_forced", "grader_unavailable")
    assert record.decisions[-1].inequality == "pass rate 0.00 < 0.60 and passages left ungraded 2 >= 1"
    assert [item.passage_id for item in record.citations] == ["p1"]
    assert [item.code for item in record.warnings] == ["WB401"]


def test_a_grader_that_is_never_there_fails_the_run() -> None:
    """SC-13"""
    grader = FakeGrader(errors=[ModelError.ollama_unreachable(address="http://127.0.0.1:1")])
    record = finished(FakeResources(grader=grader))
    assert (record.outcome, record.reason) == ("failed", "WB401")


def test_nothing_is_graded_again_after_a_rewrite_that_repeated_itself() -> None:
    """SC-06"""
    grader = FakeGrader(unreadable=frozenset({"p1"}))
    finished(FakeResources(grader=grader, rewriter=FakeRewriter(queries=("first",))))
    assert len(grader.asked) == 1


def test_forced_generation_at_the_limit_uses_what_passed() -> None:
    """SC-04"""
    record = finished(
        FakeResources(grader=FakeGrader(relevant=frozenset({"p2"}))), RunConfig(gate="pass_rate", max_rewrites=1)
    )
    assert (record.outcome, record.reason) == ("answered_forced", "max_rewrites")
    assert [item.passage_id for item in record.citations] == ["p2"]


def test_with_nothing_passed_it_abstains_without_asking_the_generator() -> None:
    """SC-07"""
    resources = FakeResources()
    record = finished(resources, RunConfig(gate="pass_rate", max_rewrites=0))
    assert record.outcome == "abstained"
    assert record.answer
    assert not resources.generator.requests


def test_unverified_passages_may_be_used_when_the_setting_says_so() -> None:
    """SC-07"""
    resources = FakeResources()
    record = finished(resources, RunConfig(gate="pass_rate", max_rewrites=0, answer_unverified=True))
    assert record.outcome == "answered_unverified"
    assert not resources.generator.requests[0].verified


def test_a_search_that_was_cut_off_is_followed_by_one_generation_and_not_called_an_empty_collection() -> None:
    """SC-07, SC-13: the abstention is honest."""
    resources = FakeResources(retriever=FakeRetriever(gate=asyncio.Event()))
    record = finished(resources, RunConfig(gate="pass_rate", budget_s=1), question="什么是逻辑?")
    assert path(record) == ["retrieve", "grade", "generate"]
    assert (record.outcome, record.decisions[0].reason) == ("abstained", "deadline")
    assert "时间预算" in record.answer
    assert "没有得到任何片段" not in record.answer


def test_passages_that_nobody_judged_in_time_are_not_called_read() -> None:
    """SC-07: the abstention is honest."""

    class NeverBegins(FakeGrader):
        async def grade(
            self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
        ) -> list[Verdict]:
            await asyncio.Event().wait()
            return await super().grade(question, passages, trace)

    record = finished(FakeResources(grader=NeverBegins()), RunConfig(gate="pass_rate", budget_s=1))
    assert (record.outcome, record.reason) == ("abstained", "deadline")
    assert "time budget" in record.answer
    assert "were read" not in record.answer


def test_preparing_a_run_counts_against_its_budget() -> None:
    """SC-13: a store or a model server that hangs before the first node ends the run all the same."""

    class NeverReady(FakeResources):
        async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
            await asyncio.Event().wait()
            return await super().roles(config)

    record = finished(NeverReady(), RunConfig(gate="pass_rate", budget_s=1))
    assert (record.outcome, record.reason, record.nodes) == ("failed", "WB214", ())
    assert record.error is not None
    assert "1 s" in record.error.fact


def test_verdicts_that_came_in_time_count_and_the_generation_has_an_allowance_of_its_own() -> None:
    """SC-13: also where the model does not answer within the same step of the event loop."""

    class Yields(FakeGenerator):
        async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
            await asyncio.sleep(0)
            return await super().generate(request, trace)

    grader = FakeGrader(relevant=ALL, gate=asyncio.Event)
    record = finished(FakeResources(grader=grader, generator=Yields()), RunConfig(gate="pass_rate", budget_s=1))
    assert (record.decisions[0].passed, record.decisions[0].reason) == (1, "deadline")
    assert record.outcome == "answered_forced" and record.answer
    assert [item.code for item in record.warnings] == ["WB413"]


def test_a_generation_that_breaks_off_keeps_its_partial_text() -> None:
    """SC-13"""
    generator = FakeGenerator(error=ModelInterrupted.mid_reply(model="fake"), error_after=2)
    record = finished(FakeResources(grader=FakeGrader(relevant=ALL), generator=generator))
    assert (record.outcome, record.reason, record.answer) == ("failed", "WB404", "It is")
    assert record.error is not None
    assert record.error.node == "generate"


def test_a_generation_that_hangs_ends_with_its_allowance() -> None:
    """SC-13"""
    resources = FakeResources(grader=FakeGrader(relevant=ALL), generator=FakeGenerator(gate=asyncio.Event))
    resources.settings = resources.settings.model_copy(update={"generation_allowance_s": 1.5})
    record = finished(resources, RunConfig(gate="pass_rate", budget_s=1))
    assert (record.outcome, record.reason) == ("failed", "WB413")
    # All of it, which is not the budget of the run.
    assert record.error is not None
    assert record.error.params["seconds"] == "1.5"
    assert "left for it" in record.error.fact


def test_no_token_is_taken_back_and_a_marker_that_points_nowhere_is_never_streamed() -> None:
    """SC-07"""
    generator = FakeGenerator(text="It is so [1] and here [7]. Further `row[9]` [8].")
    events = events_of(FakeResources(grader=FakeGrader(relevant=ALL), generator=generator), RunConfig())
    record = fold_all(events)
    assert record.answer == "It is so [1] and here. Further `row[9]`."
    assert "".join(event.text for event in events if isinstance(event, TokenStreamed)) == record.answer
    assert (record.removed_markers, [item.marker for item in record.citations]) == (("[7]", "[8]"), [1])


def test_an_empty_answer_is_a_failure_and_not_an_answer() -> None:
    record = finished(FakeResources(grader=FakeGrader(relevant=ALL), generator=FakeGenerator(text="  ")))
    assert (record.outcome, record.reason) == ("failed", "WB408")


@pytest.mark.parametrize("error", [StoreError.unreachable(address="http://127.0.0.1:1"), RuntimeError("secret text")])
def test_a_fault_of_the_store_is_said_without_foreign_text(error: Exception) -> None:
    record = finished(FakeResources(retriever=FakeRetriever(error=error)))
    assert record.outcome == "failed"
    assert record.error is not None
    assert record.error.remedy
    assert "secret" not in record.error.fact


def test_cancelling_ends_the_run_within_the_step() -> None:
    """SC-13"""

    async def scenario() -> list[Event]:
        events: list[Event] = []
        reached = asyncio.Event()

        def note(_: RunId, event: Event) -> None:
            events.append(event)
            if event.kind == "token_streamed":
                reached.set()

        gates = iter([_open_gate()])
        generator = FakeGenerator(gate=lambda: next(gates, asyncio.Event()))
        resources = FakeResources(grader=FakeGrader(relevant=ALL), generator=generator)
        run = LiveRun(RunId("r"), note)
        run.begin("first", BY_RATE)
        task = asyncio.create_task(execute(run, "first", BY_RATE, resources))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return events

    record = fold_all(asyncio.run(scenario()))
    assert record.outcome == "cancelled"
    assert record.answer == "It"


def _open_gate() -> asyncio.Event:
    gate = asyncio.Event()
    gate.set()
    return gate


def test_a_record_holds_every_call_with_its_place() -> None:
    """SC-10"""
    record = finished(
        FakeResources(grader=FakeGrader(relevant=frozenset({"p1"}))), RunConfig(gate="pass_rate", max_rewrites=1)
    )
    assert [(item.role, item.node, item.round) for item in record.model_calls] == [
        *[("grader", "grade", 0)] * 5,
        ("rewriter", "rewrite", 0),
        ("generator", "generate", 1),
    ]
    assert record.calls == 7
    assert [item.model_calls for item in record.nodes] == [0, 5, 1, 0, 0, 1]
    assert all(item.duration_ms is not None for item in record.nodes)


def test_grading_the_whole_probe_is_a_switch() -> None:
    """SC-02"""
    grader = FakeGrader()
    finished(FakeResources(grader=grader), RunConfig(gate="pass_rate", top_k=2, max_rewrites=0, grade_probe=True))
    assert grader.asked[0][1] == ["p1", "p2", "p3", "p4", "p5"]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(
    st.sets(st.sampled_from(sorted(ALL))),
    st.sets(st.sampled_from(sorted(ALL))),
    st.integers(0, 5),
    st.sampled_from([0.0, 0.4, 0.6, 1.0]),
    st.sampled_from([("second", "third", "fourth", "fifth", "sixth"), ("first",), ("second", "second")]),
)
def test_every_run_ends_with_one_outcome_and_within_its_limits(
    relevant: set[str], unreadable: set[str], budget: int, bar: float, queries: tuple[str, ...]
) -> None:
    """SC-13: for any roles, never more rewrites than the limit and never more steps than the engine's own."""
    config = RunConfig(gate="pass_rate", max_rewrites=budget, grade_pass_threshold=bar)
    grader = FakeGrader(relevant=frozenset(relevant), unreadable=frozenset(unreadable))
    events = events_of(FakeResources(grader=grader, rewriter=FakeRewriter(queries=queries)), config)
    record = fold_all(events)
    assert len(record.rewrites) <= budget
    assert len(record.nodes) < workflow("self_corrective").recursion_limit(config)
    assert len(record.decisions) == len(record.rounds)
    assert [event for event in events if isinstance(event, RunFinished)] == events[-1:]
