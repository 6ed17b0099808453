"""WCAG 2.2 AA on every page by axe-core, in English on light and in Chinese on dark; at 200 % zoom and on a phone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenTab, Watched
from tests.browser.screenshots import settle

pytestmark = pytest.mark.browser
PAGES: Mapping[str, str] = {
    "ask": "/?",
    "rescued": "/?run=demo-rescue-{lang}",
    "refused": "/?run=demo-abstains-{lang}",
    "quality loop": "/?run=demo-quality-{lang}&workflow=quality_loop",
    "dual loop": "/?run=demo-correction-{lang}&workflow=dual_loop",
    "graph": "/?run=demo-chain-{lang}&workflow=graph_hybrid",
    "answer evaluation": "/?run=demo-revision-{lang}&workflow=answer_evaluation",
    "tune": "/tune?",
    "runs": "/runs?",
    "compare": "/runs?view=compare&a=demo-rescue-{lang}&b=demo-forced-{lang}",
    "loops": "/runs?view=loops",
    "presenter": "/runs?view=present&run=demo-rescue-{lang}&step=3",
    "knowledge": "/knowledge?",
    "collections": "/knowledge?view=collections",
    "knowledge graph": "/knowledge?view=graph",
    "memory": "/knowledge?view=memory",
    "system": "/system?",
}
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES: Mapping[str, Any] = {name: {"enabled": True} for name in ("target-size", "heading-order")}
SMALLEST_PX = 12
ZOOMED = (720, 450)
"""Pixels of a page on 1440 × 900 that is enlarged to 200 %."""
PHONE = (NARROW, 844)
_CHECK = """async ([levels, rules]) => {
  const found = await axe.run(document, { runOnly: levels, rules, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => {
    const why = [...node.any, ...node.all, ...node.none].map((check) => check.message);
    return `${rule.id}: ${node.target.flat().at(-1)} | ${node.html.slice(0, 120)} | ${why[0]}`;
  }));
}"""
# Text of drawings grows and shrinks with them. Tabs of these tests ask for less motion.
_FAULTS = """(smallest) => {
  const found = [];
  const hidden = (element) => {
    for (let at = element; at; at = at.parentElement ?? at.getRootNode().host) {
      const look = getComputedStyle(at);
      if (look.display === "none" || look.visibility === "hidden" || look.opacity === "0" || at.inert) return true;
    }
    const { width, height } = element.getBoundingClientRect();
    return width < 2 || height < 2;
  };
  const walk = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) walk(element.shadowRoot);
      const look = getComputedStyle(element);
      const moves = look.animationName !== "none" || parseFloat(look.transitionDuration) > 0;
      if (moves) found.push(`moves: ${element.outerHTML.slice(0, 80)}`);
      if (element.closest("script, style, [data-testid=stIconMaterial]")) continue;
      const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
      const said = texts.map((node) => node.data.trim()).join("").slice(0, 40);
      if (!said || hidden(element)) continue;
      const drawn = element.ownerSVGElement ? element.getScreenCTM() : null;
      const grown = drawn ? Math.hypot(drawn.a, drawn.b) : 1;
      const size = grown * parseFloat(look.fontSize);
      if (size < smallest - 0.05) found.push(`${size.toFixed(1)} px: ${said} (${element.getAttribute("class")})`);
    }
  };
  walk(document);
  return found;
}"""
_WIDER = """() => [document.documentElement, document.querySelector('[data-testid="stMain"]')]
  .filter((element) => element.scrollWidth > element.clientWidth)
  .map((element) => `${element.scrollWidth} px on ${element.clientWidth}`)"""


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page as it stands, in shadow roots too."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_CHECK, [LEVELS, RULES])
    return found


def in_scheme(page: Page, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("html")).to_have_css("color-scheme", scheme)
    expect(page.locator(f".wb[data-scheme]:not([data-scheme={scheme}])")).to_have_count(0)


def in_width(page: Page, width: int, height: int) -> list[str]:
    """What is too small or too wide there."""
    page.set_viewport_size({"width": width, "height": height})
    settle(page)
    return [f"{width}: {fault}" for fault in (*page.evaluate(_FAULTS, SMALLEST_PX), *page.evaluate(_WIDER))]


def looked_at(
    tab: Watched, path: str, language: Literal["en", "zh"], scheme: Literal["light", "dark"], *screens: tuple[int, int]
) -> list[str]:
    """All faults of one page in one language and one theme."""
    tab.page.set_viewport_size({"width": 1440, "height": 900})
    page = tab.open(path.format(lang=language) + f"&lang={language}")
    settle(page)
    expect(page.locator("html")).to_have_attribute("lang", re.compile(f"^{language}"))
    in_scheme(page, scheme)
    found = [*violations(page), *page.evaluate(_FAULTS, SMALLEST_PX), *page.evaluate(_WIDER)]
    return found + [fault for size in screens for fault in in_width(page, *size)]


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_the_page_in_both_languages_and_themes_enlarged_and_on_a_phone(
    open_tab: OpenTab, name: str
) -> None:
    """FV-05"""
    tab = open_tab(width=1440)
    said: list[str] = []
    tab.page.on("console", lambda message: said.append(message.text))
    # Colours are those of the theme in either language, and English words are the longer ones.
    assert looked_at(tab, PAGES[name], "en", "light", ZOOMED, PHONE) == []
    assert looked_at(tab, PAGES[name], "zh", "dark", PHONE) == []
    assert [text for text in said if "Content Security Policy" in text] == []


def test_the_first_key_goes_into_the_question_and_a_link_leads_past_the_navigation(open_tab: OpenTab) -> None:
    """FV-05"""
    tab = open_tab()
    page = tab.open("/?lang=zh")
    expect(page.get_by_role("textbox", name="问题")).to_be_focused()
    page = tab.open("/tune?lang=zh")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page).to_have_title(re.compile("^调参"))
    page.keyboard.press("Tab")
    past = page.get_by_role("link", name="跳到正文")
    expect(past).to_be_focused()
    expect(past).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain")).to_be_focused()
