"""Documents whose parsers must not run in the app: read in processes of their own."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.errors import SourceError
from engine.knowledge.loaders.contents import Contents, whole
from engine.knowledge.loaders.kinds import loader_of
from engine.model.subprocesses import Subprocesses

if TYPE_CHECKING:
    from pydantic import TypeAdapter

TIME_LIMIT_S = 180.0
"""For one file; the longest PDF that is taken needs 40 s of one core."""
MOST_READERS = 2
KEPT_MEMORY = 400_000_000

READERS = Subprocesses(
    "engine.knowledge.loaders.apart:read",
    most=MOST_READERS,
    most_memory=2_000_000_000,
    kept_memory=KEPT_MEMORY,
    # Each holds some 60 MB.
    idle_s=30.0,
)


def read_apart(suffix: str, name: str, data: bytes, hidden: bool = False, seconds: float = TIME_LIMIT_S) -> Contents:
    """Read a file in another process; blocks. Raises the ``SourceError`` that fits."""
    found = READERS.call(name, data, seconds, suffix=suffix, hidden=hidden)
    try:
        return _contents().validate_python(found)
    except ValueError as error:  # a file made the process reply what it never replies
        raise SourceError.too_demanding(name=name) from error


def read(name: str, data: bytes, suffix: str, hidden: bool = False) -> dict[str, Any]:
    """Read a file into plain values; runs in another process."""
    return asdict(whole(name, len(data), loader_of(f"a{suffix}")(name, data, hidden)))


@cache
def _contents() -> TypeAdapter[Contents]:
    from pydantic import TypeAdapter

    return TypeAdapter(Contents)
