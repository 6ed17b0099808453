"""What is known of a run's answer beyond the run itself, for the pages that show it."""

from __future__ import annotations

from engine.engine import Engine
from engine.errors import EvaluationError
from engine.evaluation.values import RunAnswer
from engine.model.values import RunRecord


def known_answer(engine: Engine, record: RunRecord) -> RunAnswer | None:
    """What is known of the answer beyond the run; None where judgements and query sets cannot be read."""
    # It is not needed before the first question, and the pages are imported before that.
    from engine.evaluation.run_answer import run_answer

    try:
        return run_answer(engine.evaluation, record)
    except EvaluationError:
        return None
