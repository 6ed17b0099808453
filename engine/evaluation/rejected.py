"""How many passages that the grader called not relevant a setting gives to the generator, over a set of questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.evaluation.evidence import Evidence
from engine.model.config import RunConfig
from engine.replay.grid import paths
from engine.replay.masks import IntArray, column, counted
from engine.replay.settings import SettingsGrid
from engine.replay.table import RunTable


def rejected_given(evidence: Evidence, configs: Sequence[RunConfig]) -> IntArray:
    """By setting [S] the sum over all questions; where a context is not known, all that might be in it."""
    total: IntArray = np.zeros(len(configs), dtype=np.int64)
    for item in evidence.gathered:
        table = item.table
        bars = {config.min_confidence for config in configs}
        low = {bar for bar in bars if _passing(table, bar)}
        asked = [i for i, config in enumerate(configs) if config.answer_unverified or config.min_confidence in low]
        if not asked:
            continue
        found = paths(table, SettingsGrid.of([configs[i] for i in asked]))
        given = counted(found.context & column(table.rejected))
        open_ = np.array([_passing(table, configs[i].min_confidence) for i in asked], dtype=np.int64)
        total[asked] += np.where(found.context_known, given, open_)
    return total


def _passing(table: RunTable, bar: float) -> int:
    """Rejected passages of a run that pass at a bar, kept or not."""
    passing = table.by_confidence[:, [int(np.searchsorted(table.levels, bar))]]
    return int(counted(passing & column(table.rejected))[0])
