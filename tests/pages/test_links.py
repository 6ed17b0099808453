"""What a link to a run brings along: its own settings where it names none, else those that it names."""

from __future__ import annotations

import pytest

from components.common.i18n import words_for
from components.common.phrases import fault_text
from engine.engine import Engine
from engine.errors import UnknownCollection, UnknownQuerySet
from engine.evaluation.cases import Case, QuerySet
from engine.model.config import RunConfig
from engine.model.values import Chat, Fault, Message
from engine.workflows.quality_loop.options import QualityOptions
from tests.pages.driving import ask, given, inline, opened, setting, visible


@pytest.fixture(scope="module")
def unusual(shared_engine: Engine) -> str:
    """A run that differs from the defaults in settings of every kind of widget."""
    config = RunConfig(
        top_k=9, similarity_threshold=0.2, gate="pass_rate", grade_pass_threshold=0.35, context="last_round"
    )
    return shared_engine.run("What is a truth table?", config).id


def test_a_link_to_a_run_without_settings_takes_the_runs_own(engine: Engine, unusual: str) -> None:
    app = opened(run=unusual)
    assert (setting(app, "top_k").value, setting(app, "grade_pass_threshold").value) == (9, 0.35)
    assert (setting(app, "answer_when").value, setting(app, "context").value) == ("pass_rate", "last_round")
    assert (given(app, "gate") or "pass_rate", given(app, "context")) == ("pass_rate", "last_round")


def test_its_workflow_options_and_collection_come_along(engine: Engine) -> None:
    workflow, options = "quality_loop", QualityOptions(medium_score=0.35)
    run = engine.run("What is a truth table?", RunConfig(workflow="quality_loop", options=options, top_k=4))
    app = opened(run=run.id)
    assert setting(app, "workflow").value == workflow
    assert (setting(app, "top_k").value, setting(app, "medium_score").value) == (4, 0.35)
    assert (given(app, "workflow"), setting(app, "collection").value) == (workflow, run.config.collection)


def test_a_link_with_settings_keeps_them(engine: Engine, unusual: str) -> None:
    app = opened(run=unusual, top_k="3")
    assert (setting(app, "top_k").value, setting(app, "similarity_threshold").value) == (3, 0.3)


def test_a_collection_alone_is_no_setting(engine: Engine, unusual: str) -> None:
    assert setting(opened(run=unusual, collection="samples"), "top_k").value == 9


def test_sliders_moved_since_stay_where_they_are(engine: Engine, unusual: str) -> None:
    app = opened(run=unusual)
    setting(app, "top_k").set_value(12).run()
    assert setting(app, "top_k").value == 12
    app.switch_page("knowledge.py").run()
    app.switch_page("workbench.py").run()
    assert setting(app, "top_k").value == 12
    newer = ask(app, engine, "What is a truth table?")
    assert engine.record(newer).config.top_k == 12


def test_a_link_to_a_passage_opens_it_once(engine: Engine, unusual: str) -> None:
    """CH-02"""
    passage = next(iter(engine.record(unusual).passages))
    app = opened(run=unusual, passage=passage)
    assert app.session_state["tab"] == "passages"
    assert f'"opened": "{passage}"' in inline(app)
    app.run()
    assert '"opened": null' in inline(app)
    assert '"opened": null' in inline(opened(run=unusual, passage="elsewhere#1"))


def test_a_run_from_a_chat_says_what_was_sent_and_what_was_made_of_it(engine: Engine) -> None:
    """CH-06"""
    chat = Chat("<b>And</b> its size?", "strict", (Message("user", "What is a power set?"),))
    question, chat = engine.condense(chat, RunConfig()).result()
    run_id = engine.start(question, RunConfig(), chat=chat)
    engine.wait(run_id)
    shown = inline(opened(run=run_id))
    for said in ("From a chat", "<b>And</b> its size?", "strict", "What is a power set?", question):
        assert said in shown


@pytest.mark.parametrize(
    ("page", "named"),
    [
        ("", {"collection": "not_here"}),
        ("knowledge", {"collection": "not_here"}),
        ("knowledge", {"collection": "not_here", "view": "search"}),
        ("tune", {"query_set": "not_here"}),
    ],
)
def test_a_link_to_a_collection_or_set_that_is_not_here_says_so(
    engine: Engine, page: str, named: dict[str, str]
) -> None:
    error = UnknownQuerySet if page == "tune" else UnknownCollection
    said = fault_text(Fault.of(error(name="not_here")), words_for("zh"))[0]
    app = opened(page, "zh", **named)
    assert said in inline(app)
    assert said in inline(app.run()), "not only until the page is drawn again"
    assert said not in inline(opened(page, "zh"))


def test_a_set_with_a_collection_of_its_own_locks_the_picker_and_says_why(engine: Engine) -> None:
    case = Case("q1", "What is a set?", ())
    engine.evaluation.save_query_set(QuerySet("bound", (case,), collection="samples"))
    try:
        app = opened("tune", query_set="bound")
        locked = next(item for item in app.selectbox if item.label == "Collection")
        assert (locked.disabled, locked.value) == (True, "samples")
        assert words_for("en")("Set by the question set; change it under ⋯.") in visible(app)
    finally:
        engine.evaluation.delete_query_set("bound")
    assert not next(item for item in opened("tune").selectbox if item.label == "Collection").disabled
