"""The card of chat programs on the page System, and the line on Tune."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import words_for
from engine.api.process import use_engine
from engine.model.config import RunConfig
from plugins.chat.card import chat_api
from tests.api.served import engine_of


def test_it_names_the_models_where_they_are_served(tmp_path: Path) -> None:
    """CH-01"""
    for on in (False, True):
        with engine_of(tmp_path, openai_api=on) as engine:
            engine.evaluation.save_settings("strict", RunConfig(top_k=3))
            card = chat_api(engine, words_for("en"))
        assert (card.on, card.turn_on) == (on, "WORKBENCH_OPENAI_API=1")
        assert card.facts[:1] == (("models: `default`, `strict`",) if on else ())
    assert any("/v1/chat/completions" in item.text for item in card.snippets)


def hint() -> None:
    from components.common.i18n import words_for
    from engine.api.process import get_engine
    from plugins.chat.card import models_hint

    models_hint(get_engine(), words_for("en"))


@pytest.mark.parametrize("on", [True, False])
def test_saved_settings_are_said_to_be_models_where_they_are(on: bool, tmp_path: Path) -> None:
    with engine_of(tmp_path, openai_api=on) as engine:
        use_engine(engine)
        try:
            shown = AppTest.from_function(hint).run()
        finally:
            use_engine(None)
    assert [item.value.startswith("Chat programs can use saved settings") for item in shown.caption] == [True] * on
