"""The what-if of every workflow, by the workflow that the record is of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from engine.config import RunConfig, WorkflowName
from engine.values import RunRecord
from engine.whatif.answers import answer_evaluation
from engine.whatif.dual import dual_loop
from engine.whatif.graph import graph_hybrid
from engine.whatif.quality import quality_loop
from engine.whatif.rerun import Replay
from engine.whatif.values import WhatIf

_REPLAYS: Mapping[WorkflowName, Callable[[RunRecord, RunConfig], WhatIf]] = MappingProxyType(
    {
        "self_corrective": lambda record, config: Replay(record, config).what_if(),
        "quality_loop": quality_loop,
        "dual_loop": dual_loop,
        "answer_evaluation": answer_evaluation,
        "graph_hybrid": graph_hybrid,
    }
)


def what_if(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``; calls nothing and changes nothing.

    Works on a record of any outcome: what it has is used, and where it ends, the path ends. Raises ``KeyError`` for a
    workflow that is not there yet, of which there are no records either.
    """
    return _REPLAYS[record.workflow](record, config)
