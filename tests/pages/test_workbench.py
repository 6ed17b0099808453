"""The workbench page: asking, settings and their address, what a run shows, and what its faults say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from components.common.run_link import settings_in_url
from components.labels import help_of
from engine.engine import Engine
from engine.knowledge.ingest import IngestItem
from engine.model.config import PARAMETERS, PRESETS, RoleModel, RoleModels, RunConfig
from engine.model.values import RunRecord
from pages.parts.ask.examples import shown_samples
from tests.pages.driving import ask, boxes, button, given, inline, opened, picture, setting, visible

EN, ZH = words_for("en"), words_for("zh")
BEGIN: dict[UiLanguage, str] = {"en": "Is sport safe when my sugar is high?", "zh": "糖尿病能不能治好？"}
PANEL = (
    *("top_k", "similarity_threshold", "grade_pass_threshold"),
    *("max_rewrites", "min_confidence", "probe_k"),
)


def config_of(engine: Engine, app: AppTest) -> RunConfig:
    return engine.record(app.session_state["run"]).config


@pytest.mark.parametrize("language", ["en", "zh"])
def test_before_a_run_the_page_proposes_a_question_and_says_what_to_do(engine: Engine, language: UiLanguage) -> None:
    """SC-12: an empty state always says what to do next; everything visible exists in zh and en."""
    app = opened(language=language)
    assert app.text_input[0].value == BEGIN[language]
    explained = words_for(language)(
        "Retrieve passages, let an independent grader judge each one, rephrase the question if too few pass, "
        "and answer only from what passed. Everything that happened stays visible below."
    )
    assert explained in [item.value for item in app.caption]
    assert picture(app)["path"] == []
    assert boxes(app) == {"retrieve", "grade", "rewrite", "generate"}
    texts = [str(item.value) for item in (*app.caption, *app.markdown)]
    labels = [item.label for kind in (app.button, app.slider, app.selectbox, app.toggle) for item in kind]
    english = [text for text in (*texts, *labels) if re.search(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", text)]
    assert (english == []) == (language == "zh")


def test_questions_about_the_samples_are_proposed_for_the_samples_alone(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=b"# Cats\n\nCats eat fish.")], "pets_alone")
    app = opened()
    assert app.text_input[0].value == BEGIN["en"]
    setting(app, "collection").set_value("pets_alone").run()
    # The same box: something may be typed into it.
    assert app.text_input[0].value == BEGIN["en"]
    assert EN("Try one:") not in visible(app)
    assert opened(collection="pets_alone").text_input[0].value == ""


@pytest.mark.parametrize("question", BEGIN.values())
def test_the_question_proposed_first_is_rescued_by_a_rewrite(engine: Engine, question: str) -> None:
    """What the product is for is seen in the first run: nothing passes as it is asked, and then something does."""
    record = engine.run(question)
    assert record.decisions[0].passed == 0
    assert record.outcome == "answered" and record.rewrites and record.citations


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_suggested_questions_are_rescued_by_a_rewrite_pass_at_once_and_are_refused(
    engine: Engine, language: UiLanguage
) -> None:
    ends = [
        (record.outcome, bool(record.rewrites))
        for question, _ in shown_samples("self_corrective", language)
        for record in (engine.run(question),)
    ]
    assert ends == [("answered", True), ("answered", False), ("abstained", True)]


def test_a_question_runs_to_its_end_and_the_page_holds_the_evidence(engine: Engine) -> None:
    """SC-12: workflow, decision path, verdicts, rewrites and times of a finished run."""
    app, question = opened(language="zh"), "妊娠期糖尿病怎么诊断？"
    record = engine.record(ask(app, engine, question))
    assert (record.question, record.outcome) == (question, "answered")
    assert "已作答" in inline(app) and record.citations[0].source in inline(app)
    assert picture(app)["active"] is False
    assert [item.label for item in app.tabs] == [
        ZH("Passages {n}", n=20),
        ZH("Rewrites {n}", n=0),
        ZH("What-if map"),
        ZH("Trace"),
    ]


def test_an_empty_question_is_refused_with_what_to_do(engine: Engine) -> None:
    app = opened()
    app.text_input[0].set_value("   ")
    button(app, lambda label: label == "Run").click().run()
    assert "WB101" in inline(app)
    assert not app.session_state["run"]


def test_every_slider_has_the_range_the_default_and_the_help_of_its_parameter(engine: Engine) -> None:
    """SC-08: the usual range is said in place."""
    plain, by_rate = opened(), opened(gate="pass_rate", language="zh")
    for name in PANEL:
        app, words = (by_rate, ZH) if name == "grade_pass_threshold" else (plain, EN)
        widget, limits = setting(app, name), PARAMETERS[name]
        assert (widget.min, widget.max, widget.value) == (limits.low, limits.high, limits.default), name
        assert widget.help == words(help_of(name))
    for name, said in (("top_k", "5–10"), ("similarity_threshold", "0.30–0.50"), ("max_rewrites", "2–3")):
        assert said in setting(plain, name).help and said in setting(by_rate, name).help


def test_sliders_drive_the_run(engine: Engine) -> None:
    """SC-08: what the panel shows is what the engine is asked for."""
    app = opened()
    setting(app, "top_k").set_value(8)
    setting(app, "similarity_threshold").set_value(0.42)
    setting(app, "max_rewrites").set_value(1)
    setting(app, "min_confidence").set_value(0.55)
    setting(app, "answer_unverified").set_value(True)
    setting(app, "budget_s").set_value(60)
    app.run()
    ask(app, engine, "What is a truth table?")
    config = config_of(engine, app)
    assert (config.top_k, config.similarity_threshold, config.max_rewrites) == (8, 0.42, 1)
    assert (config.min_confidence, config.answer_unverified, config.budget_s) == (0.55, True, 60)


def test_a_preset_sets_the_pass_threshold_alone(engine: Engine) -> None:
    """SC-08"""
    app = opened(top_k="9", grade_pass_threshold="0.77")
    for preset, threshold in PRESETS.items():
        setting(app, "answer_when").set_value(preset).run()
        assert (setting(app, "answer_when").value, setting(app, "grade_pass_threshold").value) == (
            "pass_rate",
            threshold,
        )
    assert setting(app, "top_k").value == 9
    assert setting(app, "similarity_threshold").value == PARAMETERS["similarity_threshold"].default


def test_no_more_passages_are_asked_for_than_top_k_keeps(engine: Engine) -> None:
    app = opened(top_k="5", gate="min_relevant", min_relevant="4")
    setting(app, "top_k").set_value(3).run()
    assert setting(app, "answer_when").value == "3"
    assert max(int(item.split()[1]) for item in setting(app, "answer_when").options if item.startswith("≥")) == 3
    ask(app, engine, "What is a set?")
    assert config_of(engine, app).min_relevant == 3
    setting(app, "top_k").set_value(6).run()
    assert (setting(app, "answer_when").value, given(app, "min_relevant")) == ("4", "4")


def test_the_address_holds_every_setting(engine: Engine) -> None:
    app = opened(
        top_k="7",
        similarity_threshold="0.45",
        gate="min_relevant",
        min_relevant="2",
        context="last_round",
        generator="ollama:qwen3:8b",
        rewriter="mistral",
        grade_probe="true",
    )
    assert setting(app, "top_k").value == 7
    assert setting(app, "similarity_threshold").value == 0.45
    assert setting(app, "answer_when").value == "2"
    assert (setting(app, "context").value, setting(app, "generator").value) == ("last_round", "ollama:qwen3:8b")
    assert setting(app, "grade_probe").value is True
    assert given(app, "rewriter") == "ollama:mistral", "a model without a provider means Ollama"


def test_a_setting_goes_into_the_address_under_its_own_name_in_any_language(engine: Engine) -> None:
    app = opened(language="zh")
    assert given(app, "gate") == ""
    setting(app, "answer_when").set_value("pass_rate").run()
    assert given(app, "gate") == "pass_rate"
    # An address with settings says it also where it is the default: a link says which gate it was made with.
    setting(app, "top_k").set_value(6).run()
    setting(app, "answer_when").set_value("1").run()
    assert given(app, "gate") == "min_relevant"


@pytest.mark.parametrize(
    ("address", "gate"),
    [
        ({"top_k": "7"}, "pass_rate"),
        ({"workflow": "answer_evaluation", "gener_epoch": "2"}, "pass_rate"),
    ],
)
def test_an_address_with_settings_and_no_gate_keeps_the_gate_of_its_time(
    engine: Engine, address: dict[str, str], gate: str
) -> None:
    """SC-05: links write the gate; those that do not were made when the pass rate was the default."""
    app = opened(**address)
    assert given(app, "gate") == gate
    setting(app, "top_k").set_value(9).run()
    assert app.session_state["gate"] == gate


def test_an_address_without_a_gate_means_that_of_its_run_and_on_other_pages_the_usual_one(engine: Engine) -> None:
    record = engine.run("What is a set?", RunConfig(gate="pass_rate"))
    app = opened(run=record.id)
    assert (setting(app, "answer_when").value, given(app, "gate")) == ("pass_rate", "")
    app.switch_page("tune.py").run()
    assert (setting(app, "answer_when").value, given(app, "gate")) == ("pass_rate", "pass_rate")


def test_the_link_to_a_run_names_its_gate_also_where_it_is_the_default() -> None:
    assert settings_in_url(RunConfig()) == {"gate": "min_relevant"}
    assert settings_in_url(RunConfig(gate="pass_rate", top_k=7)) == {"gate": "pass_rate", "top_k": "7"}
    assert "gate" not in settings_in_url(RunConfig(workflow="quality_loop"))


def test_the_pass_rate_has_its_slider_where_it_decides(engine: Engine) -> None:
    """SC-08: a preset is a pass threshold, which the other gate does not read."""
    app = opened()
    assert "grade_pass_threshold" not in {item.key for item in app.slider}
    setting(app, "answer_when").set_value("strict").run()
    ask(app, engine, "What is a truth table?")
    assert (config_of(engine, app).gate, config_of(engine, app).grade_pass_threshold) == ("pass_rate", 0.8)


@pytest.mark.parametrize(
    ("language", "settings", "said"),
    [
        ("en", {"gate": "pass_rate"}, "asks that 3 of them pass"),
        ("zh", {"gate": "pass_rate"}, "要求其中 3 个通过"),
        ("en", {"gate": "min_relevant", "min_relevant": "6"}, ""),
        ("en", {}, ""),
    ],
)
def test_a_gate_that_cannot_be_met_is_said_before_the_run(
    engine: Engine, language: UiLanguage, settings: dict[str, str], said: str
) -> None:
    shown = inline(opened(language=language, **settings))
    assert said in shown if said else "cannot be met" not in shown


def test_an_address_with_nonsense_falls_back_to_the_defaults(engine: Engine) -> None:
    app = opened(top_k="999", similarity_threshold="abc", gate="<script>", collection="../../etc", grader="x" * 300)
    assert setting(app, "top_k").value == 5
    assert setting(app, "similarity_threshold").value == 0.3
    assert setting(app, "answer_when").value == "1"
    assert (setting(app, "collection").value, setting(app, "grader").value) == ("samples", "builtin")


def test_the_address_opens_a_finished_run_for_whoever_has_the_link(engine: Engine) -> None:
    record: RunRecord = engine.run("What is a truth table?")
    app = opened(run=record.id)
    assert app.text_input[0].value == "What is a truth table?"
    assert picture(app)["run_id"] == record.id
    assert record.answer[:40] in inline(app)


def test_an_unknown_run_is_said_and_the_page_stays_usable(engine: Engine) -> None:
    app = opened(run="no-such-run")
    assert "WB501" in inline(app)
    run_id = ask(app, engine, "What is a truth table?")
    assert "WB501" not in inline(app)
    assert given(app, "run") == run_id


def test_a_run_deleted_meanwhile_is_said(engine: Engine) -> None:
    record = engine.run("What is a truth table?")
    app = opened(run=record.id)
    engine.delete_run(record.id)
    app.run()
    assert not app.exception
    assert "WB501" in inline(app)


def test_settings_and_run_survive_the_way_to_the_other_page_and_back(engine: Engine) -> None:
    app = opened(gate="pass_rate", top_k="6")
    run_id = ask(app, engine, "What is a truth table?")
    app.switch_page("knowledge.py").run()
    app.switch_page("workbench.py").run()
    assert (setting(app, "answer_when").value, setting(app, "top_k").value) == ("pass_rate", 6)
    assert picture(app)["run_id"] == run_id


def test_two_tabs_are_independent(engine: Engine) -> None:
    one, two = opened(top_k="3"), opened()
    ask(one, engine, "What is a truth table?")
    two.run()
    assert setting(two, "top_k").value == 5
    assert picture(two)["path"] == []


def test_the_badge_speaks_of_the_run_on_the_page(engine: Engine) -> None:
    """SC-12: it says which models were used, not which the sidebar is at."""
    app = opened()
    assert badge(app) == EN("No LLM in use")
    ask(app, engine, "What is a truth table?")
    app.query_params["generator"] = "ollama:qwen3:8b"
    app.run()
    setting(app, "generator").set_value("ollama:qwen3:8b").run()
    assert badge(app) == EN("No LLM in use")
    ask(app, engine, "What is a truth table?")
    setting(app, "generator").set_value("builtin").run()
    assert badge(app) == EN("{n} of {all} built in", n=3, all=4)


def badge(app: AppTest) -> str:
    shown = [item.value for item in app.markdown if "-badge[" in item.value]
    assert len(shown) == 1
    return re.sub(r"^.*memory: |\]$", "", shown[0])


def drawn(app: AppTest) -> list[str]:
    """What each inline component is given."""
    return [json.dumps(json.loads(item.proto.json), ensure_ascii=False) for item in app.get("bidi_component")]


def test_a_failing_run_shows_fact_remedy_and_the_button_that_tries_again(engine: Engine) -> None:
    """SC-13: the partial result stays, with what kept it from being whole."""
    app = opened(generator="ollama:qwen3:8b")
    ask(app, engine, "What fasting glucose level means diabetes today?")
    shown = inline(app)
    assert "WB401" in shown and "http://127.0.0.1:1" in shown and EN("Try again") in shown
    assert EN("Failed") in shown
    assert app.tabs[0].label == EN("Passages {n}", n=20)


def test_a_chosen_node_narrows_the_evidence_and_says_how_to_undo_it(engine: Engine) -> None:
    """SC-12: a click on a node of the picture filters the tabs to it."""
    config = RunConfig(max_rewrites=1, gate="pass_rate", grade_pass_threshold=0.95)
    app = opened(run=engine.run("What are the main symptoms of diabetes?", config).id)
    whole = len(table(app)["rows"])
    app.session_state["path"] = {"selected": "grade"}
    app.run()
    graded = [row for row in table(app)["rows"] if row["grader"]]
    assert 0 < len(table(app)["rows"]) == len(graded) < whole
    assert EN("Showing only what {node} did.", node="Grade") in [item.value for item in app.caption]
    assert button(app, lambda label: label == EN("Show all"))


def test_a_chosen_node_opens_the_tab_that_shows_most_of_it(engine: Engine) -> None:
    app = opened(run="demo-passes-en")
    for node, tab in (("rewrite", "rewrites"), ("retrieve", "passages"), ("generate", "trace"), ("grade", "passages")):
        app.session_state["path"] = {"selected": node}
        app.run()
        assert app.session_state["tab"] == tab


def test_the_cost_of_the_next_run_is_said_before_it(engine: Engine) -> None:
    app = opened(grader="ollama:m", max_rewrites="1")
    config = RunConfig(max_rewrites=1, models=RoleModels(grader=RoleModel("ollama:m")))
    said = f"Next run: at most 2 rounds · {engine.worst_case_calls(config)} model calls"
    (line,) = [item for item in app.caption if item.value == said]
    assert line.help.startswith("Second tries are not counted")


def test_every_tab_draws_and_no_untrusted_word_reaches_a_markdown_element(engine: Engine) -> None:
    question = "What is ![x](http://evil.example/q) <img src=x onerror=alert(1)> a truth table?"
    app = opened(language="zh", run=engine.run(question).id)
    for tab in ("passages", "rewrites", "map", "trace"):
        app.session_state["tab"] = tab
        app.run()
        assert not app.exception, tab
        assert not re.search(r"\{[a-z_]+\}", visible(app)), "a word with an unfilled place"
        markup = [item.value for item in (*app.markdown, *app.caption)]
        assert not any("evil" in text or "onerror" in text for text in markup)


def table(app: AppTest) -> dict[str, Any]:
    parts = (json.loads(item.proto.json) for item in app.get("bidi_component"))
    return next(item for item in parts if "rows" in item)


def test_half_a_model_name_leaves_the_page_usable(engine: Engine) -> None:
    """SC-08"""
    assert not opened(grader="ollama:", rewriter=":x", generator="openai: ").exception


def test_context_size_and_temperature_appear_with_a_chat_model_and_reach_its_run(engine: Engine) -> None:
    """SC-08: the remedy of a prompt that is too long can be followed on the page."""
    assert not [item for item in opened().number_input if item.key == "num_ctx"]
    app = opened(grader="ollama:qwen3:8b", num_ctx="16384", temperature="0.5")
    run_id = ask(app, engine, "What is a set?")
    grader = engine.record(run_id).config.models.grader
    assert (grader.num_ctx, grader.temperature) == (16384, 0.5)
    assert engine.record(run_id).config.models.rewriter.built_in
