"""Wherever an outcome stands, it says that its answer is not supported, and looks so."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import get_args

import pytest

from components.ask.answer import answer_body, checked_text, headline
from components.ask.answer_marks import checking_text
from components.common.i18n import words_for
from components.common.markup import Node
from components.common.outcomes import OUTCOMES, ended_text, outcome_text
from components.picture.export import decision_path_dot, workflow_svg
from components.runs.figures import figures_of
from components.runs.in_words import InWords
from components.runs.lanes import answer_part, outcome_chip
from components.runs.report import html_of, report_html
from components.runs.run_list import RunLine, run_row
from components.sentences.steps import sentence
from engine.builtin.answer_note import nearest_strips, noted
from engine.builtin.answer_reading import statements
from engine.flow import compiled
from engine.flow.graph import graph_of
from engine.model.config import RoleModel
from engine.model.values import AnswerNote, Fault, Outcome, RunId, RunRecord, SentenceCheck, UnsupportedSentence
from engine.replay import what_if
from engine.replay.decision_boundaries import Sweep
from engine.replay.decision_map import decision_map
from engine.replay.pinned import pinned_effect
from engine.replay.playback import ReplayStep
from engine.replay.table import run_table
from engine.samples.demos import demo_record
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from pages.parts.ask.pinned_runs import effect_nodes
from pages.parts.ask.what_if import end_of, sign_of, tone_of
from pages.parts.ask.what_if_details import detail_nodes, smallest_change_nodes
from pages.parts.ask.what_if_map import look_of, tip_of
from tests.components.sample_run import sample_record

EN, ZH = words_for("en"), words_for("zh")


def unsupported() -> RunRecord:
    record = sample_record()
    answer = "A set is a collection [1]. It costs $10 <b>today</b> [1]."
    doubted = UnsupportedSentence("It costs $10 <b>today</b> [1].", ("$10",), (1,))
    return replace(record, answer=answer, unsupported_sentences=(doubted,), answer_note="unsupported")


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("note", get_args(AnswerNote))
def test_every_outcome_has_a_label_in_both_languages_that_carries_support(outcome: Outcome, note: AnswerNote) -> None:
    """SC-04: codes stay; the label says what became of the answer."""
    english, chinese = outcome_text(outcome, EN, note), outcome_text(outcome, ZH, note)
    assert english and chinese and english != chinese
    assert (note == "unsupported") == english.endswith(", not supported") == chinese.endswith("，缺乏依据")
    assert outcome in OUTCOMES


def test_no_place_shows_an_unsupported_answer_as_a_good_one() -> None:
    """SC-04, SC-07."""
    record = unsupported()
    assert ended_text(record, EN) == "Answered, not supported"
    assert headline(record, EN) == ("warn", "! Answered after 1 rewrite, not supported")
    ended = next(item for item in figures_of(record, EN) if item.label == "Outcome")
    assert (ended.value, ended.look) == ("Answered after 1 rewrite, not supported", "warn")
    chip = html_of(outcome_chip(record, EN))
    assert "warn" in chip and "Answered, not supported" in chip
    line = run_row(RunLine(RunId("b" * 32), "q", "answered", "2025", 5.0, 0, 0, answer_note="unsupported"), EN)
    assert (line["outcome"], line["look"]) == ("! Answered, not supported", "warn")
    assert sentence(ReplayStep("ended", 9), record, EN).startswith("Answered after 1 rewrite, not supported")


def test_saved_pictures_and_the_report_say_it_too() -> None:
    record = unsupported()
    graph = graph_of(compiled(record.workflow))
    assert "not supported" in decision_path_dot(record, EN)
    assert "not supported" in workflow_svg(graph, record, EN)
    report = report_html(record, graph, EN)
    assert report.count("Answered, not supported") >= 2
    assert "Not in the passages cited: $10" in report and "<b>today" not in report


def test_the_sentence_that_fails_is_marked_in_the_answer_and_foreign_text_is_no_markup() -> None:
    drawn = html_of(answer_part(unsupported(), EN))
    marked = drawn.partition("doubted")[2]
    assert "It costs $10" in marked and "&lt;b&gt;today&lt;/b&gt;" in marked and "A set is" not in marked
    assert "Not in the passages cited: $10" in marked


def by_model(*chances: float | None) -> RunRecord:
    """The sample's answer, its first sentences checked by a model."""
    record = sample_record()
    sentences = [item.text for item in statements(record.answer)][: len(chances)]
    fault = Fault("WB401", "The server <b>is gone</b>.", "Start it.")
    checks = tuple(
        SentenceCheck(text, (1,), p, "ollama:small", "token", fault=None if p is not None else fault)
        for text, p in zip(sentences, chances, strict=True)
    )
    return noted(replace(record, checks=checks, unsupported_sentences=None))


