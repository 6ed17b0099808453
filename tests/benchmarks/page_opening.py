"""Opening what is stored, in a browser: a link as the first page of a fresh process, a run, the grader bench."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from components.common.i18n import words_for
from tests.benchmarks.harness import Bench, Row
from tests.benchmarks.tune_page import SET, gathered_folder
from tests.browser.chromium import launched
from tests.browser.screenshots import IDLE
from tests.browser.server import App, started_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

_BUDGETS = {
    "shared link, first page of the process": 3.0,
    "stored run": 1.0,
    "shared link, new browser": 3.0,
    "grader bench, first time": 2.0,
}
_SIZE: ViewportSize = {"width": 1400, "height": 1000}
_DIAGRAM = words_for("en")("Reliability (calibration error {ece})", ece="").split("(")[0].strip()
_PATIENCE_MS = 120_000
_GATHERED = 60


def page_opening(bench: Bench) -> Iterator[Row]:
    """Seconds from the address, or the press, to what was asked for being on the page; and what they cost the app."""
    from playwright.sync_api import sync_playwright

    folder = bench.folder / "data"
    gathered_folder(folder, min(_GATHERED, bench.sizes.swept))
    taken: dict[str, list[float]] = {name: [] for name in _BUDGETS}
    spent: dict[str, list[float]] = {name: [] for name in _BUDGETS}
    for _ in range(bench.sizes.starts):
        with started_app(folder) as app, sync_playwright() as playwright:
            app.wait_until_served()
            app.wait_until_ready()
            runs = [item["id"] for item in app.get("/api/runs?limit=3")]
            browser = launched(playwright)
            for name, work in zip(_BUDGETS, _openings(browser, app, runs), strict=True):
                began, before = time.perf_counter(), app.cpu_s()
                work()
                taken[name].append(time.perf_counter() - began)
                spent[name].append(app.cpu_s() - before)
            browser.close()
    for name, budget_s in _BUDGETS.items():
        yield Row(name, "s", tuple(taken[name]), f"< {budget_s:g} s")
        yield Row(f"{name}: of the app's processor", "s", tuple(spent[name]))


def _openings(browser: Browser, app: App, runs: list[str]) -> Iterator[Callable[[], object]]:
    """In the order of the budgets; what comes before one of them is not measured."""

    def visitor() -> Page:
        page = browser.new_page(viewport=_SIZE, locale="en-US")
        page.set_default_timeout(_PATIENCE_MS)
        return page

    def opened(page: Page, run_id: str) -> None:
        page.goto(f"{app.url}/?run={run_id}&lang=en")
        page.locator(".st-key-answer").wait_for()

    page = visitor()
    yield lambda: opened(page, runs[0])
    page.wait_for_selector(IDLE)
    yield lambda: opened(page, runs[1])
    page.wait_for_selector(IDLE)
    # With a profile of its own, so that nothing of the pages is there yet.
    other = visitor()
    yield lambda: opened(other, runs[2])
    other.close()
    page.goto(f"{app.url}/tune?lang=en&query_set={SET}")
    page.locator(".st-key-tune_front svg.marks").wait_for()
    page.wait_for_selector(IDLE)

    def bench() -> None:
        page.get_by_role("tab", name="Grader").click()
        page.locator("svg.marks", has_text=_DIAGRAM).wait_for()

    yield bench
