"""The card of a certificate: every sentence says what the certificates hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.evaluation.certify import Certificates, p_value
from engine.evaluation.predicted import Predicted
from pages.parts.tune.guarantee import face_of, percent

FOUND = Certificates(
    "wrong_given",
    0.1,
    0.95,
    trials=np.array([60, 45, 50]),
    failures=np.array([1, 3, 20]),
    unrecorded=np.array([0, 0, 4]),
    p=np.array([p_value(1, 60, 0.1), p_value(3, 45, 0.1), p_value(20, 50, 0.1)]),
    certified=np.array([True, False, False]),
)


def test_a_map_of_guarantees_shows_what_can_be_said_and_not_the_measure() -> None:
    """One certified, one that lacks answers, one whose wrong answers exceed the bound whatever the open ones say."""
    faces = [face_of(FOUND, place, words_for("en")) for place in range(3)]
    assert [(face.look, face.sign) for face in faces] == [("certified", "✓"), ("open", ""), ("violated", "✗")]
    assert faces[2].said == "exceeds the bound · 20 of 50 answers given are wrong."
    open_ones = replace(FOUND, failures=np.array([1, 3, 5]), unrecorded=np.array([0, 0, 1]))
    assert face_of(open_ones, 2, words_for("en")).look == "open", "the open answer may be right"


def drawn(found: Certificates, pick: int | None, current: int | None, language: UiLanguage = "en") -> str:
    def page() -> None:
        import streamlit as st

        from pages.parts.tune.guarantee import view

        view(*st.session_state["shown"], key="card")

    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["shown"] = (found, pick, [] if pick is None else ["Top-k 3"], current, words_for(language))
    app.run()
    assert not app.exception
    (card,) = [item.proto.json for item in app.get("bidi_component")]
    return " ".join(_texts(json.loads(card)))


def test_an_estimate_names_its_sources_and_certifies_nothing() -> None:
    def page() -> None:
        import streamlit as st

        from pages.parts.tune.guarantee import predicted_card

        predicted_card(*st.session_state["shown"], key="card")

    found = Predicted(0.0812, 0.0333, 0.13, 0.95, judged=34, verdicts=205, n=210, believed=0.7, alone=(0.01, 0.2))
    words = words_for("zh")
    app = AppTest.from_function(page, default_timeout=60)
    app.session_state["shown"] = (found, "ollama:small", words)
    app.run()
    (card,) = [item.proto.json for item in app.get("bidi_component")]
    said = " ".join(_texts(json.loads(card)))
    for part in ("8.1 %", "210", "3.3 %", "13 %", "95 %", "34", "205", "ollama:small", "1 %", "20 %"):
        assert part in said
    app.session_state["shown"] = (None, "", words)
    app.run()
    assert not app.get("bidi_component")


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def test_a_certified_setting_is_reported_with_its_counts() -> None:
    words = words_for("zh")
    text = drawn(FOUND, 0, 1, "zh")
    for part in ("10 %", "95 %", "Top-k 3", "60", words("certified"), "p = 0.01"):
        assert part in text
    # What is under test has 3 of 45 wrong, and needs 31 more without an error.
    assert FOUND.more(1) == 31 and "31" in text and "45" in text


def test_no_chance_is_said_to_be_nought() -> None:
    assert "p < 0.001" in drawn(replace(FOUND, p=np.array([1e-5, 0.5, 0.5])), 0, 0)


def test_nothing_is_promised_where_nothing_is_certified() -> None:
    none = replace(FOUND, certified=np.zeros(3, dtype=bool))
    said = drawn(none, None, 1)
    assert "No guarantee yet" in said and "None of 3 settings is shown to keep it." in said
    # Stricter settings may need more before it is their turn: so many are needed, not enough.
    assert "At least 31 more answers to labelled questions are needed, none of them wrong." in said
    assert "4 answers are not recorded" in drawn(none, None, 2)
    assert "stand between the settings tried" in drawn(none, None, None)
    beyond = replace(none, unrecorded=np.zeros(3, dtype=int))
    assert "That is 0.40, more than the bound." in drawn(beyond, None, 2)
    assert "a stricter setting did not" in drawn(none, None, 0)


def test_a_share_is_written_in_percent() -> None:
    assert [percent(share) for share in (0.1, 0.125, 0.95, 0.07)] == ["10 %", "12.5 %", "95 %", "7 %"]


def test_failed_runs_among_the_failures_are_named() -> None:
    said = words_for("zh").count("1 failed run counts among them.", "{n} failed runs count among them.", 2)
    assert said in drawn(replace(FOUND, lost=2), 0, 0, "zh")
    assert said not in drawn(FOUND, 0, 0, "zh")
