"""Replies of a chat model that a job has paid for, in a file of its folder: what is resumed asks for none twice."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.knowledge.journal import disk_fault


class KeptReplies:
    """JSON values by what was asked; every method blocks. Without a path nothing outlives it.

    Raises ``JobError.disk_full`` and ``JobError.folder_unusable``; a damaged line is left out, which costs a call.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, tuple[Any, ...]] = dict(_read(path)) if path is not None else {}

    def find(self, key: str) -> tuple[Any, ...] | None:
        """The values of a reply; None where it was not given yet."""
        return self._known.get(key)

    def count(self, *values: Any) -> int:
        """How many replies have these values."""
        return sum(known == values for known in self._known.values())

    def keep(self, key: str, *values: Any) -> None:
        """Note a reply."""
        self._known[key] = values
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="ascii") as file:
                # Begins a line of its own no matter what a process that died left half written.
                file.write(f"\n{json.dumps([key, *values])}\n")
        except OSError as error:
            raise disk_fault(error, str(self._path)) from error


def _read(path: Path) -> Iterable[tuple[str, tuple[Any, ...]]]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        try:
            key, *values = json.loads(line)
        except ValueError:  # the process died while it wrote this line
            continue
        yield str(key), tuple(values)
