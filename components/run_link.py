"""The address of a run on the workbench with settings in it, so that the what-if beside its answer speaks of them."""

from __future__ import annotations

from urllib.parse import urlencode

from components.i18n import Words
from components.what_if_text import ROLES, SETTINGS
from engine.config import BUILTIN, RoleModel, RunConfig
from engine.values import RunId

_DEFAULTS = RunConfig()


def run_link(run_id: RunId | str, config: RunConfig, words: Words, base: str = "") -> str:
    """``/?run=…&lang=en&top_k=7``; ``base`` is what the address of the pages begins with. Defaults need no place."""
    named = {"run": str(run_id), "lang": words.language, **settings_in_url(config)}
    return f"{base}/?{urlencode(named)}"


def settings_in_url(config: RunConfig) -> dict[str, str]:
    """The settings that are not the defaults, as the panel reads them from the address."""
    named = {
        name: _text(getattr(config, name)) for name in SETTINGS if getattr(config, name) != getattr(_DEFAULTS, name)
    }
    models = {role: config.models.of(role) for role in ROLES}
    named |= {role: str(model.model) for role, model in models.items() if model.model != BUILTIN}
    chat = next((model for model in models.values() if not model.built_in), None)
    if chat is not None:
        usual = RoleModel(chat.model)
        named |= {
            name: _text(getattr(chat, name))
            for name in ("num_ctx", "temperature")
            if getattr(chat, name) != getattr(usual, name)
        }
    return named


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
