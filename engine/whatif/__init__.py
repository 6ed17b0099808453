"""What a finished run would have done under other settings: pure replays over its record, without any call."""

from __future__ import annotations

from engine.whatif.replay import what_if
from engine.whatif.values import CallsNeeded, Gap, Price, State, Step, WhatIf

__all__ = ["CallsNeeded", "Gap", "Price", "State", "Step", "WhatIf", "what_if"]
