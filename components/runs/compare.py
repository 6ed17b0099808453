"""Two runs side by side: outcomes, figures, costs, the path with its parting, and what became of the evidence."""

from __future__ import annotations

from components.ask.what_if_text import BUILT_IN_CALLS
from components.common.i18n import Words
from components.common.markup import Drawer, Node, box, chip, node
from components.common.outcomes import REASONS, ended_text, reason_text, round_text
from components.common.phrases import begun, duration_text, fault_text, inequality_text, moved_text, node_text
from components.common.run_settings import setting_label, setting_text
from components.runs.compare_evidence import BothKnown, answers_card, passages_card, rewrites_card
from components.runs.figures import Figure, figures_of, measured, shared_measures
from components.runs.lanes import outcome_chip
from components.sentences.calls import calls_recorded
from components.sentences.steps import passed_text
from engine.messages import N_
from engine.model.config import ROLES
from engine.model.settings_difference import SettingDifference
from engine.model.values import Fault, RunRecord
from engine.model.wording import change_of
from engine.replay.difference import NodeTimes, RoleCalls, RoundPair, RunDifference

_WHY = {
    "query": N_("another query was searched"),
    "kept": N_("other passages were kept"),
    "reason": N_("for another reason"),
}

SHOW_SAME = "show_same"
"""What the press on *Show all passages* is called."""
_draw = Drawer("compare", "compare.css", look="compare")


def comparison(
    found: RunDifference, words: Words, *, key: str, all_passages: bool = False, known: BothKnown = (None, None)
) -> str | None:
    """Draw the comparison; returns :data:`SHOW_SAME` in the rerun where the reader asked for all passages.

    ``known``: of both answers, by query sets and judgements.
    """
    return _draw(comparison_nodes(found, words, all_passages=all_passages, known=known), words, key=key)


def comparison_nodes(
    found: RunDifference, words: Words, *, all_passages: bool = False, known: BothKnown = (None, None)
) -> tuple[Node, ...]:
    """The whole comparison as trees of text, in reading order.

    Results of two different questions side by side: what one has and the other lacks means nothing.
    """
    same = found.same_question
    return (
        verdict_box(found, words),
        *(_fault(name, run.error, words) for name, run in (("A", found.a), ("B", found.b)) if run.error),
        _figures(found, words),
        *((_path_card(found, words),) if same else ()),
        answers_card(found, words, known),
        *((passages_card(found, words, all_passages=all_passages, show_all=SHOW_SAME),) if same else ()),
        *((rewrites_card(found, words),) if same and found.rewrites else ()),
        costs_card(found, words),
        settings_card(found, words),
    )


def verdict_box(found: RunDifference, words: Words) -> Node:
    """One sentence of what the comparison found."""
    same = found.equal
    if not found.same_question:
        other = words("Two different questions: only outcomes and costs can be compared.")
        asked = (
            node("p", "", node("span", "ab", name), " ", run.question) for name, run in (("A", found.a), ("B", found.b))
        )
        return box("warn", "!", node("strong", "", other), *asked)
    lines = [parting_text(found, words)]
    if not same:
        lines.append(_counts(found, words))
    look, sign = ("pass", "=") if same else ("plain", "≠")
    said = [node("strong" if place == 0 else "p", "", line) for place, line in enumerate(lines)]
    return box(look, sign, *said)


def parting_text(found: RunDifference, words: Words) -> str:
    """Describe where and how two paths part, or that they do not."""
    if found.a.id == found.b.id:
        return words("A and B are the same run.")
    if found.equal:
        return words("Same path, passages, verdicts and answer.")
    pair = next((item for item in found.path if item.differs), None)
    if pair is not None:
        return words(
            "The paths part ({round}): {why}.",
            round=round_text(pair.index, words),
            why=words("; ").join(_why(pair, found, words)),
        )
    if not found.same_path:
        ended = {"a": ended_text(found.a, words), "b": ended_text(found.b, words)}
        return words("Same decisions, different ends: A {a}, B {b}.", **ended)
    return words("Same decisions.")


