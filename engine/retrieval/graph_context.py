"""Context of the generator besides passages: the graph by importance, and tables, in one budget (GH-06).

Pure; one function makes the whole context of a run of graph + vector retrieval. Passages are cut to the sentences that
bear on the question; what is cut stays in the record, so that a page can show it, and a citation still points to the
whole passage.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.builtin.answer_form import Asking
from engine.builtin.answer_kind import answer_strength
from engine.builtin.context_text import entity_line, relationship_line, row_line, table_text
from engine.builtin.evidence import HARD_KINDS, Question, read_question, weigh
from engine.builtin.generator import asking_of
from engine.builtin.quotable import leans_on_previous
from engine.model.config import RunConfig
from engine.model.language import language_of
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
from engine.roles import TableGiven

GRAPH_SHARE = 0.25
"""Most of the budget that the graph may take: it says what belongs together, and passages are what is cited."""
TABLE_SHARE = 0.5
"""Most of it that one table may take; of a longer one the rows that bear on the question are given."""
_NO_LIMIT = 10**9
_NAMES = 12
"""Entities whose names keep a sentence of a passage: those that a chain of passages goes along."""

Count = Callable[[str], int]
_BOUNDARY = re.compile(
    r"(?<=[。！？；])(?![”’」』）》】)\"'])|(?<=[.!?;])(?=[ \t])|(?<=\n)(?!\n)|(?<=[。！？；.!?][”’」』）》】)\"'])"
)
_OPEN_END = re.compile(
    r"(?:\b(?:a\.m|p\.m|e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|approx|ca|al)\.|(?:^|\s)[A-Z]\.)$"
)
_FULL_STOP = re.compile(r"[.!?…。！？；;:：]['\"”’）)】\]]*$")
_HEADING = re.compile(r"^\s*#{1,6}\s")
_ROW = re.compile(r"^\s*\|")
_LEADING_IN = re.compile(r"[:：]\s*$")
_WRAPPED_FROM = 30
"""Characters from which a line without a full stop is taken to have been broken for its width."""

_KIND = 0.35
"""What an answer of the kind asked for counts beside coverage, as for the built-in generator's own choice."""
_RENAMED = 0.25
_HEADING_COUNTS = 0.15
_LINKED = 0.25
"""What naming two of the entities that a search went along counts."""
_LEANING = 0.9
"""Share of the bearing of a sentence that the one before it gets where it cannot be read without it."""
_BESIDE = 0.6
"""Share of the bearing of a sentence that the next one gets: it often continues with the answer."""
_FULL = 0.8
"""Score that counts as full bearing: no sentence repeats a whole question and answers it too."""


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


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    bearing: float


def refined(
    question: str, passages: Sequence[Passage], threshold: float, names: Sequence[str] = ()
) -> dict[PassageId, tuple[Sentence, ...]]:
    """The sentences of each passage with their bearing on the question; those below ``threshold`` are not kept.

    ``names`` are those of entities that the search went along: the sentence that connects two of them seldom repeats
    the question.

    At least the best sentence of each passage is kept, and a heading with what stands under it. A passage of one
    sentence, or in another language than the question, is left whole: relevance cannot be decided. Passages where
    nothing is cut are left out of the result.
    """
    asking = asking_of(question)
    folded = tuple(dict.fromkeys(name.casefold() for name in names if len(name) > 1))
    found: dict[PassageId, tuple[Sentence, ...]] = {}
    for passage in passages:
        if language_of(passage.text) != language_of(question):
            continue
        made = _kept(_measured(asking, passage, folded), threshold)
        if not all(item.kept for item in made):
            found[passage.id] = made
    return found


def given_text(passage: Passage, cut: Mapping[PassageId, tuple[Sentence, ...]]) -> str:
    """Return the given text of a passage: its kept sentences, or all of it if nothing was cut."""
    if passage.id not in cut:
        return passage.text
    return "".join(item.text for item in cut[passage.id] if item.kept).strip()


