"""What the self-test of scores found: each expectation in plain words, whether it holds, and the numbers."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, gauge, node
from components.system.draw import draw_system, ended_box
from engine.host.values import SelfTest, SelfTestCase, SelfTestCode, SelfTesting
from engine.messages import N_, NC_

_REMEDIES = {
    "model": N_("Re-embed the collection on the page Knowledge with the model that is installed now."),
    "prefixes": N_("Set the model's own prefixes for this collection on the page Knowledge."),
    "store": N_(
        "The store gives other scores than it should: look at its version under Health, and report the diagnosis."
    ),
    "grader": N_("Choose another model for the grader under Models, or the built-in one."),
}

_CASES: dict[SelfTestCode, tuple[str, str, str]] = {
    "dimension": (
        N_("The model makes vectors of the length that the collection holds."),
        N_("{given} made, {stored} stored"),
        "model",
    ),
    "unit_length": (
        N_("Every vector has length 1, so a product of two is their cosine."),
        N_("off by at most {off}"),
        "model",
    ),
    "deterministic": (N_("The same text gets the same vector twice."), N_("differ by at most {off}"), "model"),
    "prefixes": (
        N_("The prefixes recorded with the collection are the ones in use."),
        N_("query “{query}” · passage “{passage}” · cosine of the two {cosine}"),
        "prefixes",
    ),
    "order": (
        N_("The store returns the nearest first, regardless of the sign of its metric."),
        N_("{hits} hits, {upturned} out of order"),
        "store",
    ),
    "cosine": (
        N_("The cosine that the store reports is the one computed from the vectors."),
        N_("{hits} hits, off by at most {off}"),
        "store",
    ),
    "own_text": (
        N_("A passage's text, re-embedded, finds that passage first: the model is the one that built the collection."),
        N_("{found} of {sample} passages, lowest cosine {lowest}"),
        "model",
    ),
    "floor": (
        N_("A passage's own words come out more similar than questions about something else."),
        N_("own words {right}, something else {unrelated}; the floor is a cosine of {floor}"),
        "model",
    ),
    "clear_yes": (
        N_("The grader passes a passage that plainly holds the answer."),
        N_("{right} of {asked}, lowest P(relevant) {low}"),
        "grader",
    ),
    "clear_no": (
        N_("The grader does not pass a passage about something else."),
        N_("{right} of {asked}, highest P(relevant) {high}"),
        "grader",
    ),
}
"""What each case expects, the numbers that it measured, and which remedy helps where it does not hold."""

STOP = "stop"
"""The action of the button that stops a self-test."""


def self_test_progress(testing: SelfTesting, words: Words, *, key: str) -> str | None:
    """Draw how far a self-test is, what ended it, or what it found; returns :data:`STOP` where that was pressed."""
    if testing.state == "running":
        said = words("{done} of {total} expectations tested", done=testing.done, total=testing.total or "…")
        bar = gauge(testing.done / testing.total if testing.total else 0.0, said, moving=not testing.total)
        line = node("div", "small num", said)
        stop = node("div", "actions", button(words("Stop"), STOP))
        return draw_system((node("section", "card task running", bar, line, stop),), words, key=key)
    if testing.fault is not None or testing.result is None:
        stopped = words(NC_("self-test", "The self-test was stopped."))
        return draw_system((ended_box(testing.fault, stopped, words),), words, key=key)
    return draw_system(_result(testing.result, testing.grader, words), words, key=key)


def _result(found: SelfTest, grader: str, words: Words) -> tuple[Node, Node]:
    broken = sum(not case.passed for case in found.cases)
    total = len(found.cases)
    said = (
        words("All {n} expectations hold.", n=total)
        if not broken
        else words(
            "{n} of {all} expectations do not hold: figures of this collection cannot be trusted until they do.",
            n=broken,
            all=total,
        )
    )
    of = [words("{collection}, embedded by {model}", collection=found.collection, model=found.embedding_model)]
    if grader:
        of.append(words("with the grader {model}", model=words("built-in") if grader == "builtin" else grader))
    look, sign = ("fault", "✗") if broken else ("pass", "✓")
    head = box(look, sign, node("strong", "", said), node("div", "muted small", " · ".join(of)))
    # What does not hold comes first.
    ordered = sorted(found.cases, key=lambda case: case.passed)
    return head, node("ul", "cases card", *(_case(case, words) for case in ordered))


def _case(case: SelfTestCase, words: Words) -> Node:
    look, sign = ("pass", "✓") if case.passed else ("fault", "✗")
    expected, _, helps = _CASES[case.code]
    said = node("div", "", words(expected))
    numbers = node("div", "muted small num", _numbers(case, words))
    remedy = [] if case.passed else [node("p", "small", words(_REMEDIES[helps]))]
    state = chip(look, words("holds" if case.passed else "does not hold"))
    body = node("div", "grow", said, numbers, *remedy)
    return node("li", "case", node("span", f"dot {look}", sign, aria_hidden="true"), body, node("span", "", state))


def _numbers(case: SelfTestCase, words: Words) -> str:
    try:
        return words(_CASES[case.code][1], **case.detail)
    except KeyError:
        # A test that broke off early measured only some of them.
        return " · ".join(f"{name} {value}" for name, value in case.detail.items())
