"""The steps of a workflow and the ways between them, said once: LangGraph runs them, and a replay follows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.running.context import RunContext, Step, visit

END = "end"
"""Where a route leads that ends the run."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The nodes of a workflow in the order of its drawing, and what comes after each."""

    state: type
    """The ``TypedDict`` that its steps share."""
    steps: Mapping[str, Step]
    ways: Mapping[str, str | tuple[str, ...]]
    """By node: the one that always follows, or those that its decision chooses from; :data:`END` may stand for one."""
    opening: frozenset[str]
    """Nodes that work for the round to come, before it is there."""
    gate: str = ""
    """The node that decides whether the passages of a round are enough; empty where none does."""
    routes: Mapping[str, Callable[[Mapping[str, Any]], str]] = field(default_factory=dict)
    """For nodes whose way is not that of the newest decision: where the state leads."""

    @property
    def start(self) -> str:
        """The first node."""
        return next(iter(self.steps))

    def after(self, name: str, state: Mapping[str, Any]) -> str:
        """Where a run goes from a node."""
        way = self.ways[name]
        return way if isinstance(way, str) else self.routes.get(name, decided)(state)

    def ends(self, name: str) -> bool:
        """Whether nothing comes after a node."""
        return self.ways.get(name) == END

    def round_of(self, name: str, state: Mapping[str, Any]) -> int:
        """The round that a visit of a node belongs to, counted from 0."""
        done = len(state.get("rounds", ()))
        return done if name in self.opening else max(0, done - 1)

    def compile(self) -> Any:
        """The LangGraph graph; every choice has an explicit target map, so that a drawing of it is the truth."""
        # Takes long to import, and a replay does without.
        from langgraph.graph import END as OVER
        from langgraph.graph import START, StateGraph

        def target(name: str) -> str:
            return OVER if name == END else name

        graph: StateGraph[Any, RunContext, Any, Any] = StateGraph(self.state, context_schema=RunContext)
        for name, step in self.steps.items():
            graph.add_node(name, self._node(name, step))
        graph.add_edge(START, self.start)
        for name, way in self.ways.items():
            if isinstance(way, str):
                graph.add_edge(name, target(way))
            else:
                targets: dict[Any, str] = {item: target(item) for item in way}
                graph.add_conditional_edges(name, self.routes.get(name, decided), targets)
        return graph.compile()

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
    """Where the newest decision leads."""
    route: str = state["decision"].route
    return route
