"""Default settings of a run: the program's own, or those of this machine (BE-07)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from engine.errors import InvalidConfig
from engine.model.config.registry import USUAL, WORKFLOWS, declared
from engine.model.config.role_models import RoleModel, RoleModels
from engine.model.config.run_config import (
    CONFIG_FIELDS,
    OLD_GATE,
    RunConfig,
    config_from_dict,
    for_workflow,
    models_from_dict,
    options_from_dict,
    with_shared,
)
from engine.model.config.setting import require

_APART = ("workflow", "models", "options")


@dataclass(frozen=True, slots=True)
class Defaults:
    """Configs of runs that name nothing, or only some settings."""

    models: RoleModels = RoleModels()  # noqa: RUF009 - it is frozen
    """Of roles that a run names no model for."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What a file of settings says, as it says it; ``options`` may be those of several workflows."""

    @property
    def workflow(self) -> Any:
        """The workflow of a run that names none."""
        return self.settings.get("workflow", USUAL)

    def of(self, workflow: str = "") -> RunConfig:
        """The config of a run that names a workflow, or nothing.

        A file that names a workflow was saved for that one: another takes over what differs from the defaults there.
        """
        wanted, own = workflow or self.workflow, self.workflow
        require("workflow", wanted, tuple(WORKFLOWS))
        has = declared(wanted)
        options = {k: v for k, v in self._options.items() if k in {*has.own_settings, *has.options.now_shared}}
        shared = {name: value for name, value in self.settings.items() if name not in _APART}
        if "workflow" not in self.settings or wanted == own:
            return config_from_dict({**shared, "workflow": wanted, "options": options}, self.models)
        moved = for_workflow(config_from_dict({**shared, "workflow": own}, self.models), wanted)
        read = with_shared({"workflow": wanted, "options": options})
        shared = {name: read[name] for name in has.options.now_shared if name in read}
        return replace(moved, **shared, options=options_from_dict(wanted, read["options"]))

    def over(self, plain: Mapping[str, Any]) -> RunConfig:
        """The config of a run that names some settings, as JSON-ready values; raises ``InvalidConfig``.

        A pass threshold implies the gate that reads it.
        """
        usual = self.of(plain.get("workflow", ""))
        values = {name: getattr(usual, name) for name in CONFIG_FIELDS if name not in ("models", "options")}
        if "grade_pass_threshold" in plain:
            values["gate"] = OLD_GATE
        options = plain.get("options", {})
        if isinstance(options, Mapping):
            known = declared(usual.workflow).own_settings
            options = {**{name: getattr(usual.options, name) for name in known}, **options}
        return config_from_dict({**values, **plain, "options": options}, usual.models)

    @property
    def _options(self) -> Mapping[str, Any]:
        options: Mapping[str, Any] = self.settings.get("options", {})
        return options

    def in_one_line(self) -> str:
        """Settings and models in one line."""
        shared = {name: value for name, value in self.settings.items() if name != "options"}
        models = {item.name: getattr(self.models, item.name) for item in fields(RoleModels)}
        named = {role: model.name for role, model in models.items() if not model.built_in}
        return ", ".join(f"{name} {value}" for name, value in {**shared, **self._options, **named}.items())


def read_defaults(path: Path, named: Mapping[str, RoleModel]) -> Defaults:
    """Defaults from a file of settings; a model ``named`` for a role comes before that of the file.

    Raises ``InvalidConfig``, also for a value that one workflow alone would refuse.
    """
    plain = read_plain(path)
    models = replace(models_from_dict(plain.pop("models", {})), **named)
    options = plain.get("options", {})
    if not isinstance(options, Mapping):
        raise InvalidConfig.not_an_object(field="options")
    known = [name for own in map(declared, WORKFLOWS) for name in (*own.own_settings, *own.options.now_shared)]
    for name in options:
        if name not in known:
            raise InvalidConfig.unknown_setting(field=str(name)[:40], known=tuple(known))
    defaults = Defaults(models, plain)
    for workflow in ("", *WORKFLOWS):
        defaults.of(workflow)
    return defaults


def read_plain(path: Path) -> dict[str, Any]:
    """Parse a JSON or TOML file of settings; raises ``InvalidConfig``."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        plain = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "it is neither JSON nor, as *.toml, TOML"
        raise InvalidConfig.file_unreadable(path=path, why=why) from None
    if not isinstance(plain, dict):
        raise InvalidConfig.file_without_object(path=path)
    return plain
