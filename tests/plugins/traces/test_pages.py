"""An imported run on the pages: its label, what it cannot do, and judging the rest (TR-02, TR-05)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from components.common.i18n import words_for
from engine.api.process import use_engine
from engine.engine import Engine
from engine.people import Person
from engine.settings import Settings
from plugins.traces.taking import Traces
from tests.pages.driving import button, inline, opened, visible
from tests.plugins.traces.crag_spans import CATS, TIDES, CragTrace, file_of
from tests.support.people import EDITOR, VIEWER, signing_in

EN = words_for("en")


@pytest.fixture(scope="module")
def opened_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = Settings(data_dir=tmp_path_factory.mktemp("pages"), ollama_url="http://127.0.0.1:1")
    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        yield engine


@pytest.fixture
def engine(opened_engine: Engine) -> Iterator[Engine]:
    """The engine that the pages find."""
    use_engine(opened_engine)
    yield opened_engine
    use_engine(None)


def test_an_imported_run_says_so_cannot_be_run_here_and_is_judged_on_request(engine: Engine) -> None:
    made = CragTrace("page1", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 7.5), ("cats", CATS, 3.0)])
    [run] = (
        Traces.of(engine).take(file_of(made.generate([TIDES, CATS], "The <b>moon</b>.").otlp("The <b>moon</b>."))).runs
    )
    app = opened(run=run)
    assert button(app, lambda label: label == "Run").disabled
    judge = button(app, lambda label: label == "Judge 2 passages")
    captions = " ".join(item.value for item in app.caption)
    assert "Costs no model call." in captions and "Judge the passages here, or import verdicts." in captions
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
    [run] = Traces.of(engine).take(file_of(made.otlp("The moon."))).runs
    monkeypatch.setattr(Engine, "chat_models", lambda *_, **__: ("ollama:small",))
    slow: Future[int] = Future()
    monkeypatch.setattr(Traces, "judge", lambda *_, **__: slow)
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
    Traces.of(engine).take(file_of(made.otlp("The moon.")), set_name="sea")
    app = opened("tune", query_set="sea")
    assert "The documents of imported runs are not here" in inline(app)
    assert not any(item.key == "tune_start" for item in app.button)
    assert EN("The recorded runs say nothing of these settings; run again with them, or go back.") in visible(app)
    assert "gather again" not in visible(app)


@pytest.mark.parametrize(("person", "offered"), [(EDITOR, True), (VIEWER, False)])
def test_import_and_judging_are_offered_to_those_who_may(engine: Engine, person: Person, offered: bool) -> None:
    """TM-13"""
    made = CragTrace("page5", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 7.5)])
    [run] = Traces.of(engine).take(file_of(made.otlp("The moon."))).runs
    with signing_in(engine, lambda: person):
        labels = {item.label for app in (opened("runs"), opened(run=run)) for item in app.button}
    wanted = {"Import traces", "Judge 1 passage"}
    assert wanted & labels == (wanted if offered else set())


_WITHOUT = """
import gc, sys
gc.disable()
from pathlib import Path
from tests.plugins.without import remove
remove({"traces"})
from engine.api.process import use_engine
from engine.engine import Engine
from engine.settings import Settings
from tests.pages.driving import inline, opened
with Engine.open(Settings(data_dir=Path(sys.argv[1]), ollama_url="http://127.0.0.1:1")) as engine:
    engine.wait_until_ready()
    use_engine(engine)
    record = engine.record(sys.argv[2])
    print(record.answer, record.origin.tool, engine.what_if(record, record.config).outcome)
    shown = inline(app := opened(run=record.id))
    print("Imported from OpenTelemetry" in shown, "udge the passages here" in shown)
    print([item.value for item in app.caption if "plug-in" in item.value])
    print(any(item.label == "Import traces" for item in opened("runs").button))
"""


def test_without_the_plug_in_an_imported_run_is_read_shown_and_replayed_and_its_absence_said(tmp_path: Path) -> None:
    """BE-05"""
    with Engine.open(Settings(data_dir=tmp_path, ollama_url="http://127.0.0.1:1")) as engine:
        made = CragTrace("p4", "What pulls the sea?").retrieve("sea", [("tides", TIDES, 0.9)])
        [run] = Traces.of(engine).take(file_of(made.generate([TIDES], "The moon.").otlp("The moon."))).runs
        outcome = engine.what_if(engine.record(run), engine.record(run).config).outcome
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, str(tmp_path), run], check=False, capture_output=True, text=True, timeout=600
    )
    said = "The plug-in traces, which imported this, is missing: passages without a verdict cannot be judged here."
    expected = [f"The moon. otlp {outcome}", "True False", f"{[said]}", "False"]
    assert done.stdout.splitlines() == expected, done.stderr[-4000:]
