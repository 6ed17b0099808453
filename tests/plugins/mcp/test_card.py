"""The card of agents on the page System."""

from __future__ import annotations

import pytest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from plugins.mcp.card import agents


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_says_what_agents_may_do_and_how_a_client_is_set_up(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, language: UiLanguage
) -> None:
    """MC-01"""
    words = words_for(language)
    off = agents(engine, words)
    assert (off.on, off.turn_on) == (False, "WORKBENCH_MCP=read")
    for mode, said in (
        ("read", words("agents ask and look; what is there stays as it is")),
        ("write", words("agents also change settings, tags, judgements and documents")),
    ):
        monkeypatch.setattr(engine, "settings", engine.settings.model_copy(update={"mcp": mode}))
        card = agents(engine, words)
        assert card.on and said in card.facts
        http, command = card.snippets
        assert "/mcp" in http.text and "mcpServers" in http.text
        assert "rag_workbench" in command.text
