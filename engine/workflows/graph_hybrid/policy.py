"""The policy of graph + vector retrieval: pure functions of evidence and config (GH-01, GH-02).

The engine and every what-if call the same functions, so a replay cannot disagree with a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.model.config import Mode, RunConfig
from engine.model.decide import outcome_of as outcome_of_gate
from engine.model.small_talk import small_talk
from engine.model.values import (
    LISTS_OF_MODE,
    Comparison,
    Context,
    Decision,
    FoundCommunity,
    FoundEntity,
    LinkedBy,
    Outcome,
    PassageId,
    QueryAnalysis,
    Reason,
    Relationship,
    RetrievalList,
    RunRecord,
)
from engine.retrieval.graph_options import graph_options

SEARCHING_MODES: tuple[Mode, ...] = ("naive", "local", "global", "hybrid", "mix")
DECAY = 0.6
"""What is left of an entity's score one relationship further on."""
MENTION = 0.5
"""What a passage that only speaks of an entity gets of its score, against 1 for one that tells a relationship."""
LEAST_SHARE = 0.5
"""What the lightest of the relationships found lets through, against 1 for the heaviest."""
BASE = 0.35
"""Share of a graph score that does not depend on how similar the passage is to the query."""
LINK_SCORES: Mapping[LinkedBy, float] = {"name": 1.0, "alias": 0.9, "passage": 0.5}
"""How surely an entity is meant, by how it was come to."""
TELLING = 10
"""Places in a community's list of passages after which one counts for half."""
LEAST_NEAR = 0.05
"""What the nearest communities count for where none is like the query: they are looked inside all the same."""
MOST_VIA = 6
TABLE_ANSWERS = 0.5
"""Share of the question from which on a table is answered from without further searches."""
_DIGITS = 6
_MET: tuple[Reason, ...] = ("passed", "table_answers", "tables_only")


@dataclass(frozen=True, slots=True)
class GraphPassage:
    """A passage as the graph leads to it."""

    id: PassageId
    weight: float
    """Of what leads to it, in [0, 1], before its similarity to the query."""
    via: tuple[str, ...]
    """Ids of entities and relationships, the strongest first."""


# -- where a run goes -------------------------------------------------------------------------------------------------


def mode_of(config: RunConfig, analysis: QueryAnalysis) -> Mode:
    """The mode that is searched: the config's, or the one that the analysis suggests."""
    return analysis.suggested_mode if graph_options(config).mode_from == "analysis" else config.mode


def from_tables_alone(config: RunConfig, *, tables: bool) -> bool:
    """Whether a question is answered from its tables alone; ``tables``: whether it came with any."""
    return tables and graph_options(config).tables_only


def decide_route(
    analysis: QueryAnalysis,
    config: RunConfig,
    *,
    attached: bool = False,
    tables: bool = False,
    on_tables: bool = False,
) -> Decision:
    """Whether anything is searched: not where the tables of the question are to answer it alone, not in mode
    ``bypass``, and not for a simple query.

    With tables a query is simple where it is work on them alone (``on_tables``), or where the analyst says that it can
    be answered directly; with images it never is.
    """

    def to(route: str, reason: Reason) -> Decision:
        return Decision(0, route, reason, (), 0, 0, node="route_query")

    if from_tables_alone(config, tables=tables):
        return to("generate_answer", "tables_only")
    if mode_of(config, analysis) == "bypass":
        return to("generate_answer", "bypass")
    if graph_options(config).answer_directly:
        if tables and (on_tables or (analysis.direct and analysis.code != "smalltalk")):
            return to("generate_answer", "tables_only")
        if analysis.direct and not attached:
            return to("generate_answer", "simple")
    return to("retrieve", "needs_search")


def unless_a_table_answers(decision: Decision, coverage: float) -> Decision:
    """The decision after a round, or to answer at once where a table of the question covers what it asks.

    ``coverage`` is the share of the question that row and column of one of its cells name. Whoever brings a table and
    asks about it is not helped by further searches of the collection.
    """
    if decision.reason in ("passed", "grader_failed") or coverage < TABLE_ANSWERS:
        return decision
    covered = Comparison("table_coverage", coverage, ">=", TABLE_ANSWERS)
    return replace(decision, route="generate_answer", reason="table_answers", comparisons=(covered,))


def outcome_of(record: RunRecord, *, from_tables: bool = False) -> Outcome:
    """How a run that came to its end ended; ``from_tables``: its answer says what the question's own tables hold.

    What a chat model says without a search is based on no passage; the built-in generator has nothing to say then.
    """
    last = record.decisions[-1]
    if last.reason == "simple" or (last.reason == "bypass" and small_talk(record.question)):
        return "answered"
    if last.reason == "bypass":
        return "abstained" if record.config.models.generator.built_in else "answered_unverified"
    assert record.context is not None
    return outcome_searched(last, record.context, quoted=bool(record.cell_citations) or from_tables)


def outcome_searched(decision: Decision, context: Context, *, quoted: bool) -> Outcome:
    """How a run that searched ended; ``quoted``: whether its answer quotes cells of the question's own tables.

    Such an answer is based on what the reader brought, no matter what the collection had.
    """
    if not context.passages and quoted:
        return "answered" if decision.reason in _MET else "answered_forced"
    if decision.reason == "table_answers" and context.passages and context.verified:
        return "answered"
    return outcome_of_gate(decision, context)


