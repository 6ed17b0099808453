"""Machine facts of the System page as plain values; components draw these."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from engine.model.values import Fault

Health = Literal["ok", "warning", "down", "off"]
"""``off``: not set up, and nothing needs it."""
PartName = Literal[
    "knowledge",
    "connection",
    "graphs",
    "records",
    "disk",
    "embedder",
    "grader",
    "ollama",
    "provider",
    "web_search",
    "reader",
    "plugin",
    "faults",
]
TaskState = Literal["running", "done", "stopped", "failed", "interrupted"]


@dataclass(frozen=True, slots=True)
class PartHealth:
    """One part of the workbench: how it is, the fact, and what to do."""

    part: PartName
    health: Health
    detail: dict[str, str]
    """Facts for a sentence by part and health, in the keys that :mod:`engine.system.health` lists; numbers in plain
    digits, bytes and seconds unscaled."""
    fault: Fault | None = None
    name: str = ""
    """Which one, where there are several: a provider, a connection."""
    ms: float | None = None
    """Time that the check took."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {**asdict(self), "fault": self.fault.said() if self.fault else None}


@dataclass(frozen=True, slots=True)
class ModelDetails:
    """One model of Ollama, installed or loaded."""

    name: str
    digest: str
    size: int
    """In bytes, on disk."""
    parameter_size: str
    quantization: str
    family: str
    capabilities: tuple[str, ...]
    context_length: int | None
    """In tokens, of the model itself; None where Ollama does not say."""
    embedding_length: int | None
    loaded: bool = False
    vram: int | None = None
    """Bytes on the graphics card; None where it is not loaded."""
    expires_at: str = ""

    @property
    def chats(self) -> bool:
        return "chat" in self.capabilities

    @property
    def embeds(self) -> bool:
        return "embedding" in self.capabilities


LocalKind = Literal["chat", "embedding", "scores", ""]
"""What a model of a file can do; empty: nothing that is of use here."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A GGUF file that llama.cpp can run here."""

    name: str
    """Of the file."""
    size: int
    """In bytes, on disk."""
    kind: LocalKind
    architecture: str
    parameters: str
    licence: str
    """As the file says it; empty where it does not."""
    context_length: int
    """In tokens, of the model itself."""
    embedding_length: int
    token_bytes: int
    """Memory that one token of context takes."""
    needs: int = 0
    """Bytes of memory that its process takes, about, with a context of the usual length."""
    loaded: int | None = None
    """Bytes of memory that its process has; None where there is none, 0 where the system does not say."""
    fault: Fault | None = None
    """Why it cannot be used."""

    @property
    def role_name(self) -> str:
        """How a config names it."""
        return f"cross_encoder:{self.name}" if self.kind == "scores" else f"local:{self.name}"


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model of files that is known to work here and can be fetched."""

    name: str
    """How a config names it."""
    kind: LocalKind
    size: int
    licence: str
    languages: str
    repository: str
    checksum: str
    """SHA-256 of its largest file."""
    here: bool


@dataclass(frozen=True, slots=True)
class PullStatus:
    """Progress of a model download."""

    name: str
    state: TaskState
    phase: str
    """In Ollama's own words."""
    done: int = 0
    total: int = 0
    """Bytes; 0 before Ollama says."""
    per_second: float = 0.0
    remaining_s: float | None = None
    fault: Fault | None = None

    @property
    def over(self) -> bool:
        return self.state != "running"


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """One short call of a model: its reply, or why there was none."""

    model: str
    reply: str
    ms: float
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting as it stands."""

    name: str
    variable: str
    """``WORKBENCH_…``"""
    value: str
    """Secrets as dots, userinfo in addresses masked."""
    source: Literal["default", "environment", ".env", "workbench.toml", "override"]
    secret: bool
    description: str


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider of chat models other than Ollama."""

    name: str
    """As in ``provider:model``."""
    package: str
    installed: bool
    configured: bool
    """Whether a key or an address for it is set."""
    variable: str
    """Where the key is set; never its value."""
    address: str = ""
    """Where it is asked, without user name and password; empty: the provider's own."""
    key_set: bool = False
    """Whether there is a key; a server of one's own seldom wants one."""


@dataclass(frozen=True, slots=True)
class OfferedModels:
    """Models listed by a provider's server, for pickers; ``fault`` says why there are none."""

    provider: str
    names: tuple[str, ...]
    """As in ``provider:model``, the provider included."""
    fault: Fault | None = None
