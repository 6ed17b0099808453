"""The settings that only graph + vector retrieval has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from engine.messages import N_, NC_
from engine.model.config import Options, RunConfig, choice, number, switch

Reranking = Literal["by_mode", "always", "never"]
"""Whether passages are reranked before the gates: in the modes that call for it, in all, in none (GH-04)."""
ModeFrom = Literal["config", "analysis"]
_GRAPH, _ORDER, _CONTEXT = N_("Graph"), N_("Order"), N_("Context")


@dataclass(frozen=True, slots=True)
class GraphOptions(Options):
    """Options of each stage: graph, order, context (GH-01, GH-02, GH-04, GH-06); one threshold a stage."""

    tables_only: bool = switch(
        N_("Attached tables alone"),
        N_("A question with tables is answered from them alone; the collection is not searched."),
    )
    mode_from: ModeFrom = choice(
        {"config": N_("You"), "analysis": N_("The analysis")},
        N_("Who picks the mode"),
        N_(
            "The analysis of the query suggests a mode; it may pick it too. The choice above then counts where it "
            "suggests none."
        ),
        notes={"analysis": N_("The analysis of each query picks the mode.")},
        group=_GRAPH,
    )
    hops: int = number(
        (1, 3, 2, 1),
        N_("Hops"),
        N_("How many relationships away from the entities of the query the search may go. Usual: 1–2."),
        whole=True,
        usual=(1, 2),
        group=_GRAPH,
    )
    max_entities: int = number(
        (1, 20, 8, 1),
        N_("Entities to begin from"),
        N_("Entities of the query that a search begins from, at most. Usual: 5–10."),
        whole=True,
        usual=(5, 10),
        group=_GRAPH,
    )
    max_communities: int = number(
        (1, 10, 3, 1),
        NC_("setting", "Communities"),
        N_(
            "How many of the nearest community summaries a global search looks inside first; further ones fill open "
            "places. Usual: 2–5."
        ),
        whole=True,
        usual=(2, 5),
        group=_GRAPH,
    )
    graph_weight: float = number(
        (0, 1, 0.5, 0.05),
        N_("Share of the graph"),
        N_("In mix: what the graph counts in the order; the rest is the vectors'. Usual: 0.30–0.70."),
        usual=(0.3, 0.7),
        group=_GRAPH,
    )
    graph_threshold: float = number(
        (0, 1, 0.0, 0.01),
        N_("Graph score at least"),
        N_(
            "What the graph found is cut by this, and not by its similarity: the second step of a chain is seldom "
            "like the question. 0 cuts nothing."
        ),
        group=_GRAPH,
    )
    answer_directly: bool = switch(
        N_("Answer simple queries directly"), N_("Small talk and the like need no search."), default=True, group=_GRAPH
    )
    rerank: Reranking = choice(
        {"by_mode": N_("By mode"), "always": N_("Always"), "never": N_("Never")},
        N_("Rerank"),
        N_("Whether the best passages are reranked against the question: in hybrid and mix alone, always, or never."),
        group=_ORDER,
    )
    rerank_k: int = number(
        (1, 100, 15, 1),
        N_("Reranked at most"),
        N_("How many of the best passages are reranked. Usual: 10–30."),
        whole=True,
        usual=(10, 30),
        group=_ORDER,
    )
    rerank_threshold: float = number(
        (0, 1, 0.1, 0.01),
        N_("Rerank score at least"),
        N_("Passages reranked below this are dropped. 0 cuts nothing."),
        usual=(0, 0.3),
        group=_ORDER,
    )
    duplicate_threshold: float = number(
        (0.5, 1, 0.9, 0.01),
        N_("Duplicate from"),
        N_("A passage this much like a better one goes below all that repeat nothing. Usual: 0.80–0.95."),
        usual=(0.8, 0.95),
        group=_ORDER,
    )
    freshness_weight: float = number(
        (0, 1, 0.1, 0.05),
        N_("Weight of newness"),
        N_("What being the newest dated passage counts in the order, against 1 for relevance. Usual: 0–0.30."),
        usual=(0, 0.3),
        group=_ORDER,
    )
    context_tokens: int = number(
        (100, 32_768, 2000, 100),
        N_("Context, tokens"),
        N_("Budget for graph, tables and passages together; never more than the generator takes. Usual: 1000–4000."),
        whole=True,
        usual=(1000, 4000),
        group=_CONTEXT,
        boxed=True,
    )

    has_gates: ClassVar[bool] = True
    now_shared: ClassVar[tuple[str, ...]] = ("refine", "sentence_threshold")

    def gate_of(self, item: Any, gate: str) -> str:
        """Each stage cuts by a threshold of its own (GH-04).

        What was attached is meant to be read, and is cut by nothing (GH-05). What the graph found is cut by
        ``graph_threshold`` and not by its similarity, for the second step of a chain is seldom like the question; what
        was reranked is cut by ``rerank_threshold`` too.
        """
        if "attachment" in item.found_in:
            return "kept"
        if gate == "beyond_top_k":
            return gate
        if item.graph_score is not None:
            gate = "kept" if item.graph_score >= self.graph_threshold else "below_graph"
        return "below_rerank" if gate == "kept" and self._below_rerank(item) else gate

    def _below_rerank(self, item: Any) -> bool:
        if item.rerank_score is not None:
            return bool(item.rerank_score < self.rerank_threshold)
        # A near-duplicate is not scored: a copy must not be kept where the threshold cuts what it repeats.
        return self.rerank_threshold > 0 and item.duplicate_of is not None and "reranked" in item.places


def graph_options(config: RunConfig) -> GraphOptions:
    """The options of a config; the defaults where another workflow searches a graph."""
    return config.options if isinstance(config.options, GraphOptions) else GraphOptions()
