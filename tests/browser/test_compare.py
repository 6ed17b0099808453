"""The page Compare and the report in a real browser: narrow screens, links, and a file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, expect

from components.common.i18n import UiLanguage, words_for
from components.runs.report import report_html
from engine.model.values import RunRecord
from engine.samples.demos import demo_record
from tests.browser.conftest import OpenTab
from tests.components.laced_run import HOSTILE, laced
from tests.components.test_workflow_export import LOOP

pytestmark = pytest.mark.browser
EN = words_for("en")


def opened_offline(chrome: Browser, folder: Path, record: RunRecord, language: UiLanguage, width: int) -> list[str]:
    """Open the report as a file without a network; returns what went wrong or was asked for besides the file."""
    file = folder / "report.html"
    file.write_text(report_html(record, LOOP, words_for(language)), encoding="utf-8")
    context = chrome.new_context(viewport={"width": width, "height": 800}, offline=True)
    noted: list[str] = []

    def note(dialog: Dialog) -> None:
        noted.append(dialog.message)
        dialog.dismiss()

    try:
        page = context.new_page()
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
    finally:
        context.close()
    return noted


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("zh", 390)])
def test_a_report_opens_from_a_file_without_a_network_or_an_error(
    chrome: Browser, tmp_path: Path, language: UiLanguage, width: int
) -> None:
    assert opened_offline(chrome, tmp_path, demo_record(f"demo-forced-{language}"), language, width) == []


def test_a_report_of_a_hostile_run_asks_for_nothing_and_runs_nothing(chrome: Browser, tmp_path: Path) -> None:
    assert opened_offline(chrome, tmp_path, laced(" ".join(HOSTILE)), "en", 390) == []


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


@pytest.mark.parametrize("width", [1280, 390])
def test_two_runs_stand_side_by_side_and_below_each_other_on_a_narrow_screen(open_tab: OpenTab, width: int) -> None:
    tab = open_tab(width=width)
    page = tab.open("/compare?lang=en&a=demo-forced-en&b=demo-rescue-en")
    cells = page.locator(".compare .pair").filter(has=page.locator(".cell.num")).first.locator(".cell")
    expect(cells).to_have_count(2)
    # Until its style is there, everything stands below everything.
    expect(page.locator(".compare .pair").first).to_have_css("display", "grid")
    first, second = (cells.nth(place).bounding_box() for place in (0, 1))
    assert first is not None and second is not None
    assert (second["y"] >= first["y"] + first["height"]) == (width == 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.foreign == []
