"""The five figures of a run: outcome, pass rate, best similarity, model calls, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.i18n import Words
from components.markup import Node, draw, node
from components.phrases import duration_text, node_text, outcome_text, probability_text, reason_text
from engine.values import Outcome, RunRecord

_LOOKS: dict[Outcome, str] = {
    "answered": "pass",
    "answered_forced": "warn",
    "answered_unverified": "warn",
    "abstained": "warn",
    "fallback": "warn",
    "cancelled": "muted",
    "failed": "fault",
    "interrupted": "fault",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number in its place: label, value, a note below, and the meaning that colours them."""

    label: str
    value: str
    note: str = ""
    look: str = ""
    note_look: str = "muted"
    fill: float | None = None
    """Share of a limit that is used, in [0, 1]."""


def figures(record: RunRecord | None, words: Words, *, key: str, most_calls: int | None = None) -> None:
    """Draw the five figures; before a run they are dashes. ``most_calls`` is the worst case of this configuration."""
    cards = (_card(item) for item in figures_of(record, words, most_calls))
    draw((node("div", "figures", *cards),), words, key=key)


def figures_of(record: RunRecord | None, words: Words, most_calls: int | None = None) -> tuple[Figure, ...]:
    """What the five cards say."""
    names = ("outcome", "pass_rate", "similarity", "calls", "time")
    if record is None:
        return tuple(Figure(words(f"figure.{name}"), "–", words(f"figure.{name}.before")) for name in names)
    best = [
        max(item.passage.similarity for item in current.candidates) for current in record.rounds if current.candidates
    ]
    bar = words("figure.bar", value=probability_text(record.config.similarity_threshold))
    return (
        _outcome(record, words),
        _pass_rate(record, words),
        _course(words("figure.similarity"), best, bar),
        _calls(record, words, most_calls),
        _time(record, words),
    )


def _outcome(record: RunRecord, words: Words) -> Figure:
    if record.outcome is None:
        running = next((item.node for item in reversed(record.nodes) if item.duration_ms is None), "")
        note = words("figure.at", node=node_text(running, words)) if running else ""
        return Figure(words("figure.outcome"), outcome_text(None, words), note, "accent")
    look = _LOOKS[record.outcome]
    parts = [words.count("figure.rewrites", len(record.rewrites))] if record.rewrites else []
    reason = record.decisions[-1].reason if record.decisions else record.reason
    if record.outcome in ("cancelled", "failed", "interrupted"):
        reason = record.reason
    if reason and reason != record.outcome:
        parts.append(reason_text(reason, words))
    return Figure(words("figure.outcome"), outcome_text(record.outcome, words), " · ".join(parts), look, look)


def _pass_rate(record: RunRecord, words: Words) -> Figure:
    rates = [decision.pass_rate for decision in record.decisions]
    last = record.decisions[-1] if record.decisions else None
    if record.config.gate == "min_relevant":
        note = words("figure.gate_count", n=record.config.min_relevant)
    else:
        note = words("figure.bar", value=probability_text(record.config.grade_pass_threshold))
    counted = f"{last.passed}/{last.kept} · {note}" if last else note
    return _course(words("figure.pass_rate"), rates, counted)


def _course(label: str, values: Sequence[float], note: str) -> Figure:
    """A value over the rounds: first and last, and by how much it rose or fell."""
    if not values:
        return Figure(label, "–", note)
    if len(values) == 1:
        return Figure(label, probability_text(values[0]), note)
    change = values[-1] - values[0]
    value = f"{probability_text(values[0])} → {probability_text(values[-1])}"
    if probability_text(values[0]) == probability_text(values[-1]):
        return Figure(label, value, f"= · {note}")
    risen = change > 0
    return Figure(
        label, value, f"{'▲' if risen else '▼'} {abs(change):.2f} · {note}", note_look="pass" if risen else "warn"
    )


def _calls(record: RunRecord, words: Words, most_calls: int | None) -> Figure:
    parts = [words("figure.at_most", n=most_calls)] if most_calls else []
    if record.built_in_calls:
        parts.append(words("figure.built_in", n=record.built_in_calls))
    if record.cached_calls:
        parts.append(words("figure.cached", n=record.cached_calls))
    fill = record.calls / most_calls if most_calls else None
    return Figure(words("figure.calls"), str(record.calls), " · ".join(parts), fill=fill)


def _time(record: RunRecord, words: Words) -> Figure:
    budget = record.config.budget_s
    share = record.duration_ms / 1000.0 / budget
    return Figure(
        words("figure.time"),
        duration_text(record.duration_ms),
        words("figure.budget", budget=f"{budget:g} s"),
        look="warn" if share >= 1 else "",
        fill=share,
    )


def _card(figure: Figure) -> Node:
    parts = [
        node("div", "label", figure.label),
        node("div", f"value num {figure.look}", figure.value),
        node("div", f"note num {figure.note_look}", figure.note),
    ]
    if figure.fill is not None:
        used = f"{min(1.0, max(0.0, figure.fill)):.1%}"
        parts.append(node("div", "gauge", node("i", "", data_fill=used), aria_hidden="true"))
    return node("div", "figure", *parts)
