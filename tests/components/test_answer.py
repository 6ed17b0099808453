"""The finished answer: its few forms, its badge, and that nothing of it becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.ask.answer import _ACROSS, _foot, _footnotes, _head, copied_text, headline
from components.ask.answer_text import Block, answer_blocks
from components.common.i18n import words_for
from components.common.markup import Node
from engine.model.config import RoleModel
from engine.model.values import AnswerNote, Outcome, PassageId, RunId, RunRecord
from engine.replay.admitted import refused_given
from engine.samples.demos import Demo, all_demos, demo_record
from tests.components.sample_run import ANSWER, sample_record

EN, ZH = words_for("en"), words_for("zh")


def test_a_question_in_another_language_than_its_passages_has_a_note_where_words_are_compared() -> None:
    record = demo_record("demo-rescue-en")
    assert record.context is not None and record.context.passages

    def noted(changed: RunRecord) -> list[str]:
        return [item.text for item in _footnotes(changed, ZH) if ZH(_ACROSS) in item.text]

    chinese = replace(record, question="真值表有多少行？")
    without = replace(chinese, context=None, outcome="abstained")
    assert noted(record) == [] and len(noted(chinese)) == len(noted(without)) == 1
    by_chat = replace(record.config.models, grader=RoleModel("ollama:small"))
    assert noted(replace(chinese, config=replace(record.config, models=by_chat))) == []
    # One of two passages is no majority.
    one, *_ = record.context.passages
    both = (one, replace(one, id=PassageId("zh"), text="五个变量有三十二行。"))
    assert noted(replace(chinese, context=replace(record.context, passages=both))) == []
    assert len(noted(replace(chinese, context=replace(record.context, passages=(*both, one))))) == 1


@pytest.mark.parametrize("demo", all_demos(), ids=lambda demo: demo.id)
def test_no_demo_is_noted_to_cross_languages(demo: Demo) -> None:
    assert not any(ZH(_ACROSS) in item.text for item in _footnotes(demo_record(demo.id), ZH))


def test_paragraphs_lists_and_headings_are_distinguished() -> None:
    text = "# Title\nFirst line [1].\n\n- one\n- two\n\n3. three\n4. four"
    assert answer_blocks(text) == (
        Block("heading", ("Title",)),
        Block("paragraph", ("First line [1].",)),
        Block("bullets", ("one", "two")),
        Block("numbers", ("three", "four"), start=3),
    )


def test_images_go_links_keep_their_words_and_citations_stay() -> None:
    """The answer is untrusted text: no address in it is ever fetched."""
    text = 'See ![x](http://evil/p.png "t") the [guide](http://evil/(a)) and [2](http://evil).'
    assert answer_blocks(text) == (Block("paragraph", ("See  the guide and [2].",)),)


def test_raw_html_stays_the_text_it_is() -> None:
    assert answer_blocks("<img src=x onerror=alert(1)>")[0].items == ("<img src=x onerror=alert(1)>",)


@pytest.mark.parametrize(
    ("outcome", "note", "tone", "text"),
    [
        ("answered", "", "pass", "✓ Answered after 1 rewrite"),
        ("answered", "unsupported", "warn", "! Answered after 1 rewrite, not supported"),
        ("answered_forced", "", "warn", "! Answered below the bar after 1 rewrite"),
        ("answered_unverified", "", "warn", "! Answered from unverified passages after 1 rewrite"),
        ("abstained", "", "grey", "∅ Refused after 1 rewrite"),
        ("cancelled", "", "grey", "■ Cancelled after 1 rewrite"),
    ],
)
def test_the_answer_stands_under_how_the_run_ended(outcome: Outcome, note: AnswerNote, tone: str, text: str) -> None:
    """SC-07: an answer that is not verified or not supported is visibly marked."""
    record = replace(sample_record(), outcome=outcome, answer_note=note)
    assert headline(record, EN) == (tone, text)
    ended = _head(record, EN).kids[0]
    head = ended.kids[0] if isinstance(ended, Node) else ended
    assert isinstance(head, Node) and (head.text, head.attrs["class"]) == (text, f"outcome {tone}-ink")


@pytest.mark.parametrize("demo", [demo.id for demo in all_demos()])
def test_no_answer_with_something_against_it_is_green(demo: RunId) -> None:
    record = demo_record(demo)
    doubted = bool(record.answer_note or refused_given(record)) or record.outcome != "answered"
    assert (headline(record, EN)[0] == "pass") == (not doubted)
    assert headline(replace(record, answer_note="unsupported"), EN)[0] != "pass"


def test_under_the_answer_stand_its_sources_and_how_many_more_were_read() -> None:
    record = sample_record()
    (foot,) = _foot(replace(record, citations=record.citations[:2]), EN)
    assert all(item.section in foot.text for item in record.citations[:2])
    assert "1 more read" in foot.text and "more read" not in _foot(record, EN)[0].text
    assert _foot(replace(record, citations=()), EN) == []


def test_the_clipboard_gets_the_answer_with_its_sources() -> None:
    copied = copied_text(sample_record(), EN)
    assert copied.startswith(ANSWER)
    assert copied.splitlines()[-3] == "[1] dc-symptoms.zh.md § 糖尿病的主要症状"
