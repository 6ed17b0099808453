"""The engine of the Self-Corrective RAG Workbench: everything but the browser.

What stands for machinery (:class:`Engine`, :class:`Settings`) is imported when first asked for: policy and values are
wanted by tools that never open an engine, and its imports cost most of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from engine.errors import WorkbenchError
from engine.model.config import PARAMETERS, PRESETS, RoleModel, RoleModels, RunConfig
from engine.model.decide import Evidence, decide
from engine.model.events import Event, fold
from engine.model.values import Decision, Passage, Round, RunRecord, Verdict
from engine.version import __version__

if TYPE_CHECKING:
    from engine.engine import Engine
    from engine.settings import Settings
else:
    _LAZY = {"Engine": "engine.engine", "Settings": "engine.settings"}

    def __getattr__(name: str) -> object:
        """PEP 562; hidden from type checkers, which would otherwise accept any name."""
        if name not in _LAZY:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_LAZY[name]), name)
        globals()[name] = value
        return value


__all__ = [
    "PARAMETERS",
    "PRESETS",
    "Decision",
    "Engine",
    "Event",
    "Evidence",
    "Passage",
    "RoleModel",
    "RoleModels",
    "Round",
    "RunConfig",
    "RunRecord",
    "Settings",
    "Verdict",
    "WorkbenchError",
    "__version__",
    "decide",
    "fold",
]
