"""Which records and lists who acts may read: those of collections that are not kept from them."""

from __future__ import annotations

from engine.model.values import RunRecord
from engine.people.acting import acting


def may_read(record: RunRecord) -> bool:
    """Whether who acts may read the collection of a run, by its name then and by the name it was asked by."""
    return acting().may_read(record.collection, record.config.collection)
