"""The Tune page: evidence is gathered once, and from then on every slider moves every figure without a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.amounts import moment
from components.common.i18n import UiLanguage, words_for
from components.common.run_settings import setting_label, setting_text
from engine.api.process import use_engine
from engine.engine import Engine
from engine.errors import RunError
from engine.evaluation.cases import Case, Expectation, QuerySet, sample_set
from engine.evaluation.measures import MEASURES
from engine.knowledge.ingest import IngestItem
from engine.messages import NC_
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Fault
from engine.settings import Settings
from pages.parts.tune import query_set
from pages.parts.tune.evidence import batches_of
from tests.pages.driving import ask, button, inline, opened, setting, visible

EN, ZH = words_for("en"), words_for("zh")
_PATIENCE_S = 120.0
QUESTIONS = (
    Case(
        "rows",
        "How many rows does a truth table with five variables need?",
        (Expectation("passage", "dm-truth-tables.en.md#1"),),
    ),
    Case(
        "empty",
        "What is the power set of the empty set?",
        (Expectation("passage", "dm-sets.en.md#2"),),
        answerable=True,
    ),
    Case("vague", "logic", (Expectation("source", "dm-logic.en.md"),), kind="vague"),
    Case("none", "Who won the football world cup in 1998?", answerable=False),
)
SET = "four questions"
GATHERED = RunConfig(grade_probe=True, gate="pass_rate")
SWEPT = ("similarity_threshold", "grade_pass_threshold", "max_rewrites")
ANSWERED_RIGHT = ("dc-en-03", "dc-en-05", "dm-en-01", "dm-en-03", "dm-en-04", "dm-en-06")
"""Sample questions whose gold answer the built-in roles give."""


@pytest.fixture
def gathered(engine: Engine) -> Engine:
    """Four questions with their evidence, the whole probe graded."""
    if SET not in engine.evaluation.query_sets():
        engine.evaluation.save_query_set(QuerySet(SET, QUESTIONS))
        batch = engine.batches.start(SET, GATHERED, 2)
        assert engine.batches.wait(batch, _PATIENCE_S)
    return engine


def tune(language: str = "en", name: str = SET) -> AppTest:
    return opened("tune", language, {"query_set": name}, gate="pass_rate")


def importing(app: AppTest) -> AppTest:
    """The page with its form that imports a file open."""
    return unfolded(app, f"tune_import_{app.session_state['tune_uploads']}")


def unfolded(app: AppTest, name: str) -> AppTest:
    """The page with one of its menus open."""
    app.session_state[name] = True
    return app.run()


def runs(engine: Engine) -> list[str]:
    return [item.id for item in engine.runs(500)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_set_without_evidence_says_what_to_do_next(engine: Engine, language: UiLanguage) -> None:
    engine.evaluation.save_query_set(QuerySet("untouched", QUESTIONS[:1]))
    shown, words = visible(tune(language, "untouched")), words_for(language)
    assert words("Each runs once. Then the sliders move every figure without a call.") in shown
    assert words.count("Run the question", "Run {n} questions", 1) in shown


def test_gathering_runs_every_question_once_and_the_figures_appear(engine: Engine) -> None:
    engine.evaluation.save_query_set(QuerySet("two", QUESTIONS[:2]))
    app = tune(name="two")
    button(app, lambda label: label == EN("Run {n} questions", n=2)).click().run()
    (batch,) = engine.evaluation.batches("two")
    assert engine.batches.wait(batch.id, _PATIENCE_S)
    app.run()
    assert engine.evaluation.batch(batch.id).done == {"rows", "empty"}
    assert moment(batch.created_at) in inline(app)
    assert EN("Answered right") in inline(app)


def test_a_gathering_that_ends_while_the_page_is_drawn_is_shown_whole(
    gathered: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (whole,) = gathered.evaluation.batches(SET)
    answers = [(replace(whole, done=whole.done - {"none"}),)]
    monkeypatch.setattr(query_set, "batches_of", lambda *asked: answers.pop() if answers else batches_of(*asked))
    shown = inline(tune())
    assert not answers
    assert moment(whole.created_at) in shown


def test_a_slider_moves_the_figures_and_the_flips_lead_to_their_runs_without_a_run(gathered: Engine) -> None:
    """SC-04, SC-08: another pass threshold re-decides every question from evidence."""
    app = tune("zh")
    before = runs(gathered)
    same = ZH.count("same on 1 question", "same on {n} questions", 4)
    assert same in inline(app)
    setting(app, "grade_pass_threshold").set_value(0.0).run()
    assert not app.exception, app.exception
    shown = inline(app)
    assert same not in shown
    assert "logic" in shown
    (batch,) = gathered.evaluation.batches(SET)
    assert any(f"/?run={run_id}" in shown for run_id in batch.runs.values())
    assert runs(gathered) == before


def test_questions_that_would_need_calls_are_counted_and_not_guessed(engine: Engine) -> None:
    """SC-02: without the whole probe graded, a lower similarity threshold keeps passages that no one judged."""
    engine.evaluation.save_query_set(QuerySet("kept only", QUESTIONS))
    assert engine.batches.wait(engine.batches.start("kept only", RunConfig(), 2), _PATIENCE_S)
    app = tune(name="kept only")
    setting(app, "similarity_threshold").set_value(0.0).run()
    assert re.search(r"\b[1-4] need more steps", inline(app))
    assert re.search(r"\b[1-4] unknown", inline(app))


def test_a_tab_stays_open_while_a_slider_moves_and_all_draw_from_the_same_evidence(gathered: Engine) -> None:
    app = tune()
    assert "Run errors" not in " ".join(tab.label for tab in app.tabs), "no run ended in an error"
    tabs = ("Map", "Trade-off", "Scores", NC_("tab", "Grader"), "Guarantee")
    for tab in tabs:
        app.session_state["tune_tabs"] = EN(tab)
        app.run()
        assert not app.exception, (tab, app.exception)
    labels = [tab.label for tab in app.tabs]
    setting(app, "similarity_threshold").set_value(0.8).run()
    assert [tab.label for tab in app.tabs] == labels, "Streamlit takes other labels for other tabs"
    assert app.session_state["tune_tabs"] == EN("Guarantee")


def test_the_sweep_recommends_and_its_settings_or_those_of_the_sliders_leave_the_tool(gathered: Engine) -> None:
    """Four questions tell no setting apart; what stands next to a recommendation is the recommendation."""
    app = tune()
    setting(app, "max_rewrites").set_value(1).run()
    app.session_state["tune_menu_content_copy"] = app.session_state["tune_menu_save"] = True
    app.run()
    assert not app.exception, app.exception
    assert EN("No setting is measurably better") in inline(app)
    assert EN("Recommended") not in inline(app)
    forms = [item.value for item in app.code]
    assert any(text.startswith("curl ") and QUESTIONS[0].question in text for text in forms)
    assert any("grade_pass_threshold = " in text for text in forms)

    def exported() -> dict[str, Any]:
        made: dict[str, Any] = next(json.loads(item.value) for item in app.code if item.value.startswith("{"))
        return made

    card = exported()
    assert card["top_k"] == 5
    choice = next(item for item in app.button_group if item.key == "tune_leaving_choice")
    assert choice.value == "card"
    choice.set_value("sliders").run()
    sliders = exported()
    assert sliders["max_rewrites"] == 1 and card != sliders
    shown = inline(app)
    moved = {name: value for name, value in card.items() if name in SWEPT and value != getattr(GATHERED, name)}
    assert all(f"{setting_label(name, EN)} {setting_text(name, value, EN)}" in shown for name, value in moved.items())
    next(item for item in app.text_input if item.key == "tune_save_name").set_value("gentle")
    button(app, lambda label: label == EN("Save")).click().run()
    assert gathered.evaluation.settings()["gentle"].max_rewrites == 1
    assert "gentle" in str(setting(app, "tune_compared").options)
    gathered.evaluation.delete_settings("gentle")


def test_a_recommendation_by_right_answers_says_so_and_what_is_certified(engine: Engine) -> None:
    if "gold" not in engine.evaluation.query_sets():
        asked = [case for case in sample_set().cases if case.id in ANSWERED_RIGHT]
        engine.evaluation.save_query_set(QuerySet("gold", tuple(asked)))
        assert engine.batches.wait(
            engine.batches.start("gold", RunConfig(grade_probe=True, gate="pass_rate"), 2), _PATIENCE_S
        )
    app = tune(name="gold")
    assert EN("by gold answers: {n}", n=6) in inline(app)
    app.session_state["tune_tabs"] = EN("Trade-off")
    app.run()
    setting(app, "tune_aim").set_value("answered_right").run()
    assert not app.exception, app.exception
    app.session_state["tune_tabs"] = EN("Map")
    app.session_state["tune_map_x"], app.session_state["tune_map_y"] = "grade_pass_threshold", "similarity_threshold"
    assert EN(MEASURES["answered_right"].name) in inline(app)
    words = "At most {bound} of the answers given are wrong, at {confidence} confidence."
    assert EN("certified: {promise}", promise="") not in inline(app)
    # Six right answers are few: a risk of one half would bring them about once in 64 times.
    app.session_state["tune_risk_bound"], app.session_state["tune_risk_confidence"] = 0.5, 0.9
    app.run()
    promise = EN(words, bound="50 %", confidence="90 %")
    assert EN("certified: {promise}", promise=promise) in inline(app)


def test_an_open_run_becomes_a_case_with_its_cited_passages(engine: Engine) -> None:
    app = opened()
    run_id = ask(app, engine, "What is a truth table?")  # one that no test judges: judgements are expected too
    cited = {item.passage_id for item in engine.record(run_id).citations}
    engine.evaluation.save_query_set(QuerySet("from runs", ()))
    app.switch_page("tune.py").run()
    unfolded(app, "tune_more_0")
    setting(app, "tune_add_to").set_value("from runs").run()
    button(app, lambda label: label == EN("Add")).click().run()
    assert not app.exception, app.exception
    (case,) = engine.evaluation.query_set("from runs").cases
    assert {item.value for item in case.expected} == cited
    assert setting(app, "query_set").value == "from runs"


def test_a_file_of_questions_is_imported_and_its_bad_lines_are_named(engine: Engine) -> None:
    app = importing(tune())
    content = "question,expected\nWhat is a set?,dm-sets.en.md\n,nothing\n"
    app.file_uploader[0].upload("mine.csv", content.encode(), "text/csv").run()
    assert "1 question" in [item.value for item in app.caption] and "0 documents" not in visible(app)
    assert "3" in inline(app)
    button(app, lambda label: label == EN("Import")).click().run()
    assert not app.exception, app.exception
    assert [case.question for case in engine.evaluation.query_set("mine").cases] == ["What is a set?"]


def test_a_file_is_asked_of_the_collection_in_the_sidebar_which_is_looked_at_first(engine: Engine) -> None:
    """The samples hold none of these sources; the collection that was chosen holds one."""
    language: UiLanguage = "zh"
    words = words_for(language)
    engine.ingest([IngestItem("cats.md", data=b"# Cats\n\nCats eat fish.")], "pets")
    app = opened(language=language, collection="pets")
    app.switch_page("tune.py").run()
    importing(app)
    content = "question,expected\nWhat do cats eat?,cats.md\nWhat do dogs eat?,dogs.md\n"
    app.file_uploader[0].upload("pets.csv", content.encode(), "text/csv").run()
    assert words(
        "{present} of {n} expected sources exist in this collection; what the others hold cannot be found.",
        n=2,
        present=1,
    ) in inline(app)
    button(app, lambda label: label == words("Import")).click().run()
    assert not app.exception, app.exception
    assert engine.evaluation.query_set("pets").collection == "pets"
    assert words(
        "{present} of {n} expected sources exist in this collection; what the others hold cannot be found.",
        n=2,
        present=1,
    ) in inline(app)


def test_a_set_asked_of_the_wrong_collection_is_not_measured_and_can_be_bound_to_another(engine: Engine) -> None:
    engine.ingest([IngestItem("cats.md", data=b"# Cats\n\nCats eat fish.")], "pets")
    cases = (Case("cats", "What do cats eat?", (Expectation("source", "cats.md"),)),)
    engine.evaluation.save_query_set(QuerySet("lost", cases, "samples"))
    app = tune(name="lost")
    assert "0 of 1 expected sources exist in the collection 'samples'" in inline(app)
    gather = button(app, lambda label: label == EN.count("Run the question", "Run {n} questions", 1))
    assert gather.disabled
    unfolded(app, "tune_more_0")
    setting(app, "tune_bind_lost_samples").set_value("pets").run()
    button(app, lambda label: label == EN("Ask this collection from now on")).click().run()
    assert engine.evaluation.query_set("lost").collection == "pets"
    assert "WB808" not in inline(app)
    assert not button(app, lambda label: label == EN.count("Run the question", "Run {n} questions", 1)).disabled


def test_documents_of_an_imported_set_go_into_a_collection_first(engine: Engine) -> None:
    app = importing(tune())
    squad = {
        "version": "1.1",
        "data": [
            {
                "title": "Tea",
                "paragraphs": [
                    {
                        "context": "Green tea is steeped at eighty degrees for two minutes.",
                        "qas": [
                            {
                                "id": "t1",
                                "question": "How hot is green tea steeped?",
                                "answers": [{"text": "eighty degrees", "answer_start": 24}],
                            }
                        ],
                    }
                ],
            }
        ],
    }
    app.file_uploader[0].upload("tea.json", json.dumps(squad).encode(), "application/json").run()
    button(app, lambda label: label == EN("Import")).click().run()
    job, plan = app.session_state["tune_import_job"]
    assert job.saved.result(_PATIENCE_S)
    query_set = engine.evaluation.query_set("tea")  # before the page is drawn again: it may have been closed
    app.run()
    app.run()
    assert not app.exception, app.exception
    assert setting(app, "query_set").value == "tea"
    assert query_set.collection == plan.set.collection
    assert [item.source for item in engine.sources(query_set.collection)]


def test_a_refused_question_has_the_figures_that_it_counts_with_and_labels_changed_since_are_reported(
    engine: Engine,
) -> None:
    """A gathering keeps the labels that its set had then."""
    asked = Case("cup", QUESTIONS[3].question, gold_answers=("France",))
    engine.evaluation.save_query_set(QuerySet("cup", (asked,)))
    assert engine.batches.wait(engine.batches.start("cup", RunConfig(gate="pass_rate"), 1), _PATIENCE_S)
    changed = "{n} labels changed since: run again to count by them"
    app = tune(name="cup")
    assert EN(changed, n=1) not in visible(app)
    app.session_state["tune_answers_open"] = True
    app.run()
    (row,) = app.dataframe[0].value.to_dict("records")
    assert next(iter(row)) == EN(NC_("answer", "Right")), "what a narrow screen shows of each"
    assert (row[EN("F1")], row[EN("claim recall (judge)")], row[EN("Answer")]) == ("0.00", "–", EN("refused"))
    engine.evaluation.save_query_set(QuerySet("cup", (replace(asked, gold_answers=("France", "Les Bleus")),)))
    assert EN(changed, n=1) in visible(tune(name="cup"))


def test_a_failed_question_is_listed_and_in_no_figure(engine: Engine) -> None:
    engine.evaluation.save_query_set(QuerySet("broken", QUESTIONS[:1], collection="nowhere"))
    batch = engine.batches.start("broken", RunConfig(collection="nowhere"), 1)
    assert engine.batches.wait(batch, _PATIENCE_S)
    app = tune(name="broken")
    assert QUESTIONS[0].question in inline(app)
    assert EN("Answered right") not in inline(app)


def test_a_gathering_that_failed_does_not_take_the_place_of_one_that_did_not(engine: Engine) -> None:
    engine.evaluation.save_query_set(QuerySet("twice", QUESTIONS[1:2]))
    for grader in ("builtin", "ollama:gone:1b"):
        config = RunConfig(models=RoleModels(grader=RoleModel(grader)))
        assert engine.batches.wait(engine.batches.start("twice", config, 1), _PATIENCE_S)
    failed, good = engine.evaluation.batches("twice")
    assert failed.failures and good.done
    assert setting(tune(name="twice"), "tune_batch").value == good.id


def test_hostile_questions_are_never_markup(engine: Engine) -> None:
    hostile = "![x](http://evil.example) <img src=x> **what** is a set?"
    engine.evaluation.save_query_set(
        QuerySet("hostile", (Case("h", hostile, (Expectation("source", "dm-sets.en.md"),)),))
    )
    assert engine.batches.wait(engine.batches.start("hostile", RunConfig(grade_probe=True), 1), _PATIENCE_S)
    app = tune(name="hostile")
    setting(app, "grade_pass_threshold").set_value(0.0).run()
    markup = [str(item.value) for item in (*app.markdown, *app.caption, *app.info)]
    assert not any("evil" in text for text in markup)


def test_a_gathering_that_its_cluster_left_continues_here_at_a_press(engine: Engine) -> None:
    """BE-06"""
    name = "left by its cluster"
    engine.evaluation.save_query_set(QuerySet(name, QUESTIONS[:2]))
    batch = engine.batches.start(name, GATHERED, 1, ["rows"])
    assert engine.batches.wait(batch, _PATIENCE_S)
    engine.evaluation.forget_cases(batch, ["rows"], done=True)
    gone = Fault.of(RunError.waited_too_long(what="a cluster", seconds=180))
    engine.batches._faults[batch] = gone, True
    app = tune(name=name)
    assert gone.fact in inline(app)
    button(app, lambda label: label == EN("Run here instead")).click().run()
    assert not app.exception, app.exception
    assert engine.batches.wait(batch, _PATIENCE_S)
    assert engine.evaluation.batch(batch).finished


def test_a_fresh_page_is_full_of_shipped_runs_which_can_be_deleted(tmp_path: Path) -> None:
    """EV-08"""
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as fresh:
        use_engine(fresh)
        app = opened("tune")
        total = len(sample_set().cases)
        assert EN("shipped") in inline(app)
        assert EN("Does correction pay?") in [tab.label for tab in app.tabs]
        app.button(key="tune_shipped_delete").click().run()
        assert not app.exception, app.exception
        assert button(app, lambda label: label == EN.count("Run the question", "Run {n} questions", total))
        use_engine(None)
