"""Definition of a workflow: one value with its steps, decisions, settings, roles and labels.

A package of ``engine.workflows`` makes one and calls it ``WORKFLOW``; the registry names the module. Pages, command
line, API, records, replays and tables read it, and name no workflow themselves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, get_args

from engine.errors import WorkbenchError
from engine.flow.context import Roles
from engine.flow.flow import Flow, NodeKind
from engine.model.config import Options, Parameter, RoleName, RunConfig, Setting, WorkflowName, numbers_in, settings_in
from engine.model.cost import Cost
from engine.model.decide import cascades, gate_warnings, outcome_of
from engine.model.later import later
from engine.model.surroundings import REACH
from engine.model.values import Outcome, RunRecord, SourceKind
from engine.roles import MOST_CHECKED, MOST_PARTS

Ending = tuple[Outcome, str]
_ASKED: Mapping[NodeKind, RoleName] = {
    "grade": "grader",
    "rewrite": "rewriter",
    "answer": "generator",
    "evaluate": "evaluator",
    "route": "router",
}
"""The role that a node of a kind asks."""
_OF_GATE = ("gate", "grade_pass_threshold", "min_relevant", "needs_whole", "split")
OF_CASCADE = ("cascade", "cascade_low", "cascade_high")
_OF_GRADING = ("min_confidence", "answer_unverified", "grade_probe", "reasons", "ignore_cache", *OF_CASCADE)


class KindsOf(Protocol):
    """Knows the kinds of sources that a run would find: :class:`engine.running.resources.Resources`."""

    async def source_kinds(self, config: RunConfig, question: str = "") -> tuple[SourceKind, ...]: ...


def initial_state(question: str) -> Mapping[str, Any]:
    """Nothing searched, nothing rewritten."""
    return {"question": question, "query": question, "rounds": (), "rewrites": ()}


def judged_a_round(config: RunConfig) -> int:
    """Passages of one round that are judged at most."""
    return config.fetch_k if config.grade_probe else config.top_k


def translates(config: RunConfig) -> bool:
    """Return whether queries are translated: a chat model that rewrites is asked for it."""
    return config.translate and config.models.rewriter.chats


def gradings_a_passage(config: RunConfig) -> int:
    """Calls for one verdict at most: a model is asked about each part of the question, and one that chats why."""
    grader = config.models.grader
    once = 1 + MOST_PARTS if config.split and not grader.built_in else 1
    return once + (grader.chats and config.reasons == "before")


def screenings_a_passage(config: RunConfig) -> int:
    """Calls of a screener for one passage at most; 0 without a cascade."""
    once = 1 + MOST_PARTS if config.split and not config.models.screener.built_in else 1
    return once if cascades(config) else 0


def chat_calls(config: RunConfig, asked: Mapping[RoleName, int]) -> int:
    """The calls among those to each role that go to the server of a model."""
    return sum(count for role, count in asked.items() if not config.models.of(role).in_process)


def asked_together(config: RunConfig) -> bool:
    """Return whether a round asks a chat model once more, whether passages suffice together."""
    return config.needs_whole and config.models.grader.chats


def longest_run(prices: Any, config: RunConfig) -> Cost:
    """Return the worst cost of a run: every round and the answer; ``prices``: :class:`engine.replay.cost.CostModel`."""
    splitting: Cost = prices.rewrite * config.split
    rounds: Cost = prices.round(config) + prices.rounds_after(0, config) + prices.answering(config)
    return splitting + rounds


def ending(record: RunRecord) -> Ending:
    """Return the outcome by the last decision, where there is one, and by what the generator was given."""
    last = record.decisions[-1] if record.decisions else None
    if record.context is None:
        # Nothing was put together for the generator: it answered from the question alone.
        outcome: Outcome = "answered" if record.answer else "abstained"
    else:
        outcome = outcome_of(last, record.context)
    return outcome, last.reason if last else outcome


async def no_own_roles(roles: Roles, given: Any) -> tuple[Roles, Mapping[str, str]]:
    """Leave the roles as they are."""
    return roles, {}


async def warned_of_gate(question: str, config: RunConfig, known: KindsOf) -> Sequence[WorkbenchError]:
    """Say whether the gate can be met at all."""
    return gate_warnings(config)


@dataclass(frozen=True, kw_only=True, slots=True)
class Workflow:
    """A workflow with its steps; what is left out is as in a workflow that retrieves, grades, rewrites and answers."""

    id: WorkflowName
    name: str
    """A message, as are all its words."""
    title: str = ""
    """As in the picker of workflows; left out, ``name``."""
    summary: str = ""
    """One sentence under the picker."""
    introduction: str = ""
    """What a reader sees before the first question; left out, ``summary``."""
    unused: tuple[str, ...] = ()
    """Settings of ``RunConfig`` that count for nothing in it, though its nodes let one expect otherwise."""
    in_modes: bool = False
    """Whether it searches in one of several modes."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Where they have other defaults."""
    options: type[Options] = Options
    """The settings that it alone has."""
    more_roles: tuple[RoleName, ...] = ()
    """The model roles that it asks in addition to those of its nodes."""
    temperatures: Mapping[RoleName, float] = field(default_factory=dict)
    """At what a chat model is asked where a config says 0."""
    samples: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Questions that show what it does, by language: a text or the id of a labelled question, and what its button says
    of it (empty: its own kind)."""
    takes_attachments: bool = False
    """Whether images and tables may come with a question."""
    remembers: bool = False
    """Whether it recalls earlier answers and keeps its own."""
    on_grid: bool = False
    """Whether ``engine.replay.grid`` models its decisions; else every what-if runs its steps."""
    plain_gate: bool = False
    """Whether ``engine.model.decide.decide`` alone says when its passages are enough."""
    measures: tuple[str, ...] = ("pass_rate", "similarity")
    """The two figures of a run next to outcome, calls and time, by their names in ``components.runs.figures``."""
    tab: str = ""
    """Name of the tab of its own evidence; empty where it has none."""
    drawn_by: str = ""
    """The module of ``components.workflows`` that draws what only it has; empty where it has nothing of its own."""

    flow: Flow
    initial_state: Callable[[str], Mapping[str, Any]] = initial_state
    """What its state begins with, by the question."""
    most_steps: Callable[[RunConfig], int] | None = None
    """Steps that a run can take at most, where :meth:`recursion_limit` cannot count them."""
    most_calls: Callable[[RunConfig], int] | None = None
    """Calls of chat models in the longest run, where :meth:`worst_case_calls` cannot count them."""
    ending: Callable[[RunRecord], Ending] = ending
    """Outcome and reason of a run whose graph came to its end."""
    make_roles: Callable[[Roles, Any], Awaitable[tuple[Roles, Mapping[str, str]]]] = no_own_roles
    """Adds the roles that only its runs have, built from :class:`engine.workflows.run_resources.RunResources`; returns
    them with what the manifest says of them."""
    prompts: Mapping[RoleName, str] = field(default_factory=dict)
    """By role ``module:NAME`` of the prompt's version, where it is not the one that most workflows use."""
    replay: Callable[[RunRecord, RunConfig], Any] = later("engine.replay.replay:Replay")  # noqa: RUF009
    """Its :class:`engine.replay.replay.Replay`: runs it over the record of a finished run."""
    numbers_tried: tuple[str, ...] = (
        "similarity_threshold",
        "grade_pass_threshold",
        "top_k",
        "max_rewrites",
        "min_confidence",
        "min_relevant",
        "cascade_low",
        "cascade_high",
    )
    """The settings that decide in it without any call."""
    corrected_by: tuple[str, int] = ("max_rewrites", 0)
    """The setting that limits its corrections, and the value without any."""
    reranked: Callable[[RunConfig], int] = field(default=lambda config: 0)
    """Passages that a round has scored before its gates."""
    most_answers: Callable[[RunConfig], int] = field(default=lambda config: 1)
    """Answers that a run may write."""
    longest_run: Callable[[Any, RunConfig], Cost] = longest_run
    """What a run costs at worst, by the prices of its steps."""
    warnings_before: Callable[[str, RunConfig, KindsOf], Coroutine[Any, Any, Sequence[WorkbenchError]]] = warned_of_gate
    """What is to be said before a run: that its settings ask for what cannot be met."""

    def recursion_limit(self, config: RunConfig) -> int:
        """Steps that a run can take at most: every node of a round, those of every answer, the rest, and one to spare.

        (SC-13)
        """
        if self.most_steps is not None:
            return self.most_steps(config)
        flow, rounds = self.flow, self.rounds(config)
        answered = len(flow.repeated - flow.of_round)
        rest = len(flow.nodes) - len(flow.repeated)
        return len(flow.of_round) * rounds + answered * self.most_answers(config) + rest + 1

    def worst_case_calls(self, config: RunConfig) -> int:
        """Calls of chat models in the longest possible run.

        Second tries are apart, but for those of repeated queries: a model is asked once more where a call fails or its
        reply cannot be used, such as one word that is neither yes nor no.
        """
        asides = chat_calls(config, {"refiner": self.most_refined(config), "verifier": self.checks and MOST_CHECKED})
        if self.most_calls is not None:
            return self.most_calls(config) + asides
        flow, rounds, answers = self.flow, self.rounds(config), self.most_answers(config)
        return asides + chat_calls(
            config,
            {
                "router": bool(flow.of_kind("route")) * (rounds if flow.of_kind("route") & flow.repeated else 1),
                "grader": bool(flow.of_kind("grade"))
                * (judged_a_round(config) * gradings_a_passage(config) + asked_together(config))
                * rounds,
                "screener": judged_a_round(config) * screenings_a_passage(config) * rounds,
                "rewriter": 2 * (rounds - 1) + config.split + translates(config) * rounds,
                "generator": bool(flow.of_kind("answer")) * answers,
                "evaluator": bool(flow.of_kind("evaluate")) * answers,
            },
        )

    def most_refined(self, config: RunConfig) -> int:
        """Passages that are refined at most before an answer is written, with what surrounds them."""
        rounds = self.rounds(config) if config.context == "union" else 1
        each = 1 + 2 * REACH[config.expand]
        return config.top_k * rounds * each if config.refine and "refine" not in self.idle else 0

    def rounds(self, config: RunConfig) -> int:
        """Rounds that a run can have at most, where every rewrite opens one."""
        return config.max_rewrites + 1 if self.flow.of_kind("rewrite") else 1

    @property
    def numbers(self) -> Mapping[str, Parameter]:
        """The ranges of its own settings that are numbers."""
        return numbers_in(cast(Hashable, self.options))

    @property
    def own_settings(self) -> Mapping[str, Setting]:
        """The settings of the workflow's own options, by name."""
        return settings_in(cast(Hashable, self.options))

    @property
    def gate(self) -> str:
        """The node that decides whether the passages of a round are enough; empty where none does."""
        return self.flow.gate

    @property
    def grades(self) -> bool:
        """True if passages are judged before they are given to the generator."""
        return bool(self.flow.of_kind("grade"))

    @property
    def checks(self) -> bool:
        """True if it writes an answer, whose sentences are checked."""
        return bool(self.flow.of_kind("answer"))

    @property
    def roles(self) -> tuple[RoleName, ...]:
        """The model roles that it asks."""
        asked = {_ASKED[node.kind] for node in self.flow.nodes.values() if node.kind in _ASKED} | {*self.more_roles}
        asked |= set() if "refine" in self.idle else {"refiner"}
        asked |= {"verifier"} if self.checks else set()
        asked |= set() if "cascade" in self.idle else {"screener"}
        return tuple(role for role in get_args(RoleName) if role in asked)

    def roles_asked(self, config: RunConfig) -> tuple[RoleName, ...]:
        """The model roles that a run asks: the refiner only where passages are refined, the screener in a cascade."""
        asked = {"refiner": config.refine, "screener": cascades(config)}
        return tuple(role for role in self.roles if asked.get(role, True))

    @property
    def idle(self) -> frozenset[str]:
        """The settings of ``RunConfig`` that count for nothing in it."""
        idle = {*self.unused}
        idle |= set() if self.in_modes else {"mode"}
        idle |= set() if self.grades else {*_OF_GRADING, *_OF_GATE}
        idle |= set() if self.gate else {*_OF_GATE}
        return frozenset(idle if self.flow.of_kind("rewrite") else idle | {"max_rewrites", "context"})

    @property
    def gated(self) -> bool:
        """True if a pass rate or a count of relevant passages leads to its answer."""
        return "gate" not in self.idle
