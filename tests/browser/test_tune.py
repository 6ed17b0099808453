"""What only a browser shows of the Tune page: clicked charts, figures that follow a slider, a narrow screen."""

from __future__ import annotations

import json
import re
import urllib.request

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenTab, Watched
from tests.browser.server import App

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
    return page.locator(".st-key-tune_map svg.marks g.mark-rect path")


def run_count(app: App) -> int:
    with urllib.request.urlopen(f"{app.url}/api/runs?limit=500") as answer:
        return len(json.loads(answer.read()))


@pytest.fixture
def gathered(open_tab: OpenTab, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    """A tab on a set of four questions, imported and gathered by the first test that wants it."""
    tab = open_tab(width=1400)
    page = tab.open("/tune?lang=en&query_set=four&gate=pass_rate")
    # The label of the select box says which set it is: this one, or the samples.
    expect(page.get_by_text(re.compile(r"^\d+ questions, "))).to_be_visible()
    gathered = page.get_by_text(f"{QUESTIONS} of {QUESTIONS} gathered")
    if page.get_by_text(re.compile(rf"^{QUESTIONS} questions, ")).count():
        expect(gathered).to_be_visible()
        return tab
    file = tmp_path_factory.mktemp("import") / "four.csv"
    file.write_text(FILE, encoding="utf-8")
    page.get_by_role("button", name="Import").click()
    page.locator("input[type=file]").set_input_files(file)
    # By its key: the button that opens the form has the same name.
    page.locator(".st-key-tune_import_start button").click()
    page.get_by_role("button", name=f"Run {QUESTIONS} questions").click()
    expect(gathered).to_be_visible()
    tab.settle()
    return tab


def test_a_click_on_a_cell_moves_the_sliders_also_a_second_time(gathered: Watched) -> None:
    """SC-04, SC-08"""
    page = gathered.page
    expect(cells(page).first).to_be_visible()
    # Cells stand column by column of the first row upwards: the first is the lowest value of both settings.
    cells(page).first.click()
    expect(slider(page, "Similarity at least")).to_have_value("0")
    expect(slider(page, "Pass rate at least")).to_have_value("0")
    gathered.settle()
    slider(page, "Pass rate at least").press("ArrowRight")
    expect(slider(page, "Pass rate at least")).to_have_value("0.01")
    gathered.settle()
    cells(page).first.click()
    expect(slider(page, "Pass rate at least")).to_have_value("0")


def test_a_point_of_quality_against_cost_moves_the_sliders(gathered: Watched) -> None:
    page = gathered.page
    slider(page, "Rewrites at most").press("ArrowRight")
    expect(slider(page, "Rewrites at most")).to_have_value("4")
    gathered.settle()
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
    expect(slider(page, "Rewrites at most")).not_to_have_value("4")


def test_a_slider_changes_the_figures_and_makes_no_run(gathered: Watched, app: App) -> None:
    """SC-04: evidence is gathered once."""
    page = gathered.page
    before = run_count(app)
    card = page.locator(".flips-card")
    expect(card).to_contain_text(f"None of {QUESTIONS} questions changes")
    slider(page, "Pass rate at least").press("Home")
    expect(card).to_contain_text(re.compile(rf"Flips [1-{QUESTIONS}] of {QUESTIONS}"))
    assert run_count(app) == before


def test_a_flip_opens_its_run_with_the_settings_under_test(gathered: Watched, open_tab: OpenTab) -> None:
    page = gathered.page
    slider(page, "Pass rate at least").press("Home")
    link = page.locator(".flips.changes a").first
    expect(link).to_be_visible()
    address = link.get_attribute("href")
    assert address is not None
    assert "grade_pass_threshold=0" in address
    other = open_tab().open(address)
    expect(slider(other, "Pass rate at least")).to_have_value("0")
    expect(other.get_by_role("textbox", name="Question")).not_to_have_value("")


def test_nothing_stands_out_of_a_narrow_screen(gathered: Watched, open_tab: OpenTab) -> None:
    narrow = open_tab(width=390).open("/tune?lang=zh&query_set=four&gate=pass_rate&grade_pass_threshold=0")
    expect(narrow.locator(".flips.changes tbody tr").first).to_have_css("display", "block")
    expect(cells(narrow).first).to_be_visible()
    widths = narrow.evaluate(
        "() => [document.documentElement, document.querySelector('[data-testid=stMain]')].map((e) => e.scrollWidth)"
    )
    assert max(widths) <= 390
