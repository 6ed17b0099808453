"""The what-if of every workflow, by the workflow that the record is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from engine.config import RunConfig, WorkflowName
from engine.values import RunRecord
from engine.whatif.rerun import Replay
from engine.whatif.rerun_answers import AnswersReplay
from engine.whatif.rerun_dual import DualReplay
from engine.whatif.rerun_graph import GraphReplay
from engine.whatif.rerun_quality import QualityReplay
from engine.whatif.values import WhatIf

_REPLAYS: Mapping[WorkflowName, Callable[[RunRecord, RunConfig], WhatIf]] = MappingProxyType(
    {
        "self_corrective": lambda record, config: Replay(record, config).what_if(),
        "quality_loop": lambda record, config: QualityReplay(record, config).what_if(),
        "dual_loop": lambda record, config: DualReplay(record, config).what_if(),
        "answer_evaluation": lambda record, config: AnswersReplay(record, config).what_if(),
        "graph_hybrid": lambda record, config: GraphReplay(record, config).what_if(),
    }
)


def what_if(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``; calls nothing and changes nothing.

    Works on a record of any outcome: what it has is used, and where it ends, the path ends. Raises ``KeyError`` for a
    workflow that is not there yet, of which there are no records either.
    """
    return _REPLAYS[record.workflow](record, config)
