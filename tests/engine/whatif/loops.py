"""A small world to run the three other loops in: their real graphs, with roles that answer by their input alone.

What a role says, how long it takes and whether it fails follows from its input, so that one question can honestly
be run again under other settings.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hypothesis import strategies as st

from engine.builtin.rerank import GraderReranker
from engine.builtin.strategy_router import BuiltinStrategyRouter
from engine.errors import ModelError, WebSearchError
from engine.flow import compiled
from engine.flow.context import Retrieval, Roles, RunClock, SectionRetrieval
from engine.model.config import Expand, Options, RoleModel, RoleModels, RunConfig, WorkflowName
from engine.model.decide import cascades
from engine.model.events import fold_all
from engine.model.values import (
    SOURCE_KINDS,
    Evaluation,
    FoundSection,
    Memory,
    ModelCall,
    Passage,
    PassageId,
    RouteChoice,
    Routing,
    RunId,
    RunRecord,
    SourceKind,
    Strategy,
    Suggestion,
    Surrounding,
    Verdict,
)
from engine.roles import (
    SILENT,
    DirectRequest,
    EvaluationRequest,
    GenerationRequest,
    RewriteProposal,
    RewriteRequest,
    RoutingRequest,
    StrategyRequest,
    Trace,
)
from engine.running.execution import execute
from engine.running.runs import LiveRun
from engine.settings import Settings
from engine.workflows.answer_evaluation.options import AnswerEvaluationOptions
from engine.workflows.answer_evaluation.roles import AnswerRoles
from engine.workflows.cascade import Cascade
from engine.workflows.dual_loop.distil import ExtractiveDistiller
from engine.workflows.dual_loop.options import DualLoopOptions
from engine.workflows.dual_loop.roles import DualRoles
from engine.workflows.quality_loop.options import QUALITY_WEIGHTS, QualityOptions
from engine.workflows.quality_loop.roles import QualityRoles

QUESTION = "What are the early signs of it?"
NEWS = "What is the latest news on its early signs?"
CHAT = RoleModel("ollama:qwen3:4b")
SCREENER = RoleModel("cross_encoder:small")
_SIMILARITIES = (0.0, 0.1, 0.2, 0.3, 0.3, 0.35, 0.4, 0.5, 0.6, 0.9)
_LONG_S = 10_000.0


@dataclass(frozen=True)
class LoopWorld:
    """What every role would do, by a seed; ``faults`` is the share of calls that fail or take too long."""

    seed: int
    faults: float = 0.0
    question: str = QUESTION
    passages: int = 14
    memories: int = 0
    """Recalled ones that still hold."""
    web: bool = True
    """Whether a search engine is set."""
    summaries: bool = True
    strict: float = 0.5
    """Share of answers that an evaluator rejects."""

    def dice(self, *about: object) -> random.Random:
        return random.Random("|".join(str(item) for item in (self.seed, *about)))

    def unlucky(self, *about: object) -> bool:
        return self.dice("fault", *about).random() < self.faults

    def found(self, query: str, where: str, limit: int) -> tuple[Passage, ...]:
        dice = self.dice("search", query, where)
        place = {"graph": 100, "temporal": 200, "web_search": 300}.get(where, 0)
        names = dice.sample(range(self.passages), dice.randint(0 if dice.random() < 0.1 else 3, 9))
        similarities = sorted((dice.choice(_SIMILARITIES) for _ in names), reverse=True)
        return tuple(
            Passage(PassageId(f"p{place + name:03}"), "s.md", f"text of {name}", similarity, similarity, ordinal=name)
            for name, similarity in zip(names, similarities, strict=True)
        )[:limit]

    def verdict(self, passage: Passage, config: RunConfig, parts: Sequence[str] = ()) -> Verdict:
        dice = self.dice("verdict", passage.id)
        relevant = dice.choice([True, True, False, False, False, None])
        if relevant is None and config.models.grader.built_in:
            relevant = False
        made = Verdict(relevant, dice.choice([0.5, 0.6, 0.7, 0.9, 1.0]), dice.choice(["because", "it is not"]))
        chances = (self.dice("part", passage.id, part).choice([0.0, 0.3, 0.5, 0.6, 0.9]) for part in parts)
        return replace(made, parts=tuple(chances))

    def scored(self, passage: Passage, parts: Sequence[str] = ()) -> Verdict:
        """The same of a model that gives scores in every role."""
        dice = self.dice
        chance = dice("screener", passage.id).choice([0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 2.0])
        if chance > 1:
            return Verdict(None, 0.0, "no score", grader=SCREENER.name)
        of_parts = (dice("screened part", passage.id, part).choice([0.0, 0.5, 0.6, 0.9]) for part in parts)
        relevant, sure = chance >= 0.5, max(chance, 1 - chance)
        return Verdict(relevant, sure, "a score", grader=SCREENER.name, raw=chance, parts=tuple(of_parts))


class _Clock:
    """Time that stands still until a call takes too long."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class TimedRun(LiveRun):
    def begin(
        self,
        question: str,
        config: RunConfig,
        fork: Any = None,
        attachments: Any = (),
        *,
        trial: bool = False,
        chat: Any = None,
    ) -> None:
        self.clock = RunClock(config.budget_s)
        super().begin(question, config, fork, attachments, trial=trial, chat=chat)
        self.ticking = _Clock()
        self.clock = RunClock(config.budget_s, self.ticking)


