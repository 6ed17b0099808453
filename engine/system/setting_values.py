"""Every setting as it stands, with where it came from; secrets are never shown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import SecretStr
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from engine.errors import InvalidSettings
from engine.model.system import SettingValue
from engine.settings import Settings
from engine.system.masking import shown_value

Source = Literal["default", "environment", ".env", "workbench.toml", "override"]
_PREFIX = "WORKBENCH_"
_DEFAULTS = "defaults"


def setting_values(settings: Settings) -> tuple[SettingValue, ...]:
    """All fields in the order of the documentation's table, those of plug-ins last.

    The sources are looked at now: one that was changed since the start has another value than the one in force, which
    then counts as an override.
    """
    places = _places()
    try:
        fresh: Settings | None = Settings.load()
    except InvalidSettings:
        fresh = None
    said = f": {settings.defaults_of_runs.in_one_line()}" if settings.defaults else ""
    found = []
    for name, field in (Settings.model_fields | type(settings).model_fields).items():
        value = getattr(settings, name)
        source: Source = "default"
        if name in settings.model_fields_set:
            named = next((place for place, names in places if name in names), None)
            same = fresh is not None and getattr(fresh, name) == value
            source = named if named is not None and same else "override"
        found.append(
            SettingValue(
                name=name,
                variable=_PREFIX + name.upper(),
                value=shown_value(value) + (said if name == _DEFAULTS else ""),
                source=source,
                secret=isinstance(value, SecretStr),
                description=str(field.description),
            )
        )
    return tuple(found)


def _places() -> tuple[tuple[Source, frozenset[str]], ...]:
    """Names of the settings that each source has, the strongest first."""
    environment = _bare(EnvSettingsSource(Settings).env_vars)
    try:
        dotenv = _bare(DotEnvSettingsSource(Settings).env_vars)
        toml = frozenset(TomlConfigSettingsSource(Settings).toml_data)
    except (OSError, ValueError):
        # A file that was spoiled since the start says nothing about the settings in force.
        dotenv = toml = frozenset()
    return ("environment", environment), (".env", dotenv), ("workbench.toml", toml)


def _bare(names: Iterable[str]) -> frozenset[str]:
    capitals = (name.upper() for name in names)
    return frozenset(name.removeprefix(_PREFIX).lower() for name in capitals if name.startswith(_PREFIX))
