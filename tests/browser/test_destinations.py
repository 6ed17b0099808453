"""The five destinations: a bar that stands still, and addresses of former versions that lead to where the page is."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenTab

BAR = '[data-testid="stTopNavLink"]'
NAMES = ("Ask", "Tune", "Runs", "Knowledge", "System")


def places(page: Page) -> list[tuple[str, int]]:
    """What the bar shows, and where each entry begins."""
    links = page.locator(BAR).filter(visible=True)
    expect(links).to_have_count(len(NAMES))
    found = [(link.inner_text(), link.bounding_box()) for link in links.all()]
    return [(name.split("\n")[-1], round(box["x"])) for name, box in found if box is not None]


def test_the_bar_stands_still_and_a_page_without_settings_has_no_sidebar(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open("/workbench?lang=en&run=demo-forced-en")
    assert urlsplit(page.url).path == "/", "a former address leads to where the page is now"
    assert parse_qs(urlsplit(page.url).query)["run"] == ["demo-forced-en"]
    expect(page.get_by_test_id("stHeader")).to_have_css("position", "fixed")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    first = places(page)
    assert tuple(name for name, _ in first) == NAMES
    assert page.get_by_text("more", exact=True).count() == 0
    for name in ("Runs", "Knowledge", "System", "Tune", "Ask"):
        page.locator(BAR, has_text=name).filter(visible=True).click()
        expect(page.locator(f'{BAR}[aria-current="page"]').filter(visible=True)).to_contain_text(name)
        tab.settle()
        # The chosen one is bold, which moves what follows it by less than a letter.
        assert [(who, at) for who, at in places(page) if abs(at - dict(first)[who]) > 4] == []
        if name == "Runs":
            # Ask's own settings go before the sidebar does.
            expect(page.get_by_text("Min. similarity")).to_have_count(0)
            expect(page.get_by_test_id("stSidebar")).not_to_be_visible()
