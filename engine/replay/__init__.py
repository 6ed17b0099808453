"""What a finished run would have done under other settings: pure replays over its record, without any call."""

from __future__ import annotations

from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay.values import CallsNeeded, Cost, Gap, State, Step, WhatIf

__all__ = ["CallsNeeded", "Cost", "Gap", "State", "Step", "WhatIf", "what_if"]


def what_if(record: RunRecord, config: RunConfig) -> WhatIf:
    """:func:`engine.replay.registry.what_if`, imported when first asked for: a start would wait for it."""
    from engine.replay.registry import what_if as replayed

    return replayed(record, config)