@dataclass
class _Everyone:
    """All roles of all loops in one; each method keeps the contract of the role that it stands for."""

    world: LoopWorld
    config: RunConfig
    clock: _Clock

    context_tokens: int = 4000

    def count_tokens(self, text: str) -> int:
        return len(text)

    async def around(self, passages: Sequence[Passage], expand: Expand) -> list[Surrounding]:
        return []

    def _called(self, trace: Trace, role: Any, *about: object) -> None:
        model = self.config.models.of(role)
        reply = about[0] if role == "generator" else about
        trace.call(ModelCall(role, "", 0, model.model, (), str(reply), built_in=model.in_process))
        if role not in ("grader", "screener"):
            # How long grading takes depends on what else is graded, of which a record of other settings says nothing.
            self._takes("call", role, *about)

    def _takes(self, *about: object) -> None:
        if self.world.unlucky("slow", *about):
            self.clock.now_s += _LONG_S

    # -- searches

    async def search(self, query: str, limit: int) -> Retrieval:
        return self._searched(query, "direct_chunk_search", limit)

    def _searched(self, query: str, where: str, limit: int) -> Retrieval:
        self._takes("search", query, where)
        return Retrieval(self.world.found(query, where, limit), 0.7, "none")

    async def kinds(self, question: str = "") -> tuple[SourceKind, ...]:
        return SOURCE_KINDS

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval:
        return self._searched(query, kind, limit)

    async def has_summaries(self) -> bool:
        return self.world.summaries

    async def search_sections(self, query: str, limit: int) -> SectionRetrieval:
        retrieval = self._searched(query, "hierarchical_search", limit)
        return SectionRetrieval((FoundSection("s.md", "First", "What it is about.", 0.8),), retrieval)

    # -- models

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        scored = self.config.models.grader == SCREENER
        verdicts = [
            self.world.scored(passage, parts) if scored else self.world.verdict(passage, self.config, parts)
            for passage in passages
        ]
        for passage, verdict in zip(passages, verdicts, strict=True):
            for asked in (passage.id, *(parts if scored else ())):
                self._called(trace, "grader", asked)
            trace.verdict(passage.id, verdict)
        return verdicts

    async def split(self, question: str, trace: Trace = SILENT) -> tuple[str, ...]:
        self._called(trace, "rewriter", question)
        if self.world.unlucky("splitter", question):
            raise ModelError.ollama_unreachable(address="nowhere")
        return self.world.dice("split", question).choice(
            [("part one", "part two"), ("part one", "part two", "three"), ()]
        )

    async def rewrite(self, request: RewriteRequest, trace: Trace = SILENT) -> RewriteProposal:
        digest = request.digest()
        self._called(trace, "rewriter", digest)
        if self.world.unlucky("rewriter", digest):
            raise ModelError.ollama_unreachable(address="nowhere")
        dice = self.world.dice("rewrite", digest)
        query = request.current_query if dice.random() < 0.15 else f"query {dice.randint(0, 10**6)}"
        return RewriteProposal(query, "why", ("word",), strategy="feedback")

    async def generate(self, request: GenerationRequest, trace: Trace = SILENT) -> str:
        return self._written(trace, "answer from " + ", ".join(item.id for item in request.passages))

    async def write(self, messages: Sequence[Any], trace: Trace = SILENT) -> str:
        said = "\n".join(str(item.content) for item in messages)
        return self._written(trace, f"answer {self.world.dice('write', said).randint(0, 10**6)}")

    async def answer(self, request: DirectRequest, trace: Trace = SILENT) -> str:
        return self._written(trace, f"from memory: {[item.id for item in request.memories]}")

    def _written(self, trace: Trace, text: str) -> str:
        self._called(trace, "generator", text)
        if self.world.unlucky("generator", text):
            raise ModelError.ollama_unreachable(address="nowhere")
        trace.token(text)
        return text

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        about = (request.answer, [item.text for item in request.passages], request.unseen)
        self._called(trace, "evaluator", *about)
        if self.world.unlucky("evaluator", *about):
            raise ModelError.ollama_unreachable(address="nowhere")
        dice = self.world.dice("evaluate", *about)
        if dice.random() >= self.world.strict:
            return Evaluation(True, (), "fake")
        number = dice.randint(1, 3)
        made = tuple(Suggestion("reasonableness", f"Change {dice.randint(0, 99)}.", "code") for _ in range(number))
        return Evaluation(False, made, "fake")

    async def route(self, request: RoutingRequest, trace: Trace = SILENT) -> Routing:
        self._called(trace, "router", request.query)
        dice = self.world.dice("route", request.query)
        kinds = dice.sample(request.kinds, dice.randint(1, len(request.kinds)))
        shares = [dice.randint(1, 4) for _ in kinds]
        share_of = {kind: share / sum(shares) for kind, share in zip(kinds, shares, strict=True)}
        return Routing(request.query, share_of, wide=dice.random() < 0.5)

    async def choose(self, request: StrategyRequest, trace: Trace = SILENT) -> RouteChoice:
        if self.config.models.router.built_in:
            return await BuiltinStrategyRouter().choose(request, trace)
        about = ([item.id for item in request.memories], request.strategies)
        self._called(trace, "router", *about)
        routes = ["direct", *request.strategies]
        return RouteChoice(self.world.dice("choose", *about).choice(routes), "chosen")  # type: ignore[arg-type]

    # -- memory

    async def recall(self, question: str, collection: str, limit: int) -> list[Memory]:
        made = "2026-01-01T09:00:00.000+00:00"
        return [
            # The first is of the very question, the others of another wording.
            Memory(f"m{place}", asked, "It is so.", collection, "earlier", made, fingerprint="now", similarity=1.0)
            for place, asked in enumerate([question, f"{question} Please.", f"{question} Exactly, please."])
            if place < self.world.memories
        ]

    async def keep(self, memory: Memory) -> None: ...

    async def list(self) -> list[Memory]:
        return []

    async def forget(self, memory_id: str) -> bool:
        return False