def lists_of_mode(mode: Mode, *, attached: bool = False) -> tuple[RetrievalList, ...]:
    """What a mode searches, attachments included where there are any and the mode searches at all."""
    lists = LISTS_OF_MODE[mode]
    return (*lists, "attachment") if attached and lists else lists


# -- scores of the graph ----------------------------------------------------------------------------------------------


def spread(
    seeds: Mapping[str, float], hops: Mapping[str, int], relationships: Sequence[Relationship]
) -> dict[str, float]:
    """Score of every entity around the seeds, in [0, 1]: each hop leaves :data:`DECAY`, a light relationship less.

    ``hops`` are relationships away from the nearest seed. An entity that several ways lead to gets more than from any
    one of them.
    """
    shares = _shares(relationships)
    missed: dict[str, float] = {}
    scores = {name: min(1.0, max(0.0, score)) for name, score in seeds.items()}
    for distance in range(1, max(hops.values(), default=0) + 1):
        for item in relationships:
            for near, far in ((item.source, item.target), (item.target, item.source)):
                if hops.get(near) == distance - 1 and hops.get(far) == distance and near in scores:
                    missed[far] = missed.get(far, 1.0) * (1.0 - scores[near] * DECAY * shares[item.id])
        scores |= {name: round(1.0 - left, _DIGITS) for name, left in missed.items() if name not in scores}
    return scores


def lead_to(
    scores: Mapping[str, float],
    mentioned_in: Mapping[str, Sequence[PassageId]],
    relationships: Sequence[Relationship],
) -> tuple[GraphPassage, ...]:
    """The passages that entities and relationships lead to, the weightiest first.

    A relationship counts by its better end, a mention by :data:`MENTION` of its entity; several of them add up as
    independent hints do.
    """
    shares = _shares(relationships)
    hints: dict[PassageId, dict[str, float]] = {}
    for name, passages in mentioned_in.items():
        for passage_id in passages:
            hints.setdefault(passage_id, {})[name] = scores.get(name, 0.0) * MENTION
    for item in relationships:
        weight = max(scores.get(item.source, 0.0), scores.get(item.target, 0.0)) * shares[item.id]
        for passage_id in item.passages:
            hints.setdefault(passage_id, {})[item.id] = weight
    found = [_passage(passage_id, led) for passage_id, led in hints.items()]
    return tuple(sorted(found, key=lambda item: (-item.weight, item.id)))


def passages_of(communities: Sequence[FoundCommunity]) -> tuple[GraphPassage, ...]:
    """The passages of communities, by the similarity of their summaries and by their place among the most telling."""
    hints: dict[PassageId, dict[str, float]] = {}
    for found in communities:
        for place, passage_id in enumerate(found.community.passages):
            weight = max(found.similarity, LEAST_NEAR) / (1.0 + place / TELLING)
            hints.setdefault(passage_id, {})[found.community.id] = weight
    led = [_passage(passage_id, by) for passage_id, by in hints.items()]
    return tuple(sorted(led, key=lambda item: (-item.weight, item.id)))


def filling(
    ranked: Sequence[FoundCommunity], nearest: int, wanted: int
) -> tuple[tuple[tuple[FoundCommunity, ...], tuple[GraphPassage, ...]], ...]:
    """Blocks of communities with the passages that each is the first to lead to.

    The ``nearest`` are one block; every further one is a block of its own, until ``wanted`` passages are led to.
    """
    blocks = [(tuple(ranked[:nearest]), passages_of(ranked[:nearest]))]
    met = {item.id for item in blocks[0][1]}
    for further in ranked[nearest:]:
        if len(met) >= wanted:
            break
        new = tuple(item for item in passages_of([further]) if item.id not in met)
        if new:
            blocks.append(((further,), new))
            met |= {item.id for item in new}
    return tuple(blocks)


def graph_score(weight: float, similarity: float) -> float:
    """Score of a passage in [0, 1]: what leads to it, and in part how similar it is to the query."""
    bounded = min(1.0, max(0.0, weight))
    return round(bounded * (BASE + (1.0 - BASE) * min(1.0, max(0.0, similarity))), _DIGITS)


def most_important(
    relationships: Sequence[Relationship], scores: Mapping[str, float], limit: int
) -> tuple[Relationship, ...]:
    """Relationships by the scores of both ends and their weight, at most ``limit``."""

    def order(item: Relationship) -> tuple[float, float, str]:
        return -(scores.get(item.source, 0.0) + scores.get(item.target, 0.0)), -item.weight, item.id

    return tuple(sorted(relationships, key=order)[:limit])


def best_entities(found: Sequence[FoundEntity], limit: int) -> tuple[FoundEntity, ...]:
    """Entities of the query first, then nearer before farther, better before worse."""
    return tuple(sorted(found, key=lambda item: (item.hops, -item.score, item.entity.id))[:limit])


def _passage(passage_id: PassageId, led: Mapping[str, float]) -> GraphPassage:
    strongest = sorted(led, key=lambda name: (-led[name], name))
    weight = 1.0 - math.prod(1.0 - min(1.0, value) for value in led.values())
    return GraphPassage(passage_id, round(weight, _DIGITS), tuple(strongest[:MOST_VIA]))


def _shares(relationships: Sequence[Relationship]) -> dict[str, float]:
    """What each relationship lets through, in [LEAST_SHARE, 1], by its weight against the heaviest."""
    heaviest = max((item.weight for item in relationships), default=1.0) or 1.0
    return {item.id: LEAST_SHARE + (1.0 - LEAST_SHARE) * min(1.0, item.weight / heaviest) for item in relationships}
