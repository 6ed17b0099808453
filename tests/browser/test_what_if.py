"""What only a browser shows of what-if: a slider repaints the foot at once, and a cell of the map moves the sliders."""

from __future__ import annotations

import json
import urllib.request

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenTab
from tests.browser.server import App

pytestmark = pytest.mark.browser
LOOPS = "What are the main symptoms of diabetes?"
_REPAINTED = """([name, key]) => new Promise((done) => {
  const shadows = [...document.querySelectorAll("*")].flatMap((one) => one.shadowRoot ? [one.shadowRoot] : []);
  const root = shadows.find((one) => one.querySelector(".whatif"));
  const before = root.textContent;
  const slider = document.querySelector(`.st-key-${name} input[type=range]`);
  slider.focus();
  addEventListener("keydown", () => {
    new MutationObserver((_, watching) => {
      if (root.textContent === before) return;
      watching.disconnect();
      requestAnimationFrame(() => done());
    }).observe(root, { subtree: true, childList: true, characterData: true });
  }, { once: true, capture: true });
})"""


@pytest.fixture(scope="module")
def looped(app: App) -> str:
    """The id of a run that rewrites until it has to answer all the same."""
    record = app.post("/api/runs", {"question": LOOPS, "config": {"gate": "pass_rate"}})
    assert record["outcome"] == "answered_forced"
    return str(record["id"])


def runs(app: App) -> list[str]:
    with urllib.request.urlopen(f"{app.url}/api/runs") as response:
        return [item["id"] for item in json.load(response)]


def value_of(page: Page, name: str) -> str:
    return page.locator(f".st-key-{name} input[type=range]").input_value()


def test_sliders_cells_and_keys_show_other_settings_at_once_and_call_nothing(
    open_tab: OpenTab, app: App, looped: str
) -> None:
    tab = open_tab()
    page = tab.open(f"/?lang=en&run={looped}")
    foot = page.locator(".whatif")
    expect(foot).to_contain_text("Move a setting")
    expect(foot).to_be_in_viewport(ratio=1)
    expect(page.locator(".st-key-top_k input[type=range]")).to_be_visible()
    before, steps = runs(app), page.evaluate("history.length")
    for key in ("ArrowRight", "ArrowLeft"):
        page.evaluate(f"window.repainted = ({_REPAINTED})(['top_k', '{key}'])" + "; void 0")
        page.keyboard.press(key)
        page.evaluate("window.repainted")
        tab.settle()

    def back() -> None:
        foot.get_by_text("Reset").click()
        expect(foot).to_contain_text("Move a setting")
        tab.settle()
        assert (value_of(page, "top_k"), value_of(page, "grade_pass_threshold")) == ("5", "0.6")
        assert "gate=pass_rate" in page.url

    foot.get_by_text("Details").click()
    page.get_by_label("Settings on the axes").select_option("grade_pass_threshold.similarity_threshold")
    expect(page.locator(".map .axis.across")).to_contain_text("pass rate")
    expect(page.locator(".map .axis.up")).to_contain_text("similarity")
    cell = page.locator(".map .grid .cell.answered").first
    wanted = [float(cell.get_attribute(axis) or "") for axis in ("data-x", "data-y")]
    for _ in range(2):
        cell.click()
        expect(foot.locator(".say")).to_have_text("✓Answered")
        tab.settle()
        assert [float(value_of(page, name)) for name in ("grade_pass_threshold", "similarity_threshold")] == wanted
        back()
    page.locator(".map .cell.here").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(foot.locator(".say")).to_be_visible()
    tab.settle()
    assert float(value_of(page, "grade_pass_threshold")) < 0.6
    assert runs(app) == before
    # Sliders, cells and tabs are no steps to go back by; another page is one.
    assert page.evaluate("history.length") == steps
    page.get_by_role("link", name="Runs", exact=True).first.click()
    page.wait_for_url("**/runs**")
    tab.settle()
    assert page.evaluate("history.length") == steps + 1


def test_the_map_fits_a_narrow_screen_and_a_branch_is_opened(open_tab: OpenTab, looped: str) -> None:
    tab = open_tab(width=NARROW)
    page = tab.open(f"/?lang=en&run={looped}&max_rewrites=5")
    page.get_by_role("tab", name="What-if map").click()
    drawn = page.locator(".map").bounding_box()
    assert drawn
    assert drawn["x"] >= 0 and drawn["x"] + drawn["width"] <= NARROW
    page.get_by_text("Continue from there").click()
    page.wait_for_url(lambda url: looped not in url)
    tab.settle()
    expect(page.locator(".map .cell.here")).to_be_attached()
