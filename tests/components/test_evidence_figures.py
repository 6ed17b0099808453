"""The five figures, the followed decisions, the spans of the timeline and the rows of the calls table."""

from __future__ import annotations

from dataclasses import replace

from components.common.i18n import words_for
from components.common.spans import spans
from components.runs.figures import figures_of
from components.sentences.decisions import followed_text
from engine.model.values import Fault, RunRecord
from pages.parts.ask.trace import call_row, timeline_figure
from tests.components.sample_run import CONFIG, sample_record

EN, ZH = words_for("en"), words_for("zh")


def said(record: RunRecord) -> dict[str, tuple[str, str]]:
    return {item.label: (item.value, item.note) for item in figures_of(record, EN)}


def test_the_five_figures_of_a_finished_run() -> None:
    """SC-10: built-in and cached calls are counted apart."""
    assert said(sample_record()) == {
        "Outcome": ("Answered after 1 rewrite", "bar met"),
        "Pass rate": ("0.25 → 0.60", "▲ 0.35 · 3/5 · bar 0.60"),
        "Best similarity": ("0.71", "0.52 → 0.71 · bar 0.30"),
        "Model calls": ("2", "5 steps"),
        "Time": ("1.7 s", "of 10 s"),
    }


def test_a_failed_run_says_its_own_reason_and_not_that_of_its_last_decision() -> None:
    failed = replace(sample_record(), outcome="failed", reason="WB401", error=Fault("WB401", "No answer.", "Start it."))
    assert said(failed)["Outcome"] == ("Failed after 1 rewrite", "WB401")


def test_the_other_gate_is_named_next_to_the_pass_rate() -> None:
    """SC-05: gate policy."""
    record = sample_record(replace(CONFIG, gate="min_relevant", min_relevant=4))
    assert said(record)["Pass rate"][1].endswith("bar 4")


def test_a_running_run_names_the_node_at_work() -> None:
    record = sample_record()
    going = replace(record, outcome=None, nodes=(*record.nodes[:-1], replace(record.nodes[-1], duration_ms=None)))
    assert said(going)["Outcome"] == ("Running", "at Generate")


def test_what_followed_a_decision_is_said_next_to_it() -> None:
    """SC-12: decision path."""
    record = sample_record()
    first, second = record.decisions
    assert followed_text(first, record, EN) == "new query: 高血糖 症状 感觉 口渴 多尿 · pass rate ▲ 0.35"
    assert followed_text(second, record, ZH) == "交给生成模型 3 个片段，引用了 3 个"
    repeated = replace(record, rewrites=(replace(record.rewrites[0], repeated=True),))
    assert followed_text(first, repeated, EN) == "the rewrite repeated a query"


def test_every_visit_and_every_call_has_a_bar_and_overlapping_calls_have_rows_of_their_own() -> None:
    """SC-12: execution times."""
    record = sample_record()
    drawn = spans(record, EN)
    assert len(drawn) == len(record.nodes) + len(record.model_calls)
    first_calls = [item.row for item in drawn if item.node == "grade" and item.row and item.start_ms < 60]
    assert first_calls == [1, 2, 3, 4]
    assert {item.kind for item in drawn} == {"visit", "rewrite", "chat", "built_in"}


def test_names_in_hover_texts_cannot_carry_tags() -> None:
    record = sample_record()
    named = replace(record, model_calls=(replace(record.model_calls[-1], model="<b>m</b>", error="<i>e</i>"),))
    drawn = timeline_figure(spans(named, EN), EN)
    texts = [text for trace in drawn.data for pair in trace.customdata for text in pair]
    assert "generator · &lt;b&gt;m&lt;/b&gt;" in texts
    assert not any("<b>" in text or "<i>" in text for text in texts)


def test_a_call_is_listed_with_passage_tokens_time_and_note() -> None:
    """SC-10: tokens, time, cache hit of every call."""
    record = sample_record()
    last = call_row(7, replace(record.model_calls[-1], cached=True, attempt=2), record, EN)
    assert last["Tokens in → out"] == "612 → 142"
    assert last["Time"] == "1.6 s"
    assert last["Note"] == "from cache · attempt 2"
    assert call_row(1, record.model_calls[0], record, ZH)["片段"] == "dc-symptoms.zh.md § 为什么血糖高了会口渴"
