"""Ollama's refusals, status and wording, as its server/routes.go, model_resolver.go and llama_server.go have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.ollama_stand_in.models import REGISTRY, ModelCard, find, well_formed
from tests.support.ollama_stand_in.recorder import Endpoint, RecordedRequest

CONTEXT_EXCEEDED = "the input length exceeds the context length"
NO_EMBEDDINGS = "This server does not support embeddings. Start it with `--embeddings`"
_GO_TYPE = {"chat": "api.ChatRequest", "embed": "api.EmbedRequest", "show": "api.ShowRequest"}
_GO_KIND = {list: "array", str: "string", bool: "bool", int: "number", float: "number", dict: "object"}
_THINK_LEVELS = ("high", "medium", "low", "max")


class RefusalError(Exception):
    """A request that Ollama answers with ``{"error": message}`` and this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def parse_object(content: bytes, endpoint: Endpoint) -> dict[str, Any]:
    """The JSON object of a request body, or a refusal close to what Go's decoder says."""
    if not content:
        raise RefusalError(400, "missing request body")
    text = content.decode(errors="replace")
    try:
        body = json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        raise RefusalError(
            400, f"invalid character {rest[0]!r} looking for beginning of value" if rest else "unexpected EOF"
        ) from None
    if not isinstance(body, dict):
        kind = _GO_KIND.get(type(body), "null")
        raise RefusalError(400, f"json: cannot unmarshal {kind} into Go value of type {_GO_TYPE.get(endpoint, 'any')}")
    return body


def not_found(endpoint: Endpoint, name: str) -> RefusalError:
    """Embedding goes through the scheduler, which words it differently from chat and show."""
    if endpoint == "embed":
        return RefusalError(404, f"model {quoted(name)} not found, try pulling it first")
    return RefusalError(404, f"model '{name}' not found")


def installed(models: Sequence[ModelCard], request: RecordedRequest) -> ModelCard:
    """The model the request names, or the refusal of its endpoint."""
    name = request.model or (str(request.body.get("name", "")) if request.endpoint == "show" else "")
    if not name.strip():
        if request.endpoint == "embed":
            raise RefusalError(404, f"model '{name}' not found")
        raise RefusalError(400, "model is required")
    if not well_formed(name):
        raise RefusalError(400, "invalid model name")
    card = find(models, name)
    if card is None:
        raise not_found(request.endpoint, name)
    return card


def check_chat(request: RecordedRequest, card: ModelCard) -> None:
    """Refuse, in Ollama's order, what the model cannot do and what the request must not contain."""
    think = request.body.get("think")
    if isinstance(think, str) and think not in _THINK_LEVELS:
        levels = ", ".join(quoted(level) for level in _THINK_LEVELS)
        raise RefusalError(400, f"invalid think value: {quoted(think)} (must be {levels}, true, or false)")
    if think and "thinking" not in card.capabilities:
        raise RefusalError(400, f"{quoted(request.model)} does not support thinking")
    if "completion" not in card.capabilities:
        raise RefusalError(400, f"{quoted(request.model)} does not support chat")
    if request.body.get("tools") and "tools" not in card.capabilities:
        raise RefusalError(400, f"{REGISTRY}{card.full_name} does not support tools")


def check_generation(request: RecordedRequest, card: ModelCard) -> None:
    """Refuse what only shows once the model is loaded; Ollama sends these with status 500."""
    asked = request.body.get("format")
    if asked not in (None, "", "json") and not isinstance(asked, dict):
        sent = json.dumps(asked, separators=(",", ":"))
        raise RefusalError(500, f'invalid format: {quoted(sent)}; expected "json" or a valid JSON Schema object')
    if "vision" not in card.capabilities and any(message.get("images") for message in request.messages):
        raise RefusalError(500, "this model is missing data required for image input")


def check_messages(body: Mapping[str, Any]) -> None:
    messages = body.get("messages")
    if messages is not None and not isinstance(messages, list):
        kind = _GO_KIND.get(type(messages), "null")
        raise RefusalError(
            400, f"json: cannot unmarshal {kind} into Go struct field ChatRequest.messages of type []api.Message"
        )


def quoted(text: str) -> str:
    """Go's ``%q``, near enough for names and JSON."""
    return json.dumps(text, ensure_ascii=False)
