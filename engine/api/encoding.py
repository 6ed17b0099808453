"""JSON answers that survive any text a passage or a model put into a record."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse

from engine.model.events import Event
from engine.records.codec import event_to_json


class Json(JSONResponse):
    """JSON in UTF-8; half a surrogate pair, which has no UTF-8 form, becomes a question mark instead of a crash."""

    def render(self, content: Any) -> bytes:
        return as_json(content)


def as_json(content: Any) -> bytes:
    """Plain values as :class:`Json` writes them, on one line."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def event_json(event: Event) -> bytes:
    """One event on one line, as :class:`Json` would write it."""
    try:
        return event_to_json(event)
    except ValueError:
        return json.dumps(asdict(event), ensure_ascii=False, default=str).encode("utf-8", "replace")


_SLICE = 1 << 20


def from_base64(text: str) -> bytes:
    """The bytes of a file, in a thread of its own: decoded bit by bit, for other threads wait while one bit is.

    Raises ``ValueError`` for text that is not base64.
    """
    found = bytearray()
    for start in range(0, len(text), _SLICE):
        piece = text[start : start + _SLICE]
        if "=" in piece and start + _SLICE < len(text):
            raise ValueError("padding in the middle")
        found += base64.b64decode(piece, validate=True)
    return bytes(found)
