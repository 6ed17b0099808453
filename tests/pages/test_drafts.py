"""Drafted questions on the Tune page: looked through one at a time, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.api.process import use_engine
from engine.drafting.values import Draft, Rule
from engine.engine import Engine
from engine.settings import Settings
from tests.drafting.documents import ITEMS, asked_of
from tests.llm.recording import CHAT
from tests.pages.driving import button, inline, opened
from tests.support.ollama_stand_in import OllamaStandIn

COLLECTION = "drafted_docs"
EN = words_for("en")


def earlier(engine: Engine) -> list[Draft]:
    """Drafts as rules made them in earlier versions: of each kind one."""
    stored = [item for source in ("water.md", "stone.md") for item in engine.passages(COLLECTION, source)]
    shown = zip(stored, get_args(Rule), strict=False)
    made = [
        Draft(f"d-{rule}", COLLECTION, f"What of {item.section}?", rule, "en", (item.id,), item.source, item.text[:40])
        for item, rule in shown
    ]
    near = stored[0]
    missed = Draft(
        "d-miss",
        COLLECTION,
        "What of the pier?",
        "near_miss",
        "en",
        source=near.source,
        quote=near.id,
        answerable=False,
    )
    return [*made, replace(missed, swapped=("harbour", "lighthouse"))]


@pytest.fixture
def drafted(engine: Engine) -> Iterator[Engine]:
    """A collection of its own with drafts of an earlier version."""
    if COLLECTION not in [item.name for item in engine.collections()]:
        engine.ingest(ITEMS, COLLECTION, embedding_model="hashing")
    engine._evaluations.drafts.add(earlier(engine))
    yield engine
    for name in engine.evaluation.query_sets():
        if engine.evaluation.query_set(name).collection == COLLECTION:
            engine.evaluation.delete_query_set(name)
    for item in engine.drafting.list(COLLECTION):
        engine.drafting.reopen(item.draft.id)
    engine.drafting.forget(COLLECTION)


def look(language: str = "en") -> AppTest:
    words = words_for("zh" if language == "zh" else "en")
    app = opened(language=language, collection=COLLECTION)
    # Unlike in a browser, the first run after a change of page has the first collection of all, not the address's.
    app.switch_page("tune.py").run().run()
    shown: AppTest = button(app, lambda label: label == words("Look through")).click().run()
    return shown


def question(app: AppTest) -> str:
    return str(next(item for item in app.text_input if str(item.key).startswith("tune_draft_question_")).value)


def test_a_draft_is_shown_with_its_passage_and_accepted_refused_put_off_and_undone(drafted: Engine) -> None:
    words = words_for("zh")
    app = look("zh")
    waiting = [item.draft for item in drafted.drafting.list(COLLECTION, "open")]
    assert question(app) == waiting[0].question
    shown = inline(app)
    assert waiting[0].quote.split("\n")[0][:20] in shown.replace('\\"', '"')
    button(app, lambda label: label == words("Accept")).click().run()
    assert not app.exception, app.exception
    kept = drafted.drafting.draft(waiting[0].id)
    assert (kept.state, kept.set_name) == ("accepted", words("questions about {collection}", collection=COLLECTION))
    assert question(app) == waiting[1].question
    button(app, lambda label: label == words("Refuse")).click().run()
    assert drafted.drafting.draft(waiting[1].id).state == "refused"
    button(app, lambda label: label == words("Undo")).click().run()
    assert drafted.drafting.draft(waiting[1].id).state == "open"
    assert question(app) == waiting[1].question
    button(app, lambda label: label == words("Skip")).click().run()
    assert question(app) == waiting[2].question


def test_an_edited_question_and_its_gold_answers_go_into_the_set(drafted: Engine) -> None:
    app = look()
    first = drafted.drafting.list(COLLECTION, "open")[0].draft
    next(item for item in app.text_input if item.key == f"tune_draft_question_{first.id}").set_value("Asked otherwise?")
    next(item for item in app.text_input if item.key == f"tune_draft_gold_{first.id}").set_value("a | b")
    button(app, lambda label: label == "Accept").click().run()
    name = drafted.drafting.draft(first.id).set_name
    (case,) = [item for item in drafted.evaluation.query_set(name).cases if item.id == first.id]
    assert (case.question, case.gold_answers) == ("Asked otherwise?", ("a", "b"))


def test_closing_the_drafts_chooses_the_set_that_has_new_questions(drafted: Engine) -> None:
    app = look()
    first = drafted.drafting.list(COLLECTION, "open")[0].draft
    button(app, lambda label: label == "Accept").click().run()
    assert app.session_state["query_set"] == "samples"
    button(app, lambda label: label == "Close").click().run()
    assert app.session_state["query_set"] == drafted.drafting.draft(first.id).set_name


def test_once_all_drafts_are_decided_the_next_step_is_the_set_with_its_button_to_run_it(drafted: Engine) -> None:
    for kept in drafted.drafting.list(COLLECTION, "open")[1:]:
        drafted.drafting.refuse(kept.draft.id)
    app = look()
    button(app, lambda label: label == "Accept").click().run()
    button(app, lambda label: label == "Next: run the questions").click().run()
    assert app.session_state["query_set"].startswith("questions about")
    assert button(app, lambda label: label == EN.count("Run the question", "Run {n} questions", 1))


def test_an_earlier_draft_that_nothing_should_answer_says_what_was_swapped(drafted: Engine) -> None:
    for kept in drafted.drafting.list(COLLECTION, "open"):
        if kept.draft.answerable:
            drafted.drafting.refuse(kept.draft.id)
    app = look()
    assert question(app) == "What of the pier?" and "“lighthouse” replaces “harbour”" in inline(app)


def test_without_a_chat_model_the_page_says_what_drafting_needs(engine: Engine) -> None:
    app = opened("tune", state={"tune_draft_0": True})
    assert any("Drafting needs a chat model" in item.value for item in app.info)
    assert all(item.key != "tune_draft_start" for item in app.button)
    button(app, lambda label: label == "Set up a chat model").click().run()
    assert app.session_state["system_view"] == "models"


def test_without_a_chat_model_questions_wanted_for_documents_can_be_imported_instead(drafted: Engine) -> None:
    app = opened("tune", state={"tune_draft_wanted": COLLECTION})
    assert any("Drafting needs a chat model" in item.value for item in app.caption)
    app.button(key="tune_import_instead").click().run()
    assert not app.exception, app.exception
    assert app.session_state["tune_import_0"] is True and "tune_draft_wanted" not in app.session_state


def test_questions_wanted_for_documents_are_drafted_on_arrival(tmp_path: Path) -> None:
    with (
        OllamaStandIn(["qwen3:8b"], reply=asked_of) as server,
        Engine.open(Settings(data_dir=tmp_path, ollama_url=server.url)) as engine,
    ):
        engine.ingest(ITEMS, COLLECTION, embedding_model="hashing")
        use_engine(engine)
        app = opened("tune", state={"tune_draft_wanted": COLLECTION}, collection=COLLECTION, generator=CHAT)
        if "tune_draft_job" in app.session_state:
            app.session_state["tune_draft_job"].future.result(60)
            app.run()
        assert not app.exception, app.exception
        assert engine.drafting.list(COLLECTION, "open")
        use_engine(None)


def test_questions_are_drafted_from_the_page(tmp_path: Path) -> None:
    with (
        OllamaStandIn(["qwen3:8b"], reply=asked_of) as server,
        Engine.open(Settings(data_dir=tmp_path, ollama_url=server.url)) as engine,
    ):
        engine.ingest(ITEMS, COLLECTION, embedding_model="hashing")
        use_engine(engine)
        app = opened("tune", state={"tune_draft_0": True}, collection=COLLECTION, generator=CHAT)
        app.button(key="tune_draft_start").click().run()
        if "tune_draft_job" in app.session_state:
            app.session_state["tune_draft_job"].future.result(60)
            app.run()
        assert not app.exception, app.exception
        waiting = engine.drafting.list(COLLECTION, "open")
        assert waiting and question(app) == waiting[0].draft.question
        use_engine(None)


def test_questions_are_drafted_from_the_collection_of_the_chosen_set(drafted: Engine) -> None:
    draft = drafted.drafting.list(COLLECTION, "open")[0].draft
    drafted.drafting.accept(draft.id, "of the documents")
    app = opened("tune", state={"tune_draft_0": True}, query_set="of the documents", generator=CHAT)
    assert not app.exception, app.exception
    (chosen,) = [item for item in app.selectbox if str(item.key).startswith("tune_draft_of")]
    assert chosen.value == COLLECTION
