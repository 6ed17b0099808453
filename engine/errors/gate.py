"""What the settings of a gate ask for that a run may be unable to give; warnings, not failures."""

from __future__ import annotations

from typing import Self

from engine.errors.base import WorkbenchError


class GateOutOfReach(WorkbenchError):
    """The gate cannot be met: by any run, by its first round, or by the one passage that answers (SPEC SC-05)."""

    code = "WB121"

    @classmethod
    def ever(cls, wanted: int, most: int) -> Self:
        return cls(
            f"The gate asks for {wanted} passages, and a run with these settings grades at most {most}: it cannot be "
            "met.",
            remedy="Ask for fewer passages (min_relevant), or raise top_k.",
            params={"wanted": str(wanted), "most": str(most)},
        )

    @classmethod
    def in_one_round(cls, wanted: int, top_k: int) -> Self:
        return cls(
            f"The gate asks for {wanted} passages, and a round keeps at most {top_k}: it cannot be met without a "
            "rewrite.",
            remedy="Ask for fewer passages (min_relevant), or raise top_k.",
            params={"wanted": str(wanted), "top_k": str(top_k)},
        )

    @classmethod
    def by_one_passage(cls, threshold: str, needed: int, kept: int) -> Self:
        return cls(
            f"With {kept} passages kept, a pass rate of {threshold} asks that {needed} of them pass: where one passage "
            "alone holds the answer, the gate cannot be met.",
            remedy="Let a number of passages be the gate (min_relevant), or lower the pass rate.",
            params={"threshold": threshold, "needed": str(needed), "kept": str(kept)},
        )
