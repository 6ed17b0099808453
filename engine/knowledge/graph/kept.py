"""What a building of a graph has summarised by now, in a file of its job's folder: asked of a chat model only once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.knowledge.journal import disk_fault
from engine.model.values import Community


class KeptSummaries:
    """Titles and summaries by what they were made of; every method blocks. Without a path nothing outlives it.

    Raises ``JobError.disk_full`` and ``JobError.folder_unusable``; a damaged line is left out, which costs a call.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, tuple[str, str]] = dict(_read(path)) if path is not None else {}

    def find(self, community: Community, hashes: Sequence[str]) -> tuple[str, str] | None:
        """Title and summary of a community whose passages have these hashes; None where it was not summarised yet."""
        return self._known.get(_key(community, hashes))

    def keep(self, community: Community, hashes: Sequence[str]) -> None:
        """Note the title and summary of a community."""
        key, told = _key(community, hashes), (community.title, community.summary)
        self._known[key] = told
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="ascii") as file:
                # Begins a line of its own no matter what a process that died left half written.
                file.write(f"\n{json.dumps([key, *told])}\n")
        except OSError as error:
            raise disk_fault(error, str(self._path)) from error


def _read(path: Path) -> Iterable[tuple[str, tuple[str, str]]]:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        try:
            key, title, summary = json.loads(line)
        except ValueError:  # the process died while it wrote this line
            continue
        yield str(key), (str(title), str(summary))


def _key(community: Community, hashes: Sequence[str]) -> str:
    told = json.dumps([sorted(community.entities), *zip(community.passages, hashes, strict=True)])
    return hashlib.sha256(told.encode()).hexdigest()
