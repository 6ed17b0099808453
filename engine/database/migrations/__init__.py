"""How the tables came to be, one step a module; ``here`` says which of them a database has."""

from __future__ import annotations

from alembic import context

from engine.database.tables import Part


def here(part: Part) -> bool:
    """Whether the database at hand has the tables of a part: an SQLite file has one part, PostgreSQL has all."""
    return part in context.config.attributes["parts"]
