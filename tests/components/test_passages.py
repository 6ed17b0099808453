"""The rows of the passages table, its marks and its export."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import pytest

from components.ask.passage_rows import drop_reason, passage_row
from components.common.i18n import words_for
from components.common.life_lines import LifeLine, life_lines
from components.common.phrases import verdict_label
from components.common.terms import question_terms, segments
from engine.model.config import RunConfig, SearchMethod
from engine.model.decide import gated
from engine.model.values import PassageId, Round, RunId, RunRecord, Verdict
from engine.samples.demos import demo_record
from pages.parts.ask.passages import passages_csv
from tests.components.loop_runs import dual_record, quality_record
from tests.components.sample_run import CONFIG, HOSTILE, passage, sample_record

EN, ZH = words_for("en"), words_for("zh")


def rows() -> dict[str, dict[str, Any]]:
    record = sample_record()
    return {line.passage.id: passage_row(line, record, ("血糖",), EN) for line in life_lines(record)}


def history(row: dict[str, Any]) -> list[str]:
    """The history as it is read aloud, each part after its sign."""
    return [f"{item['glyph']} {item['said']}" for item in row["history"]]


def test_the_history_has_a_sign_and_words_for_every_round_and_for_the_answer() -> None:
    """SC-12: per-passage details, where each one went."""
    drawn = rows()
    assert history(drawn["symptoms"]) == ["· as asked: not found", "✓ rewrite 1: #1 → passed", "1 cited as [1]"]
    assert history(drawn["thirst"]) == [
        "✓ as asked: #1 → passed",
        "✓ rewrite 1: #2 → passed (reused)",
        "2 cited as [2]",
    ]
    assert history(drawn["history"]) == ["✗ as asked: #2 → not passed", "✗ rewrite 1: #5 → not passed (reused)"]
    assert history(drawn["hostile"]) == ["? as asked: #3 → unreadable", "· rewrite 1: not found"]
    assert history(drawn["log"]) == ["– as asked: #5 → dropped: similarity", "– rewrite 1: #6 → dropped: top-k"]


def test_dropped_rows_say_by_how_much_and_the_rank_first() -> None:
    """SC-02: gate and margin stay; rank is reported first."""
    drawn = rows()
    assert drawn["log"]["reason"] == "0.28 < 0.30, missed by 0.02"
    assert drawn["sugar"]["reason"] == "rank 7 > top-k 5"
    assert drawn["log"]["dropped"]
    assert drawn["log"]["chip"]["text"] == "dropped: similarity"


def test_a_narrow_miss_is_printed_with_digits_that_keep_it_true() -> None:
    config = RunConfig(similarity_threshold=0.3)
    candidates = gated((passage("near", "a.md", "", "text", 0.2996),), config)
    record = RunRecord(RunId("r"), "q", config, "", rounds=(Round(0, "q", candidates),))
    assert drop_reason(life_lines(record)[0].best, config, EN) == "0.2996 < 0.3000, missed by 0.0004"
    assert passage_row(life_lines(record)[0], record, (), EN)["seen"][0]["margin"] == "−0.0004"


def test_chips_name_verdict_and_p_relevant() -> None:
    drawn = rows()
    assert drawn["symptoms"]["chip"] == {"look": "pass", "text": "✓ relevant · P 0.94", "note": ""}
    assert drawn["history"]["chip"]["text"] == "✗ not relevant · P 0.12"
    assert drawn["hostile"]["chip"] == {"look": "fault", "text": "? unreadable", "note": ""}
    assert verdict_label(None, ZH) == "未评分"


@pytest.mark.parametrize(
    ("verdict", "bar", "look", "note"),
    [
        (Verdict(True, 0.55, ""), 0.7, "warn", "P 0.55 < 0.70"),
        (Verdict(False, 0.6, ""), 0.4, "pass", "P 0.40 ≥ 0.40"),
        (
            Verdict(False, 0.5, ""),
            0.5,
            "warn",
            "P 0.50 ≥ 0.50, but the grader said no: from a minimum of 0.50 on a no never passes",
        ),
        (
            Verdict(False, 0.5, "", policy=1),
            0.5,
            "pass",
            "P 0.50 ≥ 0.50: passed although the grader said no, by the rule of an earlier version",
        ),
    ],
)
def test_a_verdict_that_passes_against_its_word_shows_the_inequality(
    verdict: Verdict, bar: float, look: str, note: str
) -> None:
    """SC-03: P = confidence or 1 − confidence, against min_confidence."""
    config = RunConfig(min_confidence=bar)
    found = passage("p", "a.md", "", "text", 0.5)
    current = Round(0, "q", gated((found,), config), verdicts={found.id: verdict})
    record = RunRecord(RunId("r"), "q", config, "", rounds=(current,))
    chip = passage_row(life_lines(record)[0], record, (), EN)["chip"]
    assert (chip["look"], chip["note"]) == (look, note)


def test_the_tooltip_names_floor_and_raw_score() -> None:
    """SC-09: similarity and raw score are shown, the floor in a tooltip."""
    row = rows()["symptoms"]
    assert (row["value"], row["cosine"]) == ("0.71", "cos 0.95")
    assert "0.820" in row["tip"]
    assert "zh-100@3f2a" in row["tip"]


def test_hostile_text_stays_text_in_the_data_of_the_table() -> None:
    text = "".join(part for part, *_ in rows()["hostile"]["text"])
    assert text == HOSTILE


def test_segments_join_to_the_text_and_mark_whole_words() -> None:
    text = "Rational symptoms, symptom's ratio; 血糖高了"
    cut = segments(text, ("symptom", "ratio", "血糖"))
    assert "".join(part for part, _ in cut) == text
    assert [part for part, marked in cut if marked] == ["symptoms", "symptom's", "ratio", "血糖"]
    assert segments("", ("a",)) == ()


def test_a_term_with_signs_of_a_pattern_is_taken_literally() -> None:
    assert [part for part, marked in segments("is a+b or aab", ("a+b", ".*")) if marked] == ["a+b"]


def test_terms_come_from_the_grader_or_else_from_the_question() -> None:
    record = sample_record()
    assert {"血糖", "症状", "感觉"} <= set(question_terms(record))
    bare = RunRecord(RunId("r"), "What is a truth table?", CONFIG, "")
    assert question_terms(bare) == ("truth", "table")
    chinese = RunRecord(RunId("r"), "糖尿病有什么症状？", CONFIG, "")
    assert question_terms(chinese) == ("糖尿", "尿病", "症状")


def test_the_export_has_a_row_per_round_and_no_cell_that_starts_a_formula() -> None:
    config = RunConfig()
    evil = passage("p", "=cmd|' /C calc'!A0", "+x", "@SUM(1)", 0.2)
    record = RunRecord(
        RunId("r"),
        "q",
        config,
        "",
        rounds=(Round(0, "q", gated((evil,), config)), Round(1, "q2", gated((evil,), config))),
    )
    table = list(csv.reader(io.StringIO(passages_csv(life_lines(record), EN).decode("utf-8-sig"))))
    assert len(table) == 3
    assert table[0][:3] == ["round", "rank", "source"]
    assert table[1][2] == "'=cmd|' /C calc'!A0"
    assert table[1][3] == "'+x"
    assert table[1][-1] == "'@SUM(1)"
    assert table[1][8] == "-0.1000"


def test_a_fused_passage_says_its_rank_in_each_list_its_fused_rank_and_its_place_after_reranking() -> None:
    """QL-03"""
    record = quality_record()
    lines = {line.passage.id: line for line in life_lines(record)}
    row = passage_row(lines[PassageId("v1")], record, (), EN)
    assert (row["kind"], row["kind_text"]) == ("vector", "knowledge base")
    first, second, *_ = history(row)
    assert first == "✗ as asked: knowledge base #1 → fused #1 → not passed → reranked #1 · P 0.45"
    assert second.startswith("✓ rewrite 1: knowledge base #1 + entities and relations #2 → fused #")
    assert passage_row(lines[PassageId("t1")], record, (), ZH)["kind_text"] == "历史记录"


def test_a_passage_of_the_web_is_marked_untrusted_and_others_have_no_kind() -> None:
    """DL-07"""
    record = dual_record()
    lines = {line.passage.id: line for line in life_lines(record)}
    row = passage_row(lines[PassageId("w1")], record, (), EN)
    assert (row["kind"], row["kind_text"], row["kind_tip"]) == (
        "web",
        EN("web · untrusted"),
        EN("From a web search: anybody may have written it. It is shown as plain text, and its address is no link."),
    )
    assert passage_row(lines[PassageId("v1")], record, (), EN)["kind"] == ""


def _ranked(search: SearchMethod, vector: int | None, text: int | None) -> tuple[LifeLine, RunRecord]:
    config = RunConfig(search=search)
    score = None if text is None else 7.2345
    found = replace(passage("p", "a.md", "", "text", 0.5), vector_rank=vector, text_rank=text, text_score=score)
    record = RunRecord(RunId("r"), "q", config, "", rounds=(Round(0, "q", gated((found,), config)),))
    return life_lines(record)[0], record


@pytest.mark.parametrize(
    ("vector", "text", "shown", "line"),
    [
        (3, 1, "meaning #3 · words #1 (BM25 7.2)", "meaning #3 + words #1"),
        (None, 1, "meaning – · words #1 (BM25 7.2)", "words #1"),
        (3, None, "meaning #3 · words –", "meaning #3"),
    ],
)
def test_a_passage_of_two_lists_shows_both_ranks_and_a_dash_where_one_has_it_not(
    vector: int | None, text: int | None, shown: str, line: str
) -> None:
    """SC-02: where the order comes from fusion, both ranks stay visible."""
    found, record = _ranked("fused", vector, text)
    row = passage_row(found, record, (), EN)
    assert row["ranks"] == shown
    assert history(row) == [f"– as asked: {line} → fused #1 → not graded"]
    assert row["seen"][0]["ranks"] == shown


def test_a_search_by_words_shows_its_own_rank_alone_and_one_by_meaning_none() -> None:
    found, record = _ranked("full_text", None, 1)
    row = passage_row(found, record, (), ZH)
    assert (row["ranks"], history(row)) == ("词语 #1（BM25 7.2）", ["– 原问题：#1 → 未评分"])
    found, record = _ranked("vector", None, None)
    row = passage_row(found, record, (), EN)
    assert (row["ranks"], row["seen"][0]["ranks"]) == ("", "")


def test_the_export_has_both_ranks_and_the_score() -> None:
    found, _ = _ranked("fused", None, 1)
    table = list(csv.DictReader(io.StringIO(passages_csv((found,), EN).decode("utf-8-sig"))))
    assert (table[0]["rank by meaning"], table[0]["rank by words"], table[0]["BM25 score"]) == ("", "1", "7.2345")


def test_a_built_in_grader_speaks_the_language_of_the_page() -> None:
    """Its reason in the record is English; a chat model's own words stay as they were said."""
    record = demo_record(RunId("demo-forced-zh"))
    judged = [line for line in life_lines(record) if line.verdict is not None]
    assert judged
    for line in judged:
        row = passage_row(line, record, (), ZH)
        assert re.search("[A-Za-z]{4}", row["own"]) is None, row["own"]
    assert any(re.search("[A-Za-z]{4}", line.verdict.reason) for line in judged if line.verdict)
