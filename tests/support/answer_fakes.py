"""Hand-written writer and evaluator for the answer-evaluation loop, and runs of it that a test can look into."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

from engine.flow import compiled, workflow
from engine.flow.context import Roles, RunClock, RunContext
from engine.model.config import RunConfig, WorkflowName
from engine.model.events import Event, fold_all
from engine.model.values import Evaluation, Message, ModelCall, RunRecord, Suggestion
from engine.roles import SILENT, EvaluationRequest, Trace
from engine.roles.conversation import request_of
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.answer_evaluation.roles import AnswerRoles
from tests.support import fakes
from tests.support.fakes import FakeGrader, FakeResources

NAME: WorkflowName = "answer_evaluation"
ALL = frozenset({"p1", "p2", "p3", "p4", "p5"})
PASSED = Evaluation(True, (), "fake")
UNCITED = Suggestion("evidence_marking", "Give a source for the first sentence.")
OFF = Suggestion("reasonableness", "Say what was asked for.")
FAILED = Evaluation(False, (OFF, UNCITED), "fake")

_ROLES = {"system": "system", "human": "user", "ai": "assistant"}


@dataclass
class FakeWriter:
    """Writes its texts in order, then numbered ones that cite every passage, streaming word by word.

    An exception among the texts is raised after the first word of a text; None hangs.
    """

    texts: Sequence[str | Exception | None] = ()
    context_tokens: int = 4000
    conversations: list[tuple[BaseMessage, ...]] = field(default_factory=list)

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str:
        place = len(self.conversations)
        self.conversations.append(tuple(messages))
        request = request_of(messages)
        markers = "".join(f"[{number}]" for number in range(1, len(request.passages) + 1))
        said = "第{n}次回答 {m} 。" if request.language == "zh" else "Answer number {n} {m} ."
        text = self.texts[place] if place < len(self.texts) else said.format(n=place + 1, m=markers)
        if text is None:
            await asyncio.Event().wait()
        if isinstance(text, Exception):
            trace.token("Half")
            raise text
        assert text is not None
        for at, piece in enumerate(text.split(" ")):
            trace.token(piece if at == 0 else f" {piece}")
        sent = tuple(Message(_ROLES[item.type], item.text) for item in messages)  # type: ignore[arg-type]
        trace.call(ModelCall("generator", "", 0, "fake", sent, text, start_ms=trace.now_ms()))
        return text


@dataclass
class FakeEvaluator:
    """Gives its evaluations in order, then passes; an exception among them is raised, None hangs.

    With ``rules`` it judges by itself: an answer shares a word with the question and has a marker.
    """

    evaluations: Sequence[Evaluation | Exception | None] = ()
    rules: bool = False
    requests: list[EvaluationRequest] = field(default_factory=list)

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        place = len(self.requests)
        self.requests.append(request)
        made = self.evaluations[place] if place < len(self.evaluations) else PASSED
        if made is None:
            await asyncio.Event().wait()
        if isinstance(made, Exception):
            raise made
        assert made is not None
        made = _by_rules(request) if self.rules else made
        texts = [request.question, request.answer, *(item.text for item in request.passages)]
        messages = (Message("user", "\n".join(texts)),)
        trace.call(ModelCall("evaluator", "", 0, "fake", messages, str(made.passed), start_ms=trace.now_ms()))
        return made


def _by_rules(request: EvaluationRequest) -> Evaluation:
    def words(text: str) -> set[str]:
        return {word.strip("?.,") for word in text.casefold().split() if len(word) > 4} | set(text) & set(
            "没开封胰岛素"
        )

    found = []
    if not words(request.question) & words(request.answer):
        found.append(OFF)
    if request.aim == "answer" and "[" not in request.answer:
        found.append(Suggestion("evidence_marking", UNCITED.text, quote=request.answer.split(". ")[0]))
    return Evaluation(not found, tuple(found), "fake")


@dataclass
class AnswerResources(FakeResources):
    """Fake roles of the whole loop; every passage passes unless a test says otherwise."""

    grader: FakeGrader = field(default_factory=lambda: FakeGrader(relevant=ALL))
    writer: FakeWriter = field(default_factory=FakeWriter)
    evaluator: FakeEvaluator = field(default_factory=FakeEvaluator)
    observed: list[Mapping[str, Any]] = field(default_factory=list)
    observing: Exception | None = None

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        roles, manifest = await super().roles(config)
        answers = AnswerRoles(self.writer, self.evaluator, self._observe)
        return Roles(roles.retriever, roles.grader, roles.rewriter, roles.generator, own=answers), manifest

    async def _observe(self, observation: Mapping[str, Any]) -> None:
        if self.observing is not None:
            raise self.observing
        self.observed.append(observation)


def answering(gener_epoch: int = 3, **more: Any) -> RunConfig:
    return RunConfig(workflow=NAME, options=AnswerEvaluationOptions(gener_epoch), **more)


def events_of(
    resources: AnswerResources, config: RunConfig | None = None, question: str = "first", **more: Any
) -> list[Event]:
    return fakes.events_of(resources, config or answering(), question, **more)


def finished(resources: AnswerResources, *given: Any, **more: Any) -> RunRecord:
    """The record of one run."""
    return fold_all(events_of(resources, *given, **more))


def states_of(
    resources: AnswerResources, config: RunConfig | None = None, question: str = "first"
) -> list[tuple[str, Mapping[str, Any]]]:
    """The graph's state after each step, with the node that made it; the first is the initial one, of no node."""
    config = config or answering()

    async def walk() -> list[tuple[str, Mapping[str, Any]]]:
        roles, _ = await resources.roles(config)
        context = RunContext(config=config, roles=roles, emit=lambda event: None, clock=RunClock(config.budget_s))
        state = dict(workflow(NAME).initial_state(question))
        seen: list[tuple[str, Mapping[str, Any]]] = [("", dict(state))]
        async for update in compiled(NAME).astream(state, context=context, stream_mode="updates"):
            for node, changed in update.items():
                state |= changed or {}
                seen.append((node, dict(state)))
        return seen

    return asyncio.run(walk())
