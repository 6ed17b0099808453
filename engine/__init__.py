"""The engine of the Self-Corrective RAG Workbench: everything but the browser."""

from engine.config import PARAMETERS, PRESETS, RoleModel, RoleModels, RunConfig
from engine.decide import Evidence, decide
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.events import Event, fold
from engine.settings import Settings
from engine.values import Decision, Passage, Round, RunRecord, Verdict
from engine.version import __version__

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
