"""The graders that are fitted to a collection, for the panels."""

from __future__ import annotations

from engine.engine import Engine
from engine.errors import WorkbenchError


def fits_of(engine: Engine, collection: str) -> list[str]:
    """Their names, newest first; none where the evaluations cannot be read, which the page Tune tells."""
    try:
        return [fit.name for fit in engine.grader_fits.of(collection)]
    except WorkbenchError:
        return []
