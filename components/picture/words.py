"""Sentences of the workflow picture, made from a table of words and the values of a run."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from components.common.i18n import Words
from components.common.phrases import node_text, plain_name
from components.picture.words_live import PICTURE
from engine.flow import workflow
from engine.flow.flow import END
from engine.messages import NC_
from engine.model.config import WorkflowName
from engine.model.values import Comparison, Decision, RunRecord, operands

Lines = tuple[tuple[str, ...], ...]
"""Lines of facts; each is a list of wordings, longest first, of which a drawing takes the first that fits."""

_RELATIONS = MappingProxyType({"<": "<", ">=": "≥", "==": "="})
_LONGEST_QUERY = 60


def word(words: Words, kind: str, code: str, **values: object) -> str:
    """What the picture calls a code of this kind, such as a state; empty where it has no words for it."""
    message = PICTURE.get(f"{kind}_{code}")
    return words(message, **values) if message else ""


def route_of(decision: Decision, taken_in: WorkflowName, words: Words) -> str:
    """Where a decision leads, in a word."""
    if decision.route == END:
        return words("end")
    target = workflow(taken_in).flow.nodes.get(decision.route)
    return words(target.lead) if target and target.lead else node_text(decision.route, taken_in, words)


def lines(*rows: Sequence[str]) -> Lines:
    """Each row of parts as wordings that leave out ever more of its parts, from the last; empty ones do not count."""
    filled = [[part for part in row if part] for row in rows]
    return tuple(tuple(" · ".join(row[:end]) for end in range(len(row), 0, -1)) for row in filled if row)


def searched_line(record: RunRecord, words: Words, *parts: str) -> Lines:
    """A line that ends with how passages are looked for, in full, in short or not at all; vectors need no words."""
    search = record.config.search
    plain = lines(parts)
    if search == "vector":
        return plain
    filled = [part for part in parts if part]
    named = (word(words, "search", search), word(words, "short_search", search))
    shorter = plain[0] if plain else ()
    return ((*(" · ".join([*filled, name]) for name in named), *shorter),)


def cut(text: str) -> str:
    """A query as a box may quote it."""
    text = text.strip()
    return text if len(text) <= _LONGEST_QUERY else f"{text[: _LONGEST_QUERY - 1]}…"


def duration_of(ms: float, words: Words) -> str:
    """Milliseconds or seconds with two or three figures."""
    if ms < 999.5:
        return words("{n} ms", n=f"{ms:.1f}" if ms < 10 else f"{ms:.0f}")
    return words(NC_("picture", "{n} s"), n=f"{ms / 1000:.2f}" if ms < 10000 else f"{ms / 1000:.1f}")


def chips_of(decision: Decision, count: int, taken_in: WorkflowName, words: Words) -> tuple[str, ...]:
    """What an edge prints of the newest decision that chose it, from long to short, and how often it was chosen."""
    times = f" ×{count}" if count > 1 else ""
    target = route_of(decision, taken_in, words)
    short = [_comparison(item, words, "short") for item in decision.comparisons]
    if not short:
        why = _reason(decision, words)
        return (f"{why} → {target}{times}", f"{why}{times}")
    every = words(NC_("picture", " and ")).join(short)
    return (f"{every} → {target}{times}", f"{every}{times}", f"{short[0]}{times}")


def decision_line(decision: Decision, taken_in: WorkflowName, words: Words) -> str:
    """E.g. ``Round 0: pass rate 0.40 < 0.60 and rewrites 0 < 3 → rewrite``."""
    target = route_of(decision, taken_in, words)
    return words(
        "Round {round}: {why} → {target}", round=decision.round, why=inequality_of(decision, words), target=target
    )


def inequality_of(decision: Decision, words: Words) -> str:
    """The comparisons of a decision with their quantities named; its reason where it compared nothing."""
    named = [_comparison(item, words, "quantity") for item in decision.comparisons]
    return words(NC_("picture", " and ")).join(named) or _reason(decision, words)


def _comparison(item: Comparison, words: Words, kind: str) -> str:
    left, right = operands(item)
    name = word(words, kind, item.quantity) if f"{kind}_{item.quantity}" in PICTURE else item.quantity
    return f"{name} {left} {_RELATIONS[item.relation]} {right}".strip()


def _reason(decision: Decision, words: Words) -> str:
    return word(words, "reason", decision.reason) or plain_name(decision.reason)
