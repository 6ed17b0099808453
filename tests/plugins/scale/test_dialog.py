"""The index of a collection on a server: its card fact, its figures, and the buttons that measure and change it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from plugins.scale.actions import Scale
from plugins.scale.choice import options
from plugins.scale.values import BreadthFigures, IndexState, IndexView, RecallFigures
from tests.pages.driving import inline, opened

EN = words_for("en")
MEASURED = RecallFigures(
    "HNSW",
    {"M": 16, "efConstruction": 200},
    48_000,
    10,
    100,
    (BreadthFigures(64, 0.912, 3.4, 9.0), BreadthFigures(256, 0.987, 6.1, 14.2)),
    "2026-11-23T10:00:00+00:00",
)
STATE = IndexState("HNSW", {"M": 16, "efConstruction": 200}, 64, "ef", 47_000, 48_000)


@dataclass
class OnServer:
    """What the pages are given of an index, and what they asked for."""

    view: IndexView = field(default_factory=lambda: IndexView("samples", STATE, MEASURED, options(480_000, 384)))
    asked: list[tuple[str, ...]] = field(default_factory=list)


@pytest.fixture
def on_server(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> OnServer:
    """The engine of the pages, as if its store were a server."""
    given = OnServer()
    monkeypatch.setattr(engine, "settings", engine.settings.model_copy(update={"milvus_uri": "http://milvus:19530"}))
    monkeypatch.setattr(Scale, "index", lambda _, name: given.view)
    monkeypatch.setattr(Scale, "set_breadth", lambda _, *asked: given.asked.append(asked))
    monkeypatch.setattr(Scale, "start_index", lambda _, *asked: given.asked.append(asked))
    return given


def dialog(language: UiLanguage = "en") -> AppTest:
    app = opened("knowledge", language, view="collections", kb_collection="samples")
    return press(app, "kb_do_index")


def press(app: AppTest, key: str) -> AppTest:
    next(item for item in app.button if item.key == key).click().run()
    assert not app.exception, app.exception
    return app


def test_an_embedded_store_has_no_index_to_change(engine: Engine) -> None:
    app = opened("knowledge", "en", view="collections", kb_collection="samples")
    assert "kb_do_index" not in {str(item.key) for item in app.button}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_index_is_shown_with_what_it_finds_at_each_breadth(on_server: OnServer, language: UiLanguage) -> None:
    shown = inline(dialog(language))
    words = words_for(language)
    assert "HNSW · ef 64" in shown
    assert words("{done} of {total} passages in segments are indexed", done="47,000", total="48,000") in shown
    assert "91.2 %" in shown and "98.7 %" in shown and "recall@10" in shown
    # Only the breadth that is not in use can be chosen.
    assert "breadth:256" in shown and "breadth:64" not in shown


def test_figures_of_an_index_that_is_gone_say_so_and_offer_no_breadth(on_server: OnServer) -> None:
    state = IndexState("IVF_FLAT", {"nlist": 800}, 32, "nprobe", 48_000, 48_000)
    on_server.view = IndexView("samples", state, MEASURED, options(480_000, 384))
    shown = inline(dialog())
    assert EN("These figures are of the index {kind}.", kind="HNSW") in shown
    assert "breadth:" not in shown


def test_measuring_and_another_index_are_jobs(on_server: OnServer) -> None:
    press(dialog(), "kb_index_measure")
    assert on_server.asked == [("samples", "")]
    app = dialog()
    assert app.session_state["knowledge_view"] == "collections"
    assert next(item for item in app.button if item.key == "kb_index_build").disabled  # it has the advised one
    on_server.view = IndexView("samples", STATE, None, options(12_000, 384))
    app = dialog()
    press(app, "kb_index_build")
    assert on_server.asked[1:] == [("samples", "FLAT")]
    assert app.session_state["knowledge_view"] == "add"
