"""Reply inside LangChain messages, whole or in pieces, wherever a provider puts it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

THINKING_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Names that providers give to thinking next to the content, each for the same."""


def text_of(piece: Any) -> str:
    """The text of a message or a piece of one."""
    return str(piece.text)


def arguments_of(piece: Any) -> str:
    """The arguments of the tools that a message calls, as JSON or as the piece of it that has arrived."""
    chunks = getattr(piece, "tool_call_chunks", None) or getattr(piece, "invalid_tool_calls", None)
    if chunks:
        return "".join(str(chunk.get("args") or "") for chunk in chunks)
    called = [json.dumps(call.get("args", {}), ensure_ascii=False) for call in getattr(piece, "tool_calls", None) or ()]
    legacy = piece.additional_kwargs.get("function_call")
    return "\n".join(called) or (str(legacy.get("arguments") or "") if isinstance(legacy, Mapping) else "")


def thinking_of(piece: Any) -> str:
    """The thinking that stands next to the text."""
    blocks = piece.content if isinstance(piece.content, list) else []
    return thinking_in(piece.additional_kwargs) + "".join(
        thinking_in(item) for item in blocks if isinstance(item, dict)
    )


def thinking_in(fields: Mapping[str, Any]) -> str:
    """The thinking under the first name that has any; a list of parts is joined."""
    return next((said for name in THINKING_FIELDS if (said := _joined(fields.get(name)))), "")


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_joined(part.get("text") if isinstance(part, dict) else part) for part in value)
    return value if isinstance(value, str) else ""
