"""The span of another program that began a run, as W3C Trace Context writes it in the header ``traceparent``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TRACEPARENT = "traceparent"
"""The name of the header, and of the entry of a manifest in which a run keeps it."""
_FORM = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
_caller: ContextVar[str] = ContextVar("caller", default="")


def parent_in(header: str) -> tuple[str, str] | None:
    """The ids of trace and span in a header; None for anything else."""
    found = _FORM.fullmatch(header.strip())
    return (found[1], found[2]) if found else None


@contextmanager
def called_by(header: str | None) -> Iterator[None]:
    """Within this block runs begin below the span of a header; one that is none is ignored, as the standard wants."""
    before = _caller.set(header.strip() if header and parent_in(header) else "")
    try:
        yield
    finally:
        _caller.reset(before)


def caller() -> dict[str, str]:
    """The entry for the manifest of a run that begins here; nothing where no span is its parent."""
    header = _caller.get()
    return {TRACEPARENT: header} if header else {}
