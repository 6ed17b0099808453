"""The steps of a workflow and the ways between them, said once: LangGraph runs them, and a replay follows them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypedDict

from engine.flow.context import RunContext, Step, visit
from engine.model.values import Decision, Rewrite, Round, Surrounding

END = "end"
"""Where a route leads that ends the run."""


NodeKind = Literal["", "search", "grade", "rewrite", "context", "answer", "evaluate", "route"]
"""What a node does: finds passages, has them judged, words another query, puts the generator's input together, writes
an answer, judges one, or asks the router; empty for anything else."""


Tab = Literal["loop", "passages", "rewrites", "map", "trace"]
"""The tabs of a run; ``loop`` is its workflow's own."""


class RunState(TypedDict, total=False):
    question: str
    """As asked; never changed."""
    query: str
    """What is searched next: the question, or its newest rewrite."""
    rounds: tuple[Round, ...]
    rewrites: tuple[Rewrite, ...]
    surroundings: tuple[Surrounding, ...] | None
    """What was read around the candidates so far; None where nothing was."""
    decision: Decision
    """Of the newest round."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a workflow: what runs there, and in what words it is shown."""

    step: Step
    name: str
    """A message, as are all its words."""
    kind: NodeKind = ""
    who: str = ""
    """Who works there, in the picture of a workflow at rest."""
    work: str = ""
    """What is done there."""
    brief: str = ""
    """The same where the box is small."""
    doing: str = ""
    """What is being done while it works; left out, that it is working."""
    lead: str = ""
    """What an inequality leads to here, in a word; left out, ``name``."""
    tab: Tab = "trace"
    """The tab that shows best what it did."""


@dataclass(frozen=True)
class Flow:
    """The nodes of a workflow in the order of its drawing, and what comes after each."""

    nodes: Mapping[str, Node]
    ways: Mapping[str, str | tuple[str, ...]]
    """By node: the one that always follows, or those that its decision chooses from; :data:`END` may stand for one."""
    state: type = RunState
    """The ``TypedDict`` that its steps share."""
    gate: str = ""
    """The node that decides whether the passages of a round are enough; empty where none does."""
    routes: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    """For nodes whose way is not that of the newest decision: where the state leads."""

    @property
    def start(self) -> str:
        """The first node."""
        return next(iter(self.nodes))

    def after(self, name: str, state: Mapping[str, Any]) -> str:
        """Return where a run goes from a node."""
        way = self.ways[name]
        return way if isinstance(way, str) else self.routes.get(name, decided)(state)

    def ways_from(self, name: str) -> tuple[str, ...]:
        """All that may come after a node; none for one that the workflow does not have."""
        way = self.ways.get(name, ())
        return (way,) if isinstance(way, str) else way

    def ends(self, name: str) -> bool:
        """Return whether nothing comes after a node."""
        return self.ways.get(name) == END

    def round_of(self, name: str, state: Mapping[str, Any]) -> int:
        """The round that a visit of a node belongs to, counted from 0."""
        done = len(state.get("rounds", ()))
        return done if name in self.opening else max(0, done - 1)

    @cached_property
    def opening(self) -> frozenset[str]:
        """Nodes that work for the round to come, before it is there: those that search it, and a router within."""
        return self.of_kind("search") | (self.of_kind("route") & self.repeated)

    def of_kind(self, *kinds: NodeKind) -> frozenset[str]:
        """The nodes that do one of these things."""
        return frozenset(name for name, node in self.nodes.items() if node.kind in kinds)

    def reaches(self, name: str, target: str) -> bool:
        """Return whether a run that leaves a node may come to ``target``, which may be the node itself."""
        seen: set[str] = set()
        ahead = [name]
        while ahead:
            for item in self.ways_from(ahead.pop()):
                if item == target:
                    return True
                if item not in seen and item != END:
                    seen.add(item)
                    ahead.append(item)
        return False

    @cached_property
    def repeated(self) -> frozenset[str]:
        """The nodes that a run may visit again."""
        return frozenset(name for name in self.nodes if self.reaches(name, name))

    @cached_property
    def of_round(self) -> frozenset[str]:
        """The nodes that every further round visits again."""
        return frozenset(name for name in self.repeated if self.gate and self.reaches(name, self.gate))

    @cached_property
    def judging(self) -> frozenset[str]:
        """The nodes that search and judge a round, up to its gate."""
        return self.of_round - self.of_kind("rewrite", "answer", "evaluate")

    @cached_property
    def grading(self) -> str:
        """The node that has passages judged one by one; empty where none does."""
        return next((name for name, node in self.nodes.items() if node.kind == "grade"), "")

    @cached_property
    def preparing(self) -> frozenset[str]:
        """The nodes that a run visits once, before it searches."""
        searching = self.of_kind("search")
        before = {name for name in self.nodes if any(self.reaches(name, search) for search in searching)}
        return frozenset(before) - self.repeated - searching

    @cached_property
    def revising(self) -> frozenset[str]:
        """The nodes to which the judgement of an answer leads back at once, to have it written again."""
        judged = {target for name in self.of_kind("evaluate") for target in self.ways_from(name)}
        return frozenset(judged) & self.of_kind("answer")

    @property
    def mended_by(self) -> NodeKind:
        """Step after an answer that did not pass: ``answer`` revises it, ``rewrite`` searches again; empty for none."""
        after = {target for name in self.of_kind("evaluate") for target in self.ways_from(name)}
        kinds: tuple[NodeKind, ...] = ("answer", "rewrite")
        return next((kind for kind in kinds if after & self.of_kind(kind)), "")

    @property
    def searches_once_a_query(self) -> bool:
        """True if every further round begins with a rewrite, so that rewrites count the rounds."""
        return not (self.gate and self.of_kind("search").intersection(self.ways_from(self.gate)))

    @property
    def decides(self) -> bool:
        """True if any node chooses between two ways."""
        return any(not isinstance(way, str) for way in self.ways.values())

    def compile(self, name: str) -> Any:
        """The LangGraph graph of that name; every choice has an explicit target map, so that a drawing is true."""
        # Takes long to import, and a replay does without.
        from langgraph.graph import END as OVER
        from langgraph.graph import START, StateGraph

        def target(node: str) -> str:
            return OVER if node == END else node

        graph: StateGraph[Any, RunContext, Any, Any] = StateGraph(self.state, context_schema=RunContext)
        for item, node in self.nodes.items():
            graph.add_node(item, self._node(item, node.step))
        graph.add_edge(START, self.start)
        for source, way in self.ways.items():
            if isinstance(way, str):
                graph.add_edge(source, target(way))
            else:
                targets: dict[Any, str] = {item: target(item) for item in way}
                graph.add_conditional_edges(source, _led(self.routes.get(source, decided)), targets)
        return graph.compile(name=name)

    def _node(self, name: str, step: Step) -> Any:
        from langgraph.runtime import Runtime

        # LangGraph hands over all that the state's own schema holds.
        async def run_node(state: Mapping[str, Any], runtime: Runtime[RunContext]) -> dict[str, Any]:
            return await visit(name, step, state, runtime.context, self.round_of(name, state))

        # LangGraph reads the annotation, and the import above is not among the names of this module.
        run_node.__annotations__["runtime"] = Runtime[RunContext]
        run_node.__annotations__["state"] = self.state
        return run_node


def decided(state: Mapping[str, Any]) -> str:
    """Return the node that the newest decision leads to."""
    route: str = state["decision"].route
    return route


def _led(route: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """A route that LangGraph awaits in place; one that is no coroutine it would hand to a thread."""

    async def lead(state: Mapping[str, Any]) -> str:
        return route(state)

    return lead
