"""Context of every node in every workflow: config, roles, clock, and the one way to emit events."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from engine.errors import ModelError, WorkbenchError
from engine.model.config import Expand, RoleName, RunConfig
from engine.model.events import (
    AnswerBegun,
    Emit,
    ModelCalled,
    NodeFinished,
    NodeStarted,
    PassageGraded,
    PassageScreened,
    TokenStreamed,
    Warned,
)
from engine.model.language import before_loop
from engine.model.values import (
    Attachment,
    Fault,
    FoundSection,
    ModelCall,
    NodeExecution,
    Outcome,
    Passage,
    PassageId,
    QueryKind,
    RunRecord,
    Surrounding,
    Translation,
    Verdict,
)
from engine.roles import Generator, Grader, Refiner, Rewriter, SetJudge, Splitter, Trace, Verifier

_log = logging.getLogger(__name__)
Own = TypeVar("Own")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """One search: passages in rank order, and the cosine that became similarity 0."""

    passages: tuple[Passage, ...]
    floor: float
    anchors: str
    found_by: Mapping[PassageId, Mapping[QueryKind, int]] = field(default_factory=dict)
    """Ranks in the lists of two queries; empty for a search with one."""
    translated_floor: float = 0.0
    translated_anchors: str = ""


class Retriever(Protocol):
    """Searches one collection; the text of passages and their similarity are as SC-09 defines them."""

    async def search(self, query: str, limit: int) -> Retrieval: ...

    async def around(self, passages: Sequence[Passage], expand: Expand) -> Sequence[Surrounding]:
        """What these passages bring along from their sources; candidates may be among it."""


class Translator(Protocol):
    """Puts a query into the language of the collection, and searches it in both.

    Contract (tests/llm/test_chat_translator.py): names and code stay as they are. A server that cannot be reached is a
    ``ModelError``.
    """

    async def translate(self, query: str, trace: Trace) -> Translation | None:
        """The query in another language, empty where no usable reply came; None where there is nothing to translate."""

    async def search_both(self, query: str, translated: str, limit: int) -> Retrieval:
        """Search a query and its translation, and make one list of what both find."""


@dataclass(frozen=True, slots=True)
class SectionRetrieval:
    """One hierarchical search: the sections looked inside, and the passages found in them in rank order."""

    sections: tuple[FoundSection, ...]
    retrieval: Retrieval


ReasonOf = Callable[[str, Passage, Verdict, Trace], Awaitable[str]]
"""Takes a question, a passage and the verdict on it."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles that do the work of one run."""

    retriever: Retriever
    grader: Grader
    rewriter: Rewriter
    generator: Generator
    translator: Translator | None = None
    """Translates queries, where a config asks for it and a chat model rewrites."""
    splitter: Splitter | None = None
    """Splits the question, where a config asks for it."""
    whole: SetJudge | None = None
    """Judges passed passages together, where a config asks that they suffice."""
    refiner: Refiner | None = None
    """Picks what passages are cut to, where a config asks for it; None where the built-in one does."""
    stand_in: Rewriter | None = None
    """The built-in rewriter behind a chat model that only repeats itself; None where the rewriter is built in."""
    verifier: Verifier | None = None
    """Checks what an answer says; None where the built-in one does."""
    own: Any = None
    """What only its workflow has: a dataclass of that workflow's package, or None."""
    reason: ReasonOf | None = None
    """Says why a verdict of one word is so, once the run is over; None where no one is to be asked then."""
    note: Callable[[RunRecord, Outcome], Awaitable[None]] | None = None
    """Notes in the history of weak points how a run ended; None where its collection can have none."""


