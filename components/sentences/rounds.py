"""Names of a run's rounds: ``as asked``, ``rewrite 1``, and the search where a workflow has several."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.labels import STRATEGY_NAMES
from engine.messages import NC_
from engine.model.values import RunRecord


def round_names(record: RunRecord, words: Words) -> dict[int, str]:
    """Return the name of every round of a run by its index; a query that was rewritten before any search says so."""
    names = {}
    for current in record.rounds:
        rewrites = sum(not item.initial and item.round < current.index for item in record.rewrites)
        name = round_text(rewrites, words) if rewrites else first_round(record, words)
        names[current.index] = f"{name} · {words(STRATEGY_NAMES[current.strategy])}" if current.strategy else name
    return names


def first_round(record: RunRecord, words: Words) -> str:
    """The name of the first round: ``as asked``, unless a rewrite came before any search."""
    begun = any(item.initial and item.rewritten_query != item.query for item in record.rewrites)
    return words(NC_("round", "first search")) if begun else round_text(0, words)
