"""The roles that only the answer-evaluation loop has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.roles import Evaluator, Writer


@dataclass(frozen=True, slots=True)
class AnswerRoles:
    """The further roles of the answer-evaluation loop."""

    writer: Writer
    evaluator: Evaluator
    observe: Callable[[Mapping[str, Any]], Awaitable[None]]
    """Appends one observation (AE-08); raises ``RecordError`` where it cannot be written."""
