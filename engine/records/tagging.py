"""Tags of stored runs: what may be one, and how they are kept in the file."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from engine.errors import InvalidTag
from engine.model.values import RunId

PINNED: Final = "pinned"
"""Tag of a run whose question is watched while settings are tried."""
BATCH: Final = "batch"
"""Tag of a run that a batch made."""

LONGEST_TAG: Final = 40

_TURNS = frozenset(map(chr, (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Characters that turn the direction of what follows them: a tag could disguise the words beside it."""
_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})


def tag_text(tag: str) -> str:
    """The tag as it is kept: trimmed and in composed form; raises ``InvalidTag``."""
    kept = unicodedata.normalize("NFC", tag).strip()
    if not kept:
        raise InvalidTag.blank()
    if len(kept) > LONGEST_TAG:
        raise InvalidTag.too_long(length=len(kept), limit=LONGEST_TAG)
    unseen = [mark for mark in kept if mark in _TURNS or unicodedata.category(mark) in _UNSEEN]
    if unseen:
        raise InvalidTag.control_characters(found=f"U+{ord(unseen[0]):04X}")
    return kept


def add_tag(connection: sqlite3.Connection, run_id: RunId, tag: str) -> tuple[str, ...] | None:
    """All tags of the run after it; None where the file has no such run."""
    row = connection.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        return None
    connection.execute("INSERT INTO tags (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING", (run_id, tag))
    return tags_of(connection, (run_id,)).get(run_id, ())


def remove_tag(connection: sqlite3.Connection, run_id: RunId, tag: str) -> tuple[str, ...] | None:
    """All tags of the run after it, whether it had this one or not; None where the file has no such run."""
    row = connection.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        return None
    connection.execute("DELETE FROM tags WHERE run_id = ? AND tag = ?", (run_id, tag))
    return tags_of(connection, (run_id,)).get(run_id, ())


def tags_of(connection: sqlite3.Connection, run_ids: Iterable[RunId]) -> Mapping[RunId, tuple[str, ...]]:
    """Sorted tags of those of the runs that have any."""
    found: dict[RunId, tuple[str, ...]] = {}
    query = "SELECT run_id, tag FROM tags WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY tag"
    for run_id, tag in connection.execute(query, (json.dumps(list(run_ids)),)):
        found[RunId(str(run_id))] = (*found.get(RunId(str(run_id)), ()), str(tag))
    return found


def tag_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many runs have each tag, by name."""
    rows = connection.execute("SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag")
    return {str(tag): int(count) for tag, count in rows}
