"""Storage of records: the same tables in SQLite files, or in the one database that a plug-in opens."""

from engine.database.base import Database

__all__ = ["Database"]
