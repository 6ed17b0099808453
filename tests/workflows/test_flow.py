"""What a flow derives from its nodes and ways, so that pages and replays need no list of names."""

from __future__ import annotations

import pytest

from engine.flow import compiled, workflow
from engine.flow.flow import END, Flow
from engine.flow.graph import graph_of
from engine.model.config import WORKFLOWS, WorkflowName
from engine.workflows.steps import nodes


@pytest.mark.parametrize(
    ("name", "grading", "preparing", "revising"),
    [
        ("self_corrective", "grade", set(), set()),
        ("quality_loop", "rerank", set(), set()),
        ("dual_loop", "grade_documents", {"retrieve_memory", "route_query", "direct_response"}, set()),
        ("answer_evaluation", "grade", set(), {"generate_answer"}),
        ("graph_hybrid", "grade_documents", {"analyze_query", "route_query"}, set()),
    ],
)
def test_a_flow_knows_what_judges_what_comes_before_searching_and_what_is_written_again(
    name: WorkflowName, grading: str, preparing: set[str], revising: set[str]
) -> None:
    flow = workflow(name).flow
    assert (flow.grading, flow.preparing, flow.revising) == (grading, frozenset(preparing), frozenset(revising))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_compiled_graph_has_the_name_of_its_workflow(name: WorkflowName) -> None:
    assert graph_of(compiled(name)).workflow == name


def test_a_flow_that_only_searches_and_answers_judges_prepares_and_revises_nothing() -> None:
    flow = Flow(nodes={"find": nodes.RETRIEVE, "say": nodes.GENERATE}, ways={"find": "say", "say": END})
    assert (flow.grading, flow.preparing, flow.revising) == ("", frozenset(), frozenset())


def test_a_flow_knows_what_mends_an_answer_whether_rewrites_count_its_rounds_and_whether_it_decides() -> None:
    known = {name: workflow(name).flow for name in WORKFLOWS}
    mended = {name: flow.mended_by for name, flow in known.items() if flow.mended_by}
    assert mended == {"dual_loop": "rewrite", "answer_evaluation": "answer"}
    assert [name for name, flow in known.items() if not flow.searches_once_a_query] == ["dual_loop"]
    assert all(flow.decides for flow in known.values())
    flow = Flow(nodes={"find": nodes.RETRIEVE, "say": nodes.GENERATE}, ways={"find": "say", "say": END})
    assert (flow.mended_by, flow.searches_once_a_query, flow.decides) == ("", True, False)
