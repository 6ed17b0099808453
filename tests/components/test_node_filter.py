"""Which tab a node of a workflow opens, and which passages it had to do with."""

from __future__ import annotations

from typing import get_args

import pytest

from components.common.life_lines import life_lines
from engine.flow import compiled, workflows
from engine.flow.flow import Tab
from engine.flow.graph import END, START, graph_of
from engine.model.config import RunConfig, WorkflowName
from engine.model.values import RunId, RunRecord
from pages.parts.ask.evidence import concerns, tab_of
from tests.components.loop_runs import answers_record, dual_record, quality_record


@pytest.mark.parametrize("workflow", [name for name, own in workflows().items() if own.tab])
def test_every_node_of_the_three_loops_opens_a_tab_of_its_own(workflow: WorkflowName) -> None:
    nodes = [name for name in graph_of(compiled(workflow)).nodes if name not in (START, END)]
    record = RunRecord(RunId("r"), "Q?", RunConfig(workflow=workflow), "")
    tabs = {name: tab_of(name, record) for name in nodes}
    assert set(tabs.values()) <= set(get_args(Tab))
    assert "loop" in tabs.values()
    assert {name for name, tab in tabs.items() if tab == "trace"} <= workflows()[workflow].flow.of_kind("answer")


def test_an_unknown_node_opens_the_timeline() -> None:
    assert tab_of("elsewhere", answers_record()) == "trace"


def shown(record: RunRecord, node: str) -> set[str]:
    return {line.passage.id for line in life_lines(record) if concerns(line, node, record)}


def test_a_node_narrows_the_passages_to_those_that_went_through_it() -> None:
    record = quality_record()
    assert shown(record, "rerank") == shown(record, "grade_documents") == {"v1", "v2", "v3", "g1", "t1"}
    assert shown(record, "generate") == {"v1", "v2"}
    assert shown(record, "rewrite") == {"v3"}
    assert shown(answers_record(), "eval_answer") == {"v1", "v2"}
    assert shown(dual_record(), "generate_response")
    assert shown(dual_record(), "direct_response") == set()
    assert len(shown(record, "fuse")) == len(life_lines(record))
