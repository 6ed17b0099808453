"""The workflow as files: complete, well-formed, and deaf to anything a query tries to smuggle in."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.common.i18n import Words, words_for
from components.common.outcomes import round_text
from components.common.phrases import node_text
from components.picture.drawing import fit, width_of
from components.picture.export import darkened, decision_path_dot, workflow_svg
from components.picture.picture import picture_of
from components.picture.words import word
from engine.flow.graph import END, START, Edge, WorkflowGraph
from engine.model.events import fold_all
from engine.model.values import Outcome, RunRecord
from tests.support.recorded import recorded_run

EN, ZH = words_for("en"), words_for("zh")

LOOP = WorkflowGraph(
    ("retrieve", "grade", "rewrite", "generate"),
    (
        Edge(START, "retrieve"),
        Edge("retrieve", "grade"),
        Edge("grade", "rewrite", conditional=True),
        Edge("grade", "generate", conditional=True),
        Edge("grade", END, conditional=True),
        Edge("rewrite", "retrieve"),
        Edge("generate", END),
    ),
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"]; evil [label="owned"]; x [label="',
    "<b>bold</b>",
    "]]> &amp; &#x3c; <!-- -->",
    'a\\N\\G\\" \\',
    "zero\x00one\x1b\ud800\uffff",
    "line\nbreak\r\n}",
)
NAMESPACE = "{http://www.w3.org/2000/svg}"


def record(rewrites: int = 1, outcome: Outcome = "answered") -> RunRecord:
    return fold_all(recorded_run(rewrites, outcome))


def with_query(text: str) -> RunRecord:
    run = record()
    return replace(run, rewrites=(replace(run.rewrites[0], rewritten_query=text, query=text),))


def texts(svg: str) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(svg).iter(f"{NAMESPACE}text")]


def unquoted(dot: str) -> str:
    """Graphviz source without what stands in quotes: its structure."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', "TEXT", dot, flags=re.DOTALL)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_the_picture_shows_every_node_and_the_inequality_behind_each_choice(words: Words, dark: bool) -> None:
    """SC-12: the decision path is in the saved picture too."""
    svg = workflow_svg(LOOP, record(), words)
    svg = darkened(svg) if dark else svg
    shown = texts(svg)
    for name in LOOP.nodes:
        assert any(text.startswith(node_text(name, LOOP.workflow, words)) for text in shown), name
    assert any(text.startswith("0.20 < 0.60") and "0 < 2" in text for text in shown)
    assert any(text.startswith("0.80 ≥ 0.60") for text in shown)
    assert any("×2" in text for text in shown)


def test_in_the_dark_every_colour_is_another_one_and_no_word_is() -> None:
    light = workflow_svg(LOOP, with_query('the colour ="#ffffff" and #0d9488'), EN)
    dark = darkened(light)
    colours = re.compile(r'="(#[0-9a-f]{6})"')
    for before, after in zip(colours.findall(light), colours.findall(dark), strict=True):
        assert before != after
    assert texts(dark) == texts(light)


def test_a_picture_without_a_run_shows_the_workflow_at_rest() -> None:
    shown = texts(workflow_svg(LOOP, None, EN))
    assert "finds passages" in shown
    assert not any("×" in text or "≥" in text for text in shown)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_query_stays_text_in_the_picture(text: str) -> None:
    svg = workflow_svg(LOOP, with_query(text), EN)
    tree = ElementTree.fromstring(svg)
    allowed = {f"{NAMESPACE}{name}" for name in ("svg", "title", "rect", "g", "path", "circle", "text")}
    assert {item.tag for item in tree.iter()} <= allowed
    svg.encode("utf-8")


def test_the_picture_refers_to_nothing_outside_itself() -> None:
    svg = workflow_svg(LOOP, with_query("url(http://example.org/x) href"), EN)
    attributes = [(name, value) for item in ElementTree.fromstring(svg).iter() for name, value in item.attrib.items()]
    assert not [name for name, _ in attributes if "href" in name or name.startswith("on") or name == "style"]
    assert not [value for _, value in attributes if "url(" in value or "://" in value]


@settings(max_examples=40)
@given(st.text(max_size=80))
def test_any_query_gives_well_formed_xml(text: str) -> None:
    assert ElementTree.fromstring(workflow_svg(LOOP, with_query(text), ZH)).tag == f"{NAMESPACE}svg"


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_the_path_has_a_box_for_each_visit_and_the_inequality_on_its_edges(words: Words) -> None:
    run = record(rewrites=2)
    dot = decision_path_dot(run, words)
    assert len(re.findall(r"^\s*visit\d+ \[", dot, flags=re.MULTILINE)) == len(run.nodes) == 9
    assert dot.count(word(words, "quantity", "pass_rate")) == 3
    assert round_text(2, words) in dot
    assert word(words, "outcome", "answered") in dot


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_query_changes_nothing_of_the_structure_of_the_path(text: str) -> None:
    tame, wild = (unquoted(decision_path_dot(with_query(query), EN)) for query in ("tame", text))
    assert wild == tame
    assert "<" not in wild
    assert "evil" not in wild


@given(st.text(max_size=60))
def test_no_label_of_the_path_is_read_as_markup(text: str) -> None:
    assert unquoted(decision_path_dot(with_query(text), EN)) == unquoted(decision_path_dot(with_query("x"), EN))


@pytest.mark.parametrize(
    ("outcome", "tone"), [("answered", "passed"), ("answered_forced", "forced"), ("abstained", "forced")]
)
def test_a_forced_answer_does_not_wear_the_colours_of_a_passed_one(outcome: Outcome, tone: str) -> None:
    picture = picture_of(LOOP, record(1, outcome), EN)
    assert picture.nodes["generate"].tone == tone
    assert picture.edges["grade", "generate"].tone == tone
    assert picture.edges["grade", END].taken == 0


def test_a_failed_grader_ends_the_run_by_its_own_edge() -> None:
    picture = picture_of(LOOP, record(1, "failed"), EN)
    assert picture.edges["grade", END].taken == 1
    assert picture.edges["grade", END].tone == "fault"
    assert picture.edges["generate", END].taken == 0
    assert picture.nodes["grade"].tone == "fault"


def test_taken_edges_are_counted_and_name_every_decision() -> None:
    picture = picture_of(LOOP, record(rewrites=3), EN)
    assert picture.edges["retrieve", "grade"].taken == 4
    assert picture.edges["rewrite", "retrieve"].taken == 3
    assert picture.edges[START, "retrieve"].taken == 1
    chosen = picture.edges["grade", "rewrite"]
    assert chosen.chips[0].endswith("×3")
    assert chosen.detail.count("\n") == 2


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3), st.floats(20, 300))
def test_a_shortened_text_fits(variants: list[str], width: float) -> None:
    assert width_of(fit(variants, width, 12), 12) <= width
