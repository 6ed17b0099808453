"""Places in a source that a loader names: pages and slides are said in the language of the page."""

from __future__ import annotations

import pytest

from components.i18n import words_for
from components.phrases import section_text


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
