"""The comparison of two runs: what it says first, and that every part shows both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from components.common.i18n import UiLanguage, words_for
from components.common.markup import Node
from components.common.run_settings import setting_label, setting_text
from components.runs.compare import SHOW_SAME, comparison_nodes, parting_text
from components.runs.figures import measured, shared_measures
from engine.model.config import RoleModel, RoleModels
from engine.model.events import fold_all
from engine.model.values import RunId, RunRecord
from engine.replay.difference import difference
from tests.components.loop_runs import answers_record, dual_record, quality_record
from tests.components.sample_run import CONFIG, HOSTILE, sample_record
from tests.support.recorded import recorded_run

EN, ZH = words_for("en"), words_for("zh")
MARKUP_TAGS = frozenset("div span p ul ol li strong em button code h4 ins del small section i".split())


def other(**changes: object) -> RunRecord:
    return replace(sample_record(), id=RunId("r-other"), **changes)  # type: ignore[arg-type]


def text(a: RunRecord, b: RunRecord, language: UiLanguage = "en", *, all_passages: bool = False) -> str:
    nodes = comparison_nodes(difference(a, b), words_for(language), all_passages=all_passages)
    return "\n".join(item.text for item in nodes)


def walked(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for item in nodes:
        yield item
        yield from walked(tuple(kid for kid in item.kids if isinstance(kid, Node)))


def test_equal_runs_are_said_to_be_equal() -> None:
    assert parting_text(difference(sample_record(), other()), EN) == EN("Same path, passages, verdicts and answer.")
    assert parting_text(difference(sample_record(), sample_record()), ZH) == ZH("A and B are the same run.")
    drawn = text(sample_record(), other())
    assert "≠" not in drawn
    assert EN("None.") in drawn
    assert EN("Word for word the same.") in drawn
    assert EN("= same") in drawn


def test_equal_runs_under_other_settings_are_distinguished_from_a_repeat() -> None:
    found = difference(sample_record(), other(config=replace(CONFIG, max_rewrites=2)))
    assert parting_text(found, EN) == EN("Same path, passages, verdicts and answer.")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_first_sentence_says_where_the_paths_part_and_in_what(language: UiLanguage) -> None:
    words = words_for(language)
    a, b = fold_all(recorded_run(1)), fold_all(recorded_run(0, run_id="run-2"))
    said = parting_text(difference(a, b), words)
    routes = {"a": words("Rewrite"), "b": words("Generate")}
    assert words("A → {a}, B → {b}", **routes) in said
    assert ("as asked" if language == "en" else "原问题") in said
    assert "≠" in text(a, b, language)


def test_a_run_that_ended_earlier_or_broke_off_is_named() -> None:
    run = sample_record()
    shorter = other(rounds=run.rounds[:1], decisions=run.decisions[:1])
    assert EN("{run} had ended", run="B") in parting_text(difference(run, shorter), EN)
    broken = other(decisions=run.decisions[:1], outcome="failed")
    assert "B: no decision" in parting_text(difference(run, broken), EN)
    stopped = other(outcome="cancelled", answer="")
    assert parting_text(difference(run, stopped), EN) == EN(
        "Same decisions, different ends: A {a}, B {b}.", a="Answered", b="Cancelled"
    )


def test_the_fault_of_a_failed_run_is_said() -> None:
    failed = fold_all(recorded_run(0, "failed"))
    assert failed.error is not None
    assert failed.error.fact in text(sample_record(), failed)


def test_two_questions_are_not_held_against_each_other_passage_by_passage() -> None:
    said = text(sample_record(), other(question="Something else?"))
    assert EN("Two different questions: only outcomes and costs can be compared.") in said
    assert not any(word in said for word in ("only A", "only B", "moved", "verdicts changed", "The paths part", "▲"))
    assert EN("Cost") in said


def test_passages_that_fared_the_same_are_shown_when_asked_for() -> None:
    nodes = comparison_nodes(difference(sample_record(), other()), EN)
    actions = [item.attrs.get("data-action") for item in walked(nodes)]
    assert SHOW_SAME in actions
    assert HOSTILE[:20] not in text(sample_record(), other())
    assert HOSTILE[:20] in text(sample_record(), other(), all_passages=True)


def test_a_lost_passage_shows_what_either_run_made_of_it() -> None:
    narrow = replace(sample_record(replace(CONFIG, similarity_threshold=0.45)), id=RunId("r-narrow"))
    drawn = text(sample_record(), narrow)
    assert EN("− only A") in drawn
    assert EN("dropped: similarity") in drawn
    assert "Min. similarity" in drawn
    assert "0.30" in drawn and "0.45" in drawn


def test_sentences_that_changed_carry_their_words_and_the_others_stand_alone() -> None:
    a, b = (
        other(answer="Thirst is usual. It starts in weeks."),
        other(answer="Thirst is usual. It starts in days. New."),
    )
    cards = comparison_nodes(difference(a, b), EN)
    marked = [(item.tag, item.text) for item in walked(cards) if item.tag in ("ins", "del")]
    assert ("del", "weeks") in marked
    assert ("ins", "days") in marked
    assert any(tag == "ins" and said.endswith("New.") for tag, said in marked)


def test_only_elements_that_the_browser_knows_are_drawn() -> None:
    """SC-12: text reaches the page as text."""
    a, b = sample_record(), fold_all(recorded_run(2))
    tags = {item.tag for item in walked(comparison_nodes(difference(a, b), ZH, all_passages=True))}
    assert tags <= MARKUP_TAGS


def test_two_graders_are_named_in_the_settings() -> None:
    chat = other(config=replace(CONFIG, models=RoleModels(grader=RoleModel("ollama:qwen3:8b", temperature=0.5))))
    drawn = text(sample_record(), chat)
    assert "ollama:qwen3:8b" in drawn
    assert "Grader · Temperature" in drawn


def test_settings_have_names_and_values_in_words() -> None:
    assert setting_label("top_k", ZH) == "Top-k"
    assert setting_label("models.grader", ZH) == "评分模型"
    assert setting_label("mode", EN) == "Mode"
    assert setting_label("passage_words", EN) == "passage_words"
    assert setting_text("mode", "mix", ZH) == "融合"
    assert setting_text("similarity_threshold", 0.3, EN) == "0.30"
    assert setting_text("max_rewrites", 3, EN) == "3"
    assert setting_text("gate", "min_relevant", ZH) == "相关片段数"
    assert setting_text("grade_probe", True, EN) == "on"
    assert setting_text("models.grader", "builtin", ZH) == "内置"
    assert setting_text("grader", None, EN) == "–"


def test_runs_of_different_loops_are_compared_by_what_both_have() -> None:
    """A quality score is not set against a pass rate, nor a similarity against a number of suggestions."""
    quality, dual = quality_record(), dual_record()
    drawn = text(quality, dual)
    assert EN("Pass rate") in drawn and EN("Best similarity") in drawn
    assert EN("Quality score") not in drawn and EN("Suggestions") not in drawn
    assert shared_measures(quality, dual) == ("pass_rate", "similarity")


def test_runs_of_one_loop_are_compared_by_what_it_goes_by() -> None:
    a, b = answers_record(), answers_record(drafts=1)
    fewer = measured(a, "suggestions"), measured(b, "suggestions")
    assert fewer[0] is not None and fewer[1] is not None and fewer[0] != fewer[1]
    assert f"{'▲' if fewer[1] > fewer[0] else '▼'} {abs(fewer[1] - fewer[0]):.0f}" in text(a, b)
    assert measured(a, "quality") is None
    assert EN("Quality score") in text(quality_record(), replace(quality_record(), duration_ms=1.0))