@dataclass
class _Web:
    everyone: _Everyone

    async def search(self, query: str, limit: int) -> Retrieval:
        if self.everyone.world.unlucky("web", query):
            raise WebSearchError.restored("The web is gone.", "Wait.")
        return self.everyone._searched(query, "web_search", limit)


@dataclass
class _RecallGrader:
    everyone: _Everyone
    config: RunConfig

    @property
    def world(self) -> LoopWorld:
        return self.everyone.world

    async def grade(self, question: str, memories: Sequence[Memory], trace: Trace) -> list[Verdict]:
        grader = self.config.models.grader.model
        if self.world.unlucky("recall", grader, question):
            raise ModelError.ollama_unreachable(address="nowhere")
        for item in memories:
            self.everyone._called(trace, "grader", item.id)
        dice = [self.world.dice("recall", grader, question, item.id) for item in memories]
        return [Verdict(one.random() < 0.8, one.choice([0.5, 0.6, 0.9]), "because") for one in dice]


@dataclass
class _Screener:
    """Sure of most passages, and mute about some."""

    everyone: _Everyone

    async def grade(
        self, question: str, passages: Sequence[Passage], trace: Trace = SILENT, parts: Sequence[str] = ()
    ) -> list[Verdict]:
        verdicts = [self.everyone.world.scored(passage, parts) for passage in passages]
        for passage, verdict in zip(passages, verdicts, strict=True):
            for asked in (passage.id, *parts):
                self.everyone._called(trace, "screener", asked)
            trace.verdict(passage.id, verdict)
        return verdicts


