"""The Connect view: from an address to a collection that answers questions, and every way in which it may not go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.api.process import use_engine
from engine.engine import Engine
from engine.knowledge.milvus_connection import connect, disconnect
from engine.messages import NC_
from engine.model.config import RunConfig
from engine.settings import Settings
from plugins.connected.background_calls import BackgroundCall
from plugins.connected.connections import Connections
from plugins.connected.values import Connection, Place
from tests.pages.driving import inline, opened, setting, visible
from tests.support.foreign_milvus import QUESTION, SENTENCES, Elsewhere, fill
from tests.support.ollama_stand_in import OllamaStandIn, embed

EN = words_for("en")
_PATIENCE_S = 60.0
HOSTILE = "![x](http://evil.example) <img src=x> **b**"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    """Three collections that can be asked, and two that cannot."""
    place = Elsewhere(str(tmp_path_factory.mktemp("theirs") / "theirs.db"), "")
    fill(place)
    client = connect(place.uri, "", 10)
    client.create_collection("wordless", dimension=4, metric_type="COSINE")
    client.insert("wordless", [{"id": 1, "vector": [1.0, 0, 0, 0], "n": 3}])
    client.create_collection("hostile", dimension=384, metric_type="COSINE")
    client.insert("hostile", [{"id": 1, "vector": [1.0] + [0.0] * 383, "text": HOSTILE, "file": HOSTILE}])
    disconnect(client, place.uri)
    return place


@pytest.fixture(autouse=True)
def nothing_stays(engine: Engine) -> Iterator[None]:
    """The engine is shared: what a test connects, it disconnects."""
    yield
    for item in Connections.of(engine).all():
        Connections.of(engine).disconnect(item.name)


def text(app: AppTest, key: str) -> Any:
    return next(item for item in app.text_input if item.key is not None and item.key.startswith(key))


def pressed(app: AppTest, label: str) -> AppTest:
    next(item for item in app.button if item.label == label).click().run()
    return settled(app)


def settled(app: AppTest) -> AppTest:
    """The page once the call that it waits for has brought something."""
    for name in ("connect_look", "connect_inspect", "connect_try", "connect_probe", "connect_connect"):
        if name in app.session_state:
            call: BackgroundCall[Any] = app.session_state[name]
            call.future.exception(_PATIENCE_S)
            app.run()
    assert not app.exception, app.exception
    return app


def looked(place: str, language: UiLanguage = "en") -> AppTest:
    """The view after the collections of a place were asked for."""
    words = words_for(language)
    app = opened("knowledge", language, view="connect")
    text(app, "connect_address").set_value(place)
    return pressed(app, words("Show collections"))


def chosen(place: Elsewhere, collection: str, model: str = "hashing") -> AppTest:
    app = looked(place.uri)
    setting(app, "connect_collection").set_value(collection).run()
    settled(app)
    setting(app, f"connect_model_{collection}_384").set_value(model).run()
    return settled(app)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_connections_the_view_says_where_to_begin(engine: Engine, language: UiLanguage) -> None:
    words = words_for(language)
    app = opened("knowledge", language, view="connect")
    assert words("Nothing connected yet.") in visible(app)
    assert words("1 · Where it is") in visible(app)
    assert text(app, "connect_token").proto.type == text(app, "connect_token").proto.PASSWORD


def test_a_collection_is_connected_step_by_step_and_then_answers(engine: Engine, theirs: Elsewhere) -> None:
    """SC-02"""
    app = chosen(theirs, "wiki")
    assert setting(app, "connect_text_wiki").value == "chunk_text"
    assert setting(app, "connect_source_wiki").value == 'metadata["source"]'
    assert EN("Check the model first.") in visible(app)
    pressed(app, EN("Check the model"))
    assert EN("This is the model: its vectors agree with the stored ones.") in inline(app)
    app.text_area[0].set_value(f"{QUESTION}\nzzz qqq")
    pressed(app, EN("Ask"))
    assert EN("finds something near") in inline(app) and EN("finds nothing near") in inline(app)
    # Three passages for each question.
    assert inline(app).count("card found") == 6
    text(app, "connect_name_wiki").set_value("tea_wiki").run()
    pressed(app, EN("Connect"))
    assert EN("{name} is connected: {passages} passages, read only.", name="tea_wiki", passages=8) in inline(app)
    assert EN("answers") in inline(app)
    assert engine.run(QUESTION, RunConfig(collection="tea_wiki")).outcome == "answered"


def test_a_wrong_model_of_the_right_width_is_called_that(engine: Engine, theirs: Elsewhere) -> None:
    app = chosen(theirs, "loose", "builtin")
    pressed(app, EN("Check the model"))
    assert EN("Another model made these vectors. Choose another one.") in inline(app)


def test_a_model_that_is_not_there_comes_with_the_command_that_fetches_it(engine: Engine, theirs: Elsewhere) -> None:
    app = chosen(theirs, "wiki", "ollama:all-minilm")
    assert "ollama pull all-minilm" in inline(app)
    pressed(app, EN("Check the model"))
    assert "WB4" in inline(app)


def test_collections_that_cannot_be_asked_are_listed_with_the_reason(engine: Engine, theirs: Elsewhere) -> None:
    app = looked(theirs.uri)
    table = app.dataframe[0].value
    assert list(table["name"]) == ["hostile", "loose", "notes", "wiki", "wordless"]
    setting(app, "connect_collection").set_value("wordless").run()
    settled(app)
    assert "WB226" in inline(app)
    assert EN("4 · Which model made its vectors") not in visible(app)


@pytest.mark.parametrize(
    ("address", "code"), [("http://127.0.0.1:9", "WB223"), ("nonsense", "WB222"), ("/no/such/place.db", "WB222")]
)
def test_a_place_that_cannot_be_opened_says_why_and_offers_to_try_again(
    engine: Engine, address: str, code: str
) -> None:
    app = looked(address)
    assert code in inline(app)
    assert EN("Try again") in inline(app)
    assert EN("2 · Which collection") not in visible(app)


def test_a_name_that_is_taken_is_refused_and_can_be_changed(engine: Engine, theirs: Elsewhere) -> None:
    app = chosen(theirs, "wiki")
    pressed(app, EN("Check the model"))
    text(app, "connect_name_wiki").set_value("samples").run()
    pressed(app, EN("Connect"))
    assert "WB211" in inline(app)
    text(app, "connect_name_wiki").set_value("other").run()
    pressed(app, EN("Connect"))
    assert [item.name for item in Connections.of(engine).all()] == ["other"]


def press_card(app: AppTest, action: str) -> AppTest:
    """A button of a connection's card, which the browser draws."""
    app.session_state["connect_kept"] = {"action": {"name": action, "serial": 1}}
    app.run()
    assert not app.exception, app.exception
    return app


