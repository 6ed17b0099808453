"""What-if on the workbench: it follows the sliders without a run, and its buttons act on what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.messages import NC_
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import RunRecord
from engine.records import PINNED
from engine.samples.demos import demos
from pages.parts.ask.what_if import tried
from tests.pages.driving import given, inline, opened, setting

EN, ZH = words_for("en"), words_for("zh")
LOOPS = "What are the main symptoms of diabetes?"


@pytest.fixture(scope="module")
def looped(shared_engine: Engine) -> RunRecord:
    """A run that rewrites until it has to answer all the same."""
    record = shared_engine.run(LOOPS, RunConfig(gate="pass_rate"))
    assert record.outcome == "answered_forced"
    return record


@pytest.fixture
def pinned(engine: Engine, looped: RunRecord) -> Iterator[RunRecord]:
    engine.tag_run(looped.id, PINNED)
    yield looped
    engine.untag_run(looped.id, PINNED)


def foot(app: AppTest) -> str:
    """What the foot of the sidebar is given to draw."""
    parts = [json.loads(item.proto.json) for item in app.get("bidi_component")]
    return next(json.dumps(part, ensure_ascii=False) for part in parts if '"whatif"' in json.dumps(part))


def tab(app: AppTest, name: str = "map") -> AppTest:
    """The page with this tab open."""
    app.session_state["tab"] = name
    app.run()
    assert not app.exception
    return app


def sheets(app: AppTest) -> list[str]:
    """The style sheets that a page writes itself."""
    return [str(getattr(item, "value", "")) for item in app.get("html")]


def test_a_slider_changes_the_foot_and_starts_no_run(engine: Engine, looped: RunRecord) -> None:
    """The promise: moving a slider calls nothing."""
    app = opened(run=looped.id, gate="pass_rate")
    before = [item.id for item in engine.runs(50)]
    assert "Apply" not in foot(app)
    setting(app, "grade_pass_threshold").set_value(0.2).run()
    assert '"Answered"' in foot(app) and "0 model calls" in foot(app)
    setting(app, "top_k").set_value(12).run()
    assert not app.exception
    assert [item.id for item in engine.runs(50)] == before
    assert engine.record(looped.id) == looped


def test_the_sliders_carry_the_runs_own_values_and_the_foot_speaks_chinese(engine: Engine, looped: RunRecord) -> None:
    app = opened(language="zh", run=looped.id, grade_pass_threshold="0.2")
    assert "已作答" in foot(app)
    assert any(".st-key-grade_pass_threshold" in sheet and "60.00%" in sheet for sheet in sheets(app))
    assert any("0.60" in item.value for item in app.caption)


def test_without_a_run_there_is_no_tick_and_no_foot(engine: Engine) -> None:
    app = opened()
    assert '"whatif"' not in inline(app)
    assert not any(".stSlider [role=group]" in sheet for sheet in sheets(app))


def test_another_model_needs_calls_and_says_so(engine: Engine, looped: RunRecord) -> None:
    app = opened(run=looped.id, grader="ollama:qwen3:8b")
    assert "Unknown: needs" in foot(app)
    assert EN("Continue from there") in inline(tab(app))


@pytest.mark.parametrize("demo", [item.id for item in demos() if item.language == "en"])
def test_what_if_is_live_on_every_demo(engine: Engine, demo: str) -> None:
    app = opened(run=demo, similarity_threshold="0.9")
    assert not app.exception
    assert EN("What if") in foot(app)
    assert EN("Add to the watch list") not in inline(tab(app))


def test_a_failed_run_has_no_foot_and_says_what_was_kept(engine: Engine) -> None:
    models = RoleModels(generator=RoleModel("ollama:qwen3:8b"))
    record = engine.run("What is a truth table?", RunConfig(models=models))
    assert record.outcome == "failed"
    shown = inline(opened(run=record.id))
    assert "Kept: 1 search" in shown and EN("Continue from there") in shown
    assert '"whatif"' not in shown


def test_wanted_settings_move_the_whole_panel(engine: Engine, looped: RunRecord) -> None:
    """Go back to the settings of the run, as *Reset* and a remedy do."""

    def page(values: dict[str, object]) -> None:
        import streamlit as st

        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, config_panel, want_settings

        if "once" not in st.session_state:
            st.session_state["once"] = True
            want_settings(values)
        st.session_state["chosen"] = config_panel(words_for("en"), (), OllamaNote("nowhere")).config

    values = {"top_k": 9, "similarity_threshold": 0.44, "gate": "min_relevant", "min_relevant": 3, "budget_s": 10.4}
    app = AppTest.from_function(page, args=(values,), default_timeout=60).run()
    assert not app.exception
    chosen: RunConfig = app.session_state["chosen"]
    assert (chosen.top_k, chosen.similarity_threshold, chosen.gate, chosen.min_relevant, chosen.budget_s) == (
        9,
        0.44,
        "min_relevant",
        3,
        10,
    )


def test_what_the_panel_has_no_control_for_stays_as_the_run_had_it() -> None:
    models = RoleModels(grader=RoleModel("ollama:m", seed=3), evaluator=RoleModel("ollama:e"))
    run = RunConfig(milvus_address="http://elsewhere:19530", mode="hybrid", models=models)
    chosen = RunConfig(top_k=2, models=RoleModels(grader=RoleModel("ollama:m")))
    config = tried(chosen, run)
    assert (config.top_k, config.milvus_address, config.mode) == (2, run.milvus_address, "hybrid")
    assert config.models == models
    assert tried(replace(chosen, models=RoleModels()), run).models.grader.built_in


def test_pinned_runs_that_would_end_otherwise_are_named(engine: Engine, pinned: RunRecord) -> None:
    other = engine.run("What is a truth table?", RunConfig(gate="pass_rate"))
    app = tab(opened(run=other.id, grade_pass_threshold="0.2"))
    assert "Watch list: 1 better" in inline(app)
    assert f"run:{pinned.id}" in inline(app)
    setting(app, "grade_pass_threshold").set_value(0.6).run()
    assert "Watch list" not in inline(app)


def test_a_pinned_run_says_that_it_is_one(engine: Engine, pinned: RunRecord) -> None:
    assert EN("On the watch list") in inline(tab(opened(run=pinned.id)))
    engine.untag_run(pinned.id, PINNED)
    assert EN("Add to the watch list") in inline(tab(opened(run=pinned.id)))


def test_the_passages_say_what_would_become_of_them(engine: Engine, looped: RunRecord) -> None:
    app = opened(run=looped.id, similarity_threshold="0.62")
    parts = [json.loads(item.proto.json) for item in app.get("bidi_component")]
    rows = next(part["rows"] for part in parts if "rows" in part and "rounds" in part)
    assert any(row["would"].startswith("As asked: dropped") for row in rows)
    assert len(rows) == len({item.passage.id for current in looped.rounds for item in current.candidates})


def test_the_budget_is_said_in_seconds_once_they_are_measured(engine: Engine, looped: RunRecord) -> None:
    """SC-13"""

    def price(**settings: str) -> str:
        return next(text.value for text in opened(run=looped.id, **settings).caption if "Next run" in text.value)

    assert price().endswith("s")
    assert price(generator="ollama:never-run").endswith("1 model call")


def test_a_demo_opens_with_its_own_settings(engine: Engine) -> None:
    app = opened(top_k="11", similarity_threshold="0.7")
    button = next(item for item in app.button if item.label == EN("Answered below the bar"))
    button.click().run()
    assert not app.exception
    assert given(app, "run").startswith("demo-")
    assert setting(app, "top_k").value == engine.record(given(app, "run")).config.top_k


def drawn_map(app: AppTest) -> dict[str, Any]:
    parts = (json.loads(item.proto.json) for item in app.get("bidi_component"))
    found: dict[str, Any] = next(part for part in parts if "pairs" in part)
    return found


def test_the_map_follows_the_sliders_and_the_gate(engine: Engine, looped: RunRecord) -> None:
    app = opened(run=looped.id, gate="pass_rate", state={"tab": "map"})
    here = next(item for item in drawn_map(app)["map"]["cells"] if item["here"])
    assert here["ran"] and here["look"] == "forced"
    setting(app, "grade_pass_threshold").set_value(0.2).run()
    here = next(item for item in drawn_map(app)["map"]["cells"] if item["here"])
    assert not here["ran"] and here["look"] == "answered"
    setting(app, "answer_when").set_value("1").run()
    assert drawn_map(app)["pairs"][0][0] == "min_relevant.similarity_threshold"
    app.session_state["map_axes"] = "similarity_threshold.top_k"
    app.run()
    assert drawn_map(app)["shown"] == "similarity_threshold.top_k"


def test_a_run_that_went_wrong_names_its_failure_and_the_change_that_mends_it(
    engine: Engine, looped: RunRecord, pinned: RunRecord
) -> None:
    """Verified remedy, said once the line under the answer is opened."""
    app = opened(run=looped.id, state={"why": True})
    why = next(item for item in app.expander if item.label.startswith("Why this outcome"))
    assert "·" in why.label
    shown = inline(app)
    assert EN(NC_("remedy", "Try it")) in shown
    assert "Known to help" in shown
    assert "Watch list: 1 better" in shown
    assert EN(NC_("remedy", "Try it")) not in inline(opened(run="demo-passes-en", state={"why": True}))


def test_a_branch_that_changed_settings_alone_has_its_map_at_once(engine: Engine, looped: RunRecord) -> None:
    branch = engine.fork(looped, replace(looped.config, grade_pass_threshold=0.2))
    assert engine.wait(branch, 60)
    assert drawn_map(opened(run=branch, state={"tab": "map"}))["map"]["cells"]


def test_a_branch_with_another_query_draws_its_map_when_asked(engine: Engine, looped: RunRecord) -> None:
    branch = engine.fork(looped, looped.config, query="diabetes signs")
    assert engine.wait(branch, 60)
    app = opened(run=branch, state={"tab": "map"})
    assert not app.exception
    assert "draw_map" in {item.key for item in app.button}
    assert not any("pairs" in json.loads(item.proto.json) for item in app.get("bidi_component"))
