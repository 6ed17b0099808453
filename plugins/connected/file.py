"""The file of connections: read at start, written whole, readable by its owner alone because tokens are in it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from plugins.connected.errors import ConnectionsDamaged
from plugins.connected.values import Connection

_FORMAT = 1
UNREADABLE = (ValueError, KeyError, TypeError, OverflowError)
"""What an entry that this program did not write makes :func:`connection_of` raise."""


class ConnectionFile:
    """``connections.json`` of the data folder."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.place = str(path)

    shared = False

    def read(self) -> tuple[dict[str, Connection], ConnectionsDamaged | None]:
        """Connections by name, and what was wrong: a damaged file is kept under another name, its sound part used."""
        try:
            content = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}, None
        except (OSError, UnicodeDecodeError) as error:
            return {}, self._set_aside(error)
        try:
            kept = json.loads(content)
            entries = kept["connections"]
            if kept["format"] != _FORMAT or not isinstance(entries, list):
                raise ValueError("it has another format")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            return {}, self._set_aside(error)
        found: dict[str, Connection] = {}
        fault = None
        for entry in entries:
            try:
                connection = connection_of(entry)
            except UNREADABLE as error:
                fault = fault or self._set_aside(error)
            else:
                found[connection.name] = connection
        if fault is not None:
            # Where the disk does not let it, the sound part is used all the same.
            with suppress(ConnectionsDamaged):
                self.write(found.values())
        return found, fault

    def write(self, connections: Iterable[Connection]) -> None:
        """Replace the file in one step; raises ``ConnectionsDamaged`` where the disk does not let it."""
        content = json.dumps(
            {"format": _FORMAT, "connections": [plain_connection(item) for item in connections]},
            ensure_ascii=False,
            indent=1,
        )
        part = self._path.with_suffix(f".{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)
            # Made with this mode: a file that is narrowed afterwards could be opened in between.
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._path)
        except (OSError, UnicodeEncodeError) as error:
            raise ConnectionsDamaged.not_written(unwritten=str(self._path), why=_why(error)) from None

    def _set_aside(self, error: Exception) -> ConnectionsDamaged:
        """Rename the file, so that the next change does not overwrite what can be repaired by hand."""
        aside = self._path.with_name(f"{self._path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        try:
            self._path.replace(aside)
        except OSError:
            aside = self._path
        return ConnectionsDamaged.kept_aside(path=str(aside), why=_why(error))


def plain_connection(item: Connection) -> dict[str, Any]:
    """A connection as plain values, its token among them."""
    plain = asdict(item)
    return {**plain.pop("place"), **plain}


def connection_of(entry: Mapping[str, Any]) -> Connection:
    """Read what :func:`plain_connection` gave; raises one of ``UNREADABLE`` for anything else."""
    place = {name: entry[name] for name in ("address", "token", "database")}
    found = _adapter().validate_python({**entry, "place": place})
    if not found.name or not found.collection or not (found.fields.id and found.fields.text and found.fields.vector):
        raise ValueError("a name is missing")
    return found


@cache
def _adapter() -> TypeAdapter[Connection]:
    return TypeAdapter(Connection)


def _why(error: Exception) -> str:
    """Describe the error without quoting the file, which may hold a token."""
    if isinstance(error, OSError):
        return os.strerror(error.errno or 0)
    if isinstance(error, json.JSONDecodeError):
        return f"it is no JSON at line {error.lineno}"
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8"
    return "an entry is not as this program writes it"