def test_disconnecting_asks_first(engine: Engine, theirs: Elsewhere) -> None:
    connect_as(engine, theirs, "wiki")
    app = press_card(opened("knowledge", view="connect"), "disconnect:0")
    assert EN("Disconnect {name}? The collection itself stays as it is.", name="wiki") in [
        item.value for item in app.text
    ]
    assert [item.name for item in Connections.of(engine).all()] == ["wiki"]


def test_a_connection_leads_to_the_workbench_with_its_collection_chosen(engine: Engine, theirs: Elsewhere) -> None:
    connect_as(engine, theirs, "wiki")
    app = press_card(opened("knowledge", view="connect"), "ask:0")
    assert setting(app, "collection").value == "wiki"


def test_words_of_another_program_are_never_markup(engine: Engine, theirs: Elsewhere) -> None:
    app = chosen(theirs, "hostile")
    pressed(app, EN("Check the model"))
    app.text_area[0].set_value("x")
    pressed(app, EN("Ask"))
    shown = [str(item.value) for item in (*app.markdown, *app.caption, *app.info)]
    assert not any("evil" in part or "<img" in part for part in shown)
    assert "evil.example" in inline(app)


def test_a_token_is_neither_in_the_address_of_the_page_nor_in_what_it_shows(engine: Engine, theirs: Elsewhere) -> None:
    app = opened("knowledge", view="connect")
    text(app, "connect_address").set_value("http://root:Secret-7@127.0.0.1:9")
    text(app, "connect_token").set_value("reader:Secret-7")
    pressed(app, EN("Show collections"))
    assert "WB223" in inline(app)
    assert "Secret" not in f"{dict(app.query_params)}{inline(app)}{visible(app)}"


