"""The replay of every workflow, by the workflow that the record is of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.model.config import RunConfig, WorkflowName
from engine.model.values import RunRecord
from engine.replay.replay import Replay
from engine.replay.values import WhatIf
from engine.workflows.answer_evaluation.replay import AnswersReplay
from engine.workflows.dual_loop.replay import DualReplay
from engine.workflows.graph_hybrid.replay import GraphReplay
from engine.workflows.quality_loop.replay import QualityReplay

_REPLAYS: Mapping[WorkflowName, type[Replay]] = MappingProxyType(
    {
        "self_corrective": Replay,
        "quality_loop": QualityReplay,
        "dual_loop": DualReplay,
        "answer_evaluation": AnswersReplay,
        "graph_hybrid": GraphReplay,
    }
)


def what_if(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``; calls nothing and changes nothing.

    Works on a record of any outcome: what it has is used, and where it ends, the path ends. Raises ``KeyError`` for a
    workflow that is not there yet, of which there are no records either.
    """
    return replay_of(record, config).what_if()


def replay_of(record: RunRecord, config: RunConfig) -> Replay:
    """The workflow of a record, ready to be run over it under ``config``."""
    return _REPLAYS[record.workflow](record, config)
