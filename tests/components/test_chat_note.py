"""What the page says of a question that came from a chat (CH-06)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.common.i18n import UiLanguage, words_for
from engine.model.config import RunConfig
from engine.model.values import Chat, Message, ModelCall, RunId, RunRecord
from pages.parts.ask.answer import chat_line

CHAT = Chat("And in winter?", "strict", (Message("user", "How efficient is a heat pump?"),), "builtin")
RECORD = RunRecord(RunId("r"), "And in winter? (heat pump)", RunConfig(), "2026-01-01T00:00:00+00:00", chat=CHAT)
CALL = ModelCall("rewriter", "", 0, "ollama:m", (), "", error="unreadable")


def line(chat: Chat, question: str = RECORD.question, language: UiLanguage = "en") -> str:
    return chat_line(replace(RECORD, question=question, chat=chat), words_for(language))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_way_to_a_question_is_distinguished_in_both_languages(language: UiLanguage) -> None:
    said = [
        line(CHAT, language=language),
        line(replace(CHAT, calls=(CALL,)), language=language),
        line(replace(CHAT, condensed_by="ollama:m", calls=(CALL,)), language=language),
        line(replace(CHAT, condensed_by=""), CHAT.asked, language),
    ]
    assert len(set(said)) == 4
    assert all("strict" in text and "{" not in text for text in said)
    assert all(CHAT.asked in text for text in said[:3])


def test_a_model_that_could_not_is_named() -> None:
    assert "ollama:m could not write" in line(replace(CHAT, calls=(CALL,)))
    assert "ollama:m wrote" in line(replace(CHAT, condensed_by="ollama:m", calls=(CALL,)))
