"""The shape of a compiled workflow as plain values: a drawing of it cannot differ from what runs (SC-01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from engine.model.config import USUAL, WorkflowName

START = "__start__"
END = "__end__"


@dataclass(frozen=True, slots=True)
class Edge:
    """One way from a node to another; ``START`` and ``END`` may stand for a node."""

    source: str
    target: str
    conditional: bool = False
    """Whether a decision chooses it; an unconditional edge is always followed."""


@dataclass(frozen=True, slots=True)
class WorkflowGraph:
    """Nodes in the order they were added, ``START`` and ``END`` left out, and the edges between them."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    workflow: WorkflowName = USUAL
    """Whose shape it is."""

    def successors(self, node: str) -> tuple[str, ...]:
        """Targets of a node's edges, in the order of :attr:`nodes`, ``END`` last."""
        targets = {edge.target for edge in self.edges if edge.source == node}
        return tuple(sorted(targets, key=self._place))

    def _place(self, node: str) -> tuple[int, str]:
        return (self.nodes.index(node) if node in self.nodes else len(self.nodes), node)


class DrawnEdge(Protocol):
    """Edge of a LangGraph drawing."""

    @property
    def source(self) -> str: ...

    @property
    def target(self) -> str: ...

    @property
    def conditional(self) -> bool: ...


class DrawnGraph(Protocol):
    """Part of LangGraph's ``get_graph()`` that is read here."""

    @property
    def nodes(self) -> Mapping[str, Any]: ...

    @property
    def edges(self) -> Iterable[DrawnEdge]: ...


class CompiledGraph(Protocol):
    """A compiled LangGraph graph, as far as it is read here."""

    @property
    def name(self) -> WorkflowName: ...

    def get_graph(self) -> DrawnGraph: ...


@cache
def graph_of(compiled: CompiledGraph) -> WorkflowGraph:
    """The shape of a compiled graph; edges are sorted, so equal graphs give equal values."""
    drawn = compiled.get_graph()
    nodes = tuple(name for name in drawn.nodes if name not in (START, END))
    order = {name: place for place, name in enumerate((START, *nodes, END))}
    edges = {
        (edge.source, edge.target): Edge(edge.source, edge.target, bool(edge.conditional))
        for edge in drawn.edges
        if edge.source in order and edge.target in order
    }
    ranked = sorted(edges.values(), key=lambda edge: (order[edge.source], order[edge.target]))
    return WorkflowGraph(nodes=nodes, edges=tuple(ranked), workflow=compiled.name)
