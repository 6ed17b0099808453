"""What only a browser shows of the judging desk: keys, also with a name that was just typed, and none while typing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.browser.test_tune import gathered

__all__ = ["gathered"]
pytestmark = pytest.mark.browser


def test_pairs_are_judged_by_keys_alone(gathered: Watched) -> None:
    page = gathered.page
    page.get_by_role("tab", name="Judge", exact=True).click()
    name = page.get_by_role("combobox", name="Judging as")
    name.click()
    name.fill("Grace")
    name.press("Enter")
    # Two questions in turn may have the same passage.
    pair = page.locator(".st-key-tune_desk_pair")
    mine = page.get_by_text(re.compile(r"· 0 by you"))
    expect(mine).to_be_visible()
    page.get_by_text("Does this passage help to answer the question?").click()
    first = pair.text_content() or ""
    page.keyboard.press("y")
    expect(page.get_by_text(re.compile(r"· 1 by you"))).to_be_visible()
    expect(pair).not_to_have_text(first)
    page.keyboard.press("n")
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    third = pair.text_content() or ""
    page.keyboard.press("s")
    expect(pair).not_to_have_text(third)
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    # The next pair brings a field of its own.
    gathered.settle()
    page.get_by_role("textbox", name="Why (optional)").click()
    page.keyboard.type("any y or n")
    expect(page.get_by_role("textbox", name="Why (optional)")).to_have_value("any y or n")
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    page.get_by_text("Does this passage help to answer the question?").click()
    page.keyboard.press("u")
    expect(page.get_by_text(re.compile(r"· 1 by you"))).to_be_visible()
    assert not gathered.faults and not gathered.foreign
