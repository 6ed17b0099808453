"""One answer of a gathering as the Tune page shows it: its claims, each with its reason, as plain text."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for


def drawn(language: UiLanguage) -> str:
    def page(language: str) -> None:
        from components.common.i18n import words_for
        from engine.evaluation.values import AnswerJudgement
        from engine.model.values import Claim
        from pages.parts.tune.answers import AnswerRow, answer_card

        claims = (
            Claim("answer", "It began in 1921.", True, "So says the first."),
            Claim("answer", "<b>Two</b> scholars began it.", False, "None names scholars."),
            Claim("gold", "1921", True, "The year is there."),
        )
        verdict = AnswerJudgement("When?", "a", "no", "Half of it.", "model", "ollama:small", claims=claims)
        person = AnswerJudgement("When?", "a", "in_part", "No month.", judge="Ada")
        row = AnswerRow("When?", "It began.", ("1921", "in 1921"), True, "judgement", 0.5, 1.0, 0.5, (person,), verdict)
        answer_card(row, words_for("zh" if language == "zh" else "en"), key="card")

    app = AppTest.from_function(page, kwargs={"language": language}).run()
    assert not app.exception, app.exception
    (found,) = app.get("bidi_component")
    return json.dumps(json.loads(found.proto.json), ensure_ascii=False)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_claims_stand_with_their_reasons_under_who_said_so(language: UiLanguage) -> None:
    words, shown = words_for(language), drawn(language)
    for text in (
        "It began in 1921.",
        "So says the first.",
        "None names scholars.",
        "The year is there.",
        "Half of it.",
    ):
        assert text in shown
    assert "Ada" in shown and "No month." in shown and "ollama:small" in shown
    assert words("What the answer says, and whether the passages bear it out:") in shown
    assert words("What the gold answer says, and whether the answer says it:") in shown
    assert shown.count("✓") == 2 and shown.count("✗") == 1
    assert "<b>Two</b> scholars" in shown
