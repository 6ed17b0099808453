"""Settings that people keep under a name."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Connection, delete, select

from engine.database.base import clean, put
from engine.database.tables import SAVED_SETTINGS
from engine.errors import EvaluationError
from engine.evaluation.store_database import OpenedStore, now, require_readable, stored_json, visible_name
from engine.messages import N_
from engine.model.config import RunConfig, config_from_stored
from engine.people import current_user
from engine.people.authorization import needs


class SavedSettings(OpenedStore):
    """Settings by name; several processes may use it at once."""

    @needs("editor", log=N_("Settings saved"))
    def save_settings(self, name: str, config: RunConfig) -> None:
        """Keep settings under a name; those of the same name are replaced.

        Raises ``EvaluationError`` for an unusable name, and for one of settings that are kept from who acts;
        ``UnknownCollection`` for settings of such a collection.
        """
        require_readable(config.collection)
        row = {"name": visible_name(name), "config": stored_json(asdict(config)), "saved_at": now()}
        with self._writing() as connection:
            if not self._may_change_settings(connection, row["name"]):
                raise EvaluationError.settings_taken(name=name)
            put(connection, SAVED_SETTINGS, row)

    @needs("viewer")
    def settings(self) -> dict[str, RunConfig]:
        """Saved settings by name, without those for a collection that is kept from who acts.

        Those of a later version, which cannot be read, are left out too and stay in the file.
        """
        rows = self._rows(select(SAVED_SETTINGS.c.name, SAVED_SETTINGS.c.config).order_by(SAVED_SETTINGS.c.name))
        person, found = current_user(), {}
        for name, data in rows:
            try:
                config: RunConfig = self._read(data, config_from_stored)
            except EvaluationError:
                continue
            if person.may_read(config.collection):
                found[str(name)] = config
        return found

    @needs("viewer")
    def saved_at(self) -> dict[str, str]:
        """Return when settings were saved, by name (ISO 8601), except for collections the current user may not read."""
        rows = self._rows(select(SAVED_SETTINGS.c.name, SAVED_SETTINGS.c.saved_at))
        seen = self.settings()
        return {str(name): str(saved) for name, saved in rows if name in seen}

    @needs("editor", log=N_("Saved settings deleted"))
    def delete_settings(self, name: str) -> None:
        """Delete saved settings; nothing happens where who acts may see none of that name."""
        with self._writing() as connection:
            if self._may_change_settings(connection, name):
                connection.execute(delete(SAVED_SETTINGS).where(SAVED_SETTINGS.c.name == clean(name)))

    def _may_change_settings(self, connection: Connection, name: str) -> bool:
        """Return whether the current user may read all settings of this name; unreadable ones may be any user's."""
        person = current_user()
        if person.reads_all:
            return True
        found = connection.scalar(select(SAVED_SETTINGS.c.config).where(SAVED_SETTINGS.c.name == clean(name)))
        try:
            return found is None or person.may_read(self._read(found, config_from_stored).collection)
        except EvaluationError:
            return False
