"""What-if of the four-node loop: the shared walk as it stands, decided by :func:`engine.decide.decide`."""

from __future__ import annotations

from engine.config import RunConfig
from engine.values import RunRecord
from engine.whatif.values import WhatIf
from engine.whatif.walk import Walk


def self_corrective(record: RunRecord, config: RunConfig) -> WhatIf:
    """What ``record``'s question would have done under ``config``."""
    return Walk(record, config).walk()
