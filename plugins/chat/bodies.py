"""Requests of OpenAI's chat protocol, as far as they are read; what else a client sends along is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr

from plugins.chat.errors import OTHER_PART, PARAMETER

MOST_MESSAGES = 5000


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ImageAddress(_Read):
    url: StrictStr


class Part(_Read):
    """A part of a message; only ``text`` and ``image_url`` are read."""

    type: StrictStr
    text: StrictStr = ""
    image_url: ImageAddress | None = None


class ChatMessage(_Read):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: StrictStr | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its text, without images."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text").strip()
        return (self.content or "").strip()

    @property
    def images(self) -> list[str]:
        """Addresses of its images; raises ``WorkbenchError`` where a part is neither text nor image."""
        parts = self.content if isinstance(self.content, list) else []
        if any(part.type not in ("text", "image_url") for part in parts):
            raise OTHER_PART()
        return [part.image_url.url for part in parts if part.image_url is not None]


class StreamOptions(_Read):
    include_usage: StrictBool = False


class OwnOptions(_Read):
    """Extensions to OpenAI's protocol, under the name ``workbench``."""

    model_config = ConfigDict(extra="forbid")
    footnotes: StrictBool = True
    """Whether sources and the address of the run stand below the answer, for clients that show no annotations."""


class ChatRequest(_Read):
    """Body of ``POST /v1/chat/completions``."""

    model_config = ConfigDict(extra="allow")
    model: StrictStr = Field(min_length=1, max_length=200)
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: StrictBool | None = False
    stream_options: StreamOptions | None = None
    workbench: OwnOptions = OwnOptions()

    def require_supported(self) -> None:
        """Raise ``WorkbenchError`` for a parameter that asks for another kind of answer than the pipeline gives."""
        sent: Mapping[str, Any] = self.model_extra or {}
        for name, harmless in _MEANINGFUL.items():
            if name in sent and not harmless(sent[name]):
                raise PARAMETER(field=name)

    @property
    def ignored(self) -> tuple[str, ...]:
        """Parameters that would shorten the answer, and do not: what was checked and recorded is what is sent."""
        return ("stop",) if (self.model_extra or {}).get("stop") else ()


def _nothing(value: Any) -> bool:
    return not value


def _plain_text(value: Any) -> bool:
    return value is None or (isinstance(value, Mapping) and value.get("type") == "text")


_MEANINGFUL: Mapping[str, Callable[[Any], bool]] = {
    "n": lambda value: value in (None, 1),
    "logprobs": _nothing,
    "top_logprobs": _nothing,
    "response_format": _plain_text,
    "audio": _nothing,
    "modalities": lambda value: value in (None, ["text"]),
    "functions": _nothing,
    "function_call": lambda value: value in (None, "none", "auto"),
    # A model may always leave tools alone: offered ones do no harm, demanded ones cannot be had.
    "tool_choice": lambda value: value in (None, "none", "auto"),
}
"""Parameters that change what an answer is, each with what may be sent of it; all others are left out."""
