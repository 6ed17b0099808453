"""What a run, a what-if and a diagnosis are in plain sentences: said by whoever has the words of the pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from engine.evaluation.recommend import Recommendation
    from engine.model.config import RunConfig
    from engine.model.events import Event
    from engine.model.values import Decision, Fault, RunRecord
    from engine.replay import WhatIf
    from engine.replay.decision_boundaries import DecisionBoundary
    from engine.replay.diagnosis import Diagnosis

Language = Literal["en", "zh"]


class Telling(Protocol):
    """Sentences in English or Chinese, without markup; texts of passages and people stand in them as they are."""

    def steps(self, record: RunRecord, events: Sequence[Event], language: Language) -> list[str]:
        """What happened in a run, one sentence a step."""

    def ending(self, record: RunRecord, language: Language) -> str:
        """How a run ended, in a few words."""

    def decision(self, decision: Decision, record: RunRecord, language: Language) -> str:
        """The inequality that decided, and where it led."""

    def what_if(self, found: WhatIf, record: RunRecord, language: Language) -> str:
        """What other settings would have done to a run."""

    def diagnosis(self, found: Diagnosis, language: Language) -> str:
        """What a run suffered from, with the figures that say so."""

    def change(self, boundary: DecisionBoundary, language: Language) -> str:
        """The change of one setting, and where it leads."""

    def recommendation(self, found: Recommendation, before: RunConfig, language: Language) -> list[str]:
        """Which settings of a sweep are recommended over ``before``, and how sure that is."""

    def fault(self, fault: Fault, language: Language) -> str:
        """What happened, and what to do."""


GetTelling = Callable[[], Telling]
