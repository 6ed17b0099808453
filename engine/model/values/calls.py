"""Activity of a run: model calls, node executions, faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from engine.errors import WorkbenchError
from engine.model.config import CallRole
from engine.model.values.names import PassageId


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One invocation of a role's model, exactly as sent and received (SC-10)."""

    role: CallRole
    node: str
    round: int
    model: str
    messages: tuple[Message, ...]
    reply: str
    parsed: Mapping[str, Any] | None = None
    """What was read from the reply; None where nothing could be."""
    passage_id: PassageId | None = None
    prompt_tokens: int | None = None
    reply_tokens: int | None = None
    start_ms: float = 0.0
    """Since the run began."""
    duration_ms: float = 0.0
    built_in: bool = False
    cached: bool = False
    attempt: int = 1
    truncated: bool = False
    """The reply reached its limit of tokens and breaks off there."""
    error: str = ""
    thinking: str = ""
    temperature: float | None = None
    """Where it was asked with another than its role's, as in a second try; None else."""
    prompt: str = ""
    """The prompt of a chat model: its version is ``PROMPT_prompt`` in the manifest; empty in older records."""


@dataclass(frozen=True, slots=True)
class CallCount:
    """Number of model calls: the one count of all pages, records and exports."""

    done: int
    """Calls of models that have ended, those answered from a cache included."""
    cached: int = 0
    """Of these, calls that were answered from a cache or taken over from another run."""
    steps: int = 0
    """What built-in roles did: steps, which call no model."""
    running: int = 0
    """Calls of a live run that have not ended."""

    @property
    def made(self) -> int:
        """Calls that a model really answered."""
        return self.done - self.cached


@dataclass(frozen=True, slots=True)
class ReasonAsked:
    """What came of asking for the reason of a verdict once the run was over."""

    passage_id: PassageId
    reason: str
    """Empty where none could be had."""
    calls: tuple[ModelCall, ...] = ()
    """Those that it took; they are no part of the run's own calls."""


def counted(calls: Iterable[ModelCall], running: int = 0) -> CallCount:
    """Count calls of models, and apart from them the steps of built-in roles."""
    found = list(calls)
    models = [call for call in found if not call.built_in]
    return CallCount(len(models), sum(call.cached for call in models), len(found) - len(models), running)


@dataclass(frozen=True, slots=True)
class NodeExecution:
    """One visit of one node."""

    node: str
    round: int
    visit: int
    """From 1, per node."""
    start_ms: float
    duration_ms: float | None = None
    """None while it runs."""
    model_calls: int = 0
    """Chat-model invocations, cached ones included; built-in ones are not model calls."""
    built_in_calls: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error or warning as a record keeps it."""

    code: str
    fact: str
    remedy: str
    params: Mapping[str, str] = field(default_factory=dict)
    node: str = ""

    @classmethod
    def of(cls, error: BaseException, node: str = "") -> Self:
        """Return an exception as a record keeps it; one that is not ours is named by its class, without its text."""
        ours = error if isinstance(error, WorkbenchError) else WorkbenchError(kind=type(error).__name__)
        return cls(ours.code, ours.fact, ours.remedy, ours.params, node)

    def said(self) -> dict[str, str]:
        """Return the fault as JSON answers and reports have it."""
        return {"code": self.code, "fact": self.fact, "remedy": self.remedy}
