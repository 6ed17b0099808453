"""Names of a run's rounds: ``as asked``, ``rewrite 1``, and the search where a workflow has several."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.outcomes import round_text
from components.labels import STRATEGY_NAMES
from engine.messages import NC_
from engine.model.values import RunRecord


def round_names(record: RunRecord, words: Words) -> dict[int, str]:
    """Return the name of every round of a run by its index; a query that was rewritten before any search says so."""
    begun = any(item.initial and item.rewritten_query != item.query for item in record.rewrites)
    names = {}
    for current in record.rounds:
        rewrites = sum(not item.initial and item.round < current.index for item in record.rewrites)
        name = words(NC_("round", "first search")) if begun and not rewrites else round_text(rewrites, words)
        names[current.index] = f"{name} · {words(STRATEGY_NAMES[current.strategy])}" if current.strategy else name
    return names