def sentences_of(text: str) -> list[str]:
    """The sentences of a passage with all that stands between them: joined, they are the passage.

    A table is one sentence, for rows mean nothing without their header; so is a line broken for its width.
    """
    pieces: list[str] = []
    at = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        end = boundary.end() if boundary else len(text)
        piece = text[at:end]
        at = end
        if not piece:
            continue
        if pieces and (not any(map(str.isalnum, piece)) or _goes_on(pieces[-1], piece)):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _goes_on(before: str, piece: str) -> bool:
    ended, rest = before.strip(), piece.lstrip()
    if not any(map(str.isalnum, ended)) or _OPEN_END.search(ended):
        return True
    if _ROW.match(before.rsplit("\n", 2)[-2] if before.endswith("\n") and "\n" in before[:-1] else before):
        return _ROW.match(piece) is not None
    if _FULL_STOP.search(ended) or _HEADING.match(before) or not before.endswith("\n"):
        return False
    wraps = rest[:1].islower() or (language_of(rest[:1]) == "zh" and language_of(ended[-1:]) == "zh")
    return wraps and len(ended.rsplit("\n", 1)[-1]) >= _WRAPPED_FROM


def _measured(asking: Asking, passage: Passage, names: Sequence[str]) -> list[_Piece]:
    """Bearings of the sentences; one that another needs to be understood bears nearly as much as that one."""
    texts = sentences_of(passage.text)
    above = _coverage(asking, passage.above) if passage.above else 0.0
    found = [_bearing(asking, text, above, names) for text in texts]
    for at in range(len(texts) - 1, 0, -1):
        if leans_on_previous(texts[at].lstrip(" \t\n-*+•·")) or _LEADING_IN.search(texts[at - 1]):
            found[at - 1] = max(found[at - 1], _LEANING * found[at])
    goes_on = [
        0.0 if _HEADING.match(text) else _BESIDE * before for text, before in zip(texts[1:], found, strict=False)
    ]
    found = [max(pair) for pair in zip(found, [0.0, *goes_on], strict=True)]
    below = 0.0
    for at in range(len(texts) - 1, -1, -1):
        if _HEADING.match(texts[at]):
            found[at], below = max(found[at], below), 0.0
        else:
            below = max(below, found[at])
    return [_Piece(text, round(bearing, 4)) for text, bearing in zip(texts, found, strict=True)]


def _kept(pieces: Sequence[_Piece], threshold: float) -> tuple[Sentence, ...]:
    best = max((item.bearing for item in pieces), default=0.0)
    first = next((at for at, item in enumerate(pieces) if item.bearing == best and not _HEADING.match(item.text)), 0)
    return tuple(
        Sentence(item.text, item.bearing, kept=item.bearing >= threshold or at == first)
        for at, item in enumerate(pieces)
    )


def _bearing(asking: Asking, text: str, above: float, entities: Sequence[str]) -> float:
    """Score in [0, 1] how much of the question a sentence covers, and whether its answer is of the kind asked for."""
    near = _coverage(asking, text)
    lowered = text.casefold()
    names = [any(name in lowered for name in group) for group in asking.renamed]
    renamed = sum(names) / len(names) if names else 0.0
    linked = min(1.0, sum(name in lowered for name in entities) / 2)
    context = min(1.0, 2.0 * (near + _HEADING_COUNTS * above) + renamed)
    strength = max(
        answer_strength(clause, text) * (1.0 if clause.kind in HARD_KINDS else 0.5) for clause in asking.clauses
    )
    score = near + _KIND * strength * context + _RENAMED * renamed + _HEADING_COUNTS * above + _LINKED * linked
    # The root spreads out the low scores: sentences that complete an answer repeat little of the question.
    return math.sqrt(min(1.0, score / _FULL))


def _coverage(asking: Asking, text: str) -> float:
    """Share of the question's weight that a text covers, whole terms alone."""
    covered = frozenset(weigh(asking.question, text, 0.0).covered)
    total = sum(asking.question.weights)
    if not total:
        return 0.0
    pairs = zip(asking.question.forms.values(), asking.question.weights, strict=True)
    return sum(weight for form, weight in pairs if form in covered) / total
