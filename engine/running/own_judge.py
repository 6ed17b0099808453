"""Whether a model would judge its own answers, said before anything is run (AE-05)."""

from __future__ import annotations

from engine.errors import RunWarning
from engine.flow import workflow
from engine.model.config import RunConfig


def own_judge_warnings(config: RunConfig) -> tuple[RunWarning, ...]:
    """Warn if one chat model writes and evaluates the answers of ``config``; empty if none evaluates."""
    model = config.models.writes_and_judges
    return (
        (RunWarning.judges_its_own_answers(model=model),)
        if model is not None and "evaluator" in workflow(config.workflow).roles
        else ()
    )
