"""Schema revision of a database, and its upgrade with Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from engine.database.tables import METADATA, Part, tables_of
from engine.errors import RecordError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = 9
"""Number of the newest revision in ``migrations/versions``."""


def revision_name(number: int) -> str:
    """Return Alembic's name of a revision."""
    return f"{number:04}"


def require_known(place: str, found: int) -> None:
    """Raise ``RecordError.database_newer`` for a database that a later version of the program has changed."""
    if found > HEAD:
        raise RecordError.database_newer(path=place, found=found, known=HEAD)


def migrate(connection: Connection, parts: tuple[Part, ...], found: int) -> None:
    """Make the tables of some parts, or lift them from the revision found, in the transaction of the connection."""
    if not found:
        METADATA.create_all(connection, tables=tables_of(parts))
    elif found < HEAD:
        _upgrade(connection, parts, found)


def _upgrade(connection: Connection, parts: tuple[Part, ...], found: int) -> None:
    # Only a database that is older than the program needs Alembic, which takes longer to import than to do its work.
    from alembic import command

    config = alembic_config()
    config.attributes.update(connection=connection, parts=parts)
    command.stamp(config, revision_name(found), purge=True)
    command.upgrade(config, "head")


def alembic_config() -> Config:
    """The migrations of this package, for use without a file of settings."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    return config
