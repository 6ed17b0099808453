"""Where nothing is yet, a page says what will stand there, and has the button of the next step, which does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from components.common.i18n import words_for
from engine.engine import Engine
from engine.errors import ModelError
from engine.evaluation.cases import QuerySet
from engine.knowledge.ingest import IngestItem
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.events import fold_all
from engine.model.values import Fault, RunRecord
from pages.parts.ask import evidence
from tests.pages.driving import ask, given, inline, opened, press, setting, visible
from tests.support.recorded import recorded_run

EN = words_for("en")
EMPTY = "nothing_in_it"


@pytest.fixture
def emptied(engine: Engine) -> Iterator[str]:
    """A collection whose only document is gone again."""
    engine.ingest([IngestItem("cats.md", data=b"# Cats\n\nThey sleep.")], EMPTY)
    engine.delete_source(EMPTY, "cats.md")
    yield EMPTY
    engine.library.drop(EMPTY)


@pytest.mark.parametrize(("view", "key"), [("map", "kb_map_add"), ("search", "kb_search_add"), ("graph", "kg_add")])
def test_a_view_of_an_empty_collection_leads_to_adding_files(engine: Engine, emptied: str, view: str, key: str) -> None:
    """FV-04"""
    app = opened("knowledge", "zh", view=view, collection=emptied)
    assert app.info
    press(app, key)
    assert app.session_state["knowledge_view"] == "add"
    assert app.file_uploader


def test_a_question_to_an_empty_collection_is_answered_by_the_way_to_fill_it(engine: Engine, emptied: str) -> None:
    """FV-04"""
    app = opened(collection=emptied)
    assert "has no passages yet" in visible(app)
    press(app, "ask_add")
    assert app.session_state["knowledge_view"] == "add"
    assert app.file_uploader
    assert "has no passages yet" not in visible(opened())


def test_words_that_no_passage_has_are_searched_by_meaning(engine: Engine) -> None:
    """FV-04"""
    app = opened("knowledge", view="search")
    app.text_input(key="kb_query").set_value("qqqq zzzz").run()
    app.session_state["kb_method"] = "full_text"
    app.run()
    assert EN("Nothing found.") in visible(app)
    press(app, "kb_by_meaning")
    assert app.session_state["kb_method"] == "vector"


def test_two_recorded_runs_are_compared_where_there_are_none_of_ones_own(engine: Engine) -> None:
    """FV-04"""
    app = opened("compare")
    press(app, "compare_recorded")
    assert (given(app, "a"), given(app, "b")) == ("demo-passes-en", "demo-forced-en")
    assert "compare_recorded" not in {item.key for item in app.button}


def test_a_collection_that_notes_nothing_says_how_to_begin(engine: Engine, emptied: str) -> None:
    """FV-04"""
    engine.weak_points.switch(emptied, on=False)
    app = opened("memory")
    setting(app, "history_collection").set_value(emptied).run()
    assert EN("Nothing yet.") in visible(app)
    press(app, "history_begin")
    assert engine.weak_points.is_on(emptied)
    assert not any(item.key == "history_begin" for item in app.button)


def test_filters_that_nothing_passes_are_cleared(engine: Engine) -> None:
    """FV-04"""
    app = opened("system", part="settings")
    app.text_input(key="settings_q").set_value("no such setting").run()
    assert EN("Nothing matches.") in visible(app)
    press(app, "settings_clear")
    assert EN("Nothing matches.") not in visible(app)
    assert app.text_input(key="settings_q").value == ""


def test_a_set_without_questions_leads_back_to_the_samples(engine: Engine) -> None:
    """FV-04"""
    engine.evaluation.save_query_set(QuerySet("none_in_it", ()))
    try:
        app = opened("tune", query_set="none_in_it")
        assert EN("This set has no questions: import a file or add a run.") in visible(app)
        press(app, "tune_samples")
        assert app.session_state["query_set"] == "samples"
    finally:
        engine.evaluation.delete_query_set("none_in_it")


def test_a_run_without_an_answer_leads_to_a_mark_and_to_judging_what_was_left_out(engine: Engine) -> None:
    """FV-04: no one knows yet whether the collection holds it, so nothing says that files are missing."""
    app = opened(state={"why": True})
    run = ask(app, engine, "Who painted the Mona Lisa?")
    shown = inline(app)
    assert EN("Mark the right passage") in shown and EN("Nothing passed, for one of several reasons") in shown
    assert EN("Add files") not in shown
    assert EN("Judge all candidates") in shown
    app.session_state["remedy"] = {"action": {"name": "judge", "serial": 1}}
    app.run()
    branch = app.session_state["run"]
    assert branch != run and engine.wait(branch, 60.0)
    judged = engine.record(branch)
    assert all(item.verdicts.keys() == {one.passage.id for one in item.candidates} for item in judged.rounds)


def test_a_run_whose_model_does_not_answer_is_asked_of_the_built_in_roles(engine: Engine) -> None:
    """FV-04"""
    app = opened(grader="ollama:none")
    failed = ask(app, engine, "What is the power set of the empty set?")
    assert engine.record(failed).outcome == "failed"
    shown = inline(app)
    assert EN("Ask the built-in roles") in shown and "Kept: 1 search" in shown
    assert EN("Smallest change:") not in shown and EN("Draw the map") not in shown
    app.session_state["run_fault"] = {"action": {"name": "builtin", "serial": 1}}
    app.run()
    assert not app.exception
    run = app.session_state["run"]
    assert run != failed
    assert engine.wait(run, 60.0)
    assert engine.record(run).outcome == "answered"


@pytest.mark.parametrize(("budget_s", "offered"), [(10, 60), (120, 240), (3000, 3600), (3600, 0)])
def test_a_run_whose_model_was_not_done_in_time_is_asked_again_with_more(
    monkeypatch: pytest.MonkeyPatch, budget_s: float, offered: float
) -> None:
    """FV-04"""
    late = ModelError.answer_late(model="ollama:slow:1b", seconds=budget_s)
    config = RunConfig(budget_s=budget_s, models=RoleModels(generator=RoleModel("ollama:slow:1b")))
    record = replace(fold_all(recorded_run(0, "failed")), config=config, error=Fault.of(late, "generate"), answer="")
    labels: dict[str, str] = {}
    wanted: list[RunConfig] = []
    asked: list[RunRecord] = []

    def pressed(*_: Any, actions: Sequence[tuple[str, str]], **__: Any) -> str:
        labels.update(actions)
        return actions[0][0]

    monkeypatch.setattr(evidence, "fault_box", pressed)
    monkeypatch.setattr(evidence, "want_settings", wanted.append)
    evidence.result(record, EN, asked.append)
    longer = {"longer": f"Try again with {offered} s"} if offered else {"again": "Try again"}
    assert labels == {**longer, "builtin": "Ask the built-in roles"}
    assert [one.config.budget_s for one in asked] == [offered or budget_s]
    assert [one.budget_s for one in wanted] == ([offered] if offered else [])
