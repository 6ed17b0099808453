"""What only a browser shows of Ask and Knowledge: live drawing, refresh, stop, tabs, links, places, the keyboard."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from playwright.sync_api import FilePayload, FloatRect, Locator, Page, expect

from tests.browser.conftest import NARROW, OpenTab
from tests.browser.screenshots import IDLE
from tests.support.gates import until
from tests.support.ollama_stand_in import Gate, OllamaStandIn, Reply, Slow

pytestmark = pytest.mark.browser
ENGLISH = "How many rows does a truth table with five variables need?"
SHORT = "没开封的胰岛素应该怎样保存？"
"""Its answer is short enough for the screen of a phone."""
CHINESE = "糖化血红蛋白应该控制在多少以下？"
STOP = re.compile("^Stop")
SLOW_ANSWER = "/?lang=en&generator=ollama:qwen3:8b"
HEADER = 60
"""Pixels of the page that the navigation covers."""


def ask(page: Page, question: str, box: str = "Question") -> None:
    """Type a question, press Enter, and wait until the address names its run."""
    field = page.get_by_role("textbox", name=box)
    field.fill(question)
    field.press("Enter")
    page.wait_for_url(re.compile(r"[?&]run=[0-9a-f]{32}"))


def place(one: Locator) -> FloatRect:
    """Where it is drawn; a part that grows may just be replaced, and is waited for."""
    found: FloatRect = one.evaluate("element => element.getBoundingClientRect().toJSON()")
    return found


def written_slowly(ollama: OllamaStandIn) -> Gate:
    """Have the next answer written word by word, as the gate allows."""
    gate = Gate()
    ollama.script("chat", Slow(gate=gate, reply=Reply(f"It needs thirty-two rows {'and no more ' * 5}[1].")))
    return gate


def test_a_question_is_answered_in_sight_and_its_citations_open_their_passages(open_tab: OpenTab) -> None:
    """SC-12: the path first, answer and verdicts side by side below it; the questions to try have folded away."""
    tab = open_tab(height=720)
    page = tab.open("/?lang=zh")
    expect(page.locator(".st-key-samples")).to_be_visible()
    ask(page, SHORT, "问题")
    answer, last = page.locator("section.answer").last, page.locator(".live .row").last
    expect(answer.locator("button.cite").first).to_be_visible()
    expect(last.locator(".end")).to_be_visible()
    expect(page.get_by_role("tab", name=re.compile(r"片段 \d+"))).to_be_visible()
    tab.settle()
    expect(page.locator(".st-key-samples")).not_to_be_visible()
    assert page.locator(".live.replaying").count() == 0, "motion is not wanted in this tab"
    page.get_by_role("tab", name="运行轨迹").click()
    expect(page.locator(".passages")).not_to_be_visible()
    tab.settle()
    answer.locator("button.cite").first.click()
    expect(page.get_by_role("tab", name=re.compile(r"片段 \d+"))).to_have_attribute("aria-selected", "true")
    expect(page.locator(".passages [aria-expanded=true]").first).to_be_in_viewport()
    shown = page.url.removeprefix(tab.home)
    answer_is_in_sight(tab.open(shown), 1280, 720)
    tab.narrow()
    first, second = tab.open(shown).locator(".live .visit").nth(0), page.locator(".live .visit").nth(1)
    assert place(first)["x"] == place(second)["x"] and place(first)["y"] < place(second)["y"]
    assert place(answer)["x"] + place(answer)["width"] <= NARROW


def answer_is_in_sight(page: Page, width: int, height: int) -> None:
    """Question, path, answer and verdicts follow each other, the beginning of the answer without scrolling."""
    rows, prose, verdicts = (
        page.locator(".live .rows"),
        page.locator("section.answer .prose"),
        page.locator(".verdicts"),
    )
    for one in (rows, prose, verdicts):
        expect(one.last).to_be_visible()
    page.wait_for_selector(IDLE)
    tops = [place(one.last)["y"] for one in (page.get_by_role("textbox", name="问题"), rows, prose)]
    assert tops == sorted(tops) and tops[0] > HEADER and tops[-1] + 28 <= height
    panel = place(verdicts.last)
    assert panel["x"] >= place(prose.last)["x"] + place(prose.last)["width"]
    assert panel["x"] + panel["width"] <= width
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("main => main.scrollWidth <= main.clientWidth")


HEARD = """() => {
  const path = (root) => [...root.querySelectorAll("*")]
    .map((one) => (one.matches(".wb.live") ? one : one.shadowRoot && path(one.shadowRoot))).find(Boolean);
  window.heard = [];
  addEventListener("wb-replay", ({ detail }) => requestAnimationFrame(() => {
    const live = path(document), text = (part) => live.querySelector(part)?.textContent;
    const later = live.querySelectorAll(".later").length;
    window.heard.push({ ...detail, now: text(".visit.now"), said: text(".state"), later });
  }));
}"""
"""Keep what a replay says, and what the path shows then: a step is over before it can be looked for."""


def test_the_path_grows_with_a_run_follows_the_language_and_replays_what_was_too_fast(
    open_tab: OpenTab, ollama: OllamaStandIn
) -> None:
    gate = written_slowly(ollama)
    tab = open_tab(height=720, new=True)
    page = tab.open(SLOW_ANSWER)
    ask(page, ENGLISH)
    gate.allow(12)
    growing = page.locator("section.answer").filter(has_text="It needs")
    live, state = page.locator(".wb.live"), page.locator(".live .state")
    # For a moment the path of before the run stands next to the new one.
    expect(live).to_have_count(1)
    expect(state.filter(has_text="The generator is writing the answer")).to_be_visible()
    expect(growing).to_be_visible()
    tab.settle()
    expect(live.locator(".visit.active")).to_have_text(re.compile("Generate"))
    expect(live.locator(".counts")).to_contain_text("0 done, 1 running")
    page.get_by_text("中文", exact=True).click()
    # While the page is drawn in the other language, the former path stands next to the new one.
    expect(live.filter(has_text="生成")).to_be_visible()
    expect(live).to_have_count(1)
    expect(live.locator(".rows")).not_to_contain_text("Generate")
    expect(state).not_to_contain_text("generator")
    page.get_by_text("EN", exact=True).click()
    expect(state.filter(has_text="The generator is writing the answer")).to_be_visible()
    expect(live).to_have_count(1)
    expect(growing).to_be_visible()
    tab.settle()
    answer_at, path_at = place(growing)["y"], place(live)["y"]
    gate.open()
    expect(live.locator(".end")).to_be_visible()
    tab.settle()
    expect(growing.get_by_role("button", name="Copy")).to_be_visible()
    assert (place(growing)["y"], place(live)["y"]) == (answer_at, path_at)
    page.get_by_role("button", name="Workflow").click()
    expect(page.locator("svg g.node.passed").first).to_be_visible()

    page = tab.open("/?lang=en")
    page.evaluate(HEARD)
    ask(page, "Is sport safe when my sugar is high?")
    until(lambda: page.evaluate("window.heard.some(({ now }) => now?.includes('Grade'))"))
    page.keyboard.press("Shift")
    expect(live).not_to_have_class(re.compile("replaying"))
    until(lambda: page.evaluate("window.heard.at(-1).done"))
    heard = page.evaluate("window.heard")
    assert (heard[0]["step"], heard[0]["done"], heard[0]["answer"]) == (0, False, False)
    assert heard[-1]["answer"]
    assert any(item["said"].startswith("Replaying what took") and item["later"] for item in heard)
    expect(live.locator(".later")).to_have_count(0)
    tab.settle()
    page.evaluate("window.heard.length = 0")
    page.get_by_role("button", name="Replay").click()
    until(lambda: page.evaluate("window.heard.length > 0"))
    page.mouse.click(5, 5)
    expect(live).not_to_have_class(re.compile("replaying"))


def test_a_refresh_and_a_shared_link_attach_to_a_run_in_progress(open_tab: OpenTab, ollama: OllamaStandIn) -> None:
    """SC-12: what has been written stands there again, and where it stood, the finished answer stands."""
    gate = written_slowly(ollama)
    tab = open_tab()
    page = tab.open(SLOW_ANSWER)
    ask(page, ENGLISH)
    gate.allow(12)
    growing = page.locator("section.answer").filter(has_text="It needs")
    expect(growing).to_be_visible()
    page.reload()
    expect(growing).to_be_visible()
    # From the stream: the page itself draws no verdict before the run has ended.
    expect(page.locator(".verdicts .row.pass").first).to_be_visible()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(ENGLISH)
    shared = open_tab().page
    shared.goto(page.url)
    expect(shared.locator("section.answer").filter(has_text="It needs")).to_be_visible()
    tab.settle()
    before = place(growing)
    gate.open()
    for each in (page, shared):
        expect(each.locator("section.answer button.cite").first).to_be_visible()
        expect(each.get_by_role("button", name=STOP)).to_have_count(0)
    tab.settle()
    after = place(growing)
    assert (before["x"], before["y"], before["width"]) == (after["x"], after["y"], after["width"])


def test_what_a_lost_connection_missed_comes_with_it_and_escape_stops_a_run(
    open_tab: OpenTab, ollama: OllamaStandIn
) -> None:
    """SC-12, SC-13"""
    gate = written_slowly(ollama)
    tab = open_tab()
    page = tab.open(SLOW_ANSWER)
    stream = re.compile(r"/api/runs/[0-9a-f]{32}/view")
    page.route(stream, lambda route: route.abort())
    ask(page, ENGLISH)
    state = page.locator(".live .state")
    # The panel of before stands for a moment longer.
    expect(state.filter(has_text="Connection lost, retrying …")).to_be_visible()
    gate.allow(12)
    page.unroute(stream)
    expect(page.locator("section.answer").filter(has_text="It needs thirty-two")).to_be_visible()
    expect(state).to_have_text("The generator is writing the answer")
    run_id = re.search(r"[?&]run=([0-9a-f]{32})", page.url)
    assert run_id is not None
    done = page.request.get(urljoin(page.url, f"/api/runs/{run_id[1]}")).json()["nodes"]
    finished = [item["node"] for item in done if item["duration_ms"] is not None]
    assert finished[:2] == ["retrieve", "grade"]
    expect(page.locator(".live .visit.passed")).to_have_count(sum(node != "rewrite" for node in finished))
    expect(page.locator(".live .visit.rewrite")).to_have_count(finished.count("rewrite"))
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


def test_the_keyboard_alone_reaches_a_node_and_a_slider(open_tab: OpenTab) -> None:
    """SC-08, SC-12: arrows move through the path and move sliders, and the address follows."""
    tab = open_tab(height=720)
    page = tab.open("/?lang=en&run=demo-passes-en")
    visits = page.locator(".live .visit")
    expect(visits).to_have_count(3)
    assert page.locator(".live .visit[tabindex='0']").count() == 1, "Tab comes to the path once"
    visits.first.focus()
    page.keyboard.press("ArrowRight")
    expect(visits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(visits.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("Showing only what Grade did.")).to_be_visible()
    page.get_by_role("button", name="Show all").press("Enter")
    expect(visits.nth(1)).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_text("Showing only what Grade did.")).to_have_count(0)
    slider = page.get_by_role("slider", name="Top-k")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_url(re.compile(r"top_k=6"))


def test_a_link_made_in_one_language_means_the_same_in_another(open_tab: OpenTab) -> None:
    """SC-12: the address holds the settings under their own names."""
    tab = open_tab(language="zh-CN")
    page = tab.open()
    page.get_by_role("combobox", name="作答条件").click()
    page.get_by_role("option", name="按通过率", exact=True).click()
    page.wait_for_url(re.compile(r"[?&]gate=pass_rate"))
    reader = open_tab()
    shown = reader.open(page.url.removeprefix(reader.home))
    expect(shown.get_by_role("combobox", name="Answer when")).to_have_value("Pass rate")
    expect(shown.get_by_role("slider", name="Min. pass rate")).to_be_visible()
    shown.get_by_role("link", name=re.compile("Knowledge")).click()
    expect(shown.get_by_text("Add files").first).to_be_visible()
    shown.get_by_role("link", name=re.compile("Ask")).click()
    expect(shown.get_by_role("combobox", name="Answer when")).to_have_value("Pass rate")
    shown.wait_for_url(re.compile(r"[?&]gate=pass_rate"))


def test_files_are_previewed_put_in_read_asked_and_deleted_again(open_tab: OpenTab) -> None:
    """SC-12: the Knowledge page from the upload to the dialog that asks before it deletes."""
    tab = open_tab()
    page = tab.open("/knowledge?view=add&lang=en")
    # Chosen, for another test may have left a collection that would be proposed.
    page.get_by_role("combobox", name=re.compile("Collection")).click()
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
    expect(page.get_by_role("button", name="cats.md")).to_be_visible()
    expect(page.get_by_text("Cats eat fish and mice.")).to_be_visible()
    expect(page.get_by_text("unusable", exact=False).first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("1 source · 1 passage")).to_be_visible()
    expect(page.get_by_text("broken.txt", exact=True)).to_be_visible()
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("textbox", name="Sources").wait_for()
    page.get_by_role("button", name="Manage").click()
    page.get_by_role("button", name="Description").click()
    expect(page.get_by_role("dialog", name="Description")).to_contain_text("pets")
    expect(page.get_by_role("button", name="Re-embed")).not_to_be_visible()  # the menu closes for its dialog
    page.get_by_role("button", name="Cancel").click()
    page.locator(".st-key-kb_ask button").click()
    page.wait_for_url(re.compile(r"[?&]collection=pets"))
    ask(page, "What do cats eat?")
    expect(page.get_by_text("fish and mice").first).to_be_visible()
    tab.settle()
    page.get_by_role("link", name=re.compile("Knowledge")).click()
    page.get_by_role("radio", name="Collections").click()
    tab.settle()
    open_source(page, "cats.md")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("Cats eat fish and mice.")
    tab.settle()
    drawer.get_by_role("button", name=re.compile("Delete$")).click()
    expect(drawer).to_contain_text("Delete for good?")
    drawer.get_by_role("button", name=re.compile("Delete$")).click()
    expect(page.get_by_text("Deleted.")).to_be_visible()
    expect(page.get_by_text("This collection is empty.", exact=False)).to_be_visible()


def open_source(page: Page, name: str) -> None:
    """Press a source in the list of the view Collections."""
    page.locator(".sources").get_by_role("button", name=name).click()
