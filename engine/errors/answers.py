"""What can go wrong, or is worth knowing, where answers are evaluated."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError
from engine.errors.record import RecordError


class SharedModel(WorkbenchError):
    """One chat model both writes the answers and judges them: allowed, and seldom severe (SPEC AE-05)."""

    code = "WB420"

    @classmethod
    def of(cls, model: str) -> Self:
        return cls(
            f"{model} judges answers that it wrote itself.",
            remedy="Choose another model for evaluator or generator: a model seldom finds its own mistakes.",
            params={"model": model},
        )


class ClaimRefused(WorkbenchError):
    """A chat model was to say what is worth remembering of an answer, and said something else (SPEC DL-06)."""

    code = "WB422"

    @classmethod
    def adding(cls, model: str, what: str) -> Self:
        return cls(
            f"{model} wanted to remember {what[:80]!r}, which no cited sentence of the answer says.",
            remedy="The answer's own sentences are remembered instead; choose another generator if it happens often.",
            params={"model": model, "what": what[:80]},
        )

    @classmethod
    def formless(cls, model: str) -> Self:
        return cls(
            f"What {model} wanted to remember is not one or two sentences with the numbers of their passages.",
            remedy="The answer's own sentences are remembered instead; choose another generator if it happens often.",
            params={"model": model},
        )


class EpochsSpent(WorkbenchError):
    """The limit of answers was reached, and the last one was still criticised (SPEC AE-01)."""

    code = "WB421"

    @classmethod
    def after(cls, answers: int, suggestions: int) -> Self:
        return cls(
            f"The limit of {answers} answers is reached, and the last one still has {suggestions} "
            f"suggestion{'s' * (suggestions != 1)}.",
            remedy="Read the suggestions beside the answer, or raise gener_epoch.",
            params={"answers": str(answers), "suggestions": str(suggestions)},
        )


class ObservationLost(RecordError):
    """A run passed, and what was observed could not be kept; the run itself is recorded all the same."""

    code = "WB512"

    @classmethod
    def because(cls, path: str, why: str) -> Self:
        return cls(
            f"No observation could be added to {path!r}: {why[:200]}",
            remedy="Free disk space, or make the folder of WORKBENCH_DATA_DIR writable; the run itself is recorded.",
            params={"path": path, "why": why[:200]},
        )

    @classmethod
    def slow(cls, seconds: float) -> Self:
        return cls(
            f"The observation of this run could not be written within {seconds:g} s.",
            remedy="Look at the disk of WORKBENCH_DATA_DIR; the run itself is recorded.",
            params={"seconds": f"{seconds:g}"},
        )
