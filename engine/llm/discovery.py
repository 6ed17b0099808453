"""What Ollama offers on this machine: asked at start and on demand, quickly, and never with an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from engine.errors import WorkbenchError
from engine.llm.connection import client_options, credentials, ollama_client, shown_address
from engine.llm.faults import translate
from engine.settings import Settings
from engine.values import Fault

Capability = Literal["chat", "embedding", "thinking", "vision"]

_CONNECT_S = 1.5
_ANSWER_S = 3.0
_DETAILS_S = 2.0
_AT_ONCE = 8
_CAPABILITIES: dict[str, Capability] = {
    "completion": "chat",
    "embedding": "embedding",
    "thinking": "thinking",
    "vision": "vision",
}
_EMBEDDING_HINTS = ("embed", "bge-", "minilm", "e5-")


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One model that Ollama has; ``name`` with its tag, as ``ollama list`` shows it."""

    name: str
    digest: str
    """SHA-256 of the manifest: changes when the model is pulled anew."""
    size: int
    """In bytes."""
    parameter_size: str
    capabilities: tuple[Capability, ...]

    @property
    def chats(self) -> bool:
        return "chat" in self.capabilities

    @property
    def embeds(self) -> bool:
        return "embedding" in self.capabilities


@dataclass(frozen=True, slots=True)
class OllamaStatus:
    """What one look at Ollama found; ``fault`` says why it found nothing."""

    reachable: bool
    address: str
    version: str = ""
    models: tuple[InstalledModel, ...] = ()
    fault: Fault | None = None

    def digest(self, name: str) -> str:
        """Digest of a model by its name, ``:latest`` left out or not; empty where it is not installed."""
        wanted = {name, f"{name}:latest"}
        return next((model.digest for model in self.models if model.name in wanted), "")


async def ollama_status(settings: Settings) -> OllamaStatus:
    """Look at Ollama: version and installed models with digests; waits 1.5 s for a connection, and never raises."""
    address = shown_address(settings)
    try:
        # The first look imports the client's package, which takes a while and says nothing of Ollama.
        client = await asyncio.to_thread(ollama_client, settings, timeout_s=_ANSWER_S, connect_s=_CONNECT_S)
        async with asyncio.timeout(_CONNECT_S + _ANSWER_S):
            version, listed = await asyncio.gather(_version(settings), client.list())
        models = await _described(client, listed.models)
    except Exception as foreign:
        error = await asyncio.to_thread(translate, foreign, "ollama:", address=address, seconds=_ANSWER_S)
        return OllamaStatus(reachable=False, address=address, fault=_fault(error))
    return OllamaStatus(reachable=True, address=address, version=version, models=models)


async def _version(settings: Settings) -> str:
    """Ollama's client has no method for this."""
    import httpx

    options = client_options(settings, timeout_s=_ANSWER_S, connect_s=_CONNECT_S)
    async with httpx.AsyncClient(headers=credentials(settings), **options) as client:
        answer = await client.get(f"{shown_address(settings)}/api/version")
    return str(answer.raise_for_status().json()["version"])


async def _described(client: Any, listed: Sequence[Any]) -> tuple[InstalledModel, ...]:
    """The models in the order of their names, with capabilities where Ollama tells them in time."""
    at_once = asyncio.Semaphore(_AT_ONCE)

    async def describe(model: Any) -> InstalledModel:
        name = model.model or ""
        capabilities = _guessed(name)
        async with at_once:
            try:
                async with asyncio.timeout(_DETAILS_S):
                    told = (await client.show(name)).capabilities
            except Exception:
                # One model that cannot be described must not hide the others.
                told = None
        if told is not None:
            capabilities = tuple(_CAPABILITIES[item] for item in told if item in _CAPABILITIES)
        size = model.details.parameter_size if model.details else ""
        return InstalledModel(name, model.digest or "", int(model.size or 0), size or "", capabilities)

    described = await asyncio.gather(*(describe(model) for model in listed))
    return tuple(sorted(described, key=lambda model: model.name))


def _guessed(name: str) -> tuple[Capability, ...]:
    folded = name.casefold()
    return ("embedding",) if any(hint in folded for hint in _EMBEDDING_HINTS) else ("chat",)


def _fault(error: WorkbenchError) -> Fault:
    return Fault(code=error.code, fact=error.fact, remedy=error.remedy, params=error.params)
