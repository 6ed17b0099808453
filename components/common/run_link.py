"""The address of a run on the workbench with settings in it, so that the what-if next to its answer uses them."""

from __future__ import annotations

from urllib.parse import urlencode

from components.common.i18n import Words
from components.common.run_settings import chat_model_of, option_names, roles_asked
from components.common.url_state import base_path
from engine.model.config import BUILTIN, RoleModel, RunConfig, settings_of
from engine.model.values import RunId


def run_link(run_id: RunId | str, config: RunConfig, words: Words, base: str = "") -> str:
    """``/?run=…&lang=en&top_k=7``; ``base`` is what the address of the pages begins with. Defaults need no place."""
    named = {"run": str(run_id), "lang": words.language, **settings_in_url(config)}
    return f"{base}/?{urlencode(named)}"


def run_address(run_id: RunId | str, words: Words) -> str:
    """The address of a run as it was asked, for a link on another page."""
    return f"{base_path()}/?{urlencode({'run': run_id, 'lang': words.language})}"


def settings_in_url(config: RunConfig) -> dict[str, str]:
    """The settings that are not the workflow's defaults, as the panel reads them from the address; the gate always.

    An address with settings and no gate is an old one, and keeps the gate of its time.
    """
    usual = RunConfig(workflow=config.workflow)
    named = {} if config.workflow == RunConfig().workflow else {"workflow": str(config.workflow)}
    named |= {
        name: _text(getattr(config, name))
        for name in settings_of(config.workflow)
        if name == "gate" or getattr(config, name) != getattr(usual, name)
    }
    named |= {
        name: _text(getattr(config.options, name))
        for name in option_names(config.workflow)
        if getattr(config.options, name) != getattr(usual.options, name)
    }
    models = {str(role): config.models.of(role) for role in roles_asked(config)}
    named |= {role: model.name for role, model in models.items() if model.name != BUILTIN}
    chat = chat_model_of(config)
    if chat is not None:
        plain = RoleModel(chat.model)
        named |= {
            name: _text(getattr(chat, name))
            for name in ("num_ctx", "temperature")
            if getattr(chat, name) != getattr(plain, name)
        }
    return named


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
