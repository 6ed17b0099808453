"""What only a browser shows of the Runs page: what is pressed in its lines, links, and cards when it is narrow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NARROW, OpenTab
from tests.browser.server import App

pytestmark = pytest.mark.browser
QUESTION = "What is <b>a truth table</b> used for?"


def test_runs_are_pinned_tagged_opened_and_deleted_and_turn_to_cards(open_tab: OpenTab, app: App) -> None:
    """SC-10, SC-12"""
    run = app.post("/api/runs", {"question": QUESTION})["id"]
    tab = open_tab()
    page = tab.open("/runs?lang=en")
    row = page.locator(".runs tbody tr").filter(has_text=QUESTION)
    expect(row).to_have_count(1)
    row.get_by_role("button", name="Add to the watch list", exact=True).click()
    expect(row.get_by_role("button", name="Take off the watch list")).to_have_attribute("aria-pressed", "true")
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Add a tag").click()
    page.get_by_role("textbox", name="Tag").fill("for the browser")
    page.get_by_role("textbox", name="Tag").press("Enter")
    expect(row.get_by_text("for the browser")).to_be_visible()
    expect(row.get_by_role("checkbox")).to_be_checked()
    row.get_by_role("button", name="Remove tag").click()
    expect(row.get_by_text("for the browser")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export JSON").click()
    assert re.fullmatch(r"run-[0-9a-f]{32}\.json", download.value.suggested_filename)
    row.get_by_role("link", name=QUESTION).click()
    page.wait_for_url(re.compile(r"[?&]run="))
    assert page.url.split("run=")[1][:32] == run
    asked = page.get_by_role("textbox", name="Question")
    expect(asked).to_have_value(QUESTION)
    page.reload()
    expect(asked).to_have_value(QUESTION)
    tab.settle()
    page.get_by_role("link", name="Runs").click()
    tab.narrow()
    expect(row).to_have_css("display", "grid")
    box = row.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= NARROW
    tab.settle()
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(QUESTION)
    dialog.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_text("1 run deleted.")).to_be_visible()
    assert page.locator(".runs b").count() == 0, "a question is text and never markup"
