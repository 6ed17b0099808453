"""Everything that an installation keeps, in values that can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from sqlalchemy import select

from engine.database.tables import METADATA, TOKENS
from engine.engine import Engine
from engine.people import WORKBENCH, acting_as

_NOT_COMPARED = {TOKENS.c.used_at}
"""A use of a token is noted."""


def everything(engine: Engine) -> Mapping[str, Any]:
    """Rows of all tables, passages with their vectors, memories, graphs, jobs and files."""
    with acting_as(WORKBENCH):
        knowledge = engine.resources.knowledge
        names = [info.name for info in engine.collections()]
        return {
            **tables(engine),
            "collections": engine.collections(),
            **{f"passages of {name}": engine._loop.call(_passages(knowledge, name)) for name in names},
            "graphs": {name: engine.graphs.to_dict(name, entities=2000) for name in engine.graphs.all()},
            "memories": engine.memories(),
            "jobs": engine.ingestions.jobs(),
            "models": engine.host.pulls(),
            "files": sorted(str(path) for path in (engine.settings.data_dir / "ingest").rglob("*")),
        }


def tables(engine: Engine) -> dict[str, list[str]]:
    """The rows of all tables."""
    with acting_as(WORKBENCH):
        engine.flush()
    found = {}
    for table in METADATA.tables.values():
        database = getattr(engine.databases, table.info["part"], None)
        if database is not None and database.exists:
            columns = [column for column in table.columns if column not in _NOT_COMPARED]
            with database.reading() as connection:
                found[table.name] = sorted(map(repr, connection.execute(select(*columns)).all()))
    return found


async def _passages(knowledge: Any, name: str) -> list[tuple[Any, str]]:
    ids = await knowledge.ids(name)
    page = await knowledge.page(name, ids)
    return [(passage, sha256(vector.tobytes()).hexdigest()) for passage, vector in page]
