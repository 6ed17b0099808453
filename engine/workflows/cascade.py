"""The cascade: a cheap screener decides where it is sure, and the run's grader in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.model.config import RunConfig
from engine.model.decide import by_cut
from engine.model.values import ModelCall, Passage, PassageId, Verdict
from engine.roles import SILENT, Grader, Trace
from engine.workflows.steps.heard import Heard


class Cascade:
    """Grades with a screener first (contract: :class:`engine.roles.Grader`); its cuts are those of the config.

    What the screener settles is reported before the grader is asked. Raises what either raises.
    """

    def __init__(self, screener: Grader, grader: Grader, config: RunConfig) -> None:
        self._screener = screener
        self.grader = grader
        self._config = config

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        """One verdict for each passage, in their order: of the screener where it stands, else of the grader."""
        screened = await self._screener.grade(question, passages, _Screening(trace, self._config), parts)
        settled = [by_cut(verdict, self._config) for verdict in screened]
        between = [passage for passage, verdict in zip(passages, settled, strict=True) if verdict is None]
        judged = iter(await self.grader.grade(question, between, trace, parts) if between else ())
        return [verdict or next(judged) for verdict in settled]


class _Screening(Heard):
    """The trace of a screener: its calls are those of its own role, and only what stands is a verdict of the run."""

    def __init__(self, trace: Trace, config: RunConfig) -> None:
        super().__init__(trace, tell=False)
        self._config = config

    def call(self, call: ModelCall) -> None:
        self._trace.call(replace(call, role="screener"))

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self._trace.screened(passage_id, verdict)
        if (settled := by_cut(verdict, self._config)) is not None:
            self._trace.verdict(passage_id, settled)
