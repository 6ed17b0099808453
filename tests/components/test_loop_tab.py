"""What the page shows of the three other loops: their own tab, read from a record alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from components.ask.rewrites import ISSUE_NAMES
from components.common.i18n import Words, words_for
from components.common.markup import Node
from components.common.phrases import suggestion_said
from components.common.workflow_view import view_of, why_nothing
from components.runs.report import safe_text
from components.workflows.quality_chart import issue_inequality
from components.workflows.scores import score_text
from engine.flow import workflow
from engine.model.values import Evaluation, QualityIssue, Recall, RouteChoice, RunRecord, Suggestion
from engine.model.wording import DIMENSION_OF, suggested
from engine.workflows.answer_evaluation.suggestions import suggestion_states
from engine.workflows.quality_loop.options import QualityOptions
from tests.components.loop_runs import (
    FRESH,
    HOSTILE,
    QUALITY,
    answers_record,
    direct_record,
    dual_record,
    fallback_record,
    quality_record,
    writing_record,
)
from tests.components.sample_run import sample_record

EN, ZH = words_for("en"), words_for("zh")
RECORDS = (
    quality_record(),
    dual_record(),
    direct_record(),
    fallback_record(),
    answers_record(),
    writing_record(),
    writing_record("eval_answer"),
)


def text_of(record: RunRecord, words: Words = EN) -> str:
    return "\n".join(item.text for item in view_of(record.workflow).evidence(record, words))


def found(record: RunRecord, tag: str = "", look: str = "") -> list[Node]:
    """Every element of the tab with that tag and class."""

    def walk(item: Node) -> list[Node]:
        below = [one for kid in item.kids if isinstance(kid, Node) for one in walk(kid)]
        fits = item.tag == (tag or item.tag) and look in [*item.attrs.get("class", "").split(), ""]
        return [item, *below] if fits else below

    return [one for item in view_of(record.workflow).evidence(record, EN) for one in walk(item)]


# -- quality-control loop -------------------------------------------------------------------------------------------


def test_every_dimension_is_printed_with_its_value_weight_and_what_it_adds() -> None:
    """QL-01: the four weighted dimensions; no value of the chart is in its bar alone."""
    rows = [row.text for row in found(quality_record(), "tr") if "×" in row.text][:4]
    assert [row.split("×")[1].split("=")[0].strip() for row in rows] == ["0.40", "0.30", "0.20", "0.10"]
    assert "0.00" in rows[0] and "= 0.000" in rows[0] and "0.00 < 0.50" in rows[0]
    assert "1/3" in rows[2] and "1 < 2" in rows[2]
    assert "3/20" in rows[3] and "3 < 10" in rows[3]


def test_both_definitions_of_the_grade_stand_side_by_side_and_one_decides() -> None:
    """QL-02"""
    by_score = text_of(quality_record())
    assert "Weighted score 0.58 medium decides" in by_score
    assert "Best three 0.93 high" in by_score
    on_top3 = replace(QUALITY, options=QualityOptions(grade_on="top3"))
    assert "Best three 0.93 high decides" in text_of(quality_record(on_top3))


def test_the_bar_says_in_words_what_it_shows() -> None:
    bar = next(item for item in found(quality_record(), "div", "rail") if item.attrs.get("role") == "img")
    assert bar.attrs["aria-label"].startswith("Weighted score 0.16. Medium from 0.50")
    ticks = [kid for kid in bar.kids if isinstance(kid, Node) and "data-tick" in kid.attrs]
    assert [tick.attrs["data-tick"] for tick in ticks] == ["50.0%", "70.0%"]


def test_cut_offs_near_to_each_other_share_one_label() -> None:
    near = replace(QUALITY, options=QualityOptions(medium_score=0.5, high_score=0.55))
    scale = next(iter(found(quality_record(near), "div", "scale")))
    assert scale.text == "0.50 · 0.55"


def test_a_score_is_never_rounded_across_a_cut_off() -> None:
    assert score_text(0.498, QualityOptions()) == "0.498"
    assert score_text(0.6999, QualityOptions()) == "0.6999"
    assert score_text(0.5, QualityOptions()) == "0.50"


def test_issues_are_said_in_words_with_their_inequality() -> None:
    """QL-01: what is wrong is reported."""
    assert issue_inequality(QualityIssue("low_relevance", 0.5999, 0.6)) == "0.5999 < 0.6000"
    assert issue_inequality(QualityIssue("too_few", 3, 10)) == "3 < 10"
    assert issue_inequality(QualityIssue("no_passages", 0, 0)) == ""
    for words in (EN, ZH):
        said = text_of(quality_record(), words)
        for code in ("low_coverage", "low_relevance", "single_source", "too_few"):
            assert words(ISSUE_NAMES[code]) in said


def test_a_round_without_passages_says_so_and_has_no_chart_of_dimensions() -> None:
    """QL-01: no passages at all is score 0, low, with one issue saying so."""
    record = quality_record()
    check = record.rounds[0].quality
    assert check is not None
    empty = replace(check, dimensions=(), score=0.0, top3=0.0, passages=0, issues=(QualityIssue("no_passages", 0, 0),))
    said = text_of(replace(record, rounds=(replace(record.rounds[0], quality=empty),)))
    assert EN("no passage was similar enough") in said
    assert "×" not in said


def test_the_routing_says_kinds_shares_reason_and_what_the_collection_lacks() -> None:
    """QL-03"""
    said = text_of(quality_record())
    assert "knowledge base 50 %" in said and "dated history 25 %" in said
    assert EN("It asks for certain sources.") in said and EN("wider scope") in said
    assert "✗ none here: entities and relations" in said
    assert EN("Searched as: {query}", query="血糖 高 感觉") in said


def test_rounds_are_compared_with_the_change_of_the_score() -> None:
    table = found(quality_record(), "table", "rounds")[0].text
    assert "as asked" in table and "0.16 low" in table and "0.58 medium" in table and "▲ 0.43" in table


def test_a_round_that_is_not_checked_yet_says_what_follows() -> None:
    record = quality_record()
    unchecked = replace(record, rounds=(replace(record.rounds[0], quality=None),))
    assert EN("Not checked.") in text_of(unchecked)


# -- dual loop ------------------------------------------------------------------------------------------------------


def test_each_pass_lists_its_strategies_with_what_they_found() -> None:
    """DL-03, DL-04"""
    first, second = found(dual_record(), "section", "pass")
    assert first.text.index("hierarchical search") < first.text.index("direct passage search")
    assert "1 found, 1 kept, 0 passed" in first.text and EN("✓ searched") in first.text
    assert "dc-symptoms.zh.md § 症状" in first.text
    assert EN("not searched") in first.text
    assert "rewrite 1" in second.text
    assert EN("– nothing found") in second.text


def test_a_strategy_that_cannot_be_used_is_skipped_with_the_reason_and_has_not_failed() -> None:
    """DL-03"""
    skipped = found(dual_record(), "section", "pass")[1].text
    assert f"{EN('⤳ skipped')} {EN('this collection has no summaries')}" in skipped
    assert EN("✗ failed") not in skipped
    said = text_of(fallback_record())
    assert f"{EN('⤳ skipped')} {EN('web search is off in these settings')}" in said
    assert f"{EN('✗ failed')} WB201" in said


def test_a_strategy_that_was_never_reached_and_cannot_be_used_says_why() -> None:
    record = fallback_record()
    unset = replace(
        record, config=dual_record().config, tried_routes=(), manifest={"strategies": "direct_chunk_search"}
    )
    said = text_of(unset)
    assert EN("no search engine is set (WORKBENCH_SEARXNG_URL)") in said
    assert EN("not searched") in said


def test_addresses_of_the_web_are_plain_text_and_marked_untrusted() -> None:
    """DL-07"""
    nodes = found(dual_record())
    assert not any(item.tag == "a" or "href" in item.attrs for item in nodes)
    assert any(item.tag == "code" and item.text == "https://example.org/a?x=1" for item in nodes)
    assert EN("web · untrusted") in text_of(dual_record())


def test_memories_show_similarity_and_age_and_the_stale_ones_are_marked() -> None:
    """DL-06"""
    fresh, stale = found(dual_record(), "div", "remembered")
    assert "similarity 0.82" in fresh.text and EN("! the collection has changed since") not in fresh.text
    assert EN("! the collection has changed since") in stale.text
    assert EN("switched off") in text_of(replace(dual_record(), recall=Recall(off=True)))
    assert EN("! could not be read") in text_of(replace(dual_record(), recall=Recall(failed=True)))


def test_the_route_says_whether_memory_changed_it() -> None:
    """DL-02, DL-06"""
    assert EN("Without memory: {route}", route="direct passage search") in text_of(direct_record())
    same = RouteChoice("direct", "remembered", without_memory="direct")
    assert EN("Without memory: {route}", route="direct answer") in text_of(replace(direct_record(), route=same))
    own = RouteChoice("web_search", "", "It asks for today's news.")
    assert "It asks for today's news." in text_of(replace(dual_record(), route=own))


def test_a_router_that_could_not_have_its_way_says_what_it_took_instead() -> None:
    taken = RouteChoice("direct_chunk_search", "overview")
    said = text_of(replace(dual_record(), route=taken))
    assert "Hierarchical search is not available here." in said


def test_what_was_kept_is_said_and_failures_are_kept_apart() -> None:
    """DL-06"""
    assert "Kept in memory" in text_of(dual_record())
    failed = replace(dual_record(), remembered=replace(FRESH, passed=False))
    assert "! kept as a failure" in text_of(failed)
    assert EN("Nothing: the answer has no source.") in text_of(direct_record())
    assert EN("Nothing: there is no answer.") in text_of(fallback_record())


# -- answer evaluation ----------------------------------------------------------------------------------------------


def test_a_revision_is_shown_sentence_by_sentence() -> None:
    """AE-07"""
    second = found(answers_record(), "ul", "sentences")[0]
    kinds = [item.attrs["class"] for item in second.kids if isinstance(item, Node)]
    assert kinds == ["changed", "same", "same", "added"]
    assert "2 same, 1 changed, 1 added, 0 removed" in text_of(answers_record())


def test_a_suggestion_is_marked_addressed_ignored_or_open() -> None:
    """AE-07"""
    drafts = answers_record().drafts
    assert suggestion_states(drafts, 0) == ("addressed", "ignored")
    assert suggestion_states(drafts, 1) == ("addressed",)
    assert suggestion_states(drafts, 2) == ()
    assert suggestion_states(drafts[:2], 1) == ("open",)
    unjudged = (drafts[0], replace(drafts[1], evaluation=None))
    assert suggestion_states(unjudged, 0) == ("open", "open")


def test_a_chat_models_suggestion_that_is_raised_again_is_ignored() -> None:
    again = Evaluation(False, (Suggestion("reasonableness", "Say it shorter."),))
    first, second, third = answers_record().drafts
    drafts = (replace(first, evaluation=again), replace(second, evaluation=again), third)
    assert suggestion_states(drafts, 0) == ("ignored",)
    assert suggestion_states(drafts, 1) == ("addressed",)


@pytest.mark.parametrize("code", sorted(DIMENSION_OF))
def test_a_built_in_suggestion_is_worded_in_both_languages_and_a_models_own_is_left_alone(code: str) -> None:
    """AE-03"""
    params = {"marker": "1", "better": "2", "part": "p", "kind": "date", "other": "o", "terms": "t"}
    item = suggested(code, markers="[9]", sentences="6", **params)
    assert suggestion_said(item, EN) != suggestion_said(item, ZH)
    assert "{" not in suggestion_said(item, ZH)
    own = Suggestion("reasonableness", "Say {it} shorter.")
    assert suggestion_said(own, ZH) == "Say {it} shorter."


def test_a_suggestion_quotes_what_it_is_about() -> None:
    record = answers_record()
    wanted = [item for draft in record.drafts if draft.evaluation for item in draft.evaluation.suggestions]
    quoted = [item.text for item in found(record, "p", "quoted")]
    assert [" ".join(text.split()) for text in quoted] == [item.quote for item in wanted if item.quote] != []


def test_what_the_evaluator_saw_stands_next_to_what_the_generator_saw() -> None:
    """AE-04: a cut can make a right citation look unsupported."""
    record = answers_record()
    table = found(record, "table", "seen")[0]
    assert "cut at 500 characters" in table.text
    hidden = next(item for item in found(record, "mark"))
    whole = record.context.passages[0].text if record.context else ""
    assert hidden.text == whole[500:]
    assert EN("{n} characters", n=14) in table.text
    assert EN("dropped: top-k") in text_of(record)


def test_an_answer_being_evaluated_says_so() -> None:
    assert EN("… being evaluated") in text_of(writing_record("eval_answer"))
    assert EN("? not evaluated") in text_of(
        replace(answers_record(), drafts=(replace(answers_record().drafts[0], evaluation=None),))
    )


# -- all three ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record.id}-{record.outcome}")
@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_every_state_draws_in_both_languages_without_an_unfilled_place(record: RunRecord, words: Words) -> None:
    """SC-12"""
    said = text_of(record, words)
    assert said
    assert "{" not in said.replace(HOSTILE, "")


def test_other_workflows_have_no_such_tab() -> None:
    name = sample_record().workflow
    assert view_of(name).evidence(sample_record(), EN) == []
    assert not workflow(name).tab


def drawn(name: str, language: str) -> AppTest:
    def page(name: str, language: str) -> None:
        from components.ask.answer import answer_card
        from components.common.i18n import words_for
        from components.common.workflow_view import view_of
        from pages.parts.ask import passages, rewrites
        from tests.components import loop_runs

        words = words_for("zh" if language == "zh" else "en")
        record = getattr(loop_runs, name)()
        answer_card(record, words, key="answer")
        view_of(record.workflow).tab(record, words, key="loop", read=lambda ids: ())
        passages.view(record, words, key="passages")
        rewrites.view(record, words, key="rewrites")

    return AppTest.from_function(page, args=(name, language), default_timeout=60).run()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    "name", ["quality_record", "dual_record", "direct_record", "fallback_record", "answers_record"]
)
def test_the_parts_draw_and_untrusted_words_never_reach_a_markdown_element(name: str, language: str) -> None:
    """DL-07: results of the web are untrusted text."""
    test = drawn(name, language)
    assert not test.exception
    markup = [item.value for item in (*test.markdown, *test.caption)]
    assert not any("onerror" in text or "leak.png" in text for text in markup)
    parts = [json.loads(item.proto.json) for item in test.get("bidi_component")]
    assert len(parts) >= 2
    if name == "dual_record":
        assert HOSTILE in json.dumps(parts, ensure_ascii=False).replace('\\"', '"')
        assert "<img" not in safe_text(HOSTILE)


def test_a_run_that_wrote_no_answer_says_why_there_is_nothing_to_evaluate() -> None:
    """AE-01: the search went on, so the loop had begun; only the evaluation did not."""
    searched = replace(answers_record(drafts=1), drafts=())
    assert why_nothing(searched) == (
        "No answer was written from passages, so there was nothing to evaluate. The other tabs show what was searched."
    )
    assert why_nothing(replace(searched, rounds=())) == "The run ended before the loop began."
    assert why_nothing(replace(searched, outcome=None)) == "Nothing yet: this fills up while the loop runs."
