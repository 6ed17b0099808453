"""The site of the documentation in a browser: search finds pages in both languages, and no other host is asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenTab
from tests.docs.site import build

pytestmark = pytest.mark.browser


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = build(tmp_path_factory.mktemp("site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_search_finds_a_page_in_both_languages_and_asks_no_other_host(open_tab: OpenTab, address: str) -> None:
    """FV-01"""
    page = open_tab(home=address).page
    for asked, found in (("watch list", "Debug one run"), ("阈值", "调试一次运行")):
        page.goto(f"{address}/index.html")
        box = page.get_by_role("textbox", name="Search")
        box.focus()
        # What is typed before the index is there may be missed; and a search begins with a key.
        expect(page.locator(".md-search-result__meta")).to_have_text("Type to start searching")
        box.fill(asked)
        box.press("End")
        result = page.locator(".md-search-result__item", has_text=found).first
        expect(result).to_be_visible()
        result.locator("a").first.click()
        page.wait_for_url("**/docs/**")
