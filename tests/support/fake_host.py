"""A machine for the page System: every answer is given beforehand, and what it is asked to do is written down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.errors import HostError, WorkbenchError
from engine.model.system import (
    CatalogueModel,
    LocalModel,
    ModelDetails,
    ModelTrial,
    OfferedModels,
    PartHealth,
    Provider,
    PullStatus,
    SettingValue,
)
from engine.model.values import Fault

HOSTILE = "<script>alert(1)</script> ![x](http://evil.example/x.png) **bold**"
NOT_THERE = Fault("WB401", "Ollama at http://127.0.0.1:1 does not answer.", "Start Ollama.", {"address": "x"})
CHAT = ModelDetails(
    "qwen3:8b", "sha256:801dcad02f38aa", 5_225_388_164, "8.2B", "Q4_K_M", "qwen3", ("completion", "tools"), 40960, None
)
EMBEDDING = ModelDetails(
    "nomic-embed-text:latest", "sha256:10886753ec3b", 274_302_450, "137M", "F16", "bert", ("embedding",), 2048, 768
)


def sound_parts() -> tuple[PartHealth, ...]:
    return (
        PartHealth("knowledge", "ok", {"kind": "embedded", "address": "kb.db", "version": "3.2.2"}, ms=3.0),
        PartHealth("disk", "ok", {"path": "/data", "free": str(70 * 1024**3), "total": str(200 * 1024**3)}, ms=0.4),
        PartHealth("ollama", "off", {"address": "http://127.0.0.1:1"}, NOT_THERE, ms=1500.0),
        PartHealth("web_search", "off", {}),
    )


@dataclass(slots=True)
class FakeHost:
    """Stands in for :class:`engine.system.host.Host`; jobs end when a test says so."""

    parts: tuple[PartHealth, ...] = field(default_factory=sound_parts)
    installed: tuple[ModelDetails, ...] = ()
    downloads: tuple[PullStatus, ...] = ()
    trial: ModelTrial | None = None
    files: tuple[LocalModel, ...] = ()
    offered_files: tuple[CatalogueModel, ...] = ()
    folders: tuple[str, ...] = ()
    calls: list[str] = field(default_factory=list)

    def health(self) -> tuple[PartHealth, ...]:
        self.calls.append("health")
        return self.parts

    def models(self, fresh: bool = False) -> tuple[ModelDetails, ...]:
        return self.installed

    def local_models(self) -> tuple[LocalModel, ...]:
        return self.files

    def catalogue(self) -> tuple[CatalogueModel, ...]:
        return self.offered_files

    def cross_encoders(self) -> tuple[str, ...]:
        return self.folders

    def runs_files(self) -> bool:
        return bool(self.files)

    def start_pull(self, name: str) -> None:
        if " " in name:
            raise HostError.invalid_model_name(name=name)
        self.calls.append(f"pull {name}")
        self.downloads = (PullStatus(name, "running", "pulling 3f2a", 40, 100, 10.0, 6.0), *self.downloads)

    def pulls(self) -> tuple[PullStatus, ...]:
        return self.downloads

    def stop_pull(self, name: str) -> None:
        self.calls.append(f"stop {name}")
        self.downloads = tuple(replace(item, state="stopped") for item in self.downloads)

    def unload(self, name: str) -> None:
        self.calls.append(f"unload {name}")

    def try_model(self, model: str) -> ModelTrial:
        self.calls.append(f"try {model}")
        return self.trial or ModelTrial(model, HOSTILE, 640.0, 12, 3)

    def settings(self) -> tuple[SettingValue, ...]:
        return (
            SettingValue(
                "ollama_url", "WORKBENCH_OLLAMA_URL", "http://h:1", "environment", False, "Address of Ollama."
            ),
            SettingValue(
                "milvus_token",
                "WORKBENCH_MILVUS_TOKEN",
                "••••••",
                ".env",
                True,
                "Token (`user:password`) of the Milvus server.",
            ),
            SettingValue("port", "WORKBENCH_PORT", "8501", "default", False, "Port the app listens on."),
        )

    def providers(self) -> tuple[Provider, ...]:
        return (
            Provider("openai", "langchain-openai", True, True, "OPENAI_API_KEY", "http://127.0.0.1:1234/v1", True),
            Provider("anthropic", "langchain-anthropic", False, False, "ANTHROPIC_API_KEY"),
        )

    def offered(self, provider: str = "openai") -> OfferedModels:
        return OfferedModels(provider, ("openai:local-model",))

    def diagnosis(self) -> str:
        return f"# Diagnosis\n\n{HOSTILE}\n"

    def close(self) -> None:
        """Nothing continues here."""


class BrokenHost(FakeHost):
    """A machine of which nothing can be learned."""

    def health(self) -> tuple[PartHealth, ...]:
        raise WorkbenchError.restored("The engine is closed.", "Start the app again.")
