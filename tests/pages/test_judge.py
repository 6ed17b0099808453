"""The tab *Judge* of the Tune page, in both languages: a name first, then one pair after the other."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from components.common.i18n import UiLanguage, words_for
from engine.engine import Engine
from engine.evaluation.cases import QuerySet
from engine.messages import NC_
from engine.model.config import RunConfig
from tests.pages.driving import button, inline, opened, visible
from tests.pages.test_tune import QUESTIONS

SET = "to judge"


@pytest.fixture
def gathered(engine: Engine) -> Engine:
    """Two questions with their evidence, and nothing judged."""
    if SET not in engine.evaluation.query_sets():
        engine.evaluation.save_query_set(QuerySet(SET, QUESTIONS[:2]))
        assert engine.batches.wait(engine.batches.start(SET, RunConfig(grade_probe=True), 2), 120)
    for case in QUESTIONS[:2]:
        for label in engine.evaluation.labels(case.question):
            engine.evaluation.set_label(case.question, label.passage_id, None, judge=label.judge)
    return engine


def judging(language: str, judge: str | None = None) -> AppTest:
    """The tab as ``judge``; None where the name was emptied."""
    state = {"query_set": SET, "tune_labels_open": True, "tune_desk_judge": judge}
    return opened("tune", language, state)


def said(engine: Engine) -> list[tuple[str, bool, str, str]]:
    labels = engine.evaluation.labels(*(case.question for case in QUESTIONS[:2]))
    return [(item.judge, item.relevant, item.drawn, item.explanation) for item in labels]


def test_without_a_name_nothing_is_judged(gathered: Engine) -> None:
    words = words_for("zh")
    app = judging("zh")
    assert app.selectbox(key="tune_desk_judge").value is None
    assert not any(item.label == words(NC_("judging", "Yes")) for item in app.button)
    assert words("History") in visible(app)


def test_a_pair_is_judged_with_a_reason_skipped_and_undone(gathered: Engine) -> None:
    language: UiLanguage = "zh"
    words = words_for(language)
    app = judging(language, "Ada")
    field = next(item for item in app.text_input if str(item.key).startswith("tune_desk_why_"))
    first = str(field.key)
    field.set_value("as it says")
    button(app, lambda label: label == words(NC_("judging", "Yes"))).click().run()
    assert not app.exception, app.exception
    assert said(gathered) == [("Ada", True, "random", "as it says")]
    second = next(str(item.key) for item in app.text_input if str(item.key).startswith("tune_desk_why_"))
    assert second != first
    button(app, lambda label: label == words("Skip")).click().run()
    third = next(str(item.key) for item in app.text_input if str(item.key).startswith("tune_desk_why_"))
    assert third != second
    button(app, lambda label: label == words("Skip")).click().run()
    assert not any(str(item.key) in (second, third) for item in app.text_input)
    button(app, lambda label: label == words(NC_("judging", "No"))).click().run()
    assert sorted(item[1] for item in said(gathered)) == [False, True]
    (batch,) = gathered.evaluation.batches(SET)
    meter = gathered.judging.desk(batch.id, "passage", "Ada").coverage
    counts = "{judged} of {total} labelled · {random} drawn at random · {mine} by you"
    assert words(counts, judged=2, total=meter.total, random=meter.at_random, mine=2) in inline(app)
    for left in (1, 0):
        button(app, lambda label: label == words("Undo")).click().run()
        assert len(said(gathered)) == left


def test_the_pair_shows_no_score_and_no_verdict(gathered: Engine) -> None:
    app = judging("en", "Ada")
    (batch,) = gathered.evaluation.batches(SET)
    found = gathered.judging.desk(batch.id, "passage", "Ada")
    assert found.next is not None
    shown = inline(app)
    assert found.next.item.question in shown
    card = next(part for part in shown.split("\n") if "Does this passage help to answer the question?" in part)
    assert not any(word in card for word in ("P(relevant)", "similarity", "rank", "verdict"))


def test_guidelines_are_kept_and_shown_above_the_pair(gathered: Engine) -> None:
    app = judging("en", "Ada")
    app.text_area[0].set_value("Only what answers wholly.")
    next(item for item in app.button if item.key == "tune_desk_guidelines_save").click().run()
    assert gathered.judging.guidelines(SET) == "Only what answers wholly."
    assert "Only what answers wholly." in inline(app)


def test_a_file_in_another_encoding_is_read_as_it_was_written(gathered: Engine) -> None:
    question = QUESTIONS[0].question
    row = {"question": question, "passage": "p#1", "relevant": True, "judge": "Bo", "explanation": "水温正确，说得清楚"}
    app = judging("en", "Ada")
    content = json.dumps(row, ensure_ascii=False)
    app.file_uploader(key="tune_desk_file_0").upload("bo.jsonl", content.encode("utf-16"), "application/jsonl")
    app.run()
    app.button(key="tune_desk_import").click().run()
    assert not app.exception, app.exception
    assert ("Bo", True, "", row["explanation"]) in said(gathered)


@pytest.mark.parametrize(
    ("judges", "host", "prefilled"),
    [(("Ada",), "127.0.0.1", "Ada"), (("Ada",), "0.0.0.0", None), (("Ada", "Bo"), "127.0.0.1", None)],
)
def test_the_only_judge_of_a_machine_is_named_already(
    gathered: Engine, monkeypatch: pytest.MonkeyPatch, judges: tuple[str, ...], host: str, prefilled: str | None
) -> None:
    monkeypatch.setattr(type(gathered.judging), "judges", lambda _: judges)
    monkeypatch.setattr(gathered, "settings", gathered.settings.model_copy(update={"host": host}))
    app = opened("tune", state={"query_set": SET, "tune_labels_open": True})
    assert app.selectbox(key="tune_desk_judge").value == prefilled


def test_graders_are_named_and_a_file_that_says_yes_or_no_asks_for_no_rating(gathered: Engine) -> None:
    app = judging("en", "Ada")
    button(app, lambda label: label == "Yes").click().run()
    assert "built-in" in inline(app) and "builtin" not in inline(app)
    assert words_for("en")("said in passing") not in inline(app)
    for name, asked in (("said.jsonl", False), ("said.csv", True)):
        app.file_uploader(key="tune_desk_file_0").upload(name, b"{}", "text/plain")
        app.run()
        assert any(item.key == "tune_desk_least" for item in app.number_input) is asked