@dataclass
class Resources:
    world: LoopWorld
    clock: _Clock
    settings: ClassVar[Settings] = Settings()

    async def roles(self, config: RunConfig) -> tuple[Roles, Mapping[str, str]]:
        everyone = _Everyone(self.world, config, self.clock)
        web_on = isinstance(config.options, DualLoopOptions) and config.options.web_search and self.world.web

        async def observe(_: Mapping[str, Any]) -> None: ...

        usable: list[Strategy] = ["hierarchical_search"] if self.world.summaries else []
        usable += ["direct_chunk_search", *(["web_search"] if web_on else [])]  # type: ignore[list-item]
        own: Mapping[str, Any] = {
            "quality_loop": QualityRoles(everyone, everyone, GraderReranker(everyone)),
            "dual_loop": DualRoles(
                sections=everyone,
                router=everyone,
                direct=everyone,
                evaluator=everyone,
                memory=everyone,
                recall_grader=_RecallGrader(everyone, config),
                distiller=ExtractiveDistiller(),
                web=_Web(everyone) if self.world.web else None,
                fingerprint="now",
            ),
            "answer_evaluation": AnswerRoles(everyone, everyone, observe),
        }
        grader = Cascade(_Screener(everyone), everyone, config) if cascades(config) else everyone
        roles = Roles(everyone, grader, everyone, everyone, splitter=everyone, own=own.get(config.workflow))
        return roles, {"strategies": ",".join(usable)}


def run_in(world: LoopWorld, config: RunConfig, *, trial: bool = False) -> RunRecord:
    """The record of a real run of the config's workflow in this world."""
    # Importing LangGraph takes seconds; an engine does it before the first question, outside of any budget.
    compiled(config.workflow)
    events: list[Any] = []
    run = TimedRun(RunId("run-1"), lambda _, event: events.append(event))
    run.begin(world.question, config, trial=trial)
    asyncio.run(execute(run, world.question, config, Resources(world, run.ticking)))
    return fold_all(events)


@st.composite
def loop_worlds(draw: st.DrawFn, *, faults: bool = True) -> LoopWorld:
    """Worlds in half of which something goes wrong now and then."""
    return LoopWorld(
        seed=draw(st.integers(0, 10**6)),
        faults=draw(st.sampled_from([0.0, 0.0, 0.05, 0.15])) if faults else 0.0,
        question=draw(st.sampled_from([QUESTION, QUESTION, NEWS, "Hello!"])),
        passages=draw(st.sampled_from([10, 14, 40])),
        memories=draw(st.sampled_from([0, 0, 1, 2, 3])),
        web=draw(st.booleans()),
        summaries=draw(st.booleans()),
        strict=draw(st.sampled_from([0.2, 0.6, 0.9])),
    )


