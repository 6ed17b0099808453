"""State of Ollama on this machine: checked at start and on demand, quickly, and never with an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.errors import WorkbenchError
from engine.llm.connection import asking_ollama, client_options, shown_address
from engine.model.system import ModelDetails
from engine.model.values import Fault
from engine.settings import Settings

Capability = Literal["chat", "embedding", "thinking", "vision"]

_CONNECT_S = 5.0
_ANSWER_S = 10.0
_DETAILS_S = 5.0
"""Seconds even for what an idle machine does at once: on a busy one, silence is no sign that nothing is there."""
_AT_ONCE = 8
_CAPABILITIES: dict[str, Capability] = {
    "completion": "chat",
    "embedding": "embedding",
    "thinking": "thinking",
    "vision": "vision",
}
_EMBEDDING_HINTS = ("embed", "bge-", "minilm", "e5-")


@dataclass(frozen=True, slots=True)
class OllamaStatus:
    """Result of one check of Ollama; ``fault`` says why it found nothing."""

    reachable: bool
    address: str
    version: str = ""
    models: tuple[ModelDetails, ...] = ()
    fault: Fault | None = None
    looking: bool = False
    """The first look is not over: nothing is known yet."""

    @property
    def smallest(self) -> str:
        """The installed chat model that takes the least room, as a config names it; empty without any."""
        chats = [model for model in self.models if model.chats and model.size]
        return f"ollama:{min(chats, key=lambda model: model.size).name}" if chats else ""

    @property
    def embedders(self) -> dict[str, int]:
        """Embedding models by name, with the width of their vectors, 0 where Ollama does not say in time."""
        return {model.name: model.embedding_length or 0 for model in self.models if model.embeds}

    def digest(self, name: str) -> str:
        """Digest of a model by its name, ``:latest`` left out or not; empty where it is not installed."""
        found = self.model(name)
        return found.digest if found else ""

    def model(self, name: str) -> ModelDetails | None:
        """A model by its name, ``:latest`` left out or not; None where it is not installed."""
        wanted = {name, f"{name}:latest"}
        return next((model for model in self.models if model.name in wanted), None)


async def ollama_status(settings: Settings) -> OllamaStatus:
    """Look at Ollama: version and installed models with digests; waits 5 s for a connection, and never raises."""
    address = shown_address(settings)
    try:
        async with asking_ollama(settings, "ollama:", timeout_s=_ANSWER_S, connect_s=_CONNECT_S) as client:
            async with asyncio.timeout(_CONNECT_S + _ANSWER_S):
                version, listed = await asyncio.gather(_version(settings), client.list())
            models = await _described(client, listed.models, running=())
    except WorkbenchError as error:
        return OllamaStatus(reachable=False, address=address, fault=Fault.of(error))
    return OllamaStatus(reachable=True, address=address, version=version, models=models)


async def model_details(settings: Settings) -> tuple[ModelDetails, ...]:
    """Every installed model with what Ollama knows of it, by name; raises ``ModelError`` where it does not answer."""
    async with asking_ollama(settings, "ollama:", timeout_s=_ANSWER_S, connect_s=_CONNECT_S) as client:
        async with asyncio.timeout(_CONNECT_S + _ANSWER_S):
            listed, running = await asyncio.gather(client.list(), client.ps())
        return await _described(client, listed.models, running.models)


async def _described(client: Any, listed: Sequence[Any], running: Sequence[Any]) -> tuple[ModelDetails, ...]:
    """The models in the order of their names, as far as Ollama tells of them in time."""
    shown = await _shown(client, [model.model or "" for model in listed])
    loaded = {item.model or item.name: item for item in running}
    found = (_details(model, details, loaded.get(model.model)) for model, details in zip(listed, shown, strict=True))
    return tuple(sorted(found, key=lambda model: model.name))


def _details(model: Any, details: Any, running: Any) -> ModelDetails:
    info = dict((details.modelinfo if details else None) or {})
    about = (details.details if details else None) or model.details
    name = model.model or ""
    capabilities = tuple(details.capabilities) if details and details.capabilities is not None else _guessed(name)
    expires = running.expires_at if running else None
    return ModelDetails(
        name=name,
        digest=model.digest or "",
        size=int(model.size or 0),
        parameter_size=(about.parameter_size if about else "") or "",
        quantization=(about.quantization_level if about else "") or "",
        family=(about.family if about else "") or "",
        capabilities=tuple(_CAPABILITIES.get(item, item) for item in capabilities),
        context_length=_length(info, "context_length"),
        embedding_length=_length(info, "embedding_length"),
        loaded=running is not None,
        vram=int(running.size_vram) if running and running.size_vram is not None else None,
        expires_at=expires.isoformat() if expires else "",
    )


def _length(info: dict[str, Any], what: str) -> int | None:
    """Ollama puts the name of the architecture before it, such as ``qwen3.context_length``."""
    return next((int(value) for key, value in info.items() if key.endswith(f".{what}") and value), None)


async def _version(settings: Settings) -> str:
    """Ollama's client has no method for this."""
    import httpx

    options = client_options(settings, timeout_s=_ANSWER_S, connect_s=_CONNECT_S)
    async with httpx.AsyncClient(**options) as client:
        answer = await client.get(f"{shown_address(settings)}/api/version")
    return str(answer.raise_for_status().json()["version"])


async def _shown(client: Any, names: Sequence[str]) -> list[Any]:
    """Return each model's ``/api/show``; None for one that cannot be described, which must not hide the others."""
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def show(name: str) -> Any:
        async with at_once:
            try:
                async with asyncio.timeout(_DETAILS_S):
                    return await client.show(name)
            except Exception:
                return None

    return await asyncio.gather(*(show(name) for name in names))


def _guessed(name: str) -> tuple[Capability, ...]:
    return ("chat",) if chats_by_name(name) else ("embedding",)


def chats_by_name(name: str) -> bool:
    """Return whether a model whose server tells only its name is taken for one that chats."""
    folded = name.casefold()
    return not any(hint in folded for hint in _EMBEDDING_HINTS)
