"""Hand-written roles that keep their contracts, for tests of workflows and engine without a store or a model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from engine.errors import ModelError
from engine.flow import compiled
from engine.flow.context import Retrieval, Roles, RunClock
from engine.llm.discovery import OllamaStatus
from engine.model.config import Expand, RunConfig
from engine.model.events import Event, NodeStarted
from engine.model.values import (
    Attachment,
    Message,
    ModelCall,
    Passage,
    PassageId,
    RunId,
    RunRecord,
    Surrounding,
    Verdict,
)
from engine.roles import SILENT, GenerationRequest, RewriteProposal, RewriteRequest, Trace
from engine.running.execution import execute
from engine.running.runs import LiveRun
from engine.settings import Settings
from tests.support.swift_time import run_swiftly

Cosines = Mapping[str, float]


@dataclass
class FakeRetriever:
    """Answers each query from a table of passage id → similarity; an unknown query finds ``otherwise``."""

    hits: Mapping[str, Cosines] = field(default_factory=dict)
    otherwise: Cosines = field(default_factory=lambda: {"p1": 0.9, "p2": 0.8, "p3": 0.7, "p4": 0.6, "p5": 0.5})
    queries: list[str] = field(default_factory=list)
    error: Exception | None = None
    gate: asyncio.Event | None = None

    async def search(self, query: str, limit: int) -> Retrieval:
        self.queries.append(query)
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        found = self.hits.get(query, self.otherwise)
        ordered = sorted(found.items(), key=lambda item: -item[1])[:limit]
        passages = tuple(
            Passage(PassageId(name), f"{name}.md", f"The text of {name}.", value, value) for name, value in ordered
        )
        return Retrieval(passages=passages, floor=0.7, anchors="none")

    async def around(self, passages: Sequence[Passage], expand: Expand) -> list[Surrounding]:
        return []


@dataclass
class FakeGrader:
    """Passes the passages named; records every question it was asked."""

    relevant: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()
    asked: list[tuple[str, list[str]]] = field(default_factory=list)
    errors: list[Exception | None] = field(default_factory=list)
    gate: Callable[[], asyncio.Event] | None = None

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        self.asked.append((question, [item.id for item in passages]))
        if self.errors and (error := self.errors.pop(0)) is not None:
            raise error
        verdicts = []
        for passage in passages:
            relevant = None if passage.id in self.unreadable else passage.id in self.relevant
            verdict = Verdict(relevant, 0.0 if relevant is None else 0.9, f"about {passage.id}", grader="fake")
            messages = (Message("user", f"{question} / {passage.id}"),)
            began = trace.now_ms()
            trace.call(
                ModelCall("grader", "", 0, "fake", messages, str(relevant), passage_id=passage.id, start_ms=began)
            )
            trace.verdict(passage.id, verdict)
            verdicts.append(verdict)
            if self.gate is not None:
                await self.gate().wait()
        return verdicts


@dataclass
class FakeRewriter:
    """Proposes its queries in order, then the last one again."""

    queries: Sequence[str] = ("second", "third", "fourth", "fifth", "sixth")
    requests: list[RewriteRequest] = field(default_factory=list)
    error: ModelError | None = None

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        place = min(len(self.requests), len(self.queries)) - 1
        trace.call(ModelCall("rewriter", "", 0, "fake", (), self.queries[place], start_ms=trace.now_ms()))
        return RewriteProposal(self.queries[place], "other words", ("word",))


@dataclass
class FakeGenerator:
    """Cites every passage it was given, streaming word by word."""

    context_tokens: int = 4000
    requests: list[GenerationRequest] = field(default_factory=list)
    error: Exception | None = None
    error_after: int = 0
    text: str | None = None
    gate: Callable[[], asyncio.Event] | None = None

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        self.requests.append(request)
        markers = "".join(f"[{place}]" for place in range(1, len(request.passages) + 1))
        text = f"It is so {markers}." if self.text is None else self.text
        for place, piece in enumerate(text.split(" ")):
            if self.error is not None and place == self.error_after:
                raise self.error
            if self.gate is not None:
                await self.gate().wait()
            trace.token(piece if place == 0 else f" {piece}")
        trace.call(ModelCall("generator", "", 0, "fake", (), text, start_ms=trace.now_ms()))
        return text


class FakeKnowledge:
    is_open = True
    opening_error: BaseException | None = None
    last_error: BaseException | None = None
    gone: BaseException | None = None

    async def ready(self) -> None:
        return None

    async def close(self) -> None:
        return None


class Ready:
    """Resources that have nothing to load or to close."""

    workflow_loaded: ClassVar[bool] = True

    async def warm_up(self) -> None:
        return None

    async def load_workflow(self) -> None:
        return None

    async def close(self) -> None:
        return None


@dataclass
class FakeResources(Ready):
    """What :class:`engine.running.execution.execute` and an engine draw on, with fake roles in it."""

    settings: Settings = field(default_factory=Settings)
    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    grader: FakeGrader = field(default_factory=FakeGrader)
    rewriter: FakeRewriter = field(default_factory=FakeRewriter)
    generator: FakeGenerator = field(default_factory=FakeGenerator)
    knowledge: FakeKnowledge = field(default_factory=FakeKnowledge)
    error: Exception | None = None

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        if self.error is not None:
            raise self.error
        return Roles(self.retriever, self.grader, self.rewriter, self.generator), {"grader": "fake"}

    async def ollama(self, *, fresh: bool = False, patience_s: float | None = None) -> OllamaStatus:
        return OllamaStatus(False, self.settings.ollama_url)


def events_of(
    resources: Any,
    config: RunConfig,
    question: str = "first",
    attachments: tuple[Attachment, ...] = (),
    *,
    leap_at: tuple[str, int] = ("", 1),
    left_s: float | None = None,
) -> list[Event]:
    """A whole run. Time is over as that visit of a node begins; ``left_s`` is what there is of it."""
    # Importing LangGraph takes seconds; an engine does it before the first question, outside of any budget.
    compiled(config.workflow)
    events: list[Event] = []
    ahead = 0.0

    def hear(_: RunId, event: Event) -> None:
        nonlocal ahead
        events.append(event)
        if isinstance(event, NodeStarted) and (event.node, event.visit) == leap_at:
            ahead = 10_000.0

    run = LiveRun(RunId("r"), hear)
    run.begin(question, config, None, attachments)
    # It began by the clock of the wall, and the rest goes by another one.
    events[0] = replace(events[0], t_ms=0.0)

    def work(now: Callable[[], float]) -> Coroutine[Any, Any, None]:
        nonlocal ahead
        run.clock = RunClock(config.budget_s, lambda: now() + ahead)
        if left_s is not None:
            ahead = config.budget_s - left_s
        return execute(run, question, config, resources)

    run_swiftly(work)
    return events


def path(record: RunRecord) -> list[str]:
    """The nodes of a run in order."""
    return [item.node for item in record.nodes]
