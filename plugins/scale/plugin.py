"""Scale: which index a collection of a server has and what it finds, and vectors that another program made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.messages import N_
from engine.model.later import later
from engine.plugins import Plugin

# Imported with the declaration: jobs hold these errors, and their codes lead to their messages.
from plugins.scale import errors  # noqa: F401

if TYPE_CHECKING:
    from components.common.i18n import Words
    from engine.engine import Engine
    from pages.parts.knowledge.state import Addition


def _commands(commands: Any) -> None:
    from plugins.scale.index_command import add_index
    from plugins.scale.load_command import add_load

    add_load(commands)
    add_index(commands)


def _addition(engine: Engine, words: Words) -> Addition | None:
    if not engine.settings.milvus_uri:
        return None
    from plugins.scale.dialog import addition

    return addition(engine, words)


PLUGIN = Plugin(
    name="scale",
    title=N_("Indexes and vector files"),
    open=later("plugins.scale.actions:Scale"),
    commands=_commands,
    jobs={"index": later("plugins.scale.work:work")},
    panels={"collection": _addition},
)
