"""An imported run on the pages: its label, what it cannot do, and judging the rest (TR-02, TR-05)."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from components.common.i18n import words_for
from engine.engine import Engine
from tests.pages.driving import button, inline, opened, visible
from tests.support.crag_spans import CATS, TIDES, CragTrace, file_of

EN = words_for("en")


def test_an_imported_run_says_so_cannot_be_run_here_and_is_judged_on_request(engine: Engine) -> None:
    made = CragTrace("page1", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 7.5), ("cats", CATS, 3.0)])
    [run] = engine.traces.take(file_of(made.generate([TIDES, CATS], "The <b>moon</b>.").otlp("The <b>moon</b>."))).runs
    app = opened(run=run)
    assert button(app, lambda label: label == "Run").disabled
    judge = button(app, lambda label: label == "Judge 2 passages")
    assert any("Costs no model call." in item.value for item in app.caption)
    judge.click().run()
    assert not app.exception
    assert not any(item.label.startswith("Judge 2") for item in app.button)
    assert len(engine.record(run).rounds[0].verdicts) == 2
    assert not any(item.label in ("Branch off here", "Export fork") for item in app.button)


def test_judging_with_a_chat_model_shows_how_far_it_is_and_can_be_stopped(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session stays free meanwhile; after a stop the offer is there again."""
    made = CragTrace("page2", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 7.5), ("cats", CATS, 3.0)])
    [run] = engine.traces.take(file_of(made.otlp("The moon."))).runs
    monkeypatch.setattr(Engine, "chat_models", lambda *_, **__: ("ollama:small",))
    slow: Future[int] = Future()
    monkeypatch.setattr(type(engine.traces), "judge", lambda *_, **__: slow)
    app = opened(run=run)
    app.selectbox(key="imported_grader").select("ollama:small").run()
    button(app, lambda label: label == "Judge 2 passages").click().run()
    assert not app.exception
    assert not any(item.label.startswith("Judge 2") for item in app.button)
    button(app, lambda label: label == "Stop").click().run()
    assert slow.cancelled()
    app.run()
    assert not app.exception
    assert any(item.label == "Judge 2 passages" for item in app.button)


def test_a_set_whose_documents_are_elsewhere_is_not_offered_to_be_run(engine: Engine) -> None:
    made = (
        CragTrace("page3", "What pulls the sea?")
        .retrieve("sea", [("tides", TIDES, 0.9)])
        .grade(TIDES, {"score": "yes"})
    )
    engine.traces.take(file_of(made.otlp("The moon.")), set_name="sea")
    app = opened("tune", query_set="sea")
    assert "The documents of imported runs are not here" in inline(app)
    assert not any(item.key == "tune_start" for item in app.button)
    assert EN("The runs never went where these settings lead.") in visible(app) or "nothing recorded" in visible(app)
    assert "gather again" not in visible(app)
