"""Records and lists that the current user may read: those of collections not kept from them."""

from __future__ import annotations

from engine.model.values import RunRecord
from engine.people.current_user import current_user


def may_read(record: RunRecord) -> bool:
    """Return whether who acts may read the collection of a run, by its name then and by the name it was asked by."""
    return current_user().may_read(record.collection, record.config.collection)