def connect_as(engine: Engine, theirs: Elsewhere, name: str) -> None:
    place = Place(theirs.uri)
    found = Connections.of(engine).inspect(place, name)
    assert found.proposed is not None
    Connections.of(engine).connect(Connection(name, place, name, found.proposed, 0, "", "hashing"))


def test_better_prefixes_are_taken_at_a_press(tmp_path: Path) -> None:
    """SC-02: prefixes belong to the vectors."""
    uri = str(tmp_path / "bare.db")
    client = connect(uri, "", 10)
    client.create_collection("bare", dimension=384, metric_type="COSINE")
    rows = [{"id": n, "vector": embed(sentence, 384), "text": sentence} for n, sentence in enumerate(SENTENCES)]
    client.insert("bare", rows)
    disconnect(client, uri)
    with (
        OllamaStandIn(["all-minilm"]) as ollama,
        Engine.open(Settings(data_dir=tmp_path / "data", ollama_url=ollama.url)) as engine,
    ):
        engine.wait_until_ready()
        use_engine(engine)
        try:
            app = chosen(Elsewhere(uri, ""), "bare", "ollama:all-minilm:latest")
            app.toggle(key="connect_prefixes_ollama:all-minilm:latest").set_value(True).run()
            text(app, "connect_passage_prefix").set_value("title of this note: ").run()
            pressed(app, EN("Check the model"))
            assert EN("Take these prefixes") in inline(app)
            app.session_state["connect_verdict"] = {"action": {"name": "take", "serial": 1}}
            app.run()
            assert not app.exception, app.exception
            assert text(app, "connect_passage_prefix").value == ""
            pressed(app, EN("Check the model"))
            assert EN("This is the model: its vectors agree with the stored ones.") in inline(app)
            assert EN("Take these prefixes") not in inline(app)
        finally:
            use_engine(None)


def test_a_connected_collection_can_be_disconnected_where_it_is_described(engine: Engine, theirs: Elsewhere) -> None:
    connect_as(engine, theirs, "wiki")
    app = opened("knowledge", view="collections", collection="wiki")
    next(item for item in app.button if item.key == "kb_do_disconnect").click().run()
    asked = EN("{name} disappears from here; its rows stay where they are.", name="wiki")
    assert asked in [item.value for item in app.text]
    next(item for item in app.button if item.key == "kb_dialog_yes").click().run()
    assert not app.exception, app.exception
    assert EN("{name} was disconnected.", name="wiki") in inline(app)
    assert "wiki" not in [item.name for item in engine.collections()]
    assert "kb_do_disconnect" not in {item.key for item in opened("knowledge", view="collections").button}


def test_a_store_that_went_away_stays_listed_with_what_to_do(engine: Engine, theirs: Elsewhere) -> None:
    connect_as(engine, theirs, "notes")
    away = Path(theirs.uri).with_suffix(".away")
    Path(theirs.uri).rename(away)
    try:
        app = opened("knowledge", view="connect")
        assert EN("does not answer") in inline(app)
        assert "no Milvus Lite folder" in inline(app)
        assert EN(NC_("connection", "Disconnect")) in inline(app)
    finally:
        away.rename(theirs.uri)
