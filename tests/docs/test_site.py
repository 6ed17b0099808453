"""The documentation builds into a site whose pages ask no other host, with a search that knows Chinese words."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs import CHINESE, README
from tests.docs.site import build

_FETCHING = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
_NO_REQUEST = {"canonical", "next", "prev", "alternate"}
"""Links that a browser does not follow by itself."""
_ASSET_ELSEWHERE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^)'\"\s]+)")


class Fetched(HTMLParser):
    """The addresses that a page fetches when it is opened, and the classes that make the theme's script fetch more."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.classes: set[str] = set()
        self.items = 0
        self.paragraphs_like_lists = 0
        self._paragraph = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.classes |= {*given.get("class", "").split()}
        self._paragraph = tag == "p"
        if tag in _FETCHING and given.get("rel") not in _NO_REQUEST:
            self.addresses.append(given.get(_FETCHING[tag], ""))
        self.addresses += _ASSET_ELSEWHERE.findall(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        if self._paragraph and re.search(r"^(?:- |1\. )", data, re.MULTILINE):
            self.paragraphs_like_lists += 1


def foreign_hosts(page: str) -> list[str]:
    parser = Fetched()
    parser.feed(page)
    return [address for address in parser.addresses if re.match(r"(?:https?:)?//", address)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """FV-01: a link to what does not exist fails the build, and so does a page that the navigation lacks."""
    return build(tmp_path_factory.mktemp("site"))


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    """FV-01: and each says in which language it is."""
    root = README.parent
    pages = [*(root / "docs").rglob("*.md"), root / "CONTRIBUTING.md", root / "CHANGELOG.md"]
    assert len(pages) > 20
    assert (site / "index.html").is_file()
    for page in pages:
        name = "index" if page.stem == "README" else page.stem
        built = (site / page.relative_to(root)).with_name(f"{name}.html")
        language = "zh-CN" if page.is_relative_to(CHINESE) else "en"
        assert f'<html lang="{language}"' in built.read_text(encoding="utf-8"), page


def test_no_page_and_no_asset_asks_another_host(site: Path) -> None:
    """FV-01"""
    pages = sorted(site.rglob("*.html"))
    for page in pages:
        assert foreign_hosts(page.read_text(encoding="utf-8")) == [], page
    for style in site.rglob("*.css"):
        assert _ASSET_ELSEWHERE.findall(style.read_text(encoding="utf-8")) == [], style


def test_nothing_makes_the_script_of_the_theme_fetch_diagrams_or_figures_of_a_repository(site: Path) -> None:
    """FV-01: only pages with such a diagram or such a box make it ask unpkg.com or api.github.com."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        parser = Fetched()
        parser.feed(text)
        assert "mermaid" not in parser.classes
        assert 'data-md-component="source"' not in text


def test_a_list_reads_as_a_list(site: Path) -> None:
    """GitHub takes a list without an empty line before it for one, the site does not."""
    for page in site.rglob("*.html"):
        parser = Fetched()
        parser.feed(page.read_text(encoding="utf-8"))
        assert not parser.paragraphs_like_lists, page


def test_the_search_has_chinese_words(site: Path) -> None:
    """FV-01"""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert index["config"]["lang"] == ["en", "zh"]
    chinese = next(item["text"] for item in index["docs"] if item["location"] == "docs/zh/index.html")
    assert "\u200b工作台\u200b" in chinese


@pytest.mark.parametrize(
    "page",
    [
        '<link rel="stylesheet" href="https://fonts.example/css">',
        '<script src="//cdn.example/x.js"></script>',
        '<img src="http://images.example/x.png">',
        '<p style="background: url(https://images.example/x.png)">',
    ],
)
def test_a_page_that_asks_another_host_is_noticed(page: str) -> None:
    assert foreign_hosts(page)
    assert not foreign_hosts('<a href="https://github.com">out</a><link rel="canonical" href="https://x.example/">')
