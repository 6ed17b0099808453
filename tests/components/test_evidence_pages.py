"""Every component of the evidence part draws without an exception, and the facts reach the page."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest


def drawn(language: str, opened: str | None = None) -> AppTest:
    def page(language: str, opened: str | None) -> None:
        from components.ask.answer import answer_card
        from components.common.faults import fault_box
        from components.common.i18n import words_for
        from engine.model.values import Fault, PassageId
        from pages.parts.ask import passages, rewrites, verdicts
        from pages.parts.ask.trace import model_calls, timeline
        from tests.components.sample_run import sample_record

        words, record = words_for("zh" if language == "zh" else "en"), sample_record()
        answer_card(record, words, key="answer")
        passages.view(record, words, key="passages", opened=PassageId(opened) if opened else None)
        rewrites.view(record, words, key="rewrites")
        verdicts.view(record, words, key="verdicts", actions=[("mark", "Mark", "Search.", "act")])
        timeline(record, words, key="timeline")
        model_calls(record, words, key="calls")
        fault = Fault("WB402", "No m.", "Run `ollama pull m`.", {"model": "m", "command": "ollama pull m"})
        fault_box(fault, words, key="fault", actions=(("retry", "Try again"),))

    test = AppTest.from_function(page, args=(language, opened), default_timeout=60)
    test.session_state["calls"] = {"selection": {"rows": [2], "columns": []}}
    return test.run()


def inline(test: AppTest) -> list[str]:
    """The data of the inline components, as the browser gets it."""
    return [json.dumps(json.loads(item.proto.json), ensure_ascii=False) for item in test.get("bidi_component")]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_evidence_part_draws_in_both_languages(language: str) -> None:
    """SC-12"""
    test = drawn(language)
    assert not test.exception
    parts = inline(test)
    assert len(parts) == 5
    assert "dc-symptoms.zh.md § 糖尿病的主要症状" in parts[0]
    assert '"open:symptoms"' in parts[0]
    assert len(test.get("plotly_chart")) == 1


def test_the_panel_of_verdicts_gets_the_rounds_of_a_finished_run_and_of_a_running_one_none() -> None:
    """The browser fills it from the stream during the run: what the page sends stays the same."""

    def page() -> None:
        from components.common.i18n import words_for
        from engine.model.events import fold_all
        from pages.parts.ask import verdicts
        from tests.components.sample_run import sample_events

        for events in (sample_events()[:9], sample_events()[:20]):
            verdicts.view(fold_all(events), words_for("en"), key=f"verdicts{len(events)}")

    finished = next(json.loads(part) for part in inline(drawn("en")) if '"threshold"' in part and '"run"' in part)
    assert [item["name"] for item in finished["rounds"]] == ["as asked", "rewrite 1"]
    assert finished["actions"] == [["mark", "Mark", "Search.", "act"]]
    early, late = (json.loads(part) for part in inline(AppTest.from_function(page, default_timeout=60).run()))
    assert early == late and early["rounds"] is None and early["words"]["empty"]


def test_the_chosen_call_shows_prompt_and_reply_exactly() -> None:
    """SC-10: every model call with its exact prompt and raw reply."""
    test = drawn("en")
    codes = [item.value for item in test.code]
    assert any(code.startswith("Question: 血糖太高身体会有什么感觉？") for code in codes)
    assert "Sure! <script>alert(1)</script>" in codes
    assert "Nothing could be read." in [item.value for item in test.text]


def test_untrusted_words_never_reach_a_markdown_element() -> None:
    test = drawn("en")
    markup = [item.value for item in (*test.markdown, *test.caption, *test.title, *test.header)]
    assert not any("onerror" in text or "leak.png" in text or "<script>" in text for text in markup)
    assert any("onerror" in part for part in inline(test))


def test_a_citation_opens_its_passage_in_the_table() -> None:
    parts = inline(drawn("en", opened="thirst"))
    table = json.loads(next(part for part in parts if '"rows"' in part))
    assert table["opened"] == "thirst"
    assert table["asked"] > 0


def test_empty_states_say_what_will_come() -> None:
    def page() -> None:
        from dataclasses import replace

        from components.ask.answer import answer_card
        from components.common.i18n import words_for
        from engine.model.events import fold_all
        from pages.parts.ask import passages, rewrites
        from pages.parts.ask.trace import model_calls, timeline
        from tests.components.sample_run import sample_events

        words, record = words_for("en"), fold_all(sample_events()[:1])
        answer_card(replace(record, outcome=None), words, key="answer")
        passages.view(record, words, key="passages")
        rewrites.view(record, words, key="rewrites")
        timeline(record, words, key="timeline")
        model_calls(record, words, key="calls")

    test = AppTest.from_function(page, default_timeout=60).run()
    assert not test.exception
    assert len(test.caption) == 3
    assert all(item.value for item in test.caption)
