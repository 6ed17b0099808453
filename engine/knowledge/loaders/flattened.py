"""Nested values of data files as lines that each say where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.knowledge.loaders.encoding import without_control

_DEEPEST = 60


def value_lines(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """``a.b: value`` for everything inside; a list of plain values stays on one line.

    Raises ``RecursionError`` where it is nested too deeply.
    """
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from value_lines(inner, f"{path}.{key}" if path else str(key), depth + 1)
        return
    if isinstance(value, list):
        if not any(isinstance(inner, dict | list) for inner in value):
            shown = ", ".join(filter(None, map(value_text, value)))
            if shown:
                yield f"{path}: {shown}" if path else shown
            return
        for number, inner in enumerate(value, 1):
            yield from value_lines(inner, f"{path}[{number}]", depth + 1)
        return
    shown = value_text(value)
    if shown:
        yield f"{without_control(path)}: {shown}" if path else shown


def value_text(value: Any) -> str:
    """A single value as a file writes it; nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return without_control(str(value).strip())