@st.composite
def loop_settings(draw: st.DrawFn, workflow: WorkflowName) -> RunConfig:
    """Settings of a workflow near those that matter in such a world."""
    near = st.sampled_from([0.0, 0.2, 0.3, 0.35, 0.5, 0.6, 0.75, 1.0])
    models = draw(
        st.sampled_from([RoleModels(), RoleModels(grader=CHAT, screener=SCREENER, router=CHAT, generator=CHAT)])
    )
    return RunConfig(
        workflow=workflow,
        top_k=draw(st.integers(1, 10)),
        similarity_threshold=draw(near),
        grade_pass_threshold=draw(near),
        max_rewrites=draw(st.integers(0, 3)),
        min_confidence=draw(st.sampled_from([0.0, 0.3, 0.5, 0.6, 0.7, 1.0])),
        min_relevant=draw(st.integers(1, 4)),
        cascade=draw(st.booleans()),
        cascade_low=draw(st.sampled_from([0.0, 0.1, 0.3])),
        cascade_high=draw(st.sampled_from([0.3, 0.6, 0.9, 1.0])),
        gate=draw(st.sampled_from(["pass_rate", "min_relevant"])),
        context=draw(st.sampled_from(["union", "union", "last_round"])),
        answer_unverified=draw(st.booleans()),
        split=draw(st.booleans()),
        probe_k=draw(st.sampled_from([3, 6, 20])),
        grade_probe=draw(st.booleans()),
        budget_s=120,
        models=models,
        options=draw(_options(workflow)),
    )


def _options(workflow: WorkflowName) -> st.SearchStrategy[Options]:
    match workflow:
        case "quality_loop":
            weights = st.sampled_from([(0.4, 0.3, 0.2, 0.1), (0.0, 1.0, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25)])
            return st.builds(
                lambda weights, grade_on, medium: QualityOptions(
                    **dict(zip(QUALITY_WEIGHTS, weights, strict=True)),
                    grade_on=grade_on,
                    high_score=max(0.7, medium),
                    medium_score=medium,
                ),
                weights,
                st.sampled_from(["weighted", "top3"]),
                st.sampled_from([0.0, 0.3, 0.4, 0.5, 0.6, 0.9]),
            )
        case "self_corrective":
            return st.just(Options())
        case "dual_loop":
            return st.builds(DualLoopOptions, st.integers(0, 3), st.booleans(), st.booleans())
        case _:
            return st.builds(AnswerEvaluationOptions, st.integers(1, 4))


@st.composite
def loop_variations(draw: st.DrawFn, config: RunConfig) -> RunConfig:
    """Other settings for a run under ``config``: mostly its own with one or two changed."""
    other = draw(loop_settings(config.workflow))
    names = draw(st.lists(st.sampled_from(_VARIED), min_size=1, max_size=2))
    changes: dict[str, Any] = {name: getattr(other, name) for name in names}
    changed = replace(config, **changes)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return replace(changed, budget_s=draw(st.sampled_from([60.0, 3600.0])))
    if kind == 1:
        role = draw(st.sampled_from(["grader", "rewriter", "generator", "evaluator", "router"]))
        return replace(changed, models=replace(config.models, **{role: RoleModel("ollama:other")}))
    if kind == 2:
        return replace(changed, models=replace(config.models, grader=SCREENER))
    return changed


_VARIED = (
    *("top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites", "min_confidence", "min_relevant"),
    *(
        "cascade",
        "cascade_low",
        "cascade_high",
        "gate",
        "context",
        "answer_unverified",
        "split",
        "probe_k",
        "grade_probe",
        "options",
        "options",
        "options",
    ),
)
