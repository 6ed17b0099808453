"""What only a browser shows of what-if: a slider repaints the card at once, and a cell of the map moves the sliders."""

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
  window.waiting = true;
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
    page = tab.open(f"/?lang=en&run={looped}&grade_pass_threshold=0.19&top_k=9")
    card = page.locator(".whatif")
    expect(card).to_contain_text("pass rate at least 0.19")
    before = runs(app)
    for key in ("ArrowRight", "ArrowLeft"):
        page.evaluate(f"window.repainted = ({_REPAINTED})(['grade_pass_threshold', '{key}'])" + "; void 0")
        page.wait_for_function("window.waiting")
        page.keyboard.press(key)
        page.evaluate("window.repainted")
        tab.settle()
    expect(card).to_contain_text("0.19")

    def back() -> None:
        card.get_by_text("Back to the run's settings").click()
        expect(card).to_contain_text("These are the run's own settings")
        tab.settle()
        assert (value_of(page, "top_k"), value_of(page, "grade_pass_threshold")) == ("5", "0.6")
        assert "gate=pass_rate" in page.url

    back()
    page.get_by_role("tab", name="What-if map").click()
    cell = page.locator(".map .grid .cell.answered").first
    wanted = [float(cell.get_attribute(axis) or "") for axis in ("data-x", "data-y")]
    for _ in range(2):
        cell.click()
        expect(page.locator(".whatif .say")).to_contain_text("answered at round 0")
        tab.settle()
        assert [float(value_of(page, name)) for name in ("grade_pass_threshold", "similarity_threshold")] == wanted
        back()
    page.locator(".map .cell.here").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(card).to_contain_text("With pass rate at least")
    tab.settle()
    assert float(value_of(page, "grade_pass_threshold")) < 0.6
    assert runs(app) == before


def test_the_map_fits_a_narrow_screen_and_a_branch_is_opened(open_tab: OpenTab, looped: str) -> None:
    tab = open_tab(width=NARROW)
    page = tab.open(f"/?lang=en&run={looped}&grade_pass_threshold=0.2")
    page.get_by_role("tab", name="What-if map").click()
    drawn = page.locator(".map").bounding_box()
    assert drawn
    assert drawn["x"] >= 0 and drawn["x"] + drawn["width"] <= NARROW
    page.get_by_test_id("stExpandSidebarButton").click()
    page.locator(".whatif").get_by_text("Generate it").click()
    expect(page.locator(".whatif")).to_contain_text("These are the run's own settings")
    tab.settle()
    assert looped not in page.url
    expect(page.locator(".map .cell.here")).to_be_attached()
