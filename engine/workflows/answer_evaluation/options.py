"""The settings that only the answer-evaluation loop has."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages import N_
from engine.model.config import Options, RunConfig, number, own_options


@dataclass(frozen=True, slots=True)
class AnswerEvaluationOptions(Options):
    """Limit of answers in a run (AE-01)."""

    gener_epoch: int = number(
        (1, 10, 3, 1),
        N_("Answers at most"),
        N_("How many answers may be written, the first included. Each is judged; the last stands. Usual: 3."),
        whole=True,
    )
    """The first answer included."""


def gener_epoch(config: RunConfig) -> int:
    """The answers that a run of this loop may write."""
    return own_options(config, AnswerEvaluationOptions).gener_epoch
