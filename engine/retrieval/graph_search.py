"""The two searches of a knowledge graph: around the entities of a query, and inside its communities (GH-02)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.builtin.scripts import one_script
from engine.flow.context import Retrieval
from engine.model.values import Entity, FoundCommunity, FoundEntity, LinkedBy, ModeNote, PassageId, Relationship
from engine.retrieval.graph_looks import GraphLooks
from engine.retrieval.graph_options import graph_options
from engine.retrieval.graph_scores import (
    LINK_SCORES,
    GraphPassage,
    best_entities,
    filling,
    graph_score,
    lead_to,
    most_important,
    spread,
)
from engine.retrieval.linking import mentions
from engine.retrieval.mode_values import ModeRequest
from engine.retrieval.ordering import Found
from engine.retrieval.search import CollectionRetriever
from engine.roles.graph import GraphInfo, GraphStore

MOST_PASSAGES = 200
"""Passages whose similarity is looked up, at most: those that the graph leads to most surely."""
NEIGHBOURS_EACH = 8
"""Entities around each one that a search begins from, on average."""
SEEDING_PASSAGES = 3
"""Best passages by vectors whose entities a search begins from where the query names none."""
MOST_RECORDED = 30
"""Entities and relationships that a record keeps of one search."""

Near = Callable[[], Awaitable[tuple[Found, ...]]]


@dataclass(frozen=True, slots=True)
class GraphPart:
    """One list of the graph, and what it was made from."""

    found: tuple[Found, ...] = ()
    retrieval: Retrieval | None = None
    entities: tuple[FoundEntity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    communities: tuple[FoundCommunity, ...] = ()
    notes: tuple[ModeNote, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seed:
    entity: Entity
    linked_by: LinkedBy
    score: float


class GraphSearch:
    """Searches one graph; raises what the graph store and the passage store raise."""

    def __init__(self, retriever: CollectionRetriever, graphs: GraphStore, looks: GraphLooks, info: GraphInfo) -> None:
        self._retriever = retriever
        self._graphs = graphs
        self._looks = looks
        self._info = info

    async def entities(self, request: ModeRequest, near: Near) -> GraphPart:
        """List ``local``: entities that query or question name, and those up to ``hops`` around them.

        Where none is named, those of the best passages by vectors, where these are searched too.
        """
        options = graph_options(request.config)
        seeds = await self._named(request) or await self._of_passages(await near())
        seeds = sorted(seeds, key=lambda item: (-item.score, item.entity.degree, item.entity.id))
        seeds = seeds[: options.max_entities]
        if not seeds:
            return GraphPart(notes=(ModeNote("no_entity", "local"),))
        by_id = {item.entity.id: item for item in seeds}
        limit = max(len(seeds), NEIGHBOURS_EACH * options.max_entities)
        around = await self._graphs.neighbourhood(self._info.collection, list(by_id), options.hops, limit)
        hops = {**around.hops, **dict.fromkeys(by_id, 0)}
        scores = spread({name: item.score for name, item in by_id.items()}, hops, around.relationships)
        met = {item.id: item for item in (*around.entities, *(item.entity for item in seeds))}
        leads = lead_to(scores, {name: item.passages for name, item in met.items()}, around.relationships)
        found, retrieval = await self._passages(request.query, leads, request.config.fetch_k)
        described = [
            FoundEntity(item, by_id[name].linked_by if name in by_id else "neighbour", scores[name], hops.get(name, 0))
            for name, item in met.items()
            if name in scores
        ]
        return GraphPart(
            found=found,
            retrieval=retrieval,
            entities=best_entities(described, MOST_RECORDED),
            relationships=most_important(around.relationships, scores, MOST_RECORDED),
            notes=() if found else (ModeNote("no_passages", "local"),),
        )

    async def communities(self, request: ModeRequest) -> GraphPart:
        """List ``global``: passages of the communities whose summaries come nearest to the query.

        Where the first ``max_communities`` leave places open, further ones follow, each below all before it (GH-08).
        """
        store, embedder, _, _ = self._retriever.parts
        summarised = await self._looks.summarised(self._graphs, self._info, store, embedder)
        if not summarised.communities:
            return GraphPart(notes=(ModeNote("no_communities", "global"),))
        near = await self._retriever.nearness(request.query, np.asarray(summarised.vectors))
        # By cosine, which still tells apart what is too far from the query to have a similarity.
        by_cosine = sorted(zip(summarised.communities, near, strict=True), key=lambda item: (-item[1][1], item[0].id))
        ranked = [FoundCommunity(item, similarity) for item, (similarity, _) in by_cosine]
        blocks = filling(ranked, graph_options(request.config).max_communities, request.config.fetch_k)
        found, retrieval = await self._passages(request.query, [lead for _, leads in blocks for lead in leads], None)
        places = {lead.id: place for place, (_, leads) in enumerate(blocks) for lead in leads}
        looked_inside = tuple(item for communities, _ in blocks for item in communities)
        notes = () if found else (ModeNote("no_passages", "global"),)
        inside = descending(sorted(found, key=lambda item: places[item.passage.id]))[: request.config.fetch_k]
        return GraphPart(found=inside, retrieval=retrieval, communities=looked_inside, notes=notes)

    async def _named(self, request: ModeRequest) -> list[_Seed]:
        names = await self._looks.names(self._graphs, self._info)
        named = {item.name: item for text in (request.question, request.query) for item in mentions(text, names)}
        ids = list(dict.fromkeys(name for item in named.values() for name in item.ids))
        known = {item.id: item for item in await self._graphs.entities(self._info.collection, ids)} if ids else {}
        seeds: dict[str, _Seed] = {}
        for item in named.values():
            for name in item.ids:
                if name in known:
                    linked_by: LinkedBy = "name" if item.name == one_script(name) else "alias"
                    # A name of several entities means one of them at most.
                    seed = _Seed(known[name], linked_by, round(LINK_SCORES[linked_by] / len(item.ids), 6))
                    seeds[name] = max(seed, seeds.get(name, seed), key=lambda one: one.score)
        return list(seeds.values())

    async def _of_passages(self, near: Sequence[Found]) -> list[_Seed]:
        best = {item.passage.id: item.passage.similarity for item in near[:SEEDING_PASSAGES]}
        if not best:
            return []
        met = await self._graphs.of_passages(self._info.collection, list(best))
        return [_Seed(item, "passage", _seeding(item.passages, best)) for item in met]

    async def _passages(
        self, query: str, leads: Sequence[GraphPassage], limit: int | None
    ) -> tuple[tuple[Found, ...], Retrieval | None]:
        """The passages by graph score, best first."""
        wanted = {item.id: item for item in leads[:MOST_PASSAGES] if item.weight > 0}
        if not wanted:
            return (), None
        retrieval = await self._retriever.these(query, list(wanted))
        found = [
            Found(item, graph_score(wanted[item.id].weight, item.similarity), wanted[item.id].via)
            for item in retrieval.passages
        ]
        found.sort(key=lambda item: (-(item.graph_score or 0.0), item.passage.id))
        return tuple(found[:limit]), retrieval


def descending(found: Sequence[Found]) -> tuple[Found, ...]:
    """The passages in their order, none with a higher score than one before it."""
    lowest = 1.0
    bounded = []
    for item in found:
        lowest = min(lowest, item.graph_score or 0.0)
        bounded.append(replace(item, graph_score=lowest))
    return tuple(bounded)


def _seeding(passages: Sequence[PassageId], best: Mapping[PassageId, float]) -> float:
    """Return how certainly an entity of retrieved passages is meant: by the most similar of them."""
    return round(LINK_SCORES["passage"] * max((best[name] for name in passages if name in best), default=0.0), 6)
