"""What only a browser shows of the Tune page: clicked charts, figures that follow a slider, a narrow screen."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NARROW, OpenTab, Watched
from tests.browser.server import App
from tests.support.gates import until

pytestmark = pytest.mark.browser
FILE = """question,expected,answerable
How many rows does a truth table with five variables need?,dm-truth-tables.en.md#1,true
What is the power set of the empty set?,dm-sets.en.md#2,true
logic,dm-logic.en.md,true
Who won the football world cup in 1998?,,false
"""
QUESTIONS = 4


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name)


def cells(page: Page) -> Locator:
    return page.locator(".st-key-tune_map .grid .cell")


def run_count(app: App) -> int:
    with urllib.request.urlopen(f"{app.url}/api/runs?limit=500") as answer:
        return len(json.loads(answer.read()))


@pytest.fixture
def gathered(open_tab: OpenTab, tmp_path: Path) -> Watched:
    """A tab on a set of four questions, imported and gathered by the first test that wants it."""
    tab = open_tab(width=1400)
    page = tab.open("/tune?lang=en&query_set=four&gate=pass_rate")
    # The number of questions says which set it is: this one, or the samples.
    expect(page.get_by_text(re.compile(r"^\d+ questions$"))).to_be_visible()
    if not page.get_by_text(f"{QUESTIONS} questions", exact=True).count():
        file = tmp_path / "four.csv"
        file.write_text(FILE, encoding="utf-8")
        page.get_by_role("button", name="Import").click()
        page.locator("input[type=file]").set_input_files(file)
        # By its key: the button that opens the form has the same name.
        page.locator(".st-key-tune_import_start button").click()
        page.get_by_role("button", name=f"Run {QUESTIONS} questions").click()
    expect(page.get_by_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d$"))).to_be_visible()
    expect(page.get_by_text("There is no query set named")).to_have_count(0)
    tab.settle()
    return tab


def test_charts_and_sliders_show_what_other_settings_would_do(gathered: Watched, app: App) -> None:
    """SC-04, SC-08: evidence is gathered once; what is clicked moves the sliders, also a second time."""
    tab, page = gathered, gathered.page
    before = run_count(app)
    counts = page.locator(".st-key-tune_questions_counts")
    expect(counts).to_contain_text(f"same on {QUESTIONS} questions")
    page.get_by_role("tab", name="Map").click()
    expect(cells(page).first).to_be_visible()
    # Row by row from the bottom: the first is the lowest value of both settings.
    cells(page).first.click()
    expect(slider(page, "Max rewrites")).to_have_value("0")
    expect(slider(page, "Min. P(relevant)")).to_have_value("0")
    tab.settle()
    slider(page, "Min. P(relevant)").press("ArrowRight")
    expect(slider(page, "Min. P(relevant)")).to_have_value("0.01")
    tab.settle()
    # The grid is drawn again while the button is down: the press counts all the same.
    cells(page).first.hover()
    page.mouse.down()
    cells(page).first.evaluate("cell => cell.parentElement.replaceWith(cell.parentElement.cloneNode(true))")
    page.mouse.up()
    expect(slider(page, "Min. P(relevant)")).to_have_value("0")
    tab.settle()
    page.get_by_role("tab", name="Questions").click()
    expect(counts).to_contain_text(re.compile(r"[1-4] (better|worse)"))
    address = page.locator(".flips.questions a").first.get_attribute("href") or ""
    assert "min_confidence=0" in address
    point_of_few_steps_moves_the_sliders(tab)
    assert run_count(app) == before
    tab.open(address)
    expect(slider(page, "Min. P(relevant)")).to_have_value("0")
    expect(page.get_by_role("textbox", name="Question")).not_to_have_value("")


def point_of_few_steps_moves_the_sliders(tab: Watched) -> None:
    page = tab.page
    page.get_by_role("tab", name="Trade-off").click()
    slider(page, "Max rewrites").press("End")
    expect(slider(page, "Max rewrites")).not_to_have_value("0")
    highest = slider(page, "Max rewrites").input_value()
    tab.settle()
    # The leftmost mark takes the fewest steps, and so no rewrite.
    marks = ".st-key-tune_front svg.marks g.mark-symbol.role-mark path"
    expect(page.locator(marks).last).to_be_visible()
    # By its place, found in one go: the drawing may be replaced by the same one between two steps.
    at = page.evaluate(
        """marks => {
            const left = (mark) => mark.getBoundingClientRect().left;
            const point = [...document.querySelectorAll(marks)].reduce((a, b) => (left(b) < left(a) ? b : a));
            point.scrollIntoView({ block: "center", behavior: "instant" });
            return point.getBoundingClientRect().toJSON();
        }""",
        marks,
    )
    page.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    expect(slider(page, "Max rewrites")).not_to_have_value(highest)


def test_pairs_are_judged_by_keys_alone_and_nothing_stands_out_of_a_narrow_screen(gathered: Watched) -> None:
    """Keys count also with a name that was just typed, and none while a reason is typed."""
    tab, page = gathered, gathered.page
    slider(page, "Min. pass rate").press("Home")
    expect(page.locator(".flips.questions a").first).to_be_visible()
    tab.narrow()
    expect(page.locator(".flips.questions tbody tr").first).to_have_css("display", "block")
    widest = "() => Math.max(...['html', '[data-testid=stMain]'].map((e) => document.querySelector(e).scrollWidth))"
    page.wait_for_function(f"limit => ({widest})() <= limit", arg=NARROW)
    page.set_viewport_size({"width": 1400, "height": 900})
    page.get_by_text("Label passages and answers").click()
    name = page.get_by_role("combobox", name="Labelling as")
    name.click()
    name.fill("Grace")
    name.press("Enter")
    # Two questions in turn may have the same passage.
    pair = page.locator(".st-key-tune_desk_pair")
    mine = page.get_by_text(re.compile(r"· 0 by you"))
    expect(mine).to_be_visible()
    page.get_by_text("Does this passage help to answer the question?").click()
    first = pair.text_content() or ""
    page.keyboard.press("y")
    expect(page.get_by_text(re.compile(r"· 1 by you"))).to_be_visible()
    expect(pair).not_to_have_text(first)
    page.keyboard.press("n")
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    third = pair.text_content() or ""
    page.keyboard.press("s")
    expect(pair).not_to_have_text(third)
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    # The next pair brings a field of its own.
    tab.settle()
    until(lambda: _typed(page, "Why (optional)", "any y or n"))
    expect(page.get_by_text(re.compile(r"· 2 by you"))).to_be_visible()
    page.get_by_text("Does this passage help to answer the question?").click()
    page.keyboard.press("u")
    expect(page.get_by_text(re.compile(r"· 1 by you"))).to_be_visible()


def _typed(page: Page, label: str, text: str) -> bool:
    """Type into a field, which the page may replace meanwhile; whether it holds the text."""
    field = page.get_by_role("textbox", name=label)
    field.fill("")
    field.click()
    page.keyboard.type(text)
    return field.input_value() == text
