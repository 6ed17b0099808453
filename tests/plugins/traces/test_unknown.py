"""What a trace does not tell is shown as unknown everywhere, never as a number (TR-03)."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from components.ask.answer import _head
from components.ask.diagnosis import why_text
from components.ask.passage_rows import passage_row
from components.common.i18n import words_for
from components.common.life_lines import life_lines
from components.common.outcomes import outcome_text
from components.runs.compare import comparison_nodes
from components.runs.figures import figures_of
from components.runs.report import html_of, report_html
from components.sentences.decisions import followed_text
from components.sentences.steps import sentence as said_of
from engine.flow import compiled
from engine.flow.graph import graph_of
from engine.model.values import RunRecord
from engine.replay import what_if
from engine.replay.diagnosis import Diagnosis, diagnose
from engine.replay.difference import difference
from engine.replay.playback import steps
from engine.replay.scorecard import scorecard
from pages.parts.ask.passages import passages_csv
from pages.parts.ask.what_if_details import detail_nodes
from pages.parts.ask.what_if_map import pairs_for
from plugins.traces.deciding import events_of
from plugins.traces.trace_file import recognised
from tests.plugins.traces.crag_spans import CATS, DOGS, TIDES, CragTrace, file_of
from tests.plugins.traces.test_deciding import imported

EN = words_for("en")


def ranks_alone(trace_id: str = "u1", last: str = "yes") -> RunRecord:
    """Two rounds without a score, and verdicts of yes and no alone."""
    made = CragTrace(trace_id, "What causes tides?")
    made.retrieve("What causes tides?", [("dogs", DOGS, None), ("cats", CATS, None)])
    made.grade(DOGS, {"binary_score": "no"}).grade(CATS, {"binary_score": "no"}).rewrite("moon and sea")
    made.retrieve("moon and sea", [("tides", TIDES, None), ("dogs", DOGS, None)])
    made.grade(TIDES, {"binary_score": last}).grade(DOGS, {"binary_score": "no"})
    [record] = imported(*recognised(file_of(made.generate([TIDES], "The moon.").otlp("The moon."))).traces)
    return record


def text_of(markup: str) -> str:
    return " ".join(re.sub(r"<style.*?</style>|<svg.*?</svg>|<[^>]*>", " ", markup, flags=re.DOTALL).split())


def why(found: Diagnosis | None) -> str:
    assert found is not None
    return why_text(found, EN)


def test_a_comparison_shows_ranks_and_verdicts_without_numbers() -> None:
    one, other = ranks_alone(), ranks_alone("u2", "no")
    said = text_of("".join(html_of(item) for item in comparison_nodes(difference(one, other), EN, all_passages=True)))
    assert "#1 · rewrite 1 · kept ✓ relevant" in said
    assert "0.00 ·" not in said
    assert " P 1.00" not in said
    assert " P 0.00" not in said


def test_a_share_where_the_other_says_yes_alone_is_no_change_of_a_verdict() -> None:
    one = ranks_alone()
    rounds = [
        replace(own, verdicts={name: replace(it, bare=False, confidence=0.8) for name, it in own.verdicts.items()})
        for own in one.rounds
    ]
    assert not difference(one, replace(one, id="other", rounds=tuple(rounds))).verdicts  # type: ignore[arg-type]


def test_rows_of_passages_their_story_and_their_file_leave_numbers_out() -> None:
    record = ranks_alone()
    lines = life_lines(record)
    for line in lines:
        row = passage_row(line, record, (), EN)
        assert (row["value"], row["cosine"], row["bar"]) == ("–", "", False)
        assert " P " not in row["chip"]["text"]
        assert {(seen["similarity"], seen["cosine"], seen["floor"], seen["margin"]) for seen in row["seen"]} == {
            ("–",) * 4
        }
    for cells in csv.DictReader(io.StringIO(passages_csv(lines, EN).decode("utf-8-sig"))):
        assert [cells[name] for name in ("similarity", "raw score", "floor", "margin", "P(relevant)")] == [""] * 5


def test_scores_without_a_scale_stand_as_they_came_and_are_no_cosines() -> None:
    made = CragTrace("u3", "Tides?").retrieve("Tides?", [("tides", TIDES, 12.5), ("cats", CATS, None)])
    [record] = imported(*recognised(file_of(made.otlp("The moon."))).traces)
    rows = [passage_row(line, record, (), EN) for line in life_lines(record)]
    assert [(row["value"], row["cosine"]) for row in rows] == [("–", "score 12.5"), ("–", "")]


def test_a_report_of_ranks_alone_has_no_similarity_and_no_p_relevant() -> None:
    record = ranks_alone()
    said = text_of(report_html(record, graph_of(compiled(record.workflow)), EN))
    assert "only ranks are known" in said
    assert " P 1.00" not in said
    assert "0.000" not in said
    assert "+0.00" not in said


def test_a_rewrite_is_not_measured_by_similarities_that_are_not_known() -> None:
    assert scorecard(ranks_alone())[0].similarity is None


def test_a_diagnosis_goes_by_ranks_and_by_the_no_alone() -> None:
    record = ranks_alone(last="no")
    refused = replace(record, outcome="abstained", context=None, answer="")
    assert why(diagnose(refused)) == (
        "Possible: the right passage is one of the 3 that the grader refused; the search did not find it; the "
        "collection does not hold it."
    )
    assert why(diagnose(refused, {"tides": (0,)})) == "The grader said no."  # type: ignore[dict-item]
    narrow = replace(refused, config=replace(refused.config, top_k=1))
    found = diagnose(narrow, {"cats": (0,)})  # type: ignore[dict-item]
    assert why(found) == (
        "The closest stands at rank 2, beyond the top-k of 1. It was judged all the same, and refused by the grader."
    )


def test_nothing_is_said_of_what_an_ungraded_trace_leaves_open() -> None:
    """No decision, no rewrite for a reason, no call, no citation: the trace does not tell."""
    made = CragTrace("u4", "Tides?").retrieve("Tides?", [("tides", TIDES, 0.9), ("cats", CATS, 0.5)])
    [record] = imported(*recognised(file_of(made.otlp("The moon."))).traces)
    said = text_of(report_html(record, graph_of(compiled(record.workflow)), EN))
    for sentence in (
        "Nothing was graded there, so nothing is decided yet.",
        "The trace tells of no call.",
    ):
        assert sentence in said
    assert "broke off" not in said
    assert figures_of(record, EN)[3].value == "–"
    ended = [said_of(step, record, EN) for step in steps(events_of(record))][-1]
    assert ended.startswith(outcome_text(record.outcome, EN))
    other = replace(ranks_alone(), question=record.question)
    shown = text_of(
        "".join(html_of(item) for item in comparison_nodes(difference(record, other), EN, all_passages=True))
    )
    assert "A: no decision" in shown
    assert "broke off" not in shown


def test_an_imported_run_is_not_said_to_cite_nothing() -> None:
    record = ranks_alone()
    assert record.context is not None
    [last] = [followed_text(item, record, EN) for item in record.decisions if item.route == "generate"]
    assert last == "1 passage"


def test_a_map_has_no_axis_of_a_threshold_that_the_trace_cannot_tell() -> None:
    record = ranks_alone()
    assert record.origin is not None
    axes = {name for pair in pairs_for(record.config, record.origin).values() for name in pair}
    assert {"grade_pass_threshold", "top_k", "max_rewrites"} & axes
    assert not axes & {"similarity_threshold", "min_confidence"}
    assert "similarity_threshold" in {name for pair in pairs_for(record.config).values() for name in pair}


def test_an_answer_that_is_not_there_has_no_author() -> None:
    record = ranks_alone()
    assert "written by the other program" in _head(record, EN).text
    assert "written by" not in _head(replace(record, answer="", outcome="unanswered"), EN).text


def test_what_an_imported_run_still_needs_is_not_offered_to_be_run_here() -> None:
    record = ranks_alone()
    config = replace(record.config, top_k=9)
    found = what_if(record, config)
    assert found.state == "needs_calls"
    said = str(detail_nodes(found, record, EN))
    assert "'run'" not in said and "'fork'" not in said and "Advanced" not in said


def test_no_time_limit_is_shown_with_the_time_of_another_program() -> None:
    time = figures_of(ranks_alone(), EN)[-1]
    assert (time.label, time.note) == ("Time", "in the other program")
