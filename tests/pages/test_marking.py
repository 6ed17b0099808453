"""The invitation to mark the passage that should have answered, and what a mark makes of the diagnosis."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.diagnosis import BLIND
from components.common.i18n import words_for
from engine.engine import Engine
from engine.model.config import BUILTIN, RunConfig
from engine.replay.diagnosis import Diagnosis
from pages.parts.ask import why
from tests.components.sample_run import sample_record
from tests.pages.driving import ask, inline, opened

EN = words_for("en")
FORCED = "Please tell me about the main symptoms of diabetes."
PRICE = "How much does a box of insulin glargine pens cost?"
"""A sample question that nothing answers: to refuse it is right."""
PARAPHRASE = "Which readings of sugar before breakfast make a doctor say that somebody has the disease?"
REFUSED = "Which airline flies from Oslo to Lima?"


@pytest.mark.parametrize(
    ("question", "outcome", "settings"),
    [
        (FORCED, "answered_forced", {"gate": "pass_rate", "grade_pass_threshold": "1", "max_rewrites": "0"}),
        (REFUSED, "abstained", {}),
    ],
)
def test_a_run_that_fell_short_asks_which_passage_should_have_answered(
    engine: Engine, question: str, outcome: str, settings: dict[str, str]
) -> None:
    app = opened(state={"why": True}, **settings)
    record = engine.record(ask(app, engine, question))
    assert record.outcome == outcome
    assert EN("Which passage should have answered?") in inline(app)
    assert EN("Inferred from the run") in inline(app)
    passage = record.rounds[0].candidates[-1].passage.id
    engine.evaluation.set_label(question, passage, True)
    app.run()
    assert EN("Which passage should have answered?") not in inline(app)
    assert EN("From your labels") in inline(app)


def test_a_passage_marked_as_no_help_leaves_the_question_open(engine: Engine) -> None:
    app = opened()
    record = engine.record(ask(app, engine, "Who sells tickets for the opera in Vienna?"))
    assert record.outcome == "abstained"
    engine.evaluation.set_label(record.question, record.rounds[0].candidates[0].passage.id, False)
    app.run()
    assert EN("Which passage should have answered?") in inline(app)


def test_nobody_is_asked_where_the_right_passage_is_known_or_the_run_answered(engine: Engine) -> None:
    app = opened()
    ask(app, engine, "What is a truth table?")
    assert EN("Which passage should have answered?") not in inline(app)
    record = engine.record(ask(app, engine, PRICE))
    assert record.outcome == "abstained"
    assert EN("Which passage should have answered?") not in inline(app)


def test_what_the_built_in_grader_cannot_see_is_said_where_it_refused(engine: Engine) -> None:
    """A paraphrase whose answer the collection does hold: no one is sent for files that are there."""
    app = opened(state={"why": True})
    ask(app, engine, PARAPHRASE)
    shown = inline(app)
    assert shown.count(EN(BLIND)) == 2, "with the diagnosis and above the verdicts"
    assert EN("Set up a chat model") in shown and EN("Mark the right passage") in shown
    assert EN("Add files") not in shown


def test_where_a_screener_refused_no_other_grader_is_offered() -> None:
    """BE-03: none would be asked about that passage."""
    models = SimpleNamespace(chat_models=lambda: ("ollama:m",))
    by_words = Diagnosis("grader_too_strict", {"p": 0.1, "bar": 0.5}, labelled=True, grader=BUILTIN)
    by_cut = replace(by_words, figures={"screener": 1.0, "p": 0.1, "bar": 0.2})
    offered = [why._offered(models, sample_record(), found, EN) for found in (by_words, by_cut)]  # type: ignore[arg-type]
    assert [[label for label, _ in item] for item in offered] == [["Grade with ollama:m"], []]


def test_a_passage_that_no_search_of_the_run_found_can_be_marked(engine: Engine) -> None:
    def page(record: object) -> None:
        from components.common.i18n import words_for
        from engine.api.process import get_engine
        from pages.parts.ask.marking import mark_dialog

        mark_dialog(get_engine(), record, words_for("en"))  # type: ignore[arg-type]

    record = engine.run("Which railway leads from Bergen to Lisbon?", RunConfig(max_rewrites=0))
    test = AppTest.from_function(page, args=(record,), default_timeout=60).run()
    assert test.text_input[0].value == record.question
    assert [item.value for item in test.caption] == [EN("If none answers it, the refusal was right.")]
    test.text_input[0].set_value("truth table rows for five variables").run()
    found = [item.passage.id for item in engine.library.search("samples", "truth table rows for five variables", 12)]
    unseen = next(name for name in found if name not in record.passages)
    assert f'"right:{unseen}"' in inline(test)
    engine.evaluation.set_label(record.question, unseen, True)
    assert f'"back:{unseen}"' in inline(test.run())
