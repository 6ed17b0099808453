"""Saved settings as models: their ids are their names."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from engine.api.addresses import with_listed_address
from engine.engine import Engine
from engine.model.config import RunConfig
from engine.people import current_user
from plugins.chat.errors import UNKNOWN_MODEL

DEFAULT = "default"
"""The id of the default settings of the machine, unless settings were saved under that name."""
_SHOWN = 80


def models(engine: Engine) -> list[dict[str, Any]]:
    """All models that the current user may ask, the default first."""
    saved = engine.evaluation.saved_at()
    return [_listed(name, config, saved.get(name, "")) for name, config in _known(engine).items()]


def model(engine: Engine, name: str) -> dict[str, Any]:
    """One of :func:`models`; raises ``UNKNOWN_MODEL``."""
    config = config_of(engine, name)
    return _listed(name, config, engine.evaluation.saved_at().get(name, ""))


def config_of(engine: Engine, name: str) -> RunConfig:
    """The settings behind a model; raises ``WorkbenchError``, also for a collection that is kept from who asks."""
    config = _known(engine).get(name)
    if config is None:
        raise UNKNOWN_MODEL(model=name[:_SHOWN])
    return with_listed_address(engine.settings, config, field="model")


def _known(engine: Engine) -> dict[str, RunConfig]:
    usual = {DEFAULT: engine.settings.defaults_of_runs.of()}
    found = {**usual, **engine.evaluation.settings()}
    return {name: config for name, config in found.items() if current_user().may_read(config.collection)}


def _listed(name: str, config: RunConfig, saved_at: str) -> dict[str, Any]:
    return {
        "id": name,
        "object": "model",
        # The default was never saved: it is as old as time is to a computer.
        "created": int(datetime.fromisoformat(saved_at).timestamp()) if saved_at else 0,
        "owned_by": "workbench",
        "workbench": {"collection": config.collection, "workflow": config.workflow},
    }
