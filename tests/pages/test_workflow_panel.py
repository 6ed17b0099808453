"""The panel and the page for each workflow: its own settings, defaults and warnings, and the picture before a run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.common.panel import small_rewriter
from components.common.run_link import settings_in_url
from components.common.run_settings import differing, option_names, roles_of
from engine.engine import Engine
from engine.flow import workflow
from engine.model.config import (
    WORKFLOWS,
    RoleModel,
    RoleModels,
    RunConfig,
    WorkflowName,
    config_from_dict,
    default_of,
    settings_of,
)
from engine.model.system import LocalModel
from engine.model.values import Fault
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.quality_loop.options import QUALITY_WEIGHTS, QualityOptions
from pages.parts.common.fits import scorers_of
from tests.pages.driving import ask, boxes, given, inline, on_pages, opened, setting, visible
from tests.support.fake_host import FakeHost

EN, ZH = words_for("en"), words_for("zh")
NODES = {"self_corrective": 4, "quality_loop": 7, "dual_loop": 9, "answer_evaluation": 6, "graph_hybrid": 6}


def keys(app: AppTest) -> set[str]:
    kinds = (app.slider, app.number_input, app.toggle, app.selectbox, app.get("button_group"))
    return {str(item.key) for kind in kinds for item in kind if item.key}


def choose(app: AppTest, workflow: WorkflowName) -> None:
    setting(app, "workflow").set_value(workflow).run()
    assert not app.exception


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_page_shows_the_chosen_workflow_and_its_settings_alone_before_a_run(
    engine: Engine, name: WorkflowName
) -> None:
    """SC-12: an empty state says what this workflow does, and proposes questions that fit it."""
    app = opened(language="zh", workflow=name)
    assert setting(app, "workflow").value == name
    assert len(boxes(app)) == NODES[name]
    captions = [item.value for item in app.caption]
    assert ZH(workflow(name).summary) in setting(app, "workflow").help
    assert ZH(workflow(name).introduction) in captions
    assert len([item for item in app.button if str(item.key).startswith("sample_")]) >= 3
    assert not re.search(r"\{[a-z_]+\}", visible(app))
    wanted = {*settings_of(name), *option_names(name), *roles_of(name)} - {"gate", "min_relevant"}
    of_refinement = {"sentence_threshold", "refiner"}
    of_cascade = {"cascade", "cascade_low", "cascade_high", "screener"}
    wanted -= of_cascade
    assert wanted - of_refinement <= keys(app)
    if "refine" in wanted:
        assert of_refinement <= keys(opened(language="zh", workflow=name, refine="true"))
    everything = {name for other in WORKFLOWS for name in (*settings_of(other), *option_names(other), *roles_of(other))}
    assert keys(app) & everything == wanted - of_refinement


def test_a_cascade_is_offered_with_a_grader_that_costs_calls_and_its_band_is_one_slider(engine: Engine) -> None:
    """SC-03: cuts that cross in an address, and a chat model as screener, do not stop the page."""
    app = opened(grader="ollama:m")
    assert {"cascade", "screener", "cascade_band"} & keys(app) == {"cascade"}
    assert not {"cascade"} & keys(opened(grader="ollama:m", workflow="quality_loop"))
    app = opened(grader="ollama:m", cascade="true", cascade_low="0.4", cascade_high="0.3", screener="ollama:m")
    assert setting(app, "cascade_band").value == (0.3, 0.3)
    assert "ollama:m is a chat model" in inline(app)
    setting(app, "cascade_band").set_value((0.1, 0.75)).run()
    assert not app.exception
    assert (given(app, "cascade_low"), given(app, "cascade_high")) == ("0.1", "0.75")
    setting(app, "cascade").set_value(False).run()
    assert not app.exception and "cascade_band" not in keys(app)


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_the_defaults_of_the_panel_are_those_of_the_workflow(engine: Engine, workflow: WorkflowName) -> None:
    """QL-01, QL-05: top_k 10, two rewrites and ten seconds for quality control."""
    app = opened(**settings_in_url(RunConfig(workflow=workflow)))
    for name in ("top_k", "max_rewrites", "budget_s"):
        if name in settings_of(workflow):
            assert setting(app, name).value == default_of(workflow, name)
    run_id = ask(app, engine, "What is a truth table?")
    assert engine.record(run_id).config == RunConfig(workflow=workflow)
    assert settings_in_url(RunConfig(workflow=workflow)).keys() <= {"workflow", "gate"}


def test_switching_moves_untouched_values_and_keeps_those_that_were_set(engine: Engine) -> None:
    app = opened()
    setting(app, "max_rewrites").set_value(1).run()
    choose(app, "quality_loop")
    assert (setting(app, "top_k").value, setting(app, "max_rewrites").value) == (10, 1)
    assert setting(app, "budget_s").value == 10
    assert given(app, "workflow") == "quality_loop"
    choose(app, "self_corrective")
    assert (setting(app, "top_k").value, setting(app, "max_rewrites").value) == (5, 1)
    assert setting(app, "budget_s").value == 120
    assert given(app, "workflow") == ""


def test_the_tune_page_offers_the_four_node_loop_alone_and_moves_nothing_for_good(engine: Engine) -> None:
    app = opened(workflow="quality_loop")
    app.switch_page("tune.py").run()
    assert not app.exception
    assert "workflow" not in keys(app)
    assert setting(app, "top_k").value == 5
    app.switch_page("workbench.py").run()
    assert (setting(app, "workflow").value, setting(app, "top_k").value) == ("quality_loop", 10)


def test_an_unknown_workflow_in_the_address_is_the_four_node_loop(engine: Engine) -> None:
    assert setting(opened(workflow="graph"), "workflow").value == "self_corrective"


def test_the_options_stand_in_the_address_under_their_own_names(engine: Engine) -> None:
    """QL-01, QL-02: weights and cut-offs are settings."""
    app = opened(
        workflow="quality_loop",
        coverage_weight="0.1",
        relevance_weight="0.6",
        grade_on="top3",
        medium_score="0.4",
        high_score="0.8",
    )
    run_id = ask(app, engine, "logic")
    assert engine.record(run_id).config.options == QualityOptions(0.1, 0.6, 0.2, 0.1, "top3", 0.8, 0.4)


def test_a_weight_that_is_moved_takes_the_others_along(engine: Engine) -> None:
    """QL-01: the weights always sum to 1."""
    app = opened(workflow="quality_loop")
    for moved in QUALITY_WEIGHTS:
        setting(app, moved).set_value(0.75).run()
        assert not app.exception
        assert setting(app, moved).value == 0.75
        assert sum(setting(app, name).value for name in QUALITY_WEIGHTS) == pytest.approx(1)
        assert "weights_off" not in inline(app)


def test_weights_of_a_link_that_do_not_sum_to_1_are_said_and_put_right(engine: Engine) -> None:
    """QL-01: never an exception."""
    app = opened(workflow="quality_loop", coverage_weight="0.9")
    assert EN(
        "These weights sum to {sum}; they count as {shares}.", sum="1.50", shares="0.60 + 0.20 + 0.13 + 0.07"
    ) in inline(app)
    run_id = ask(app, engine, "logic")
    options = engine.record(run_id).config.options
    assert isinstance(options, QualityOptions)
    assert (options.coverage_weight, options.relevance_weight) == (0.6, 0.2)
    next(item for item in app.button if item.key == "normalise").click().run()
    assert [setting(app, name).value for name in QUALITY_WEIGHTS] == [0.6, 0.2, 0.1333, 0.0667]


def test_the_two_cut_offs_never_cross(engine: Engine) -> None:
    """QL-02"""
    app = opened(workflow="quality_loop")
    setting(app, "medium_score").set_value(0.9).run()
    assert setting(app, "high_score").value == 0.9
    setting(app, "high_score").set_value(0.3).run()
    assert setting(app, "medium_score").value == 0.3
    crossed = opened(workflow="quality_loop", medium_score="0.9", high_score="0.2")
    assert not crossed.exception


def test_a_grade_that_can_never_be_reached_is_said_before_the_run(engine: Engine) -> None:
    """QL-08"""
    language: UiLanguage = "zh"
    words = words_for(language)
    app = opened(language=language, workflow="quality_loop", top_k="1", medium_score="0.95", high_score="0.95")
    said = words(
        "With these settings the score is at most {score}, below the {bar} that it needs: every question would use up "
        "all its rewrites.",
        score="\0",
        bar="0.95",
    )
    assert said.split("\0")[1] in inline(app)
    assert words("Raise top-k, lower the bar, or grade on the best three.") in inline(app)
    assert words("Raise top-k, lower the bar, or grade on the best three.") not in inline(
        opened(language=language, workflow="quality_loop")
    )


def test_while_ollama_is_looked_for_the_panel_does_not_say_that_it_is_not_there() -> None:
    def page() -> None:
        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, config_panel

        config_panel(words_for("en"), (), OllamaNote("http://nowhere", looking=True))

    app = AppTest.from_function(page, default_timeout=60).run()
    said = [item.value for item in app.caption]
    assert EN("Looking for Ollama at {address} …", address="`http://nowhere`") in said
    assert not any("No Ollama" in text for text in said)


@pytest.mark.parametrize(("top_k", "kinds", "score"), [(5, ("vector", "graph"), "0.46"), (5, ("vector",), "0.39")])
def test_the_ceiling_names_the_score_and_the_kinds_that_are_missing(
    top_k: int, kinds: tuple[str, ...], score: str
) -> None:
    """QL-08: the two ceilings that the requirement names."""

    def page(top_k: int, kinds: object) -> None:
        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, Surroundings, config_panel, want_settings
        from components.common.workflow_view import Machine
        from engine.model.config import WORKFLOWS, RunConfig

        want_settings(RunConfig(workflow="quality_loop", top_k=top_k))
        around = Surroundings(tuple(WORKFLOWS), Machine(lambda _: kinds))  # type: ignore[arg-type,return-value]
        config_panel(words_for("en"), (), OllamaNote("nowhere"), around)

    app = AppTest.from_function(page, args=(top_k, kinds), default_timeout=60).run()
    assert not app.exception
    assert EN(
        "With these settings the score is at most {score}, below the {bar} that it needs: every question would use up "
        "all its rewrites.",
        score=score,
        bar="0.50",
    ) in inline(app)
    assert EN("dated history") in inline(app)


def test_a_first_round_that_cannot_be_enough_is_said_before_the_run(engine: Engine) -> None:
    """QL-08: of two places the history gets none, 0.3 + 2 / 3 of 0.2 + 0.01."""
    said = EN(
        "With these settings the first round of a question that names no kind of source scores at most {score}, below "
        "the {bar} that it needs: it is rewritten before it is answered. Raise top-k or lower the bar to let one "
        "round be enough.",
        score="0.44",
        bar="0.50",
    )
    assert said in inline(opened(workflow="quality_loop", top_k="2"))
    assert said[:60] not in inline(opened(workflow="quality_loop"))


def test_a_model_that_would_judge_its_own_answers_is_warned_of_in_place(engine: Engine) -> None:
    """AE-05"""
    said = EN("{model} judges answers that it wrote itself.", model="ollama:m")
    asked = {"workflow": "answer_evaluation", "generator": "ollama:m"}
    assert said in inline(opened(evaluator="ollama:m", **asked))
    assert said not in inline(opened(evaluator="ollama:other", **asked))


@pytest.mark.parametrize(
    ("workflow", "rewriter", "generator", "proposed"),
    [
        ("quality_loop", "builtin", "ollama:large", "ollama:small"),
        ("quality_loop", "ollama:large", "ollama:large", ""),
        ("quality_loop", "builtin", "builtin", ""),
        ("self_corrective", "builtin", "ollama:large", ""),
    ],
)
def test_a_small_model_is_proposed_for_the_rewriter_where_a_chat_model_answers(
    workflow: WorkflowName, rewriter: str, generator: str, proposed: str
) -> None:
    """QL-04"""
    models = {"rewriter": RoleModel(rewriter), "generator": RoleModel(generator)}
    assert small_rewriter(workflow, models, "ollama:small") == proposed


def test_the_proposed_rewriter_is_taken_with_one_press() -> None:
    """QL-04"""

    def page() -> None:
        import streamlit as st

        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, Surroundings, config_panel
        from engine.model.config import WORKFLOWS

        note = OllamaNote("here", "0.9", ("ollama:large", "ollama:small"), smallest="ollama:small")
        st.session_state["chosen"] = config_panel(words_for("en"), (), note, Surroundings(tuple(WORKFLOWS))).config

    app = AppTest.from_function(page, default_timeout=60)
    app.query_params["workflow"], app.query_params["generator"] = "quality_loop", "ollama:large"
    app.run().button(key="small_rewriter").click().run()
    assert app.session_state["chosen"].models.rewriter == RoleModel("ollama:small", temperature=0.3)
    assert not any(button.key == "small_rewriter" for button in app.button)


def test_cross_encoders_in_files_are_offered_to_the_roles_that_score_passages() -> None:
    """SC-03"""
    score = LocalModel("rank.gguf", 9, "scores", "bert", "0.6B", "mit", 512, 64, 1)
    broken = replace(score, name="cut.gguf", fault=Fault("WB427", "It is cut off.", "Fetch it again."))
    files = (score, replace(score, name="chat.gguf", kind="chat"), broken)
    host = FakeHost(files=files, folders=("cross_encoder:x/c",))
    found = scorers_of(SimpleNamespace(host=host))  # type: ignore[arg-type]
    assert found == ("cross_encoder:rank.gguf", "cross_encoder:x/c")

    def page(scorers: tuple[str, ...]) -> None:
        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, Surroundings, config_panel
        from engine.model.config import WORKFLOWS

        around = Surroundings(tuple(WORKFLOWS), scorers=scorers)
        config_panel(words_for("en"), (), OllamaNote("here", "0.9", ("ollama:m",)), around)

    app = AppTest.from_function(page, args=(found,), default_timeout=60)
    app.query_params["grader"], app.query_params["cascade"] = "ollama:m", "true"
    app.run()
    assert not app.exception
    offered = {role: set(setting(app, role).options) & set(found) for role in ("grader", "screener", "rewriter")}
    assert offered == {"grader": set(found), "screener": set(found), "rewriter": set()}


def test_without_a_search_engine_the_web_cannot_be_switched_on_and_says_why(engine: Engine) -> None:
    """DL-07"""
    app = opened(workflow="dual_loop", web_search="true", memory="false", max_corrections="1")
    assert setting(app, "web_search").disabled
    assert EN("Not available: set WORKBENCH_SEARXNG_URL to the address of a SearXNG search engine.") in [
        item.value for item in app.caption
    ]
    run_id = ask(app, engine, "What is a truth table?")
    assert engine.record(run_id).config.options == DualLoopOptions(1, memory=False, web_search=False)


@pytest.fixture
def searching_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("web"),
        ollama_url="http://127.0.0.1:1",
        searxng_url="http://127.0.0.1:1",
        embedding_model="hashing",
    )
    with on_pages(Engine.open(settings)) as engine:
        yield engine


def test_with_a_search_engine_the_web_can_be_switched_on(searching_engine: Engine) -> None:
    """DL-07"""
    app = opened(workflow="dual_loop", web_search="true")
    assert not setting(app, "web_search").disabled
    assert EN("Not available: set WORKBENCH_SEARXNG_URL to the address of a SearXNG search engine.") not in visible(app)
    assert EN.count("1 pass of {searches} searches", "{n} passes of {searches} searches", 3, searches=3) in visible(app)


def test_a_run_of_another_workflow_stays_open_and_the_line_above_says_so(engine: Engine) -> None:
    record = engine.run("What is a truth table?", RunConfig(workflow="dual_loop"))
    app = opened(run=record.id, workflow="self_corrective")
    assert len(boxes(app)) == 9
    named = EN("Dual loop · 9 nodes")
    assert EN(
        "The run below is one of the workflow “{run}”; press Run to ask the one chosen at the left.", run=named
    ) in [item.value for item in app.caption]


def test_a_link_to_a_run_brings_workflow_and_options_along(engine: Engine) -> None:
    config = RunConfig(
        workflow="answer_evaluation",
        top_k=7,
        options=AnswerEvaluationOptions(2),
        models=RoleModels(evaluator=RoleModel("ollama:m", temperature=0.5)),
    )
    link = settings_in_url(config)
    assert link == {
        "workflow": "answer_evaluation",
        "top_k": "7",
        "gate": "min_relevant",
        "gener_epoch": "2",
        "evaluator": "ollama:m",
        "temperature": "0.5",
    }
    app = opened(**link)
    assert (setting(app, "gener_epoch").value, setting(app, "evaluator").value) == (2, "ollama:m")


@pytest.mark.parametrize(
    ("address", "workflow", "expected"),
    [
        ({}, "self_corrective", {"top_k": 7}),
        ({"collection": "other"}, "self_corrective", {"top_k": 7, "collection": "other"}),
        ({"workflow": "answer_evaluation"}, "answer_evaluation", {"top_k": 7, "gener_epoch": 2}),
        ({"top_k": "3"}, "self_corrective", {"top_k": 3, "gate": "pass_rate"}),
    ],
)
def test_a_session_begins_at_the_defaults_of_the_machine_unless_its_address_says_otherwise(
    address: dict[str, str], workflow: str, expected: dict[str, object]
) -> None:
    """BE-07: what differs from the program's own stands in the address, so that a link means the same elsewhere."""

    def page() -> None:
        import streamlit as st

        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, Surroundings, config_panel
        from engine.model.config import WORKFLOWS, Defaults

        defaults = Defaults(settings={"top_k": 7, "options": {"gener_epoch": 2}})
        around = Surroundings(tuple(WORKFLOWS), defaults=defaults)
        st.session_state["chosen"] = config_panel(words_for("en"), (), OllamaNote("nowhere"), around).config

    app = AppTest.from_function(page, default_timeout=60)
    for name, value in address.items():
        app.query_params[name] = value
    chosen = app.run().session_state["chosen"]
    assert app.query_params["top_k"][0] == str(expected["top_k"])
    options = {name: value for name, value in expected.items() if name == "gener_epoch"}
    shared = {name: value for name, value in expected.items() if name not in options}
    assert chosen == config_from_dict({"workflow": workflow, "options": options, **shared})
    if workflow == "self_corrective" and "top_k" not in address:
        chosen = app.selectbox(key="workflow").set_value("answer_evaluation").run().session_state["chosen"]
        assert (chosen.top_k, chosen.options) == (7, AnswerEvaluationOptions(2))


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(workflow="quality_loop", top_k=5, options=QualityOptions(0.25, 0.25, 0.25, 0.25, "top3")),
        RunConfig(workflow="dual_loop", options=DualLoopOptions(0, memory=False)),
        RunConfig(workflow="answer_evaluation", gate="min_relevant", options=AnswerEvaluationOptions(5)),
        RunConfig(workflow="quality_loop", models=RoleModels(rewriter=RoleModel("ollama:m"))),
        RunConfig(top_k=10, max_rewrites=2, budget_s=10),
    ],
    ids=lambda config: config.workflow,
)
def test_a_wanted_config_moves_the_whole_panel_to_it(config: RunConfig) -> None:
    """Go back to the settings of the run from any workflow of the panel."""

    def page(config: object) -> None:
        import streamlit as st

        from components.common.i18n import words_for
        from components.common.panel import OllamaNote, Surroundings, config_panel, want_settings
        from engine.model.config import WORKFLOWS

        if "asked" in st.session_state:
            want_settings(config)  # type: ignore[arg-type]
        st.session_state["asked"] = True
        around = Surroundings(tuple(WORKFLOWS))
        st.session_state["chosen"] = config_panel(words_for("en"), (), OllamaNote("nowhere"), around).config

    app = AppTest.from_function(page, args=(config,), default_timeout=60).run()
    app.run()
    assert not app.exception
    chosen: RunConfig = app.session_state["chosen"]
    assert differing(chosen, config) == ()
    assert (chosen.workflow, chosen.options) == (config.workflow, config.options)


