"""What only a browser shows of the order of the Ask page: after a run the answer is seen without scrolling."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.conftest import OpenTab
from tests.support.ollama_stand_in import Gate, OllamaStandIn, Reply, Slow

pytestmark = pytest.mark.browser
QUESTIONS = {"en": "What are the main symptoms of diabetes?", "zh": "没开封的胰岛素应该怎样保存？"}
BOXES = {"en": "Question", "zh": "问题"}
HEADER = 60
"""Pixels of the page that the navigation covers."""


def box(one: Locator) -> FloatRect:
    """Where it is drawn; a part that grows may just be replaced, and is waited for."""
    found: FloatRect = one.evaluate("element => element.getBoundingClientRect().toJSON()")
    return found


def asked(page: Page, language: str) -> None:
    field = page.get_by_role("textbox", name=BOXES[language])
    field.fill(QUESTIONS[language])
    field.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))
    expect(page.locator("section.answer button.cite").first).to_be_visible()


@pytest.mark.parametrize(("width", "height", "language"), [(1280, 720, "en"), (390, 844, "zh")])
def test_after_a_run_the_answer_and_the_line_of_what_if_are_in_sight(
    open_tab: OpenTab, width: int, height: int, language: str
) -> None:
    """SC-12: answer first; the workflow is one line below it, and the questions to try have folded away."""
    tab = open_tab(width=width, height=height)
    page = tab.open(f"/?lang={language}")
    expect(page.locator(".st-key-samples")).to_be_visible()
    asked(page, language)
    tab.settle()
    expect(page.locator(".st-key-samples")).not_to_be_visible()
    run = re.search(r"run=([0-9a-f]{32})", page.url)
    assert run is not None
    tab.open(f"/?lang={language}&run={run[1]}&top_k=4")
    line, answer, whole = page.locator("p.would"), page.locator("section.answer"), page.locator(".live .whole")
    expect(line).to_be_visible()
    expect(answer.locator(".prose")).to_be_visible()
    tab.settle()
    question = page.get_by_role("textbox", name=BOXES[language])
    figures = page.locator(".figures.strip")
    tops = [box(one)["y"] for one in (question, line, figures, answer, page.locator(".glance"))]
    assert tops == sorted(tops) and tops[0] > HEADER
    for one in (line, figures, answer.locator(".prose")):
        assert box(one)["y"] + box(one)["height"] <= height
        assert box(one)["x"] >= 0 and box(one)["x"] + box(one)["width"] <= width
    assert box(page.locator(".glance"))["height"] < 48
    assert box(whole)["height"] < 1
    page.locator('[data-testid="stMain"]').evaluate("main => main.scrollTo(0, main.scrollHeight)")
    assert HEADER <= box(line)["y"] < 100


def test_the_workflow_is_open_while_a_run_goes_on_and_folds_where_it_stands(
    open_tab: OpenTab, ollama: OllamaStandIn
) -> None:
    gate = Gate()
    ollama.script("chat", Slow(gate=gate, reply=Reply(f"It needs thirty-two rows {'and no more ' * 5}[1].")))
    tab = open_tab(width=1280, height=720)
    page = tab.open("/?lang=en&generator=ollama:qwen3:8b")
    field = page.get_by_role("textbox", name="Question")
    field.fill("How many rows does a truth table with five variables need?")
    field.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run="))
    gate.allow(12)
    growing = page.locator("section.answer").filter(has_text="It needs")
    expect(page.locator(".live .state")).to_have_text("The generator is writing the answer")
    expect(growing).to_be_visible()
    tab.settle()
    picture = page.locator(".live .whole")
    expect(page.locator(".glance")).to_be_hidden()
    assert box(picture)["height"] > 150
    cards = page.locator(".figures.strip .figure")
    expect(cards.nth(3)).to_contain_text("1 running")
    expect(cards.nth(4)).not_to_have_text(cards.nth(4).inner_text())
    expect(growing).to_be_visible()
    answer_at, workflow_at = box(growing)["y"], box(page.locator(".wb.live"))["y"]
    gate.open()
    expect(page.locator(".glance")).to_be_visible()
    expect(picture).to_have_css("visibility", "hidden")
    tab.settle()
    assert box(growing)["y"] == answer_at
    # By no more than the line with the sources, which the answer gets at its end.
    assert 0 <= box(page.locator(".wb.live"))["y"] - workflow_at < 48
    page.get_by_role("button", name="Show workflow").click()
    expect(page.locator("svg g.node.passed").first).to_be_visible()
    page.get_by_role("button", name="Fold workflow").click()
    expect(picture).to_have_css("visibility", "hidden")


def test_a_press_on_the_line_of_nodes_is_heard_while_the_picture_is_painted_again(open_tab: OpenTab) -> None:
    """The picture is painted at each change of its size, so while it folds."""
    tab = open_tab(width=1280, height=720)
    page = tab.open("/?lang=en&run=demo-passes-en")
    fold = page.get_by_role("button", name="Show workflow")
    expect(fold).to_be_visible()
    tab.settle()
    words = fold.locator(".words").element_handle()
    assert words is not None
    page.set_viewport_size({"width": 1200, "height": 720})
    tab.settle()
    assert words.evaluate("words => words.isConnected"), "what was pressed is gone before it is released"


def test_the_picture_of_a_live_run_follows_a_change_of_language(open_tab: OpenTab, ollama: OllamaStandIn) -> None:
    gate = Gate()
    ollama.script("chat", Slow(gate=gate, reply=Reply("It needs thirty-two rows [1].")))
    page = open_tab(width=1280, height=720).open("/?lang=en&generator=ollama:qwen3:8b")
    field = page.get_by_role("textbox", name="Question")
    field.fill("How many rows does a truth table with five variables need?")
    field.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run="))
    node = page.locator(".live .canvas")
    expect(node).to_contain_text("Generate")
    page.get_by_text("中文", exact=True).click()
    # While the page is drawn in the other language, the former picture stands next to the new one.
    expect(node.filter(has_text="生成")).to_be_visible()
    expect(node).to_have_count(1)
    expect(node).not_to_contain_text("Generate")
    expect(page.locator(".live .state")).not_to_contain_text("generator")
    gate.open()
    expect(page.locator(".glance")).to_be_visible()
