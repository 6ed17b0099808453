"""The databases of one installation: a file for each part, or the one that a plug-in has for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import cast

from engine.database.base import Database
from engine.database.sqlite import SqliteFile
from engine.database.tables import PARTS, Part
from engine.errors import InvalidSettings
from engine.plugins import plugins
from engine.settings import Settings


@dataclass(frozen=True, slots=True)
class Databases:
    """Database of each store, opened on first use."""

    runs: Database
    evaluation: Database
    verdicts: Database
    weak_points: Database
    people: Database

    @classmethod
    def of(cls, settings: Settings) -> Databases:
        """Those that the settings name.

        Raises what a plug-in does for an address that it cannot use, ``InvalidSettings`` where there is none for it.
        """
        if not settings.database_url.get_secret_value():
            return cls.files(settings)
        for plugin in plugins():
            if plugin.database is not None:
                return cls.one(plugin.database(settings))
        # Not the files instead: they would look as if everything were lost.
        raise InvalidSettings.without_plugin(name="WORKBENCH_DATABASE_URL", plugin="team")

    @classmethod
    def one(cls, database: Database) -> Databases:
        """The same for everything."""
        return cls(*(database,) * len(fields(cls)))

    @classmethod
    def files(cls, settings: Settings) -> Databases:
        """The SQLite files of the data folder, no matter what the settings name."""
        folder = settings.data_dir
        return cls(
            SqliteFile(folder / "runs.db", "runs"),
            # A label or the end of a run must outlive a power cut, and these writes are few.
            SqliteFile(folder / "evaluation.db", "evaluation", durable=True, busy_s=10.0),
            # A verdict that is not found in time is asked for again.
            SqliteFile(folder / "verdicts.db", "verdicts", busy_s=0.25),
            SqliteFile(folder / "weak_points.db", "weak_points", durable=True),
            SqliteFile(folder / "people.db", "people", durable=True),
        )

    @property
    def by_part(self) -> Mapping[Part, Database]:
        """The database of each part that this kind keeps: one for all parts has those of a team too."""
        named = {field.name: cast(Database, getattr(self, field.name)) for field in fields(self)}
        alone = self.runs if len({id(item) for item in named.values()}) == 1 else None
        found = ((part, named.get(part, alone)) for part in PARTS)
        return {part: database for part, database in found if database is not None}

    @property
    def each(self) -> tuple[Database, ...]:
        """Every database, once."""
        return tuple({id(item): item for item in self.by_part.values()}.values())

    @property
    def kept(self) -> tuple[Database, ...]:
        """Events that must not be lost: all but verdicts, which can be requested again."""
        return tuple({id(item): item for part, item in self.by_part.items() if part != "verdicts"}.values())

    def close(self) -> None:
        """Let all of them go."""
        for database in self.each:
            database.close()