class RunClock:
    """Time since the run began, against its wall-clock budget."""

    def __init__(self, budget_s: float, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._began = now()
        self._budget_s = budget_s

    def elapsed_s(self) -> float:
        return self._now() - self._began

    def elapsed_ms(self) -> float:
        return self.elapsed_s() * 1000.0

    def left_s(self) -> float:
        return self._budget_s - self.elapsed_s()


class StepOverride(Protocol):
    """Returns what replaces a node's own step: in a branch, the rounds before the one where it parted."""

    def __call__(self, node: str, round_index: int) -> Step | None: ...


def no_override(node: str, round_index: int) -> Step | None:
    """Replace no step, as in a run that is no branch."""
    return None


@dataclass(slots=True)
class RunContext:
    """The context of one run, handed to nodes by LangGraph's runtime."""

    config: RunConfig
    roles: Roles
    emit: Emit
    clock: RunClock
    generation_allowance_s: float = 30.0
    override: StepOverride = no_override
    run_id: str = ""
    attachments: tuple[Attachment, ...] = ()
    """Images and tables of the question, within their limits and never blank."""
    trial: bool = False
    """Whether the run is to show what settings do (:attr:`engine.model.values.RunRecord.trial`)."""
    visits: Counter[str] = field(default_factory=Counter)
    note_calls: Callable[[int], None] = lambda change: None
    """Called for every model call that begins (1) or ends (-1)."""
    within: Callable[[float | None], AbstractAsyncContextManager[Any]] = asyncio.timeout
    """Ends what is awaited inside after so many seconds with ``TimeoutError``; in a replay nothing is waited for."""
    together: Callable[..., Awaitable[Sequence[Any]]] = asyncio.gather
    """Awaits several at the same time."""
    log: Callable[[str], None] = _log.warning
    """Writes a line to the log of the program; a replay writes none."""

    def warn(self, error: WorkbenchError, node: str = "") -> None:
        self.emit(Warned(warning=Fault.of(error, node)))


@dataclass(slots=True)
class NodeTrace:
    """The :class:`engine.roles.Trace` of one node visit."""

    run: RunContext
    node: str
    round: int
    limit_s: float | None = None
    """Seconds the node may take after its start, where the run's budget does not say it."""
    began_s: float = 0.0
    verdicts: dict[PassageId, Verdict] = field(default_factory=dict)
    text: str = ""
    chat_calls: int = 0
    built_in_calls: int = 0
    cut: ModelError | None = None
    """What to say of the newest usable reply where it breaks off: at its limit, or in a loop."""
    draft: int = 0
    """Number of the answer that is being written, in a workflow that writes several."""

    def calling(self) -> None:
        self.run.note_calls(1)

    def call(self, call: ModelCall) -> None:
        if not (call.built_in or call.cached):
            self.run.note_calls(-1)
        if call.built_in:
            self.built_in_calls += 1
        else:
            self.chat_calls += 1
        if not call.error:
            self.cut = _cut(call, model_of(self.run, "generator"))
        self.run.emit(ModelCalled(call=replace(call, node=self.node, round=self.round)))

    def verdict(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.verdicts[passage_id] = verdict
        self.run.emit(PassageGraded(round=self.round, passage_id=passage_id, verdict=verdict))

    def screened(self, passage_id: PassageId, verdict: Verdict) -> None:
        self.run.emit(PassageScreened(round=self.round, passage_id=passage_id, verdict=verdict))

    def token(self, text: str) -> None:
        self.text += text
        self.run.emit(TokenStreamed(text=text))

    def restart(self) -> None:
        self.text = ""
        self.run.emit(AnswerBegun(draft=self.draft))

    def now_ms(self) -> float:
        return self.run.clock.elapsed_ms()

    @property
    def over_at_s(self) -> float:
        """Seconds after the start of the run at which the node's time is over."""
        return self.run.config.budget_s if self.limit_s is None else round(self.began_s + self.limit_s, 4)

    def time_left_s(self) -> float:
        if self.limit_s is not None:
            return max(0.0, self.limit_s - (self.run.clock.elapsed_s() - self.began_s))
        return max(0.0, self.run.clock.left_s())


def own_roles(run: RunContext, kind: type[Own]) -> Own:
    """The roles that only the run's workflow has; raises ``ValueError`` in a run that was given none."""
    if not isinstance(run.roles.own, kind):
        raise ValueError(f"a run of {run.config.workflow} needs its own roles")
    return run.roles.own


Step = Callable[[Mapping[str, Any], RunContext, NodeTrace], Awaitable[dict[str, Any]]]


async def visit(name: str, step: Step, state: Mapping[str, Any], run: RunContext, round_index: int) -> dict[str, Any]:
    """Run one step as a visit of node ``name``: start and end are reported even where it fails or is cancelled."""
    run.visits[name] += 1
    trace = NodeTrace(run=run, node=name, round=round_index, began_s=run.clock.elapsed_s())
    execution = NodeExecution(node=name, round=round_index, visit=run.visits[name], start_ms=run.clock.elapsed_ms())
    run.emit(NodeStarted(node=name, round=round_index, visit=execution.visit))
    error = ""
    try:
        return await (run.override(name, round_index) or step)(state, run, trace)
    except BaseException as failure:
        error = failure.code if isinstance(failure, WorkbenchError) else type(failure).__name__
        raise
    finally:
        finished = replace(
            execution,
            duration_ms=run.clock.elapsed_ms() - execution.start_ms,
            model_calls=trace.chat_calls,
            built_in_calls=trace.built_in_calls,
            error=error,
        )
        run.emit(NodeFinished(execution=finished))


def _cut(call: ModelCall, model: str) -> ModelError | None:
    if before_loop(call.reply) is not None:
        return ModelError.answer_loops(model=model)
    return ModelError.answer_cut(model=model, tokens=call.reply_tokens or 0) if call.truncated else None


def model_of(run: RunContext, role: RoleName) -> str:
    """The model name of a role, for messages."""
    return run.config.models.of(role).model
