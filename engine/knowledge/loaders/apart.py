"""Documents whose parsers must not run in the app: read in processes of their own."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.errors import SourceTooDemanding
from engine.knowledge.loaders.contents import Contents, Loader, whole
from engine.model.subprocesses import Subprocesses

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LOADERS = {
    ".pdf": ("pdf", "load_pdf"),
    **dict.fromkeys((".docx", ".docm", ".dotx", ".dotm"), ("word", "load_word")),
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"), ("slides", "load_slides")),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm"), ("workbook", "load_workbook")),
    ".html": ("web_page", "load_html"),
    ".htm": ("web_page", "load_html"),
}
"""Module and function of each suffix; imported with the libraries it needs when such a file first comes."""

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
    """What a file holds; blocks. Raises the ``SourceError`` that fits."""
    found = READERS.call(name, data, seconds, suffix=suffix, hidden=hidden)
    try:
        return _contents().validate_python(found)
    except ValueError as error:  # a file made the process reply what it never replies
        raise SourceTooDemanding(name=name) from error


def read(name: str, data: bytes, suffix: str, hidden: bool = False) -> dict[str, Any]:
    """What a file holds, as plain values; runs apart."""
    return asdict(whole(name, len(data), loader_of(suffix)(name, data, hidden)))


def loader_of(suffix: str) -> Loader:
    module, function = LOADERS[suffix]
    loader: Loader = getattr(import_module(f"engine.knowledge.loaders.{module}"), function)
    return loader


@cache
def _contents() -> TypeAdapter[Contents]:
    from pydantic import TypeAdapter

    return TypeAdapter(Contents)
