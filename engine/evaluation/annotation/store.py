"""Records of judging other than the judgements: guidelines of a set, names of judges, and its scores over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from engine.database.base import clean, put
from engine.database.tables import GUIDELINES, JUDGES, SET_SCORES
from engine.evaluation.store_database import OpenedStore, now
from engine.people import current_user


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of a set at the time they were recorded."""

    batch_id: str
    set_name: str
    at: str
    """When the gathering was begun: ISO 8601, UTC."""
    figures: Mapping[str, tuple[float, int]]
    """By measure: the value, at its worse end where a question was unknown, and how many questions it is about."""
    note: str = ""
    """What a person wrote about it, e.g. "new chunking"."""
    noted_at: str = ""
    """Judgements up to then are in the figures: ISO 8601, UTC; empty where it was not kept. Filled in where it is."""


class DeskStore(OpenedStore):
    """Safe from any thread and several processes; raises ``EvaluationError`` where the database cannot be used."""

    def guidelines(self, set_name: str) -> str:
        """Return the guidelines for judges of a set; empty if there are none."""
        rows = self._rows(select(GUIDELINES.c.text).where(GUIDELINES.c.set_name == clean(set_name)))
        return str(rows[0][0]) if rows else ""

    def set_guidelines(self, set_name: str, text: str) -> None:
        """Keep what judges of a set should go by, in the place of what stood there."""
        row = {
            "set_name": clean(set_name),
            "text": clean(text),
            "saved_at": now(),
            "author": clean(current_user().author),
        }
        with self._writing() as connection:
            put(connection, GUIDELINES, row)

    def judges(self) -> tuple[str, ...]:
        """Names that judges gave themselves, in alphabetical order."""
        return tuple(str(row[0]) for row in self._rows(select(JUDGES.c.name).order_by(JUDGES.c.name)))

    def add_judge(self, name: str) -> None:
        """Note the name of a judge; one that is known stays."""
        with self._writing() as connection:
            put(connection, JUDGES, {"name": clean(name), "made_at": now()}, changes=())

    def scores(self, set_name: str) -> tuple[Scores, ...]:
        """The scores of a set, oldest first."""
        query = select(SET_SCORES).where(SET_SCORES.c.set_name == clean(set_name))
        rows = self._rows(query.order_by(SET_SCORES.c.at, SET_SCORES.c.batch_id))
        return tuple(
            Scores(
                *(str(row.batch_id), str(row.set_name), str(row.at)),
                figures=self._figures(row.figures),
                note=str(row.note),
                noted_at=str(row.noted_at),
            )
            for row in rows
        )

    def keep_scores(self, scores: Scores) -> None:
        """Note the scores of a gathering; those that are noted stay as they were."""
        row = {
            "batch_id": clean(scores.batch_id),
            "set_name": clean(scores.set_name),
            "at": scores.at,
            "note": clean(scores.note),
            "noted_at": now(),
            "figures": clean(json.dumps({name: list(figure) for name, figure in scores.figures.items()})),
        }
        with self._writing() as connection:
            put(connection, SET_SCORES, row, changes=())

    def note_scores(self, batch_id: str, note: str) -> bool:
        """Write a note on the scores of a gathering; False where none are noted."""
        change = update(SET_SCORES).where(SET_SCORES.c.batch_id == clean(batch_id)).values(note=clean(note))
        with self._writing() as connection:
            return connection.execute(change).rowcount > 0

    def _figures(self, text: Any) -> dict[str, tuple[float, int]]:
        try:
            return {str(name): (float(value), int(n)) for name, (value, n) in json.loads(text).items()}
        except (ValueError, TypeError, AttributeError):
            raise self._damaged_entry() from None
