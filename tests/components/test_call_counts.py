"""Calls of models are counted once, and every place that shows them shows the same count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.common.i18n import UiLanguage, words_for
from components.common.phrases import duration_text
from components.picture.facts import cost_of
from components.runs.figures import figures_of
from components.runs.report import report_html
from components.sentences.calls import calls_text, reason_calls
from engine.flow import compiled
from engine.flow.graph import graph_of
from engine.model.values import CallCount, Message, ModelCall, ReasonAsked, RunRecord, counted
from engine.replay.difference import difference
from engine.samples.demos import demo_record
from pages.parts.ask.path import counts_of
from pages.parts.ask.trace import _note

EN = words_for("en")
STEPS = demo_record("demo-passes-en")


def asked(*, chat: int = 0, cached: int = 0, steps: int = 0) -> RunRecord:
    """A run whose grader made so many calls, some of them from the cache, next to steps of built-in roles."""
    made = [ModelCall("grader", "grade", 0, "ollama:m", (), "", cached=place < cached) for place in range(chat)]
    built_in = [ModelCall("grader", "grade", 0, "builtin", (), "", built_in=True) for _ in range(steps)]
    return replace(STEPS, model_calls=(*made, *built_in))


def test_a_step_of_a_built_in_role_is_no_call_even_where_it_was_taken_over() -> None:
    taken = ModelCall("grader", "grade", 0, "builtin", (), "", built_in=True, cached=True)
    count = counted([*asked(chat=3, cached=1).model_calls, taken], running=2)
    assert (count, count.made) == (CallCount(done=3, cached=1, steps=1, running=2), 2)


@pytest.mark.parametrize(("chat", "steps"), [(0, 0), (3, 0), (0, 10), (3, 10)])
def test_tile_tab_picture_lanes_report_and_comparison_agree(chat: int, steps: int) -> None:
    record = asked(chat=chat, cached=min(1, chat), steps=steps)
    tile, text = figures_of(record, EN)[3], calls_text(record, EN)
    said = EN.count("1 model call", "{n} model calls", chat)
    assert text == (f"{said} · {steps} steps" if steps else said)
    assert (tile.value, f"{steps} steps" in tile.note) == (str(chat), bool(steps))
    assert counts_of(record, EN)[0].startswith(text)
    assert text in report_html(record, graph_of(compiled(record.workflow)), EN)
    assert (f"{chat} calls" in cost_of("grade", record, EN)) == bool(chat)
    assert record.to_dict()["calls"] == {"chat": chat, "cached": min(1, chat), "built_in": steps}
    found = difference(record, record).calls
    assert (sum(item.a_chat for item in found), sum(item.a_built_in for item in found)) == (chat, steps)


def test_calls_for_reasons_are_listed_apart_from_those_of_the_run() -> None:
    """SC-10: what they cost is no part of the run's own count, and nothing that was sent is hidden."""
    record = asked(chat=2)
    passage = next(iter(record.rounds[0].verdicts))
    call = ModelCall("grader", "", 0, "ollama:m", (Message("user", "Why does it help?"),), "Because.")
    given = replace(record, reasons=(ReasonAsked(passage, "Because.", (call,)),))
    (shown,) = reason_calls(given)
    assert (shown.node, shown.passage_id) == ("grade", passage)
    assert calls_text(given, EN) == calls_text(record, EN) and not reason_calls(record)
    report = report_html(given, graph_of(compiled(given.workflow)), EN)
    assert "1 call for a reason, once the run was over" in report and "Why does it help?" in report


@pytest.mark.parametrize(("language", "said"), [("en", "3 done, 2 running"), ("zh", "已完成 3 次，进行中 2 次")])
def test_a_live_run_says_what_is_done_apart_from_what_is_running(language: UiLanguage, said: str) -> None:
    live = replace(asked(chat=3, steps=4), outcome=None)
    text, _ = counts_of(live, words_for(language), waiting=2)
    assert text.split(" · ")[0] == said
    assert len(text.split(" · ")) == 2, "steps are counted apart, and the clock of a live run is the browser's"


def test_a_run_says_its_calls_its_steps_and_its_time_each_with_its_limit() -> None:
    """SC-10: what calls no model is a step."""
    text, limits = counts_of(asked(chat=1, cached=1, steps=4), EN, most_calls=24)
    assert text == f"1 model call · 4 steps · {duration_text(STEPS.duration_ms)}"
    assert limits == "at most 24 model calls · at most 120 s · 1 from cache"


def test_the_note_of_a_call_says_which_attempt_it_was_and_what_went_wrong() -> None:
    call = ModelCall("grader", "grade", 0, "ollama:m", (), "", attempt=2, error="timed out")
    assert _note(call, EN) == "attempt 2 · ✗ timed out"
