"""Results of a finished run under other settings: pure replays of its record, without any call."""

from __future__ import annotations

from typing import Any

from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.values import RunRecord
from engine.replay.values import CallsNeeded, Gap, State, Step, WhatIf

__all__ = ["CallsNeeded", "Cost", "Gap", "State", "Step", "WhatIf", "replay_of", "what_if"]


def what_if(record: RunRecord, config: RunConfig, ran: RunRecord | None = None) -> WhatIf:
    """Return what ``record``'s question would have done under ``config``; calls and changes nothing.

    Works on a record of any outcome: what it has is used, and where it ends, the path ends. ``ran`` is the run itself
    where ``record`` has the verdicts of another calibration (:func:`engine.replay.rejudged.rejudged`).
    """
    replay = replay_of(record, config)
    replay.ran = ran or record
    found: WhatIf = replay.what_if()
    return found


def replay_of(record: RunRecord, config: RunConfig) -> Any:
    """The :class:`engine.replay.replay.Replay` of a record under ``config``, made by its workflow."""
    if record.workflow != config.workflow:
        # Nothing of its path is known, and what only one of the two has is not asked for.
        from engine.replay.replay import Replay

        return Replay(record, config)
    return workflow(record.workflow).replay(record, config)
