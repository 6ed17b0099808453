"""The tour in a browser: offered once, walked through by keyboard, and true of the page that it points at."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenTab

pytestmark = pytest.mark.browser
POINTED = "[data-tour]"


def test_a_newcomer_is_offered_the_tour_and_comes_through_it_to_a_run(open_tab: OpenTab) -> None:
    """FV-03: nothing begins by itself, each stop points at what it speaks of, and the offer does not come back."""
    tab = open_tab(width=1280, height=720)
    page = tab.open("/?lang=en")
    card = page.get_by_role("dialog")
    expect(page.get_by_text("New here?")).to_be_visible()
    expect(card).not_to_be_visible()
    page.get_by_role("button", name="Start the tour").click()
    expect(page.locator(f".st-key-ask{POINTED}")).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(f".st-key-path{POINTED}")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(card).to_contain_text("A recorded run shows it")
    card.get_by_role("button", name="Open a recorded run").click()
    page.wait_for_url("**run=demo-rescue-en**")
    expect(page.locator(f".st-key-answer_line{POINTED}")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(f".st-key-top_k{POINTED}")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(card).to_contain_text("3 / 5")
    page.keyboard.press("Escape")
    expect(card).not_to_be_visible()
    expect(page.locator(POINTED)).to_have_count(0)
    expect(page.get_by_role("button", name="Help with this page")).to_be_focused()
    page = tab.open("/?lang=en")
    expect(page.locator(".st-key-samples")).to_be_visible()
    expect(page.get_by_text("New here?")).not_to_be_visible()
    page.get_by_role("button", name="Help with this page").click()
    page.get_by_role("button", name="Start the tour").click()
    expect(card).to_contain_text("1 / 5")


def test_on_a_narrow_page_the_settings_are_opened_and_the_last_stop_leads_on(open_tab: OpenTab) -> None:
    """FV-03"""
    tab = open_tab(width=390, height=844)
    page = tab.open("/?lang=zh&run=demo-passes-zh")
    page.get_by_role("button", name="本页帮助").click()
    page.get_by_role("button", name="开始导览").click()
    card = page.get_by_role("dialog")
    for place in range(1, 4):
        expect(card).to_contain_text(f"{place} / 5")
        page.keyboard.press("Enter")
    expect(card).to_contain_text("设置已收起")
    card.get_by_role("button", name="打开设置").click()
    expect(card).to_contain_text("假设分析")
    expect(page.locator(f'[data-testid="stSidebar"] {POINTED}')).to_be_visible()
    page.keyboard.press("Enter")
    expect(card).to_contain_text("5 / 5")
    box = card.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["y"] + box["height"] <= 844
    card.get_by_role("button", name="知识库").click()
    page.wait_for_url("**/knowledge**")
    expect(card).not_to_be_visible()
