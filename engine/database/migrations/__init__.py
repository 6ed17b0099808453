"""Migrations of the tables, one module a step; ``here`` lists those that a database has."""

from __future__ import annotations

from alembic import context

from engine.database.tables import Part


def here(part: Part) -> bool:
    """Return whether the database at hand has the tables of a part: an SQLite file has one part, PostgreSQL has all."""
    return part in context.config.attributes["parts"]