def _why(pair: RoundPair, found: RunDifference, words: Words) -> list[str]:
    if "missing" in pair.differs:
        return [words("{run} had ended", run="A" if pair.a is None else "B")]
    said = []
    for aspect in pair.differs:
        if aspect == "route":
            said.append(_other_route(pair, found, words))
        elif aspect != "reason" or "route" not in pair.differs:
            said.append(words(_WHY[aspect]))
    return said


def _other_route(pair: RoundPair, found: RunDifference, words: Words) -> str:
    if pair.decision_a is None or pair.decision_b is None:
        name = "A" if pair.decision_a is None else "B"
        return words("{what}: {why}", what=name, why=words("no decision"))
    routes = {
        "a": node_text(pair.decision_a.route, found.a.workflow, words),
        "b": node_text(pair.decision_b.route, found.b.workflow, words),
    }
    return words("A → {a}, B → {b}", **routes)


def _counts(found: RunDifference, words: Words) -> str:
    moves = [item.move for item in found.passages if item.notable]
    return words(
        "Passages: {lost} only A, {gained} only B, {moved} moved · {verdicts} verdicts changed",
        gained=moves.count("gained"),
        lost=moves.count("lost"),
        moved=moves.count("moved"),
        verdicts=len(found.verdicts),
    )


def _fault(name: str, fault: Fault, words: Words) -> Node:
    """Show why a run failed; the remedy is shown in the workbench."""
    fact, _ = fault_text(fault, words)
    said = node(
        "div", "head", node("span", "ab", name), node("strong", "grow", fact), node("span", "muted small", fault.code)
    )
    return box("fault", "✗", said)


def _figures(found: RunDifference, words: Words) -> Node:
    shared = shared_measures(found.a, found.b)
    drawn = (figures_of(run, words, measures=shared) for run in (found.a, found.b))
    pairs = zip(*drawn, _deltas(found), strict=True)
    return node("div", "figures", *(_figure(old, new, delta) for old, new, delta in pairs))


def _figure(a: Figure, b: Figure, delta: str) -> Node:
    sides = [
        node("div", "side", node("span", "ab", name), node("span", f"value num {item.look}", item.value))
        for name, item in (("A", a), ("B", b))
    ]
    return node("div", "figure", node("div", "label", a.label), *sides, node("div", "note num", delta))


def _deltas(found: RunDifference) -> tuple[str, ...]:
    """By how much B differs from A in each of the five figures; empty where a number or a common question lacks."""
    a, b = found.a, found.b
    if not found.same_question:
        return ("",) * 5
    first, second = (
        _delta(measured(a, measure), measured(b, measure), whole=measure in ("suggestions", "context"))
        for measure in shared_measures(a, b)
    )
    longer_ms = b.duration_ms - a.duration_ms
    return (
        "=" if a.outcome == b.outcome else "≠",
        first,
        second,
        ""
        if None in (calls_recorded(a), calls_recorded(b))
        else "="
        if a.calls == b.calls
        else f"{_sign(b.calls - a.calls)} {abs(b.calls - a.calls)}",
        f"{_sign(longer_ms)} {duration_text(abs(longer_ms))}" if abs(longer_ms) >= 1 else "=",
    )


def _delta(a: float | None, b: float | None, *, whole: bool) -> str:
    if a is None or b is None:
        return ""
    change = change_of(a, b)
    if change.direction == 0:
        return "="
    return f"{_sign(b - a)} {abs(b - a):.0f}" if whole else moved_text(change)


def _sign(change: float) -> str:
    return "▲" if change > 0 else "▼"


