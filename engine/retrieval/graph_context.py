"""Context of the generator other than passages: the graph by importance, and tables, in one budget (GH-06).

Pure; one function makes the whole context of a run of graph + vector retrieval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from engine.builtin.context_text import entity_line, relationship_line, row_line, table_text
from engine.builtin.evidence import Question, read_question, weigh
from engine.builtin.strips import kept_text, read_as
from engine.model.config import RunConfig
from engine.model.surroundings import Sources, from_store
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
    Surrounding,
)
from engine.retrieval.assemble import assemble, gap_for, surrounded
from engine.retrieval.graph_options import graph_options
from engine.roles import NO_LIMIT, TableGiven

GRAPH_SHARE = 0.25
"""Most of the budget that the graph may take: it says what belongs together, and passages are what is cited."""
TABLE_SHARE = 0.5
"""Most of it that one table may take; of a longer one the rows that bear on the question are given."""
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
    cut: Mapping[PassageId, tuple[Sentence, ...]] = MappingProxyType({}),
    surroundings: Sequence[Surrounding] | None = None,
    most_tokens: int,
    count_tokens: Count,
) -> Assembled:
    """Graph, tables and passages within ``min(context_tokens, most_tokens)``; ``cut``: strips of refined passages.

    The best passage is always given, even beyond what is left of the budget; the passages that follow it stop at the
    first one that does not fit. What was to go in and did not is among the parts, with its tokens.
    """
    budget = min(graph_options(config).context_tokens, most_tokens)
    wanted, gap = assemble(rounds, config, NO_LIMIT, count_tokens), gap_for(config)
    sizes = {item.id: count_tokens(kept_text(item, cut, gap)) for item in wanted.passages}
    first = next(iter(sizes.values()), 0)
    most_of_graph = min(int(budget * GRAPH_SHARE), max(0, budget - first))
    graph, left_out = graph_within(graph_of(rounds, config), most_of_graph, count_tokens)
    # The best passage has its place before any table, unless it would take more than half of everything.
    room = budget - graph.tokens - min(first, budget // 2)
    given_tables, table_parts = _tables(question, tables, (room, int(budget * TABLE_SHARE)), count_tokens)
    left = budget - graph.tokens - sum(item.tokens for item in table_parts if item.given)
    given, passage_parts = _passages(wanted.passages, sizes, left)
    if not given and not given_tables:
        # Nothing that an answer could rest on: what the graph adds is then given to no one.
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
    if surroundings is not None:
        context = surrounded(context, Sources(from_store(rounds).values(), surroundings), config, count_tokens, cut)
    return Assembled(context, tuple(read_as(item, cut, gap) for item in given), given_tables)


def names_along(rounds: Sequence[Round], config: RunConfig) -> tuple[str, ...]:
    """Names of the most important entities: a sentence that connects two of them seldom repeats the question."""
    return tuple(item.name for item in graph_of(rounds, config).entities[:_NAMES])


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


def table_given(
    number: int, table: Attachment, question: str, budget: int, count_tokens: Callable[[str], int]
) -> TableGiven | None:
    """The whole table where it fits ``budget`` tokens, else header and the rows that bear most on the question.

    None where not even one row fits.
    """
    header = table.rows[0] if table.header and table.rows else ()
    body = tuple(enumerate(table.rows, start=1))[1 if header else 0 :]

    def given(rows: tuple[tuple[int, tuple[str, ...]], ...]) -> TableGiven:
        made = TableGiven(number, table.name, header, rows, len(body) - len(rows))
        return replace(made, tokens=count_tokens(table_text(made) + "\n"))

    whole = given(body)
    if whole.tokens <= budget:
        return whole
    asked = read_question(question)
    used = given(()).tokens
    chosen: list[tuple[int, tuple[str, ...]]] = []
    for row in sorted(body, key=lambda row: (-bearing_of_row(asked, row[1]), row[0])):
        used += count_tokens(row_line(str(row[0]), row[1]) + "\n")
        if used > budget:
            break
        chosen.append(row)
    return given(tuple(sorted(chosen))) if chosen else None


def bearing_of_row(asked: Question, cells: Sequence[str]) -> float:
    """Share of the question's weight that a row covers, in [0, 1]."""
    return weigh(asked, " ; ".join(cells), 0.0).features[1]
