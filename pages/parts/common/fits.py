"""Models that judge passages and are here, for the panels: fitted to a collection, and in files."""

from __future__ import annotations

from collections.abc import Mapping

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import RunConfig
from engine.model.grader_fit import GraderFit


def fits_of(engine: Engine, collection: str) -> list[str]:
    """Their names, newest first; none where the evaluations cannot be read, which the page Tune tells."""
    try:
        return [fit.name for fit in engine.grader_fits.of(collection)]
    except WorkbenchError:
        return []


def scorers_of(engine: Engine) -> tuple[str, ...]:
    """Cross-encoders in files that run here, as a config names them: GGUF files, and folders."""
    files = engine.host.local_models() if engine.host.runs_files() else ()
    found = (item.role_name for item in files if item.kind == "scores" and item.fault is None)
    return (*found, *engine.host.cross_encoders())


def fits_for(engine: Engine, collection: str, run: RunConfig, config: RunConfig) -> Mapping[str, GraderFit]:
    """By id, what a replay needs to judge a run as ``config`` does; none where the grader is that of the run."""
    own, wanted = run.models.grader, config.models.grader
    if wanted.fit in ("", own.fit) or wanted.model != own.model:
        return {}
    try:
        return {fit.id: fit for fit in engine.grader_fits.of(collection)}
    except WorkbenchError:
        return {}
