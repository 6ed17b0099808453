"""Sentences of the workflow picture, made from a table of words and the values of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engine.values import Comparison, Decision, RunRecord
from engine.wording import operands

Words = Mapping[str, str]
Lines = tuple[tuple[str, ...], ...]
"""Lines of facts; each is a list of wordings, longest first, of which a drawing takes the first that fits."""

_RELATIONS = MappingProxyType({"<": "<", ">=": "≥", "==": "="})
_LONGEST_QUERY = 60


def say(words: Words, key: str, **values: object) -> str:
    """A sentence of the table with its places filled; ``key_one`` stands in where ``n`` is 1."""
    template = words.get(f"{key}_one") if values.get("n") == 1 else None
    template = template or words.get(key, key)
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return template


def title_of(name: str, words: Words) -> str:
    return words.get(f"node_{name}") or _plain_name(name)


def route_of(decision: Decision, words: Words) -> str:
    """Where a decision leads, in a word; the same node may mean another thing to whom it leads from."""
    route, node = decision.route, decision.node
    named = words.get(f"route_{route}_from_{node}") or words.get(f"route_{route}") or words.get(f"node_{route}")
    return named or _plain_name(route)


def _plain_name(name: str) -> str:
    return (name[:1].upper() + name[1:]).replace("_", " ")


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
    named = (say(words, f"search_{search}"), say(words, f"search_{search}_short"))
    shorter = plain[0] if plain else ()
    return ((*(" · ".join([*filled, name]) for name in named), *shorter),)


def cut(text: str) -> str:
    """A query as a box may quote it."""
    text = text.strip()
    return text if len(text) <= _LONGEST_QUERY else f"{text[: _LONGEST_QUERY - 1]}…"


def duration_of(ms: float, words: Words) -> str:
    """Milliseconds or seconds with two or three figures."""
    if ms < 999.5:
        return say(words, "ms", n=f"{ms:.1f}" if ms < 10 else f"{ms:.0f}")
    return say(words, "s", n=f"{ms / 1000:.2f}" if ms < 10000 else f"{ms / 1000:.1f}")


def chips_of(decision: Decision, count: int, words: Words) -> tuple[str, ...]:
    """What an edge prints of the newest decision that chose it, from long to short, and how often it was chosen."""
    times = f" ×{count}" if count > 1 else ""
    target = route_of(decision, words)
    short = [_comparison(item, words, "short_") for item in decision.comparisons]
    if not short:
        why = _reason(decision, words)
        return (f"{why} → {target}{times}", f"{why}{times}")
    every = words["joint"].join(short)
    return (f"{every} → {target}{times}", f"{every}{times}", f"{short[0]}{times}")


def decision_line(decision: Decision, words: Words) -> str:
    """E.g. ``Round 0: pass rate 0.40 < 0.60 and rewrites 0 < 3 → rewrite``."""
    target = route_of(decision, words)
    return say(words, "decision", round=decision.round, why=inequality_of(decision, words), target=target)


def inequality_of(decision: Decision, words: Words) -> str:
    """The comparisons of a decision with their quantities named; its reason where it compared nothing."""
    named = [_comparison(item, words, "quantity_") for item in decision.comparisons]
    return words["joint"].join(named) or _reason(decision, words)


def _comparison(item: Comparison, words: Words, prefix: str) -> str:
    left, right = operands(item)
    name = words.get(prefix + item.quantity, item.quantity)
    return f"{name} {left} {_RELATIONS[item.relation]} {right}".strip()


def _reason(decision: Decision, words: Words) -> str:
    return words.get(f"reason_{decision.reason}") or _plain_name(decision.reason)
