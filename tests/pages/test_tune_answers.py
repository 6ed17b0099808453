"""The tab *Answers* of the Tune page: a chat model judges, and what it says stands next to each answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.api.process import use_engine
from engine.engine import Engine
from engine.evaluation.cases import QuerySet
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.settings import Settings
from tests.contracts.chat_models import obedient
from tests.pages.driving import button, inline, setting, visible
from tests.pages.test_tune import QUESTIONS, tune
from tests.support.gates import until
from tests.support.ollama_stand_in import OllamaStandIn

_PATIENCE_S = 120.0
SET = "judged"
MODEL = "ollama:judge:1b"


@pytest.fixture(scope="module")
def judging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Four gathered questions, and an Ollama with a model that judges."""
    with OllamaStandIn(["judge:1b"], reply=obedient) as server:
        settings = Settings(
            data_dir=tmp_path_factory.mktemp("judging"), ollama_url=server.url, role_models=(f"judge={MODEL}",)
        )
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            engine.evaluation.save_query_set(QuerySet(SET, QUESTIONS))
            assert engine.batches.wait(engine.batches.start(SET, RunConfig(gate="pass_rate"), 2), _PATIENCE_S)
            yield engine


@pytest.fixture
def engine(judging: Engine) -> Iterator[Engine]:
    use_engine(judging)
    yield judging
    use_engine(None)


def answers(language: UiLanguage = "en") -> AppTest:
    app = tune(language, SET)
    app.session_state["tune_answers_open"] = True
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_judge_is_asked_for_and_its_figures_and_reasons_are_shown(engine: Engine) -> None:
    words = words_for("zh")
    app = answers("zh")
    (batch,) = engine.evaluation.batches(SET)
    given = engine.batches.judging(batch.id, MODEL)
    if not given.done:
        button(app, lambda label: label == words(NC_("answers", "Judge"))).click().run()
        assert not app.exception, app.exception
        until(lambda: engine.batches.judge_at_work(batch.id) is None)
        app = answers("zh")
    done = engine.batches.judging(batch.id, MODEL)
    assert done.done == done.total > 0
    assert words("{judge}: {done} of {total} answers judged", judge=MODEL, done=done.done, total=done.total) in visible(
        app
    )
    assert words.count("1 call", "{n} calls", 0) in visible(app)


def test_answers_that_settings_lack_are_gathered_for_the_questions_that_need_it_alone(engine: Engine) -> None:
    words = words_for("en")
    app = tune("en", SET)
    app.session_state["tune_tabs"] = words("Guarantee")
    app.run()
    assert not any("missing" in item.label for item in app.button), "under its own settings nothing is missing"
    setting(app, "similarity_threshold").set_value(0.8).run()
    found = [item for item in app.button if item.key == "tune_missing_go"]
    assert len(found) == 1, visible(app)
    before = engine.evaluation.batches(SET)
    found[0].click().run()
    assert not app.exception, app.exception
    made = engine.evaluation.batches(SET)[0]
    assert len(engine.evaluation.batches(SET)) == len(before) + 1
    assert made.config.similarity_threshold == 0.8 and 0 < made.total < len(QUESTIONS)
    assert engine.batches.wait(made.id, _PATIENCE_S)
    app.run()
    assert not [item for item in app.button if item.key == "tune_missing_go"], "it is recorded now"
    note = words("{n} answers come from another run of the set", n=made.total)
    assert note in visible(app), "what is left out of the other figures is not left out of these"
    for page in (app, tune("en", SET)):
        assert setting(page, "tune_batch").value == before[0].id, "the whole gathering stays the evidence"


def test_a_judge_that_fails_at_once_says_why(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    real = type(engine.batches).judge
    asked: list[str] = []

    def ended(batches: Any, batch_id: str, model: Any) -> bool:
        """Begin, and come back after the end: as fast as a refused connection may be."""
        asked.append(batch_id)
        begun = real(batches, batch_id, model)
        until(lambda: batches.judge_at_work(batch_id) is None)
        return begun

    monkeypatch.setattr(type(engine.batches), "judge", ended)
    app = answers()
    app.selectbox(key="tune_judge_model").set_value("other").run()
    app.text_input(key="tune_judge_name").set_value("ollama:absent:1b").run()
    app.button(key="tune_judge_go").click().run()
    assert not app.exception, app.exception
    fault = engine.batches.judging(asked[0], "ollama:absent:1b").fault
    assert fault is not None
    assert "absent:1b" in inline(app)
    app.run()
    assert "absent:1b" not in inline(app)
