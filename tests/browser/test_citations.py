"""What only a browser shows of answers and verdicts: what a press leads to, and what a replay keeps back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenTab
from tests.browser.server import App

pytestmark = pytest.mark.browser
_LIT_UP = """() => new Promise((done) => {
  const roots = [...document.querySelectorAll("*")].flatMap((one) => (one.shadowRoot ? [one.shadowRoot] : []));
  const table = roots.map((root) => root.querySelector("table.lines")).find(Boolean);
  const boxOf = (one) => { const { x, width, height } = one.getBoundingClientRect(); return { x, width, height }; };
  new MutationObserver((changes, watching) => {
    const { target } = changes[0];
    watching.disconnect();
    const cells = [...target.cells].map(boxOf);
    done({ row: boxOf(target), table: boxOf(table), cells, heads: [...table.tHead.rows[0].cells].map(boxOf) });
  }).observe(table.tBodies[0], { subtree: true, attributeFilter: ["class"] });
})"""


def test_a_pressed_citation_lights_up_its_row_without_bending_the_table(open_tab: OpenTab) -> None:
    tab = open_tab(new=True)
    page = tab.open("/?lang=en&run=demo-chain-zh")
    page.get_by_role("tab", name="Passages").click()
    expect(page.locator("table.lines tr.row").first).to_be_visible()
    tab.settle()
    # Open before, so that the only change of a class is the one that lights the row up.
    page.locator("section.answer button.cite").first.click()
    expect(page.locator("table.lines tr.row.open .title").first).to_be_focused()
    page.locator("table.lines tr.row:not(.revealed):not(.found).open").first.wait_for()
    page.evaluate(f"window.litUp = ({_LIT_UP})(); void 0")
    page.locator("section.answer button.cite").first.click()
    seen = page.evaluate("window.litUp")
    assert seen["row"]["width"] == pytest.approx(seen["table"]["width"], abs=1)
    assert [(round(cell["x"]), round(cell["width"])) for cell in seen["cells"]] == [
        (round(head["x"]), round(head["width"])) for head in seen["heads"]
    ]


def test_a_replay_shows_as_many_verdicts_as_it_reached_and_the_answer_last(open_tab: OpenTab) -> None:
    tab = open_tab()
    page = tab.open("/?lang=en&run=demo-forced-en")
    rows, prose = page.locator(".verdicts .row"), page.locator("section.answer .prose")
    tell = (
        "detail => window.dispatchEvent(new CustomEvent('wb-replay', { detail: { run: 'demo-forced-en', ...detail } }))"
    )
    expect(rows).to_have_count(5)
    page.evaluate(tell, {"round": 1, "verdicts": 2, "answer": False, "done": False})
    expect(rows).to_have_count(2)
    expect(prose).to_be_hidden()
    expect(page.get_by_role("tab", name="rewrite 2")).to_have_count(0)
    page.evaluate(tell, {"answer": True, "done": False})
    expect(prose).to_be_visible()
    expect(rows).to_have_count(2)
    page.evaluate(tell, {"done": True})
    expect(page.get_by_role("tab", name="rewrite 3")).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="as asked").click()
    rows.first.click()
    expect(page.locator("table.lines tr.row.open")).to_have_count(1)
    assert rows.count() == 5


def test_the_right_passage_is_searched_for_marked_and_taken_back(open_tab: OpenTab, app: App) -> None:
    """SC-03: the grader bench measures verdicts against what a reader says of the same passage."""
    record = app.post("/api/runs", {"question": "Which railway leads from Bergen to Lisbon?"})
    tab = open_tab()
    page = tab.open(f"/?lang=en&run={record['id']}")
    page.get_by_role("button", name="Mark the right passage").click()
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_label("Search the collection")
    box.fill("rows of a truth table")
    box.press("Enter")
    # What no search of the run came near.
    found = dialog.locator("section.card").filter(has_text="truth table").first
    found.get_by_role("button", name="This one").click()
    expect(dialog).to_have_count(0)
    tab.settle()
    page.get_by_role("button", name="Mark the right passage").click()
    box.fill("rows of a truth table")
    box.press("Enter")
    dialog.locator("section.card").filter(has_text="✓").get_by_role("button", name="Take back").click()
    expect(dialog).to_have_count(0)
