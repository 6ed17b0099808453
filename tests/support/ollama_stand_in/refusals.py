"""Ollama's refusals, status and wording, as its server/routes.go, model_resolver.go and llama_server.go have them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.ollama_stand_in.models import ModelCard, find, well_formed
from tests.support.ollama_stand_in.recorder import Endpoint, RecordedRequest

CONTEXT_EXCEEDED = "the input length exceeds the context length"
NO_EMBEDDINGS = "This server does not support embeddings. Start it with `--embeddings`"


class RefusalError(Exception):
    """A request that Ollama answers with ``{"error": message}`` and this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def not_found(endpoint: Endpoint, name: str) -> RefusalError:
    """Embedding goes through the scheduler, which words it differently from chat and show."""
    if endpoint == "embed":
        return RefusalError(404, f"model {quoted(name)} not found, try pulling it first")
    return RefusalError(404, f"model '{name}' not found")


def installed(models: Sequence[ModelCard], request: RecordedRequest) -> ModelCard:
    """The model the request names, or the refusal of its endpoint."""
    name = request.model or (str(request.body.get("name", "")) if request.endpoint == "show" else "")
    if not well_formed(name):
        raise RefusalError(400, "invalid model name")
    card = find(models, name)
    if card is None:
        raise not_found(request.endpoint, name)
    return card


def check_chat(request: RecordedRequest, card: ModelCard) -> None:
    """Refuse, in Ollama's order, what the model cannot do and what the request must not contain."""
    think = request.body.get("think")
    if think and "thinking" not in card.capabilities:
        raise RefusalError(400, f"{quoted(request.model)} does not support thinking")
    if "completion" not in card.capabilities:
        raise RefusalError(400, f"{quoted(request.model)} does not support chat")


def check_generation(request: RecordedRequest, card: ModelCard) -> None:
    """Refuse what only shows once the model is loaded; Ollama sends these with status 500."""
    if "vision" not in card.capabilities and any(message.get("images") for message in request.messages):
        raise RefusalError(500, "this model is missing data required for image input")


def quoted(text: str) -> str:
    """Go's ``%q``, near enough for names and JSON."""
    return json.dumps(text, ensure_ascii=False)
