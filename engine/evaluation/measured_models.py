"""Figures of models as graders, judges, rewriters and verifiers, measured by this project for the page and the docs.

``measured_models.json`` is written by the benchmarks ``models`` and ``model-runs`` with ``--record``, never by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("measured_models.json")
Entry = Mapping[str, Any]
"""Figures of one model in one role: shares and measures are ``[value, low, high]`` with a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Found:
    """Entries by role."""

    graders: list[Entry] = field(default_factory=list)
    judges: list[Entry] = field(default_factory=list)
    rewriters: list[Entry] = field(default_factory=list)
    verifiers: list[Entry] = field(default_factory=list)
    runs: list[Entry] = field(default_factory=list)
    """Models in whole runs: right and wrong answers, refusals."""


@lru_cache(maxsize=1)
def measured_models() -> Found:
    """Everything that was measured and ships."""
    return Found(**json.loads(FILE.read_text(encoding="utf-8")))
