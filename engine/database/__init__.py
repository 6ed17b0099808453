"""Where records are kept: the same tables in SQLite files or in one PostgreSQL database."""

from engine.database.base import Database

__all__ = ["Database"]
