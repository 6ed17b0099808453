"""What only a browser shows of the graph: mouse, wheel and keys, and the passages that a choice brings."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenTab

pytestmark = pytest.mark.browser


def test_a_graph_is_looked_around_in_by_mouse_and_by_keys(open_tab: OpenTab) -> None:
    """GH-03, SC-12: from an entity and from a relationship to passages, with a list for those who do not see it."""
    tab = open_tab()
    page = tab.open("/knowledge?view=graph&lang=en&kb_collection=samples&look=entities&entity=Insulin")
    picture = page.get_by_role("application", name=re.compile("Knowledge graph: "))
    expect(picture.locator(".dot").first).to_be_visible()
    detail = page.locator(".graph .detail")

    page.get_by_role("searchbox", name="Search").fill("bant")
    page.keyboard.press("Enter")
    expect(detail.locator(".heading")).to_contain_text("Banting")
    expect(detail.locator(".passage").first).to_contain_text(".en.md § ")

    detail.locator(".type").first.click()
    expect(detail.locator(".heading")).to_have_text(re.compile("discovered|worked|shared", re.I))
    expect(detail.locator(".passage").first).to_contain_text("§")
    page.get_by_role("searchbox", name="Search").fill("")

    tab.settle()
    picture.focus()
    page.keyboard.press("Escape")
    expect(detail).to_contain_text("Most important")
    tab.settle()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(detail.locator(".heading")).not_to_be_empty()

    tab.settle()
    before = picture.locator(".dot").first.get_attribute("d")
    page.get_by_role("button", name="Zoom in").click()
    expect(picture.locator(".dot").first).not_to_have_attribute("d", before or "")

    page.get_by_text("As a list").click()
    expect(page.get_by_role("list", name="Entities", exact=True)).to_contain_text("→")

    detail.get_by_role("button", name="Close").click()
    detail.get_by_role("button", name="Insulin").first.click()
    detail.get_by_role("button", name="Show its surroundings").click()
    expect(page.get_by_role("textbox", name="Around an entity")).to_have_value("Insulin")
