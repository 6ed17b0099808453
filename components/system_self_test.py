"""What the self-test of scores found: each expectation in plain words, whether it holds, and the numbers."""

from __future__ import annotations

from collections.abc import Mapping

from components.i18n import Words
from components.markup import Node, button, chip, node
from components.system_draw import draw_system, fault_nodes, gauge
from engine.host.values import SelfTest, SelfTestCase, SelfTestCode, SelfTesting

STOP = "stop"
"""The action of the button that stops a self-test."""
_REMEDIES: Mapping[SelfTestCode, str] = {
    "dimension": "model",
    "unit_length": "model",
    "deterministic": "model",
    "own_text": "model",
    "floor": "model",
    "prefixes": "prefixes",
    "order": "store",
    "cosine": "store",
    "clear_yes": "grader",
    "clear_no": "grader",
}


def self_test_progress(testing: SelfTesting, words: Words, *, key: str) -> str | None:
    """Draw how far a self-test is, what ended it, or what it found; returns :data:`STOP` where that was pressed."""
    if testing.state == "running":
        said = words("selftest.running", done=testing.done, total=testing.total or "…")
        bar = gauge(testing.done / testing.total if testing.total else 0.0, said, moving=not testing.total)
        line = node("div", "small num", said)
        stop = node("div", "actions", button(words("selftest.stop"), STOP))
        return draw_system((node("section", "card task running", bar, line, stop),), words, key=key)
    if testing.fault is not None:
        box = node("div", "box fault", node("div", "grow", *fault_nodes(testing.fault, words)), role="alert")
        return draw_system((box,), words, key=key)
    if testing.result is None:
        box = node("div", "box plain", node("div", "grow", words("selftest.stopped")), role="status")
        return draw_system((box,), words, key=key)
    return draw_system(_result(testing.result, testing.grader, words), words, key=key)


def _result(found: SelfTest, grader: str, words: Words) -> tuple[Node, Node]:
    broken = sum(not case.passed for case in found.cases)
    total = len(found.cases)
    said = words("selftest.passed", n=total) if not broken else words("selftest.broken", n=broken, all=total)
    of = [words("selftest.of", collection=found.collection, model=found.embedding_model)]
    if grader:
        of.append(words("selftest.grader", model=words("model.builtin") if grader == "builtin" else grader))
    head = node(
        "div",
        "box fault" if broken else "box pass",
        node("span", "icon", "✗" if broken else "✓", aria_hidden="true"),
        node("div", "grow", node("strong", "", said), node("div", "muted small", " · ".join(of))),
        role="alert" if broken else "status",
    )
    # What does not hold comes first.
    ordered = sorted(found.cases, key=lambda case: case.passed)
    return head, node("ul", "cases card", *(_case(case, words) for case in ordered))


def _case(case: SelfTestCase, words: Words) -> Node:
    look, sign = ("pass", "✓") if case.passed else ("fault", "✗")
    said = node("div", "", words(f"selftest.{case.code}"))
    numbers = node("div", "muted small num", _numbers(case, words))
    remedy = [] if case.passed else [node("p", "small", words(f"selftest.remedy.{_REMEDIES[case.code]}"))]
    state = chip(look, words("selftest.holds" if case.passed else "selftest.fails"))
    body = node("div", "grow", said, numbers, *remedy)
    return node("li", "case", node("span", f"dot {look}", sign, aria_hidden="true"), body, node("span", "", state))


def _numbers(case: SelfTestCase, words: Words) -> str:
    try:
        return words(f"selftest.numbers.{case.code}", **case.detail)
    except KeyError:
        # A test that broke off early measured only some of them.
        return " · ".join(f"{name} {value}" for name, value in case.detail.items())
