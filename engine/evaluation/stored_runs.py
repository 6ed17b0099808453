"""What the file of runs says about many runs at once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from engine.model.values import Outcome, RunId
from engine.records import faults
from engine.records.schema import reading

_OUTCOMES = "SELECT id, outcome FROM runs WHERE id IN (SELECT value FROM json_each(?))"


def stored_outcomes(path: Path, run_ids: Iterable[RunId]) -> dict[RunId, Outcome | None]:
    """How runs ended, without reading their records; None for one that was cut off or continues, nothing for others.

    Raises ``RecordError`` where the file cannot be read.
    """
    if not path.exists():
        return {}
    try:
        with reading(path) as connection:
            rows = connection.execute(_OUTCOMES, (json.dumps(list(run_ids)),)).fetchall()
    except sqlite3.Error as error:
        raise faults.unreadable(path, error) from None
    return {RunId(run_id): outcome for run_id, outcome in rows}
