"""Observations from runs with a passed answer, as JSON Lines that survive a crash (AE-08)."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import RecordError

_NEWLINE = b"\n"
_TRIES = 2


class Observations:
    """One file, one JSON object a line; any number of runs and processes may append to it at the same time.

    A record is written in one piece at the end of the file, wherever that is by then. Where the file does not end
    with a newline, a writer died or ran out of disk: that record is closed off by a newline first, so
    it stays a line of its own, and no other record suffers.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    async def append(self, observation: Mapping[str, Any]) -> None:
        """Add one record and wait until the disk has it; ``RecordError`` where that cannot be."""
        await asyncio.to_thread(self._append, _line(observation))

    def read(self) -> list[dict[str, Any]]:
        """Every record that is whole, oldest first; a torn one is left out. Empty where nothing was kept yet.

        Raises ``RecordError`` where the file cannot be read.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._lost(error) from error
        return [record for line in content.split(_NEWLINE) if (record := _record(line)) is not None]

    def _append(self, line: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Read access too, for the last byte; in append mode the system itself finds the end for every write.
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise self._lost(error) from error
        try:
            _write_whole(file, line)
            os.fsync(file)
        except OSError as error:
            raise self._lost(error) from error
        finally:
            os.close(file)

    def _lost(self, error: OSError) -> RecordError:
        return RecordError.observation_lost(path=str(self._path), why=f"{error.strerror or error}.")


def _write_whole(file: int, line: bytes) -> None:
    """Write a line in one piece; a piece that was cut short is left torn, and the whole line tried once more."""
    for _ in range(_TRIES):
        made = line if _ends_cleanly(file) else _NEWLINE + line
        if os.write(file, made) == len(made):
            return
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ends_cleanly(file: int) -> bool:
    size = os.fstat(file).st_size
    if not size:
        return True
    os.lseek(file, size - 1, os.SEEK_SET)
    return os.read(file, 1) == _NEWLINE


def _line(observation: Mapping[str, Any]) -> bytes:
    # A lone surrogate, as some PDF readers leave it, becomes the escape that JSON has for it.
    return json.dumps(observation, ensure_ascii=False).encode("utf-8", "backslashreplace") + _NEWLINE


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        read = json.loads(line)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
