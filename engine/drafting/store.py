"""Drafted questions in the database of evaluations, apart from the query sets: none counts before it is accepted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import Row, delete, select, update

from engine.database.base import clean, put
from engine.database.tables import DRAFTS
from engine.drafting.values import Draft, Kept, State, draft_from_dict
from engine.errors import EvaluationError
from engine.evaluation.store_database import OpenedStore, now
from engine.people import current_user


class DraftStore(OpenedStore):
    """Safe from any thread and several processes; raises ``EvaluationError`` where the database cannot be used."""

    def add(self, drafts: Iterable[Draft]) -> None:
        """Keep drafts in their order; one of a known id stays as it is, with what was decided about it."""
        made_at = now()
        rows = [
            {"id": draft.id, "place": place, "made_at": made_at, "state": "open", **_row(draft)}
            for place, draft in enumerate(drafts)
        ]
        with self._writing() as connection:
            put(connection, DRAFTS, rows, changes=())

    def drafts(self, collection: str = "", state: State | None = None) -> tuple[Kept, ...]:
        """Drafts of one collection or of all, in the order in which they are best looked through."""
        query = select(DRAFTS).order_by(DRAFTS.c.made_at, DRAFTS.c.place)
        if collection:
            query = query.where(DRAFTS.c.collection == clean(collection))
        if state is not None:
            query = query.where(DRAFTS.c.state == state)
        person = current_user()
        return tuple(self._kept(row) for row in self._rows(query) if person.may_read(str(row.collection)))

    def draft(self, draft_id: str) -> Kept:
        """Return a draft by its id; raises ``EvaluationError.unknown_draft``."""
        found = self._rows(select(DRAFTS).where(DRAFTS.c.id == clean(draft_id)))
        if not found or not current_user().may_read(str(found[0].collection)):
            raise EvaluationError.unknown_draft(draft=draft_id)
        return self._kept(found[0])

    def decide(self, draft_id: str, state: State, set_name: str = "") -> Kept:
        """Note what a person decided; raises ``EvaluationError.unknown_draft``."""
        self.draft(draft_id)
        decided = {"state": state, "set_name": clean(set_name), "decided_at": "" if state == "open" else now()}
        change = update(DRAFTS).where(DRAFTS.c.id == clean(draft_id))
        with self._writing() as connection:
            connection.execute(change.values(**decided, author=clean(current_user().author)))
        return self.draft(draft_id)

    def rename_collection(self, collection: str, new_name: str) -> None:
        """Let the drafts of a collection follow it to its new name, with what was decided about them."""
        these = select(DRAFTS).where(DRAFTS.c.collection == clean(collection))
        for kept in [self._kept(row) for row in self._rows(these)]:
            moved = _row(replace(kept.draft, collection=new_name))
            with self._writing() as connection:
                connection.execute(update(DRAFTS).where(DRAFTS.c.id == kept.draft.id).values(**moved))

    def forget(self, collection: str) -> int:
        """Remove the open drafts of a collection; returns how many there were."""
        these = (DRAFTS.c.collection == clean(collection), DRAFTS.c.state == "open")
        with self._writing() as connection:
            return connection.execute(delete(DRAFTS).where(*these)).rowcount

    def _kept(self, row: Row[Any]) -> Kept:
        try:
            draft = draft_from_dict(json.loads(row.data))
        except ValueError:
            raise self._damaged_entry() from None
        return Kept(draft, row.state, row.made_at, row.set_name, row.decided_at, row.author)


def _row(draft: Draft) -> dict[str, str]:
    return {
        "collection": clean(draft.collection),
        "data": clean(json.dumps(draft.to_dict(), ensure_ascii=False)),
    }
