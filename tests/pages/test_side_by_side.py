"""The page Side by side: one question through several workflows, by button, by sample and by link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.flow import workflow
from engine.knowledge.ingest import IngestItem
from engine.model.config import WORKFLOWS, RunConfig
from engine.replay.side_by_side import shared_time
from tests.pages.driving import button, given, inline, opened, setting, visible

_PATIENCE_S = 60.0


def finished(app: AppTest, engine: Engine) -> list[str]:
    """The runs of the columns once all have ended, the page drawn again."""
    ids = given(app, "sides").split(",")
    assert all(engine.wait(run_id, _PATIENCE_S) for run_id in ids)
    app.run()
    assert not app.exception, app.exception
    return ids


def test_before_a_question_the_page_says_what_to_do(engine: Engine) -> None:
    """SC-12: an empty state always says what to do next."""
    words = words_for("zh")
    app = opened("side_by_side", "zh")
    assert words("Ask a question: all of them answer it at once.") in visible(app)


def test_all_workflows_answer_one_question_at_the_same_time(engine: Engine) -> None:
    """QL-03, DL-01, AE-01: each runs as a workflow of its own next to the others."""
    language: UiLanguage = "zh"
    words = words_for(language)
    app = opened("side_by_side", language)
    button(app, lambda label: label == words("Run all")).click().run()
    ids = finished(app, engine)
    assert [engine.record(run_id).workflow for run_id in ids] == list(WORKFLOWS)
    drawn = inline(app)
    for name in WORKFLOWS:
        assert words(workflow(name).name) in drawn
    assert (words("Times are of runs side by side on this machine.") in drawn) == shared_time(
        [engine.record(run_id) for run_id in ids]
    )
    starts = [engine.record(run_id).started_at for run_id in ids]
    ends = [engine.record(run_id).duration_ms for run_id in ids]
    assert max(starts)[:16] == min(starts)[:16]
    assert all(took > 0 for took in ends)


def test_a_link_opens_the_columns_and_a_missing_run_is_said(engine: Engine) -> None:
    record = engine.run("What is a power set?")
    app = opened("side_by_side", sides=f"{record.id},gone")
    assert any("is not here any more." in item.value for item in app.warning)
    assert words_for("en")("Choose further workflows to compare with.") in inline(app)


def test_without_a_workflow_nothing_starts(engine: Engine) -> None:
    words = words_for("en")
    app = opened("side_by_side")
    chosen = setting(app, "side_workflows")
    chosen.set_value([])
    button(app, lambda label: label == words("Run all")).click().run()
    assert words("Choose at least one.") in [item.value for item in app.warning]
    assert given(app, "sides") == ""


def test_a_blank_question_is_refused_with_its_remedy(engine: Engine) -> None:
    words = words_for("en")
    app = opened("side_by_side")
    app.text_input[0].set_value("   ")
    button(app, lambda label: label == words("Run all")).click().run()
    assert not app.exception
    assert "WB1" in inline(app)
    assert given(app, "sides") == ""


@pytest.fixture(scope="module")
def own(shared_engine: Engine) -> str:
    shared_engine.ingest(
        [IngestItem("tea.md", data=b"# Tea\n\nGreen tea is steeped for two minutes at eighty degrees.")], "tea"
    )
    return "tea"


@pytest.mark.parametrize("versus", ["workflows", "modes"])
def test_the_address_names_the_collection_that_is_searched(engine: Engine, own: str, versus: str) -> None:
    app = opened("side_by_side", versus=versus, collection=own)
    assert setting(app, "collection").value == own
    words = words_for("en")
    setting(app, "side_workflows" if versus == "workflows" else "race_modes").set_value([])
    app.text_input[0].set_value("How long is green tea steeped?")
    started = ["self_corrective"] if versus == "workflows" else ["naive"]
    setting(app, "side_workflows" if versus == "workflows" else "race_modes").set_value(started)
    button(app, lambda label: label == words("Run all")).click().run()
    (run_id,) = given(app, "sides" if versus == "workflows" else "race").split(",")
    assert engine.wait(run_id, _PATIENCE_S)
    assert engine.record(run_id).config.collection == own


def test_a_link_to_runs_brings_their_collection_and_what_is_said_names_it(engine: Engine, own: str) -> None:
    words = words_for("en")
    asked = [
        RunConfig(collection=own, max_rewrites=0),
        RunConfig(collection=own, workflow="answer_evaluation", max_rewrites=0),
    ]
    ids = [engine.run("Who won the chess championship of 1972?", config).id for config in asked]
    app = opened("side_by_side", sides=",".join(ids))
    assert setting(app, "collection").value == own
    assert words("No workflow answered.") in inline(app)
    assert f"{words('Searched in')}: {own}" in inline(app)
