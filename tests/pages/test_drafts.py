"""Drafted questions on the Tune page: looked through one at a time, in both languages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from tests.drafting.documents import ITEMS
from tests.pages.driving import button, inline, opened

COLLECTION = "drafted_docs"


@pytest.fixture
def drafted(engine: Engine) -> Iterator[Engine]:
    """A collection of its own with fifteen drafts."""
    if COLLECTION not in [item.name for item in engine.collections()]:
        engine.ingest(ITEMS, COLLECTION, embedding_model="hashing")
    engine.drafting.make(COLLECTION, 15)
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


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_draft_is_shown_with_its_passage_and_accepted_refused_put_off_and_undone(
    drafted: Engine, language: UiLanguage
) -> None:
    words = words_for(language)
    app = look(language)
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
    button(app, lambda label: label == words("Later")).click().run()
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


def test_questions_are_drafted_from_the_page(engine: Engine) -> None:
    if COLLECTION not in [item.name for item in engine.collections()]:
        engine.ingest(ITEMS, COLLECTION, embedding_model="hashing")
    engine.drafting.forget(COLLECTION)
    app = opened(collection=COLLECTION)
    app.switch_page("tune.py").run()
    button(app, lambda label: label == "Draft questions").click().run()
    if "tune_draft_job" in app.session_state:
        app.session_state["tune_draft_job"].future.result(60)
        app.run()
    assert not app.exception, app.exception
    waiting = engine.drafting.list(COLLECTION, "open")
    assert waiting and question(app) == waiting[0].draft.question
    engine.drafting.forget(COLLECTION)


def test_questions_are_drafted_from_the_collection_of_the_chosen_set(drafted: Engine) -> None:
    draft = drafted.drafting.list(COLLECTION, "open")[0].draft
    drafted.drafting.accept(draft.id, "of the documents")
    app = opened(query_set="of the documents")
    app.switch_page("tune.py").run()
    assert not app.exception, app.exception
    (chosen,) = [item for item in app.selectbox if str(item.key).startswith("tune_draft_of")]
    assert chosen.value == COLLECTION