def test_what_a_model_found_is_marked_with_its_probability_and_opens_the_nearest_passage() -> None:
    record = by_model(0.12)
    assert record.answer_note == "unsupported"
    (sentence,) = (item.sentence for item in record.unsupported_sentences or ())
    passage, strip = nearest_strips(record)[sentence]
    drawn = json.dumps(answer_body(record, EN).plain(), ensure_ascii=False)
    assert "says ollama:small: P(supported) 0.12 (probability of a token)" in drawn
    assert f'"data-action": "open:{passage}"' in drawn.partition("doubted")[2].partition("doubt")[2]
    given = {item.id: item.text for item in record.context.passages if record.context}  # type: ignore[union-attr]
    assert strip in given[passage]


def test_while_a_model_checks_the_answer_the_card_says_so() -> None:
    record = sample_record()
    models = replace(record.config.models, verifier=RoleModel("ollama:small"))
    checking = replace(record, config=replace(record.config, models=models), outcome=None)
    assert checking_text(checking, EN) == "… being checked"
    for other in (
        replace(checking, answer=""),
        replace(checking, nodes=checking.nodes[:1]),
        replace(record, outcome=None),
    ):
        assert checking_text(other, EN) == ""
    assert checking_text(replace(checking, outcome="answered"), EN) == ""


@pytest.mark.parametrize(
    ("chances", "said"),
    [
        ((0.9, None), "1 of 1 sentences supported, says ollama:small · 1 sentence not checked"),
        ((0.9, 0.1), "1 of 2 sentences supported, says ollama:small"),
        ((None, None), "2 sentences not checked"),
    ],
)
def test_a_sentence_that_was_not_checked_counts_as_neither(chances: tuple[float | None, ...], said: str) -> None:
    record = by_model(*chances)
    models = replace(record.config.models, verifier=RoleModel("ollama:small"))
    assert checked_text(replace(record, config=replace(record.config, models=models)), EN) == said


def test_what_was_not_checked_is_marked_otherwise_and_says_why() -> None:
    record = by_model(None)
    assert (record.answer_note, record.support) == ("unchecked", "unchecked")
    assert ended_text(record, EN) == "Answered, not checked" and ended_text(record, ZH) == "已作答，未核查"
    drawn = html_of(answer_part(record, EN))
    assert "Not checked: The server &lt;b&gt;is gone&lt;/b&gt;." in drawn and ">?<" in drawn


def test_each_doubted_sentence_of_a_line_is_marked_in_any_order_of_what_is_wrong() -> None:
    """SC-07: one that was not checked must not look supported because a later one is not."""
    answer = "A set is a collection [1]. It costs $10 [1]. It is old [1]. It costs $10 [1]."
    chances = {"A set is a collection [1].": None, "It costs $10 [1].": 0.1, "It is old [1].": None}
    checks = tuple(SentenceCheck(text, (1,), p, "ollama:small", "token") for text, p in chances.items())
    record = noted(replace(sample_record(), answer=answer, checks=checks, unsupported_sentences=None))
    signs = [item.text for item in marked(answer_part(record, EN))]
    assert signs == ["?", "!", "?", "!"]


