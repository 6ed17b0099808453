"""Whether something that is needed is down, for the navigation: known from the last look, never waited for."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import streamlit as st

from components.common.settings_of import roles_of
from components.system.health import judged, worst
from engine.api.process import get_engine
from engine.engine import Engine
from engine.model.config import RoleModel, RoleModels, RoleName
from engine.model.host import PartHealth
from pages.parts.system.work import in_background

Parts = tuple[PartHealth, ...]

_SOUND_S = 300.0
_TROUBLED_S = 30.0
"""How long a look counts: where something was wrong, it may have been put right since."""


@dataclass(slots=True)
class _Last:
    """The newest look of this process at its engine; shared by all sessions."""

    engine: Engine | None = None
    parts: Parts = ()
    at: float = 0.0
    underway: Future[Parts] | None = None
    guard: threading.Lock = field(default_factory=threading.Lock)


_last = _Last()


def roles_played() -> dict[str, str]:
    """The model that the panel's settings name for each role of the chosen workflow."""
    roles = roles_of(st.session_state.get("workflow", get_engine().settings.defaults_of_runs.workflow))
    models = models_played(roles)
    return {str(role): models.of(role).model for role in roles}


def models_played(roles: Sequence[RoleName]) -> RoleModels:
    """What the panel is set to for these roles; those that it has not shown yet as the settings of this machine say."""
    named = {str(role): str(st.session_state.get(role) or "") for role in roles}
    usual = get_engine().settings.models
    return RoleModels(**{role: RoleModel(name) if name else getattr(usual, role) for role, name in named.items()})


def note_parts(engine: Engine, parts: Parts) -> None:
    """Take over what somebody has just looked at."""
    with _last.guard:
        _last.engine, _last.parts, _last.at = engine, parts, time.monotonic()


def trouble(engine: Engine) -> bool:
    """Whether a part that is needed did not work when it was last looked at; begins a new look where that is old."""
    with _last.guard:
        if _last.engine is not engine:
            _last.engine, _last.parts, _last.at, _last.underway = engine, (), 0.0, None
        done = _last.underway is not None and _last.underway.done()
        if done and _last.underway is not None:
            failed = _last.underway.cancelled() or _last.underway.exception() is not None
            _last.parts = _last.parts if failed else _last.underway.result()
            _last.at, _last.underway = time.monotonic(), None
        parts = judged(_last.parts, roles_played())
        counts_s = _TROUBLED_S if worst(parts) == "down" else _SOUND_S
        if _last.underway is None and (not _last.at or time.monotonic() - _last.at > counts_s):
            _last.underway = in_background(engine.host.health)
    return worst(parts) == "down"
