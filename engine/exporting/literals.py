"""Values as Python source, laid out as a formatter would."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

_WIDTH = 120


def assigned(name: str, value: Any, said: str = "") -> str:
    """``name = value`` on as many lines as it takes, with ``said`` as a comment behind it."""
    text = f"{name} = {rendered(value, len(name) + 3)}"
    comment = f"  # {said}" if said else ""
    if said and width(text) + len(comment) > _WIDTH:
        return f"# {said}\n{text}\n"
    return f"{text}{comment}\n"


def rendered(value: Any, used: int = 0, indent: int = 0) -> str:
    """A value as source; ``used`` columns of its first line are taken, further lines begin ``indent`` deeper."""
    if isinstance(value, str) and (width(_flat(value)) + used + indent + 1 > _WIDTH or "\n" in value):
        return long_text(value)
    flat = _flat(value)
    if width(flat) + used + indent + 1 <= _WIDTH or not isinstance(value, Mapping | list):
        return flat
    inside = " " * (indent + 4)
    if isinstance(value, Mapping):
        items = [
            f"{inside}{_flat(key)}: {rendered(item, len(_flat(key)) + 2, indent + 4)}," for key, item in value.items()
        ]
        return "{\n" + "\n".join(items) + f"\n{' ' * indent}}}"
    return "[\n" + "\n".join(f"{inside}{rendered(item, 0, indent + 4)}," for item in value) + f"\n{' ' * indent}]"


def width(text: str) -> int:
    """Columns that a text takes: a Chinese character takes two."""
    return len(text) + sum(unicodedata.east_asian_width(char) in "WF" for char in text)


def long_text(text: str) -> str:
    """A text over several lines: those that are its own, and those that a backslash ends are one."""
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [piece for line in escaped.split("\n") for piece in _wrapped(line)]
    if lines and lines[-1].endswith('"'):
        lines[-1] = lines[-1][:-1] + '\\"'
    return '"""\\\n' + "\n".join(lines) + '"""'


def _wrapped(line: str) -> list[str]:
    pieces = []
    while width(line) > _WIDTH - 2:
        longest = min(len(line), _WIDTH - 2)
        fits = next(place for place in range(longest, 0, -1) if width(line[:place]) <= _WIDTH - 2)
        cut = line.rfind(" ", 0, fits) + 1
        if cut <= 0:
            break
        pieces.append(line[:cut] + "\\")
        line = line[cut:]
    return [*pieces, line]


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flat(key)}: {_flat(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return repr(value)


def _quoted(text: str) -> str:
    """With double quotes, unless that needs more backslashes."""
    plain = repr(text)
    if plain[0] == "'" and '"' not in text:
        return '"' + plain[1:-1].replace("\\'", "'") + '"'
    return plain
