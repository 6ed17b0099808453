"""The index of a collection on a server: its card fact, its figures, and the buttons that measure and change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.knowledge.index_choice import options
from engine.library.index_values import BreadthFigures, IndexState, IndexView, RecallFigures
from tests.pages.driving import inline, opened
from tests.pages.knowledge_fakes import FakeIngestions, FakeLibrary

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
class IndexedLibrary(FakeLibrary):
    """A library whose collections have the index that a test says."""

    view: IndexView = field(default_factory=lambda: IndexView("samples", STATE, MEASURED, options(480_000, 384)))

    def index(self, collection: str) -> IndexView:
        return self.view

    def set_breadth(self, collection: str, breadth: int) -> None:
        self.asked.append(("breadth", collection, breadth))


@dataclass
class IndexingJobs(FakeIngestions):
    def start_index(self, collection: str, kind: str = "") -> str:
        self.pressed.append(("index", f"{collection} {kind}".strip()))
        return "i1"


@pytest.fixture
def on_server(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine of the pages, as if its store were a server."""
    address = engine.settings.model_copy(update={"milvus_uri": "http://milvus:19530"})
    monkeypatch.setattr(engine, "settings", address)
    monkeypatch.setattr(engine, "library", IndexedLibrary())
    monkeypatch.setattr(engine, "ingestions", IndexingJobs())
    return engine


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
def test_the_index_is_shown_with_what_it_finds_at_each_breadth(on_server: Engine, language: UiLanguage) -> None:
    shown = inline(dialog(language))
    words = words_for(language)
    assert "HNSW · ef 64" in shown
    assert words("{done} of {total} passages in segments are indexed", done="47,000", total="48,000") in shown
    assert "91.2 %" in shown and "98.7 %" in shown and "recall@10" in shown
    # Only the breadth that is not in use can be chosen.
    assert "breadth:256" in shown and "breadth:64" not in shown


def test_figures_of_an_index_that_is_gone_say_so_and_offer_no_breadth(on_server: Engine) -> None:
    library: Any = on_server.library
    state = IndexState("IVF_FLAT", {"nlist": 800}, 32, "nprobe", 48_000, 48_000)
    library.view = IndexView("samples", state, MEASURED, options(480_000, 384))
    shown = inline(dialog())
    assert EN("These figures are of the index {kind}.", kind="HNSW") in shown
    assert "breadth:" not in shown


def test_measuring_and_another_index_are_jobs(on_server: Engine) -> None:
    jobs: Any = on_server.ingestions
    press(dialog(), "kb_index_measure")
    assert jobs.pressed == [("index", "samples")]
    app = dialog()
    assert app.session_state["knowledge_view"] == "collections"
    assert next(item for item in app.button if item.key == "kb_index_build").disabled  # it has the advised one
    other: Any = on_server.library
    other.view = IndexView("samples", STATE, None, options(12_000, 384))
    app = dialog()
    press(app, "kb_index_build")
    assert jobs.pressed[1:] == [("index", "samples FLAT")]
    assert app.session_state["knowledge_view"] == "add"
