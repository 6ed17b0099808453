"""A trace that keeps what it hears, and small makers of what the chat-model roles are given."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# LangChain takes a second or more to import: at collection, not in the first test that needs it.
import langchain.chat_models
import langchain_ollama
from langchain_core.language_models import BaseChatModel

from engine.model.config import RoleModel
from engine.model.values import ModelCall, Passage, PassageId, Verdict
from engine.settings import Settings
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest

CHAT = "ollama:qwen3:8b"
assert issubclass(langchain_ollama.ChatOllama, BaseChatModel) and callable(langchain.chat_models.init_chat_model)


@dataclass
class RecordingTrace:
    """Hears everything; ``seconds`` bounds the step from the moment it was made."""

    seconds: float = 60.0
    calls: list[ModelCall] = field(default_factory=list)
    verdicts: list[tuple[PassageId, Verdict]] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    heard: Callable[[], object] = lambda: None
    """Called after each token."""
    began: float = field(default_factory=time.perf_counter)

    def calling(self) -> None:
        """Counted by the calls that end."""

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.verdicts.append((passage_id, verdict))

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        """Verdicts are those of a grader here."""

    def token(self, text: str) -> None:
        self.pieces.append(text)
        self.heard()

    def restart(self) -> None:
        self.pieces.clear()

    def now_ms(self) -> float:
        return (time.perf_counter() - self.began) * 1000.0

    def time_left_s(self) -> float:
        return max(0.0, self.seconds - (time.perf_counter() - self.began))

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def errors(self) -> list[str]:
        """Code of every call's error, empty for those that went well."""
        return [call.error.partition(":")[0] for call in self.calls]


def settings_for(server: OllamaStandIn | str, **more: object) -> Settings:
    url = server if isinstance(server, str) else server.url
    return Settings.load(**{"ollama_url": url, "data_dir": Path("unused"), "call_timeout_s": 10.0, **more})


def role_model(model: str = CHAT, *, temperature: float = 0.0, seed: int = 7, num_ctx: int = 8192) -> RoleModel:
    return RoleModel(model, temperature, seed, num_ctx)


def passage(number: int, text: str | None = None) -> Passage:
    return Passage(PassageId(f"p{number}"), "source.md", text or f"Passage number {number}.", 0.5, 0.85)


def verdict_json(relevant: object = True, confidence: object = 0.9, reason: str = "It says so.") -> str:
    return json.dumps({"relevant": relevant, "confidence": confidence, "reason": reason}, ensure_ascii=False)


def asked_about(request: RecordedRequest) -> str:
    """The text of the passage that a grader's request is about."""
    first = next(str(message["content"]) for message in request.messages if message["role"] == "user")
    return first.split("<passage>\n", 1)[1].rsplit("\n</passage>", 1)[0]
