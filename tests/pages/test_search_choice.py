"""The choice of how passages are looked for: in the panel, in its address, and on collections that cannot do it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from components.common.run_link import settings_in_url
from components.common.run_settings import differing, setting_label, setting_text
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.roles import CollectionInfo
from tests.pages.driving import given, opened, setting

EN, ZH = words_for("en"), words_for("zh")


def panel() -> None:
    import streamlit as st

    from components.common.i18n import words_for
    from components.common.panel import CollectionChoice, OllamaNote, config_panel

    collections = (CollectionChoice("samples", 168, full_text=True),)
    st.session_state["chosen"] = config_panel(words_for("en"), collections, OllamaNote("nowhere")).config


def able(engine: Engine, monkeypatch: pytest.MonkeyPatch, *, full_text: bool) -> None:
    """Let the sample collection be one that can, or cannot, be searched by words."""
    known: list[CollectionInfo] = [replace(item, full_text=full_text) for item in engine.collections()]
    monkeypatch.setattr(engine, "collections", lambda: known)


@pytest.mark.parametrize("search", ["vector", "full_text", "fused"])
def test_the_panel_offers_three_searches_and_the_address_holds_the_choice(search: str) -> None:
    app = AppTest.from_function(panel, default_timeout=60)
    app.query_params["search"] = search
    app.run()
    assert not app.exception
    chosen: RunConfig = app.session_state["chosen"]
    assert chosen.search == search
    assert settings_in_url(chosen) == {"gate": "pass_rate"} | ({} if search == "fused" else {"search": search})
    setting(app, "search").set_value("full_text").run()
    assert app.session_state["chosen"].search == "full_text"
    assert given(app, "search") == "full_text"


def test_a_collection_without_full_text_is_searched_by_meaning_and_the_panel_says_why(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    able(engine, monkeypatch, full_text=False)
    app = opened(language="zh", search="fused")
    assert setting(app, "search").disabled
    assert setting(app, "search").value == "vector"
    assert given(app, "search") == ""
    said = ZH("No full-text index: searched by meaning alone. Add one")
    link = next(item for item in app.get("page_link") if item.proto.label == said)
    assert link.proto.page == "knowledge"


def test_a_collection_with_full_text_gets_the_former_choice_back(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        able(engine, without, full_text=False)
        app = opened(search="fused")
    able(engine, monkeypatch, full_text=True)
    app.run()
    assert not app.exception
    assert (setting(app, "search").value, setting(app, "search").disabled) == ("fused", False)


def test_the_search_has_words_wherever_settings_are_listed() -> None:
    assert differing(RunConfig(search="vector"), RunConfig()) == ("search",)
    assert (setting_label("search", EN), setting_text("search", "fused", EN)) == ("Search", "both")
    assert (setting_label("search", ZH), setting_text("search", "full_text", ZH)) == ("检索方式", "按词语")
