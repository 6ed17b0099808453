"""Tags of stored runs: what may be one, and how they are kept in the database."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, func, select

from engine.database.base import among, put
from engine.database.tables import RUNS, TAGS
from engine.errors import RecordError
from engine.model.values import RunId

PINNED: Final = "pinned"
"""Tag of a run whose question is watched while settings are tried."""
BATCH: Final = "batch"
"""Tag of a run that a batch made."""

CHAT: Final = "chat"
"""Tag of a run that began in a chat of another program."""

LONGEST_TAG: Final = 40

_TURNS = frozenset(map(chr, (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Characters that turn the direction of what follows them: a tag could disguise the words next to it."""
_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})


def tag_text(tag: str) -> str:
    """The tag as it is kept: trimmed and in composed form; raises ``RecordError``."""
    kept = unicodedata.normalize("NFC", tag).strip()
    if not kept:
        raise RecordError.tag_blank()
    if len(kept) > LONGEST_TAG:
        raise RecordError.tag_too_long(length=len(kept), limit=LONGEST_TAG)
    unseen = [mark for mark in kept if mark in _TURNS or unicodedata.category(mark) in _UNSEEN]
    if unseen:
        raise RecordError.tag_control_characters(found=f"U+{ord(unseen[0]):04X}")
    return kept


def add_tag(connection: Connection, run_id: RunId, tag: str) -> tuple[str, ...] | None:
    """All tags of the run after it; None where the database has no such run."""
    if not _known(connection, run_id):
        return None
    put(connection, TAGS, {"run_id": run_id, "tag": tag})
    return tags_of(connection, (run_id,)).get(run_id, ())


def remove_tag(connection: Connection, run_id: RunId, tag: str) -> tuple[str, ...] | None:
    """All tags of the run after it, whether it had this one or not; None where the database has no such run."""
    if not _known(connection, run_id):
        return None
    connection.execute(delete(TAGS).where(TAGS.c.run_id == run_id, TAGS.c.tag == tag))
    return tags_of(connection, (run_id,)).get(run_id, ())


def tags_of(connection: Connection, run_ids: Iterable[RunId]) -> Mapping[RunId, tuple[str, ...]]:
    """Sorted tags of those of the runs that have any."""
    found: dict[RunId, tuple[str, ...]] = {}
    query = select(TAGS.c.run_id, TAGS.c.tag).where(among(connection, TAGS.c.run_id, run_ids)).order_by(TAGS.c.tag)
    for run_id, tag in connection.execute(query):
        found[RunId(str(run_id))] = (*found.get(RunId(str(run_id)), ()), str(tag))
    return found


def tag_counts(connection: Connection, narrowed: Iterable[ColumnElement[bool]] = ()) -> dict[str, int]:
    """Count runs by tag; only those that ``narrowed`` lets through."""
    query = select(TAGS.c.tag, func.count()).group_by(TAGS.c.tag).order_by(TAGS.c.tag)
    if conditions := tuple(narrowed):
        query = query.where(TAGS.c.run_id.in_(select(RUNS.c.id).where(*conditions)))
    rows = connection.execute(query)
    return {str(tag): int(count) for tag, count in rows}


def _known(connection: Connection, run_id: RunId) -> bool:
    return connection.scalar(select(RUNS.c.id).where(RUNS.c.id == run_id)) is not None
