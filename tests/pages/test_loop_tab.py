"""The tab of the three other loops on the workbench page: there for their runs alone, and first."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.flow import workflow, workflows
from engine.model.config import RunConfig, WorkflowName
from tests.pages.driving import boxes, inline, opened, visible

LOOPS = [name for name, own in workflows().items() if own.tab]
NODES = {"quality_loop": 7, "dual_loop": 9, "answer_evaluation": 6, "graph_hybrid": 6}
QUESTION = {"en": "What are the main symptoms of diabetes?", "zh": "糖尿病的主要症状是什么？"}


def labels(app: AppTest) -> list[str]:
    return [item.label for item in app.tabs]


@pytest.mark.parametrize("name", LOOPS)
def test_a_run_of_a_loop_opens_its_own_tab_first_and_every_tab_draws(engine: Engine, name: WorkflowName) -> None:
    words = words_for("zh")
    record = engine.run(QUESTION["zh"], RunConfig(workflow=name))
    app = opened(language="zh", run=record.id)
    assert labels(app)[0] == words(workflow(name).tab)
    said = {
        "quality_loop": words("Weighted score"),
        "dual_loop": words("Memory"),
        "answer_evaluation": words("answer {n}", n=1),
        "graph_hybrid": words("Analysis"),
    }
    assert said[name] in inline(app)
    assert len(boxes(app)) == NODES[name]
    for tab in ("loop", "passages", "rewrites", "map", "trace"):
        app.session_state["tab"] = tab
        app.run()
        assert not app.exception, (tab, app.exception)
        assert not re.search(r"\{[a-z_]+\}", visible(app)), "a word with an unfilled place"


def test_a_run_of_the_four_node_loop_has_no_such_tab_and_opens_its_passages(engine: Engine) -> None:
    record = engine.run(QUESTION["en"], RunConfig(max_rewrites=0))
    app = opened(run=record.id)
    assert labels(app)[0].startswith("Passages")
    app.session_state["tab"] = "loop"
    app.run()
    assert not app.exception
    assert app.session_state["tabs"].startswith("Passages"), "a tab chosen in another run is not there in this one"


def test_a_node_of_a_loop_opens_the_tab_that_shows_most_of_it(engine: Engine) -> None:
    record = engine.run(QUESTION["en"], RunConfig(workflow="quality_loop"))
    app = opened(run=record.id)
    for node, tab in (("fuse", "passages"), ("grade_documents", "loop")):
        app.session_state["path"] = {"selected": node}
        app.run()
        assert app.session_state["tab"] == tab
