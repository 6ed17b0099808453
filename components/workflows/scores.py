"""Quality scores as text and as looks: never rounded across a cut-off, never shown by colour alone."""

from __future__ import annotations

from engine.model.values import QualityGrade
from engine.workflows.quality_loop.options import QualityOptions

_LOOKS: dict[QualityGrade, str] = {"high": "pass", "medium": "pass", "low": "warn"}
_MOST_DIGITS = 9


def score_text(score: float, options: QualityOptions) -> str:
    """A score with as many decimals as leave it on its own side of both cut-offs: 0.498 is not printed as 0.50."""
    cuts = (options.medium_score, options.high_score)
    for digits in range(2, _MOST_DIGITS):
        text = f"{score:.{digits}f}"
        if all((float(text) >= cut) == (score >= cut) for cut in cuts):
            return text
    return f"{score:.{_MOST_DIGITS}f}"


def grade_look(grade: QualityGrade) -> str:
    """The look of a grade's chip."""
    return _LOOKS[grade]
