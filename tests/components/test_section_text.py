"""Places in a source that a loader names: pages and slides are said in the language of the page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.ask.answer import copied_text
from components.common.i18n import words_for
from components.common.life_lines import life_lines
from components.common.phrases import section_text
from components.runs.report import report_html
from engine.model.values import RunRecord
from pages.parts.ask.passages import passages_csv
from tests.components.sample_run import sample_record
from tests.components.test_workflow_export import LOOP


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("p. 212", "第 212 页"),
        ("Storage > p. 3", "Storage > 第 3 页"),
        ("Slide 1", "第 1 张幻灯片"),
        ("Slide 2 · Goals", "第 2 张幻灯片 · Goals"),
        ("Slide rules", "Slide rules"),
        ("see p. 3", "see p. 3"),
        ("", ""),
    ],
)
def test_pages_and_slides_are_said_in_chinese_and_headings_stay(section: str, said: str) -> None:
    assert section_text(section, words_for("zh")) == said
    assert section_text(section, words_for("en")) == section


def test_exports_say_pages_in_the_language_of_the_page() -> None:
    """The table as CSV, the copied answer, and the report: nowhere is a page left in English."""
    record = _paged(sample_record())
    words = words_for("zh")
    exported = (
        passages_csv(life_lines(record), words).decode(),
        copied_text(record, words),
        report_html(record, LOOP, words),
    )
    for said in exported:
        assert "第 12 页" in said
        # What went to a model is shown as it went.
        assert "p. 12" not in said.partition(f"{words('Model calls')} ")[0]


def _paged(record: RunRecord) -> RunRecord:
    rounds = tuple(
        replace(
            current,
            candidates=tuple(
                replace(item, passage=replace(item.passage, section="p. 12")) for item in current.candidates
            ),
        )
        for current in record.rounds
    )
    citations = tuple(replace(item, section="p. 12") for item in record.citations)
    return replace(record, rounds=rounds, citations=citations)
