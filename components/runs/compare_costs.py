"""What two runs cost and how they were set: times and calls as bars, settings as rows."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.phrases import begun, duration_text, node_text
from components.common.setting_words import setting_label, setting_text
from engine.model.config import ROLES
from engine.model.settings_difference import SettingDifference
from engine.replay.difference import NodeTimes, RoleCalls, RunDifference


def costs_card(found: RunDifference, words: Words) -> Node:
    """Bars of time per node, all on one scale, and the calls of each role."""
    total = NodeTimes("", found.a.duration_ms, found.b.duration_ms, 0, 0)
    longest = max(total.a_ms, total.b_ms, *(value for item in found.times for value in (item.a_ms, item.b_ms)), 0.001)
    rows = []
    for item in found.times:
        run = found.a if item.a_visits else found.b
        rows.append(_time_row(node_text(item.node, run.workflow, words), item, longest, words))
    rows.append(_time_row(words("Whole run"), total, longest, words))
    rows += [_call_row(item, words) for item in found.calls]
    return node("section", "card", node("strong", "heading", words("Times and calls")), *rows)


def _time_row(label: str, item: NodeTimes, longest: float, words: Words) -> Node:
    sides = (("A", item.a_ms, item.a_visits), ("B", item.b_ms, item.b_visits))
    cells = [
        node(
            "div",
            "cell bar",
            node("span", "ab", name),
            node("span", f"track {name.lower()}", node("i", "", data_fill=f"{100 * spent / longest:.1f}%")),
            node("span", "num small", duration_text(spent)),
            node("span", "muted num small", words("×{n}", n=visits)) if visits > 1 else "",
        )
        for name, spent, visits in sides
    ]
    return node("div", "pair", node("span", "where", label), *cells)


def _call_row(item: RoleCalls, words: Words) -> Node:
    label = words(ROLES[item.role])
    cells = (
        _calls("A", item.a_chat, item.a_built_in, item.a_cached, words),
        _calls("B", item.b_chat, item.b_built_in, item.b_cached, words),
    )
    return node("div", "pair", node("span", "where", begun(label)), *cells)


def _calls(name: str, chat: int, built_in: int, cached: int, words: Words) -> Node:
    said = [words.count("1 model call", "{n} model calls", chat)] if chat else []
    said += [words("{n} from cache", n=cached)] if cached else []
    said += [words.count("1 built-in step", "{n} built-in steps", built_in)] if built_in else []
    return node("div", "cell num small", node("span", "ab narrow", name), " · ".join(said) or "–")


def settings_card(found: RunDifference, words: Words) -> Node:
    """The settings that differ, then what differs in the environment: models pulled again, versions, the collection."""
    chosen = [item for item in found.settings if not item.manifest]
    around = [item for item in found.settings if item.manifest]
    parts = [node("strong", "heading", words("Settings that differ"))]
    if chosen:
        parts += [_setting_row(item, words) for item in chosen]
    else:
        parts.append(node("p", "muted", words("All settings are the same.")))
    if around:
        parts.append(node("p", "subheading", words("Environment that differs")))
        parts += [_setting_row(item, words) for item in around]
    return node("section", "card", *parts)


def _setting_row(item: SettingDifference, words: Words) -> Node:
    label = item.name if item.manifest else setting_label(item.name, words)
    cells = (
        node("div", "cell num", node("span", "ab narrow", name), setting_text(item.name, value, words))
        for name, value in (("A", item.a), ("B", item.b))
    )
    return node("div", "pair", node("span", "where", label), *cells)
