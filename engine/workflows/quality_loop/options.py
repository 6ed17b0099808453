"""The settings that only the quality-control loop has."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InvalidConfig
from engine.messages import N_
from engine.model.config import Options, RunConfig, choice, number, own_options
from engine.model.values.names import GradeOn

QUALITY_WEIGHTS = ("coverage_weight", "relevance_weight", "diversity_weight", "count_weight")
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True)
class QualityOptions(Options):
    """Weights, cut-offs and the graded number (QL-01, QL-02)."""

    coverage_weight: float = number(
        (0, 1, 0.4, 0.05),
        N_("Study log"),
        N_("Share of passages from the dated study log, where weak points are noted. Usual: 0.40."),
    )
    relevance_weight: float = number(
        (0, 1, 0.3, 0.05),
        N_("Relevance"),
        N_("Mean probability that a passage is relevant, as the grader sees it. Usual: 0.30."),
    )
    diversity_weight: float = number(
        (0, 1, 0.2, 0.05),
        N_("Kinds of sources"),
        N_("How many of the three kinds of sources the passages come from. Usual: 0.20."),
    )
    count_weight: float = number(
        (0, 1, 0.1, 0.05),
        N_("Number of passages"),
        N_("How many passages there are; twenty count in full. Usual: 0.10."),
    )
    grade_on: GradeOn = choice(
        {"weighted": N_("Weighted score"), "top3": N_("Best three")},
        N_("Grade on"),
        N_(
            "Which number is graded: the weighted score, or the mean relevance of the three best passages. Both are "
            "computed and shown."
        ),
    )
    high_score: float = number(
        (0, 1, 0.7, 0.01),
        N_("High from"),
        N_("A score from here on is graded high. It is never below medium. Usual: 0.70."),
    )
    medium_score: float = number(
        (0, 1, 0.5, 0.01),
        N_("Medium from"),
        N_("A lower score is graded low, and the question is rewritten. Usual: 0.50."),
    )
    """Scores from which a round is graded high, and medium; below it is low and rewritten."""

    def check(self) -> None:
        """Raise ``InvalidConfig`` for weights that do not sum to 1 and cut-offs in the wrong order."""
        total = sum(getattr(self, name) for name in QUALITY_WEIGHTS)
        if abs(total - 1.0) > _ROUNDING:
            raise InvalidConfig.weights(sum=f"{total:.4g}", weights=QUALITY_WEIGHTS)
        if self.high_score < self.medium_score:
            raise InvalidConfig.out_of_range(field="high_score", low=self.medium_score, high=1)


def quality_options(config: RunConfig) -> QualityOptions:
    """The options of a run of this loop."""
    return own_options(config, QualityOptions)