def _path_card(found: RunDifference, words: Words) -> Node:
    rows = [_columns()]
    for pair in found.path:
        if pair.index == found.parting:
            rows.append(node("div", "parting", node("span", "chip warn", "≠")))
        rows.append(_round_row(pair, found, words))
    ends = (node("div", "cell", _tag(name), outcome_chip(run, words)) for name, run in (("A", found.a), ("B", found.b)))
    rows.append(node("div", "pair end", node("span", "where", words("End")), *ends))
    return node("section", "card", node("strong", "heading", words("Path")), *rows)


def _columns() -> Node:
    named = (node("span", "cell muted", name.upper()) for name in ("a", "b"))
    return node("div", "pair columns", node("span", "where"), *named)


def _round_row(pair: RoundPair, found: RunDifference, words: Words) -> Node:
    parted = found.parting is not None and pair.index >= found.parting
    where = node("span", "where num", round_text(pair.index, words))
    cells = (_step("A", found.a, pair, words), _step("B", found.b, pair, words))
    return node("div", "pair parted" if parted else "pair", where, *cells)


def _step(name: str, run: RunRecord, pair: RoundPair, words: Words) -> Node:
    tag = _tag(name)
    current, decision = (pair.a, pair.decision_a) if name == "A" else (pair.b, pair.decision_b)
    if current is None:
        return node("div", "cell", tag, node("span", "muted", "–"))
    query = node("div", "small asked" if "query" in pair.differs else "small muted", current.query)
    if decision is None:
        return node("div", "cell", tag, query, node("span", "muted", words("no decision")))
    look = "pass" if REASONS[decision.reason].tone == "pass" else "warn"
    counts = passed_text(decision, words)
    led = node(
        "div",
        "said",
        node("strong", "num", inequality_text(decision, words)),
        node("span", "muted", " → "),
        chip(look, node_text(decision.route, run.workflow, words)),
    )
    notes = node("div", "muted small", words("{what}: {why}", what=counts, why=reason_text(decision.reason, words)))
    return node("div", "cell", tag, query, led, notes)


def _tag(name: str) -> Node:
    """Says on a narrow screen whose cell it is; a wide one has columns."""
    return node("span", "ab narrow", name)


def costs_card(found: RunDifference, words: Words) -> Node:
    """Bars of time per node, all on one scale, and the calls of each role."""
    total = NodeTimes("", found.a.duration_ms, found.b.duration_ms, 0, 0)
    longest = max(total.a_ms, total.b_ms, *(value for item in found.times for value in (item.a_ms, item.b_ms)), 0.001)
    rows = []
    for item in found.times:
        run = found.a if item.a_visits else found.b
        rows.append(_time_row(node_text(item.node, run.workflow, words), item, longest))
    rows.append(_time_row(words("Total"), total, longest))
    rows += [_call_row(item, words) for item in found.calls]
    return node("section", "card", node("strong", "heading", words("Cost")), *rows)


def _time_row(label: str, item: NodeTimes, longest: float) -> Node:
    sides = (("A", item.a_ms, item.a_visits), ("B", item.b_ms, item.b_visits))
    cells = [
        node(
            "div",
            "cell bar",
            node("span", "ab", name),
            node("span", f"track {name.lower()}", node("i", "", data_fill=f"{100 * spent / longest:.1f}%")),
            node("span", "num small", duration_text(spent)),
            node("span", "muted num small", f"×{visits}") if visits > 1 else "",
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
    said += [words.count(*BUILT_IN_CALLS, built_in)] if built_in else []
    return node("div", "cell num small", node("span", "ab narrow", name), " · ".join(said) or "–")


def settings_card(found: RunDifference, words: Words) -> Node:
    """The settings that differ, then what differs in the environment: models pulled again, versions, the collection."""
    chosen = [item for item in found.settings if not item.manifest]
    around = [item for item in found.settings if item.manifest]
    parts = [node("strong", "heading", words("Settings that differ"))]
    parts += [_setting_row(item, words) for item in chosen] or [node("p", "muted", words("None."))]
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
