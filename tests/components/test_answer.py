"""The finished answer: its few forms, its badge, and that nothing of it becomes markup."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.ask.answer import _foot, answer_badge, copied_text
from components.ask.answer_text import Block, answer_blocks
from components.common.i18n import words_for
from engine.model.values import Outcome
from tests.components.sample_run import ANSWER, sample_record

EN, ZH = words_for("en"), words_for("zh")


def test_paragraphs_lists_and_headings_are_told_apart() -> None:
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
    ("outcome", "look", "text"),
    [
        ("answered", "pass", "✓ 3 passages passed"),
        ("answered_forced", "warn", "! below the bar · 3 passages passed"),
        ("answered_unverified", "fault", "! not verified"),
        ("abstained", "grey", "– abstained"),
        ("cancelled", "fault", "✗ incomplete"),
        ("fallback", "grey", "– no answer"),
        (None, "accent", "… writing"),
    ],
)
def test_the_badge_says_on_what_the_answer_rests(outcome: Outcome | None, look: str, text: str) -> None:
    """SC-07: an answer from unverified passages is visibly marked."""
    assert answer_badge(replace(sample_record(), outcome=outcome), EN) == (look, text)


def test_under_the_answer_stand_its_sources_and_how_many_more_were_read() -> None:
    record = sample_record()
    foot = _foot(replace(record, citations=record.citations[:2]), EN).text
    assert all(item.section in foot for item in record.citations[:2])
    assert "1 more read, not cited" in foot and "more read" not in _foot(record, EN).text


def test_the_clipboard_gets_the_answer_with_its_sources() -> None:
    copied = copied_text(sample_record(), EN)
    assert copied.startswith(ANSWER)
    assert copied.splitlines()[-3] == "[1] dc-symptoms.zh.md § 糖尿病的主要症状"
