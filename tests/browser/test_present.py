"""The presenter view in a browser: keys, scrubbing, playing, and nothing that is executed or leaves the machine."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenTab, Watched
from tests.browser.server import App

pytestmark = pytest.mark.browser
FORCED = "/present?lang=en&run=demo-forced-en"


def stage(page: Page) -> Locator:
    found = page.locator("section.presenter")
    expect(found.locator("svg .node").first).to_be_visible()
    return found


# A label that is not shown keeps the place where it stood last.
_SHOWN = """node => {
  const copy = node.cloneNode(true);
  for (const hidden of copy.querySelectorAll(".chip-edge.empty")) hidden.remove();
  return copy.outerHTML;
}"""


def moment(page: Page) -> tuple[str, str, str]:
    """Sentence, picture and cards as they stand."""
    parts = (stage(page).locator(name) for name in (".said", ".canvas svg", ".cards"))
    said, picture, cards = (part.evaluate(_SHOWN) for part in parts)
    return said, picture, cards


def recorded_runs(app: App) -> int:
    with urllib.request.urlopen(f"{app.url}/api/runs") as response:
        return len(json.load(response))


def place(page: Page) -> Locator:
    return stage(page).locator(".place")


def test_keys_step_and_going_back_shows_the_same_pictures_as_going_on(open_tab: OpenTab, app: App) -> None:
    """SC-12"""
    recorded = recorded_runs(app)
    tab = open_tab()
    page = tab.open(FORCED)
    expect(place(page)).to_have_text("1 / 13")
    seen = [moment(page)]
    for number in range(2, 14):
        page.keyboard.press("ArrowRight")
        expect(place(page)).to_have_text(f"{number} / 13")
        seen.append(moment(page))
    assert len(set(seen)) == 13
    expect(page.locator("section.answer")).to_contain_text("Leonard Thompson")
    for number in range(12, 0, -1):
        page.keyboard.press("ArrowLeft")
        expect(place(page)).to_have_text(f"{number} / 13")
        assert moment(page) == seen[number - 1]
    page.keyboard.press("End")
    assert moment(page) == seen[-1]
    page.keyboard.press("Home")
    assert moment(page) == seen[0]
    tab.settle()
    scrub_to_a_step_and_back(tab, seen)
    assert recorded_runs(app) == recorded


def scrub_to_a_step_and_back(tab: Watched, seen: list[tuple[str, str, str]]) -> None:
    """The address holds the step, and opens there; a narrow stage stays inside the screen."""
    page = tab.page
    scrub = stage(page).locator("input.scrub")
    scrub.fill(scrub.get_attribute("max") or "")
    expect(place(page)).to_have_text("13 / 13")
    assert moment(page) == seen[-1]
    page.wait_for_url(re.compile("step=13"))
    tab.narrow()
    tab.open(f"{FORCED}&step=3")
    expect(stage(page).locator(".said")).to_have_text(re.compile(r"\d of 5 passages pass: below the bar → Rewrite\."))
    expect(stage(page).locator(".said")).to_be_in_viewport()
    expect(page.locator("section.answer")).to_have_count(0)
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    stage(page).locator("button.next").click()
    expect(place(page)).to_have_text("4 / 13")
    page.wait_for_url(re.compile("step=4$"))


def test_space_plays_to_the_end_and_a_slider_shows_what_a_lower_bar_would_have_done(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open("/present?lang=zh&run=demo-passes-zh")
    stage(page).locator("select.speed").select_option("2")
    stage(page).locator(".sentence").click()
    page.keyboard.press(" ")
    expect(stage(page).locator("button.play")).to_have_attribute("aria-label", "暂停")
    expect(place(page)).to_have_text("4 / 4")
    expect(stage(page).locator("button.play")).to_have_attribute("aria-label", "播放")
    bar = page.get_by_role("slider", name=re.compile("最少相关片段数"))
    expect(bar).to_be_visible()
    bar.press("ArrowRight")
    expect(page.get_by_text("结果不变")).to_be_visible()
    expect(place(page)).to_have_text("4 / 4")