def marked(tree: Node) -> list[Node]:
    inside = [found for kid in tree.kids if isinstance(kid, Node) for found in marked(kid)]
    return [tree] if tree.attrs.get("class") == "doubt" else inside


RESCUED = replace(demo_record("demo-rescue-en"), answer_note="unsupported")
"""A run with an answer that stands under many settings, as one that was found not to be supported."""
ABSTAINING = replace(RESCUED.config, max_rewrites=0)


def test_a_what_if_whose_recorded_answer_stands_says_that_it_is_not_supported() -> None:
    """SC-04: the line, the card, the API and agents say the same."""
    found = what_if(RESCUED, replace(RESCUED.config, max_rewrites=2))
    assert (found.state, found.outcome, found.answer_note) == ("known", "answered", "unsupported")
    assert found.to_dict()["answer_note"] == "unsupported"
    assert (tone_of(found), sign_of(found)) == ("warn", "!") and end_of(found, EN).endswith(", not supported")
    ends = (
        (EN, "The recorded answer stands: answered, not supported."),
        (ZH, "录制的回答原样成立：已作答，缺乏依据。"),
    )
    for words, end in ends:
        assert InWords().what_if(found, RESCUED, words.language).endswith(end)
        assert end in " ".join(item.text for item in detail_nodes(found, RESCUED, words))


def test_of_an_answer_that_would_have_to_be_written_nothing_is_said() -> None:
    record = unsupported()
    found = what_if(record, replace(record.config, grade_pass_threshold=0.2))
    assert (found.state, found.answer_note) == ("generation", "")
    assert "not supported" not in InWords().what_if(found, record, "en")
    assert "not supported" not in " ".join(item.text for item in detail_nodes(found, record, EN))
    nothing = what_if(RESCUED, ABSTAINING)
    assert (nothing.state, nothing.outcome, nothing.answer_note) == ("known", "abstained", "")


def test_maps_smallest_changes_and_the_watch_list_show_no_unsupported_answer_as_a_good_one() -> None:
    found = Sweep(run_table(RESCUED), ABSTAINING).boundaries()
    changes = [item for item in found if item.name == "max_rewrites"]
    assert [(item.outcome, item.answer_note) for item in changes] == [("answered", "unsupported")]
    drawn = smallest_change_nodes(changes, EN)[0].kids[-1]
    assert isinstance(drawn, Node) and drawn.attrs["class"] == "chip warn"
    assert drawn.text.startswith("rewrites 0 → 1: answered, not supported")
    cells = decision_map(RESCUED, RESCUED.config, "min_relevant", "max_rewrites")
    known = [item for item in cells.cells if item.state == "known" and item.outcome == "answered"]
    assert known and {look_of(item) for item in known} == {"forced"}
    assert all("not supported" in tip_of(item, cells, EN) for item in known)
    effect = pinned_effect([RESCUED], lambda _: ABSTAINING, lambda _: RESCUED.config)
    assert [item.direction for item in effect.changes] == ["worse"]
    assert "Answered, not supported" in effect_nodes(effect, EN)[0].text


def test_an_earlier_draft_that_would_stand_is_held_against_its_own_sources() -> None:
    """The note of the run is on the answer that it gave."""
    record = demo_record("demo-revision-en")
    once = replace(record.config, options=AnswerEvaluationOptions(1))
    first, *later = record.drafts
    invented = replace(first, text=f"{first.text} It cost $4711 in 1843 [1].")
    for draft, note in ((first, ""), (invented, "unsupported")):
        found = what_if(replace(record, drafts=(draft, *later), answer_note="uncited"), once)
        assert (found.state, found.answer, found.answer_note) == ("known", draft.text, note)
