"""What-if in words: the honest state, one sentence of consequence, what is missing, and what single passages lose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from components.ask.what_if_text import changes_text, consequence_text, price_text, value_text
from components.common.i18n import words_for
from components.common.markup import Node
from components.common.run_settings import differing
from engine.model.config import RoleModel, RoleModels
from engine.model.cost import Cost
from engine.model.events import fold_all
from engine.model.values import Outcome, PassageId, RunRecord
from engine.replay import WhatIf, what_if
from engine.samples.demos import demo_record
from pages.parts.ask.passages import counterfactual_notes
from pages.parts.ask.what_if import StableRange, end_of, mark_rules, tone_of
from pages.parts.ask.what_if import price_text as price_of
from pages.parts.ask.what_if_details import detail_nodes, ungraded_passages
from pages.parts.ask.why import kept_nodes
from tests.components.sample_run import CONFIG, sample_record
from tests.support.recorded import recorded_run

EN, ZH = words_for("en"), words_for("zh")
RESCUED = demo_record("demo-rescue-en")


def text_of(nodes: list[Node]) -> str:
    return " ".join(item.text for item in nodes)


def actions_of(nodes: list[Node]) -> list[str]:
    found = [item.attrs["data-action"] for item in nodes if "data-action" in item.attrs]
    return found + [name for item in nodes for name in actions_of([kid for kid in item.kids if isinstance(kid, Node)])]


def card(record: RunRecord, **changes: Any) -> tuple[WhatIf, str, list[str]]:
    found = what_if(record, replace(record.config, **changes))
    nodes = detail_nodes(found, record, EN)
    return found, text_of(nodes), actions_of(nodes)


def test_under_the_runs_own_settings_there_is_nothing_to_say() -> None:
    _, said, actions = card(fold_all(recorded_run(1)))
    assert (said, actions) == ("", [])


def test_a_lower_bar_says_how_it_would_have_ended_and_what_that_saves() -> None:
    record = sample_record()
    found = what_if(record, replace(record.config, grade_pass_threshold=0.2))
    changes = changes_text(found.config, record.config, EN)
    assert changes == "With min. pass rate **0.20** (run: 0.60): "
    assert consequence_text(found, record, EN) == (
        "**answered**, from 1 passage, 1 rewrite, 1 call and 1 built-in step fewer"
    )
    assert changes_text(found.config, record.config, ZH) == "若最低通过率 **0.20**（运行时 0.60）："


def test_a_known_path_is_not_a_known_answer() -> None:
    """The states: ``generation`` says so at the foot, and offers to write the answer in the tab."""
    found, said, actions = card(sample_record(), grade_pass_threshold=0.2)
    assert found.state == "generation"
    assert (end_of(found, EN), price_of(found, EN), tone_of(found)) == ("Answered", "1 model call", "pass")
    assert "Continue from there" in said and actions == ["fork"]


@pytest.mark.parametrize(
    ("changes", "end", "tone"),
    [
        ({"max_rewrites": 0}, "Answered below the bar", "warn"),
        ({"top_k": 7, "similarity_threshold": 0.1, "grade_pass_threshold": 0.3}, "Unknown: needs ", "warn"),
        ({"collection": "other"}, "Unknown: needs ", "warn"),
    ],
)
def test_the_foot_says_the_end_in_a_few_words_and_never_more_than_is_known(
    changes: dict[str, Any], end: str, tone: str
) -> None:
    record = sample_record()
    same = what_if(RESCUED, replace(RESCUED.config, max_rewrites=2))
    assert (end_of(same, EN), price_of(same, EN)) == ("Same outcome", "0 model calls")
    found = what_if(record, replace(record.config, **changes))
    assert end_of(found, EN).startswith(end) and len(end_of(found, EN).split()) <= 7
    assert tone_of(found) == tone
    assert "{" not in end_of(found, ZH)


def test_missing_verdicts_are_named_with_their_price() -> None:
    record = sample_record()
    found = what_if(record, replace(record.config, top_k=7, similarity_threshold=0.1, grade_pass_threshold=0.3))
    said = text_of(detail_nodes(found, record, EN))
    assert (found.state, found.gap) == ("needs_calls", "verdicts")
    assert "**" not in said
    assert EN("Continue from there") in said
    for passage in ungraded_passages(found)[:3]:
        assert passage.source in said


def test_another_grader_is_said_instead_of_naming_every_passage() -> None:
    record = sample_record()
    models = RoleModels(grader=RoleModel("ollama:other"), generator=record.config.models.generator)
    found, said, _ = card(record, models=models)
    assert found.gap == "verdicts"
    assert "another grader would be asked" in said
    assert "Not graded" not in said


def test_another_collection_cannot_be_gone_on_with() -> None:
    found, said, actions = card(sample_record(), collection="other")
    assert found.gap == "retrieval"
    assert "something else would be searched" in said
    assert actions == []


@pytest.mark.parametrize("outcome", ["cancelled", "interrupted", "failed", "fallback"])
@pytest.mark.parametrize("changes", [{}, {"grade_pass_threshold": 0.1}, {"top_k": 2}, {"max_rewrites": 0}])
def test_the_card_draws_for_a_run_that_did_not_come_to_its_end(outcome: Outcome, changes: dict[str, Any]) -> None:
    record = fold_all(recorded_run(1, outcome))
    for words in (EN, ZH):
        found = what_if(record, replace(record.config, **changes))
        said = text_of(detail_nodes(found, record, words))
        assert "{" not in said + end_of(found, words) + text_of(list(kept_nodes(record, words)))


def test_a_run_without_a_round_says_that_there_is_nothing_to_decide_from() -> None:
    record = fold_all(recorded_run(0)[:1])
    _, said, _ = card(replace(record, outcome="failed"), top_k=3)
    assert "ended before its first search" in said


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "name", ["top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites", "min_confidence"]
)
def test_no_setting_leaves_a_sentence_with_a_hole(language: Any, name: str) -> None:
    record = sample_record()
    words = words_for(language)
    values = (1, 3, 7, 20) if name == "top_k" else (0, 1, 5) if name == "max_rewrites" else (0.0, 0.31, 0.5, 0.77, 1.0)
    for value in values:
        changes: dict[str, Any] = {name: value}
        said = text_of(detail_nodes(what_if(record, replace(record.config, **changes)), record, words))
        assert "{" not in said and "}" not in said and "None" not in said


def test_more_than_three_changes_are_counted() -> None:
    other = replace(CONFIG, top_k=3, similarity_threshold=0.1, grade_pass_threshold=0.2, max_rewrites=1)
    assert changes_text(other, CONFIG, EN) == "With these 4 other settings: "


def test_min_relevant_counts_for_nothing_under_the_pass_rate() -> None:
    assert differing(replace(CONFIG, min_relevant=4), CONFIG) == ()
    assert differing(replace(CONFIG, min_relevant=4, gate="min_relevant"), CONFIG) == ("gate", "min_relevant")


def test_two_thresholds_that_differ_never_look_the_same() -> None:
    assert value_text("similarity_threshold", 0.3, EN) == "0.30"
    assert value_text("similarity_threshold", 0.3004, EN) == "0.3004"


@pytest.mark.parametrize(
    ("price", "said"),
    [
        (Cost(3, 6, 1.2), "3 calls + 6 built-in steps ≈ 1.2 s"),
        (Cost(1, 0, None), "1 call (time not measured)"),
        (Cost(0, 0, 0.0), "no calls ≈ 0 ms"),
    ],
)
def test_a_price_counts_models_and_built_in_roles_apart(price: Cost, said: str) -> None:
    """SC-10"""
    assert price_text(price, EN) == said


def test_a_passage_that_would_be_dropped_says_in_which_round_and_by_what() -> None:
    """SC-02: gate and margin, also under settings that were not run."""
    record = sample_record()
    notes = counterfactual_notes(record, what_if(record, replace(record.config, similarity_threshold=0.45)), EN)
    assert notes[PassageId("history")] == "As asked: dropped: similarity · 0.44 < 0.45"


def test_passages_of_rounds_that_would_not_happen_say_so() -> None:
    record = sample_record()
    notes = counterfactual_notes(record, what_if(record, replace(record.config, grade_pass_threshold=0.2)), EN)
    assert notes[PassageId("symptoms")] == EN("its round does not happen")


def test_a_verdict_that_no_longer_passes_says_its_inequality() -> None:
    """SC-03: a passage passes when P(relevant) reaches the bar."""
    record = sample_record()
    found = what_if(record, replace(record.config, min_confidence=0.6))
    notes = counterfactual_notes(record, found, EN)
    if len(found.steps) > 1:
        assert notes[PassageId("alarm")] == "not passed: P 0.58 < 0.60"
    stricter = counterfactual_notes(record, what_if(record, replace(record.config, min_confidence=0.9)), EN)
    assert stricter[PassageId("thirst")] == "not passed: P 0.81 < 0.90"


def test_nothing_is_said_of_passages_under_the_runs_own_settings() -> None:
    record = sample_record()
    assert counterfactual_notes(record, what_if(record, record.config), EN) == {}


def test_the_tick_stands_at_the_runs_value_and_the_line_where_all_is_the_same() -> None:
    rules = mark_rules("grade_pass_threshold", 0.6, StableRange(0.21, 0.4))
    assert "left:calc(60.00% - 1px)" in rules
    assert "left:21.00%;width:calc(40.00% - 21.00%)" in rules
    assert mark_rules("top_k", 1, None).count("{") == 2


def test_options_of_a_loop_are_marked_on_their_sliders_too() -> None:
    assert "left:calc(50.00% - 1px)" in mark_rules("medium_score", 0.5, None)
    assert "left:calc(40.00% - 1px)" in mark_rules("max_corrections", 2, None)


def test_a_latin_name_stands_apart_in_a_chinese_sentence() -> None:
    assert changes_text(replace(CONFIG, top_k=3), replace(CONFIG, top_k=5), ZH).startswith("若 Top-k")
    assert changes_text(replace(CONFIG, max_rewrites=0), replace(CONFIG, max_rewrites=2), ZH).startswith("若最多")
    assert price_text(Cost(0, 2, None), ZH) == "2 个内置步骤（未测得用时）"