def test_settings_differ_by_what_counts_in_the_workflow() -> None:
    one = RunConfig(workflow="dual_loop")
    assert differing(RunConfig(workflow="dual_loop", max_rewrites=1, gate="min_relevant"), one) == ()
    assert differing(RunConfig(workflow="dual_loop", options=DualLoopOptions(0)), one) == ("max_corrections",)
    router = RunConfig(workflow="dual_loop", models=RoleModels(router=RoleModel("ollama:m")))
    assert differing(router, one) == ("router",)
    assert differing(RunConfig(), one) == ("workflow",)


def test_roles_that_an_address_does_not_name_have_the_models_of_the_settings(tmp_path: Path) -> None:
    with on_pages(Engine.open(Settings.load(data_dir=tmp_path, role_models="grader=ollama:small"))) as own:
        own.wait_until_ready()
        app = opened()
        assert setting(app, "grader").value == "ollama:small"
        assert "ollama:small" in app.query_params["grader"], "the address means the same on another machine"
        assert setting(opened(grader="builtin"), "grader").value == "builtin"


@pytest.mark.parametrize(("left", "said"), [("quality_loop", "quality_loop"), ("自省修正 · 4 个节点", "dual_loop")])
def test_a_workflow_that_the_browser_knows_by_a_name_in_another_language_is_none(left: str, said: str) -> None:
    """So it stands in the state until the panel is drawn, right after the language was switched."""

    def page() -> None:
        import streamlit as st

        from components.common.run_settings import workflow_chosen

        st.write(workflow_chosen("dual_loop"))

    app = AppTest.from_function(page)
    app.session_state["workflow"] = left
    assert app.run().markdown[0].value == said
