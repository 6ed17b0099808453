"""What only a browser shows of the pages: live drawing, refresh, stop, tabs, links, a narrow screen, the keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.conftest import OpenTab
from tests.support.ollama_stand_in import Gate, OllamaStandIn, Reply, Slow

pytestmark = pytest.mark.browser
ENGLISH = "How many rows does a truth table with five variables need?"
CHINESE = "糖化血红蛋白应该控制在多少以下？"
STOP = re.compile("^Stop")
SLOW_ANSWER = "/?lang=en&generator=ollama:qwen3:8b"


def ask(page: Page, question: str, box: str = "Question") -> None:
    """Type a question and press Enter."""
    field = page.get_by_role("textbox", name=box)
    field.fill(question)
    field.press("Enter")


def test_a_question_lights_up_the_workflow_and_its_citations_open_their_passages(open_tab: OpenTab) -> None:
    """SC-12"""
    tab = open_tab()
    page = tab.open("/?lang=zh")
    ask(page, CHINESE, "问题")
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))
    answer = page.locator("section.answer").filter(has_text="7").last
    expect(answer).to_be_visible()
    expect(page.locator(".glance .step.passed").first).to_be_visible()
    expect(page.get_by_role("tab", name=re.compile(r"片段 \d+"))).to_be_visible()
    tab.settle()
    page.get_by_role("tab").nth(3).click()
    expect(page.locator(".passages")).not_to_be_visible()
    answer.locator("button.cite").first.click()
    expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
    expect(page.locator(".passages [aria-expanded=true]").first).to_be_in_viewport()


def test_a_refresh_and_a_shared_link_attach_to_a_run_that_goes_on(open_tab: OpenTab, ollama: OllamaStandIn) -> None:
    """SC-12: what has been written stands there again, and where it stood, the finished answer stands."""
    gate = Gate()
    ollama.script("chat", Slow(gate=gate, reply=Reply(f"It needs thirty-two rows {'and no more ' * 20}[1].")))
    tab = open_tab()
    page = tab.open(SLOW_ANSWER)
    ask(page, ENGLISH)
    page.wait_for_url(re.compile(r"[?&]run="))
    gate.allow(12)
    growing = page.locator("section.answer").filter(has_text="It needs")
    expect(growing).to_be_visible()
    page.reload()
    expect(growing).to_be_visible()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(ENGLISH)
    shared = open_tab()
    shared.page.goto(page.url)
    expect(shared.page.locator("section.answer").filter(has_text="It needs")).to_be_visible()
    tab.settle()
    before = growing.bounding_box()
    gate.open()
    for each in (page, shared.page):
        expect(each.locator("section.answer button.cite").first).to_be_visible()
        expect(each.get_by_role("button", name=STOP)).to_have_count(0)
    tab.settle()
    after = growing.bounding_box()
    assert before is not None and after is not None
    assert (before["x"], before["y"], before["width"]) == (after["x"], after["y"], after["width"])


def test_what_was_missed_while_the_connection_was_lost_stands_there_when_it_is_back(
    open_tab: OpenTab, ollama: OllamaStandIn
) -> None:
    """SC-12"""
    gate = Gate()
    ollama.script("chat", Slow(gate=gate, reply=Reply(f"It needs thirty-two rows {'and no more ' * 5}[1].")))
    page = open_tab().open(SLOW_ANSWER)
    stream = re.compile(r"/api/runs/[0-9a-f]{32}/view")
    page.route(stream, lambda route: route.abort())
    ask(page, ENGLISH)
    state = page.locator(".live .state")
    expect(state).to_have_text("Connection lost, retrying …")
    gate.allow(12)
    page.unroute(stream)
    expect(page.locator("section.answer").filter(has_text="It needs thirty-two")).to_be_visible()
    expect(state).to_have_text("The generator is writing the answer")
    expect(page.locator(".live .node.passed")).to_have_count(2)
    gate.open()
    expect(page.locator("section.answer button.cite").first).to_be_visible()
    expect(page.get_by_role("button", name=STOP)).to_have_count(0)


def test_escape_stops_a_run_and_says_so(open_tab: OpenTab, ollama: OllamaStandIn) -> None:
    """SC-13"""
    gate = Gate()
    ollama.script("chat", Slow(gate=gate))
    tab = open_tab()
    page = tab.open(SLOW_ANSWER)
    ask(page, ENGLISH)
    expect(page.get_by_role("button", name=STOP)).to_be_visible()
    tab.settle()
    # From the question box, where Enter has left the keyboard.
    expect(page.get_by_role("textbox", name="Question")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    expect(page.get_by_role("button", name=STOP)).to_have_count(0)
    ollama.wait_for(lambda seen: seen.requests_to("chat")[-1].aborted)


def test_two_tabs_run_their_own_questions(open_tab: OpenTab) -> None:
    """SC-12"""
    first, second = open_tab(), open_tab()
    english, chinese = first.open("/?lang=en"), second.open("/?lang=zh&top_k=3")
    ask(english, ENGLISH)
    ask(chinese, CHINESE, "问题")
    expect(english.locator("section.answer").filter(has_text="32").last).to_be_visible()
    expect(chinese.locator("section.answer").filter(has_text="7").last).to_be_visible()
    assert "top_k=3" in chinese.url
    assert "top_k" not in english.url


def test_a_narrow_screen_shows_everything_without_scrolling_sideways(open_tab: OpenTab) -> None:
    """SC-12"""
    tab = open_tab(width=390, height=844)
    page = tab.open("/?lang=en")
    ask(page, ENGLISH)
    expect(page.locator("section.answer").filter(has_text="32").last).to_be_visible()
    tab.settle()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")


def test_the_keyboard_alone_reaches_a_node_and_a_slider(open_tab: OpenTab) -> None:
    """SC-08, SC-12: arrows move sliders, and the address follows."""
    tab = open_tab()
    page = tab.open("/?lang=en")
    ask(page, ENGLISH)
    expect(page.locator("section.answer").filter(has_text="32").last).to_be_visible()
    tab.settle()
    # The line of nodes; the picture has a node of the same name until it has folded.
    node = page.locator("button[data-step=grade]")
    expect(node).to_be_visible()
    node.focus()
    node.press("Enter")
    expect(node).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Showing only what Grade did.")).to_be_visible()
    page.get_by_role("button", name="Show all").press("Enter")
    expect(node).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_text("Showing only what Grade did.")).to_have_count(0)
    slider = page.get_by_role("slider", name="Top-k")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_url(re.compile(r"top_k=6"))


def test_a_deep_link_to_a_page_opens_it_with_its_frame(open_tab: OpenTab) -> None:
    """SC-12"""
    page = open_tab().open("/knowledge?lang=en")
    expect(page.get_by_text("Add files").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Ask"))).to_be_visible()


def test_a_link_made_in_one_language_means_the_same_in_another(open_tab: OpenTab) -> None:
    """SC-12: the address holds the settings under their own names."""
    tab = open_tab(language="zh-CN")
    page = tab.open()
    page.get_by_role("radio", name="按通过率").click()
    page.wait_for_url(re.compile(r"[?&]gate=pass_rate"))
    reader = open_tab()
    shown = reader.open(page.url.removeprefix(reader.home))
    expect(shown.get_by_role("radio", name="Pass rate")).to_be_checked()
    expect(shown.get_by_role("slider", name="Pass rate at least")).to_be_visible()
    shown.get_by_role("link", name=re.compile("Knowledge")).click()
    expect(shown.get_by_text("Add files").first).to_be_visible()
    shown.get_by_role("link", name=re.compile("Ask")).click()
    expect(shown.get_by_role("radio", name="Pass rate")).to_be_checked()
    shown.wait_for_url(re.compile(r"[?&]gate=pass_rate"))


def test_files_are_previewed_put_in_read_asked_and_deleted_again(open_tab: OpenTab) -> None:
    """SC-12: the Knowledge page from the upload to the dialog that asks before it deletes."""
    tab = open_tab()
    page = tab.open("/knowledge?lang=en")
    # Chosen, for another test may have left a collection that would be proposed.
    page.get_by_role("combobox", name=re.compile("Into collection")).click()
    page.get_by_role("option", name=re.compile("New collection")).click()
    tab.settle()
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.fill("pets")
    name.press("Enter")
    tab.settle()
    content = b"# Cats\n\nCats eat fish and mice."
    page.locator("input[type=file]").set_input_files(
        [
            FilePayload(name="cats.md", mimeType="text/plain", buffer=content),
            FilePayload(name="broken.txt", mimeType="text/plain", buffer=b"\x00\xff\xfe\x00\x00"),
        ]
    )
    page.get_by_role("button", name="Preview", exact=True).click()
    expect(page.get_by_text("How cats.md is cut")).to_be_visible()
    expect(page.get_by_text("Cats eat fish and mice.")).to_be_visible()
    expect(page.get_by_text("cannot be used", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 source with 1 passage went in")).to_be_visible()
    expect(page.get_by_text("broken.txt was left out:")).to_be_visible()
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_url(re.compile(r"view=collections"))
    open_source(page, "cats.md")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("Cats eat fish and mice.")
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)
    page.get_by_role("button", name="Ask it").click()
    page.wait_for_url(re.compile(r"[?&]collection=pets"))
    question = page.get_by_role("textbox", name="Question")
    question.fill("What do cats eat?")
    question.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))
    expect(page.get_by_text("fish and mice").first).to_be_visible()
    tab.settle()
    page.get_by_role("link", name=re.compile("Knowledge")).click()
    page.get_by_role("radio", name="Collections").click()
    tab.settle()
    open_source(page, "cats.md")
    expect(drawer).to_contain_text("Cats eat fish and mice.")
    tab.settle()
    drawer.get_by_role("button", name="Delete this source").click()
    expect(drawer).to_contain_text("Delete cats.md and its passage?")
    drawer.get_by_role("button", name=re.compile("Delete$")).click()
    expect(page.get_by_text("cats.md was deleted with its passage.")).to_be_visible()
    expect(page.get_by_text("This collection is empty.", exact=False)).to_be_visible()


def open_source(page: Page, name: str) -> None:
    """Press a source in the list of the view Collections."""
    page.locator(".sources").get_by_role("button", name=name).click()
