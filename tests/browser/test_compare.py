"""The page Compare and the report in a real browser: narrow screens, links, and a file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, expect

from components.common.i18n import UiLanguage, words_for
from components.runs.report import report_html
from engine.samples.demos import demo_record
from tests.browser.conftest import OpenTab
from tests.components.laced_run import HOSTILE, laced
from tests.components.test_workflow_export import LOOP

pytestmark = pytest.mark.browser
EN = words_for("en")


@pytest.fixture(scope="module")
def no_network(chrome: Browser) -> Iterator[BrowserContext]:
    """A browser without a network."""
    context = chrome.new_context(offline=True)
    yield context
    context.close()


@pytest.mark.parametrize(("run", "language", "width"), [("forced-en", "en", 1280), ("hostile", "zh", 390)])
def test_a_report_opens_from_a_file_asks_for_nothing_and_runs_nothing(
    no_network: BrowserContext, tmp_path: Path, run: str, language: UiLanguage, width: int
) -> None:
    record = laced(" ".join(HOSTILE)) if run == "hostile" else demo_record(f"demo-{run}")
    file = tmp_path / "report.html"
    file.write_text(report_html(record, LOOP, words_for(language)), encoding="utf-8")
    noted: list[str] = []

    def note(dialog: Dialog) -> None:
        noted.append(dialog.message)
        dialog.dismiss()

    page = no_network.new_page()
    page.set_viewport_size({"width": width, "height": 800})
    page.on("console", lambda message: noted.append(message.text))
    page.on("pageerror", lambda error: noted.append(str(error)))
    page.on("request", lambda request: noted.append(request.url) if request.url != file.as_uri() else None)
    page.on("dialog", note)
    page.goto(file.as_uri())
    page.locator("summary").evaluate_all("all => all.forEach(one => one.click())")
    expect(page.locator("details:not([open])")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "owned" not in page.title().split()
    assert page.locator("script, img, iframe, [onerror], [onload], [href^=java]").count() == 0
    assert noted == []


def test_a_citation_of_the_report_opens_its_passage_without_a_script(chrome: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_html(demo_record("demo-passes-en"), LOOP, EN), encoding="utf-8")
    context = chrome.new_context(java_script_enabled=False, offline=True)
    try:
        page = context.new_page()
        page.goto(file.as_uri())
        page.locator("a.cite").first.click()
        expect(page.locator("details.passage[open]")).to_have_count(1)
        expect(page.locator("#p1")).to_be_in_viewport()
    finally:
        context.close()


def test_two_runs_stand_side_by_side_and_below_each_other_on_a_narrow_screen(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open("/compare?lang=en&a=demo-forced-en&b=demo-rescue-en")
    cells = page.locator(".compare .pair").filter(has=page.locator(".cell.num")).first.locator(".cell")
    expect(cells).to_have_count(2)
    # Until its style is there, everything stands below everything.
    expect(page.locator(".compare .pair").first).to_have_css("display", "grid")
    wide = [cells.nth(place).bounding_box() for place in (0, 1)]
    tab.narrow()
    page.wait_for_function("() => document.documentElement.scrollWidth <= 390")
    narrow = [cells.nth(place).bounding_box() for place in (0, 1)]
    below = [second["y"] >= first["y"] + first["height"] for first, second in (wide, narrow) if first and second]
    assert below == [False, True]
