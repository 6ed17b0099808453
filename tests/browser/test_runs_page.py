"""What only a browser shows of the Runs page: what is pressed in its lines, links, and cards when it is narrow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenTab

pytestmark = pytest.mark.browser
QUESTION = "What is <b>a truth table</b> used for?"
OTHER = "Which insulin acts fastest?"


def ask(page: Page, question: str) -> None:
    field = page.get_by_role("textbox", name="Question")
    field.fill(question)
    field.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))
    expect(page.get_by_role("tab", name=re.compile(r"Passages \d+"))).to_be_visible()


def test_runs_are_pinned_tagged_opened_and_deleted(open_tab: OpenTab) -> None:
    """SC-10, SC-12"""
    tab = open_tab()
    page = tab.open("/?lang=en")
    ask(page, QUESTION)
    first = page.url
    tab.settle()
    page.get_by_role("link", name="Runs").click()
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
    row.get_by_role("button", name="Take this tag away").click()
    expect(row.get_by_text("for the browser")).to_have_count(0)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export JSON").click()
    assert re.fullmatch(r"run-[0-9a-f]{32}\.json", download.value.suggested_filename)
    row.get_by_role("link", name=QUESTION).click()
    page.wait_for_url(re.compile(r"[?&]run="))
    assert page.url.split("run=")[1][:32] == first.split("run=")[1][:32]
    expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    tab.settle()
    page.get_by_role("link", name="Runs").click()
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(QUESTION)
    dialog.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    expect(page.get_by_text("1 run deleted.")).to_be_visible()
    assert tab.page.locator(".runs b").count() == 0, "a question is text and never markup"


def test_a_link_to_a_run_opens_it_in_another_tab_and_the_list_turns_to_cards(open_tab: OpenTab) -> None:
    """SC-12"""
    tab = open_tab(width=390)
    page = tab.open("/?lang=en")
    ask(page, OTHER)
    page.goto(page.url.replace("/?", "/runs?"))
    row = page.locator(".runs tbody tr").filter(has_text=OTHER).first
    expect(row).to_have_css("display", "grid")
    box = row.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    link = row.get_by_role("link", name=OTHER).get_attribute("href")
    other = open_tab()
    other.open(f"{link}&lang=en")
    expect(other.page.get_by_role("textbox", name="Question")).to_have_value(OTHER)
