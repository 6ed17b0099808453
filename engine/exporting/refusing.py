"""Which settings an exported program would not decide alike with; said before anything is made."""

from __future__ import annotations

from engine.errors import NotExportable
from engine.model.config import USUAL, RunConfig


def refuse(config: RunConfig) -> None:
    """Raise ``NotExportable`` for settings with which an exported program would decide differently."""
    if config.workflow != USUAL:
        raise NotExportable.workflow(name=config.workflow, usual=USUAL)
    grader = config.models.grader
    if grader.fit:
        raise NotExportable.fitted(grader=grader.name)
    if grader.scores:
        raise NotExportable.scoring(grader=grader.name)
