"""What the generator is given beside passages: the graph by importance and tables, all within one budget (GH-06).

Pure; one function makes the whole context of a run of graph + vector retrieval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.builtin.given import entity_line, relationship_line
from engine.model.config import RunConfig
from engine.model.values import (
    Attachment,
    Context,
    ContextPart,
    Entity,
    FoundEntity,
    GraphContext,
    Passage,
    PassageId,
    Relationship,
    Round,
    Sentence,
)
from engine.retrieval.assemble import assemble
from engine.retrieval.graph_options import graph_options
from engine.retrieval.refine import given_text, refined
from engine.retrieval.table_rows import table_given
from engine.roles import TableGiven

GRAPH_SHARE = 0.25
"""Most of the budget that the graph may take: it says what belongs together, and passages are what is cited."""
TABLE_SHARE = 0.5
"""Most of it that one table may take; of a longer one the rows that bear on the question are given."""
_NO_LIMIT = 10**9
_NAMES = 12
"""Entities whose names keep a sentence of a passage: those that a chain of passages goes along."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Assembled:
    """The context as the record has it, and what of it the generator reads."""

    context: Context
    passages: tuple[Passage, ...]
    """Those of the context, cut where refinement cut them."""
    tables: tuple[TableGiven, ...]


def assembled(
    question: str,
    rounds: Sequence[Round],
    config: RunConfig,
    *,
    tables: Sequence[Attachment] = (),
    most_tokens: int,
    count_tokens: Count,
) -> Assembled:
    """Graph, tables and passages within ``min(context_tokens, most_tokens)``.

    The best passage is always given, even beyond what is left of the budget; the passages that follow it stop at the
    first one that does not fit. What was to go in and did not is among the parts, with its tokens.
    """
    options = graph_options(config)
    budget = min(options.context_tokens, most_tokens)
    wanted = assemble(rounds, config, _NO_LIMIT, count_tokens)
    whole_graph = graph_of(rounds, config)
    names = [item.name for item in whole_graph.entities[:_NAMES]]
    cut = refined(question, wanted.passages, options.sentence_threshold, names) if options.refine else {}
    sizes = {item.id: count_tokens(given_text(item, cut)) for item in wanted.passages}
    first = next(iter(sizes.values()), 0)
    graph, left_out = graph_within(whole_graph, min(int(budget * GRAPH_SHARE), max(0, budget - first)), count_tokens)
    # The best passage has its place before any table, unless it would take more than half of everything.
    room = budget - graph.tokens - min(first, budget // 2)
    given_tables, table_parts = _tables(question, tables, (room, int(budget * TABLE_SHARE)), count_tokens)
    left = budget - graph.tokens - sum(item.tokens for item in table_parts if item.given)
    given, passage_parts = _passages(wanted.passages, sizes, left)
    if not given and not given_tables:
        # Nothing that an answer could rest on: what the graph says beside it is given to no one.
        return Assembled(Context((), token_budget=budget, parts=table_parts), (), ())
    parts = (*_graph_parts(graph, left_out), *table_parts, *passage_parts)
    context = Context(
        passages=given,
        cut=tuple(PassageId(item.id) for item in passage_parts if not item.given),
        verified=wanted.verified,
        tokens=sum(item.tokens for item in parts if item.given),
        token_budget=budget,
        graph=graph if graph.entities or graph.relationships else None,
        tables=tuple(item.number for item in given_tables),
        parts=parts,
        refined={item.id: cut[item.id] for item in given if item.id in cut},
    )
    return Assembled(context, tuple(read_as(item, cut) for item in given), given_tables)


def read_as(passage: Passage, cut: Mapping[PassageId, tuple[Sentence, ...]]) -> Passage:
    """A passage as the generator reads it."""
    return replace(passage, text=given_text(passage, cut)) if passage.id in cut else passage


def graph_of(rounds: Sequence[Round], config: RunConfig) -> GraphContext:
    """Entities and relationships of the rounds that count, by importance, each once; ``tokens`` is still 0.

    Importance of an entity is its relevance to the query times its centrality among those found; that of a
    relationship its weight times the mean importance of its two ends.
    """
    considered = rounds if config.context == "union" else rounds[-1:]
    found: dict[str, FoundEntity] = {}
    related: dict[str, Relationship] = {}
    for evidence in (item.graph for item in considered if item.graph is not None):
        for item in evidence.entities:
            former = found.get(item.entity.id)
            if former is None or item.score > former.score:
                found[item.entity.id] = item
        related |= {item.id: item for item in evidence.relationships}
    worth = importance(tuple(found.values()))
    heaviest = max((item.weight for item in related.values()), default=1.0)
    weighed = {
        item.id: item.weight / heaviest * (worth.get(item.source, 0.0) + worth.get(item.target, 0.0)) / 2
        for item in related.values()
    }
    entities = sorted((item.entity for item in found.values()), key=lambda item: (-worth[item.id], item.id))
    relationships = sorted(related.values(), key=lambda item: (-weighed[item.id], item.id))
    return GraphContext(tuple(entities), tuple(relationships))


def importance(found: Sequence[FoundEntity]) -> dict[str, float]:
    """Relevance times centrality of each entity, in [0, 1]; centrality is the logarithm of its degree, so that one
    hub does not hide all others."""
    most = 1 + math.log1p(max((item.entity.degree for item in found), default=0))
    return {item.entity.id: item.score * (1 + math.log1p(item.entity.degree)) / most for item in found}


def graph_within(graph: GraphContext, budget: int, count_tokens: Count) -> tuple[GraphContext, int]:
    """The most important part of a graph that fits, and the tokens of what does not.

    Relationships and entities take turns, for names alone tell little, and descriptions alone connect nothing.
    """
    entities: list[Entity] = []
    relationships: list[Relationship] = []
    names = {item.id: item.name for item in graph.entities}
    used = left_out = 0
    for place in range(max(len(graph.entities), len(graph.relationships))):
        turn: tuple[Relationship | Entity, ...] = (
            *graph.relationships[place : place + 1],
            *graph.entities[place : place + 1],
        )
        for item in turn:
            line = relationship_line(item, names) if isinstance(item, Relationship) else entity_line(item)
            tokens = count_tokens(line + "\n")
            if left_out or used + tokens > budget:
                # As with passages: what is less important must not overtake by being short.
                left_out += tokens
                continue
            used += tokens
            if isinstance(item, Relationship):
                relationships.append(item)
            else:
                entities.append(item)
    return GraphContext(tuple(entities), tuple(relationships), used), left_out


def _graph_parts(graph: GraphContext, left_out: int) -> tuple[ContextPart, ...]:
    parts = (ContextPart("graph", "", graph.tokens, given=True), ContextPart("graph", "", left_out, given=False))
    return tuple(item for item in parts if item.tokens)


def _tables(
    question: str, tables: Sequence[Attachment], room: tuple[int, int], count_tokens: Count
) -> tuple[tuple[TableGiven, ...], tuple[ContextPart, ...]]:
    """Tables in their order, within ``room`` tokens for all of them and for each."""
    given: list[TableGiven] = []
    parts: list[ContextPart] = []
    left, most = room
    for number, table in enumerate(tables, start=1):
        made = table_given(number, table, question, min(left, most), count_tokens)
        tokens = made.tokens if made else count_tokens(table_text_of(table))
        parts.append(ContextPart("table", str(number), tokens, given=made is not None))
        if made is not None:
            given.append(made)
            left -= tokens
    return tuple(given), tuple(parts)


def table_text_of(table: Attachment) -> str:
    """All of a table as text, for its size."""
    return "\n".join(" | ".join(row) for row in table.rows)


def _passages(
    passages: Sequence[Passage], sizes: Mapping[PassageId, int], left: int
) -> tuple[tuple[Passage, ...], tuple[ContextPart, ...]]:
    given: list[Passage] = []
    parts: list[ContextPart] = []
    full = False
    for item in passages:
        full = full or (bool(given) and sizes[item.id] > left)
        parts.append(ContextPart("passage", item.id, sizes[item.id], given=not full))
        if not full:
            given.append(item)
            left -= sizes[item.id]
    return tuple(given), tuple(parts)
