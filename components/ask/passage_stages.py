"""Way of graph + vector retrieval to a passage: the lists that found it, the links followed, and its rank per stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.common.i18n import Words
from components.common.life_lines import LifeLine, Sighting
from components.common.outcomes import round_text
from components.common.phrases import place_text, probability_text
from components.common.run_settings import setting_of_config
from components.common.terms import segments
from components.labels import LIST_NAMES
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.values import Comparison, PassageId, RunRecord, Sentence, Stage
from engine.model.values import operands as operands_of

_STAGE = {
    "fused": N_("fused #{place}"),
    "ranked": N_("ranked #{place}"),
    "reranked": N_("reranked #{place}"),
}

_STAGES: tuple[Stage, ...] = ("fused", "ranked", "reranked")
_MOST_VIA = 4
_MISSING = {
    "meaning": N_("–: not among the candidates found by meaning; its similarity was computed besides."),
    "words": N_("–: not among the candidates found by words."),
}

_RANKS_NONE = {
    "meaning": N_("meaning –"),
    "words": N_("words –"),
}

_PLACES = {
    "meaning": N_("meaning #{rank}"),
    "words": N_("words #{rank}"),
}

Steps = list[dict[str, str]]


def names_of(record: RunRecord) -> dict[str, str]:
    """Return the names of a run's entities, relationships and communities by id."""
    names: dict[str, str] = {}
    for evidence in (item.graph for item in record.rounds if item.graph is not None):
        names |= {item.entity.id: item.entity.name for item in evidence.entities}
        names |= {item.community.id: item.community.title for item in evidence.communities}
    for evidence in (item.graph for item in record.rounds if item.graph is not None):
        names |= {
            item.id: f"{names.get(item.source, item.source)} → {names.get(item.target, item.target)}"
            for item in evidence.relationships
        }
    return names


def stage_cells(line: LifeLine, record: RunRecord, names: Mapping[str, str], words: Words) -> dict[str, Any]:
    """Build the cells that the browser draws in a row; empty for workflows without lists."""
    best = line.best
    if not best.found.found_in:
        return {}
    return {
        "lists": [
            [name, words("{list} #{rank}", list=words(LIST_NAMES[name]), rank=rank)]
            for name, rank in best.found.found_in.items()
        ],
        "only_graph": is_only_graph(best),
        "via": words(", ").join(names.get(item, item) for item in best.found.via[:_MOST_VIA]),
        "moves": moves_text(best, words),
        "scores": scores_text(best, words),
        "stage_notes": notes_of(line, record, words),
    }


def is_only_graph(seen: Sighting) -> bool:
    """Return whether vectors alone would not have brought it."""
    return bool(seen.found.found_in) and not {"vector", "attachment"} & seen.found.found_in.keys()


def moves_text(seen: Sighting, words: Words) -> str:
    """``fused #4 → ranked #4 → reranked #1``; stages that changed nothing are said once."""
    said: list[str] = []
    last = 0
    for stage in _STAGES:
        place = seen.found.places.get(stage)
        if place is None or (place == last and stage != "reranked"):
            continue
        arrow = "" if not last else " ↑" if place < last else " ↓" if place > last else " ="
        said.append(words(_STAGE[stage], place=place) + arrow)
        last = place
    return " → ".join(said)


def scores_text(seen: Sighting, words: Words) -> str:
    parts = []
    if seen.found.graph_score is not None:
        parts.append(words("graph {value}", value=probability_text(seen.found.graph_score)))
    if seen.found.rerank_score is not None:
        parts.append(words("rerank {value}", value=probability_text(seen.found.rerank_score)))
    return " · ".join(parts)


def notes_of(line: LifeLine, record: RunRecord, words: Words) -> list[str]:
    """List notes: near-duplicate of a better passage, and how new it is."""
    notes = []
    best = line.best
    if best.found.duplicate_of is not None:
        notes.append(words("nearly repeats {place}", place=_place_of(best.found.duplicate_of, record, words)))
    if best.found.freshness is not None:
        newness = probability_text(best.found.freshness)
        notes.append(words("dated {date}, newness {value}", date=line.passage.dated[:10], value=newness))
    return notes


def _place_of(passage_id: PassageId, record: RunRecord, words: Words) -> str:
    found = (item.passage for current in record.rounds for item in current.candidates if item.passage.id == passage_id)
    passage = next(found, None)
    if passage is None:
        return passage_id
    return place_text(passage.source, passage.section, words)


def cut_text(line: LifeLine, record: RunRecord, terms: tuple[str, ...]) -> list[list[Any]]:
    """The whole passage as segments, those of sentences that were left out marked as such; empty where none was."""
    refined: tuple[Sentence, ...] = record.context.refined.get(line.passage.id, ()) if record.context else ()
    return [[text, marked, not item.kept] for item in refined for text, marked in segments(item.text, terms)]


def stage_drop(seen: Sighting, config: RunConfig, words: Words) -> str:
    """Explain why a stage of graph + vector retrieval dropped a passage; empty if another gate did."""
    if seen.found.gate not in ("below_graph", "below_rerank"):
        return ""
    graph = seen.found.gate == "below_graph"
    score = (seen.found.graph_score if graph else seen.found.rerank_score) or 0.0
    bound = setting_of_config(config, "graph_threshold" if graph else "rerank_threshold")
    left, right = operands_of(Comparison("pass_rate", score, "<", bound))
    missed = f"{bound - score:.{max(2, len(left) - 2)}f}"
    return words(
        "graph score {value} < {bound}, missed by {missed}"
        if graph
        else "rerank score {value} < {bound}, missed by {missed}",
        value=left,
        bound=right,
        missed=missed,
    )


def ranks_text(seen: Sighting, config: RunConfig, words: Words) -> str:
    """``meaning #3 · words #1 (BM25 7.2)``; a dash where one list does not have it, empty without a search by words."""
    if seen.passage.vector_rank is None and seen.passage.text_rank is None:
        return ""
    parts = [_place("words", seen.passage.text_rank, words) + _score(seen.passage.text_score, words)]
    if config.search == "fused":
        parts.insert(0, _place("meaning", seen.passage.vector_rank, words))
    return " · ".join(parts)


def ranks_tip(seen: Sighting, config: RunConfig, words: Words) -> str:
    """Explain the ranks, and which list lacks the passage; empty if there are none."""
    if not ranks_text(seen, config, words):
        return ""
    if config.search != "fused":
        return words("Its place in the list by words. A BM25 score can be compared within one query only.")
    ranks = {"meaning": seen.passage.vector_rank, "words": seen.passage.text_rank}
    missing = next((name for name, rank in ranks.items() if rank is None), None)
    both = words("Its place in the list by meaning and in the list by words; the row's rank comes from both.")
    if missing is None:
        return both
    return words("{first} {second}", first=both, second=words(_MISSING[missing]))


def found_in_both(seen: Sighting, config: RunConfig, words: Words) -> Steps:
    """The beginning of a life-line where two lists were fused: its place in each, then the fused one; else none."""
    if config.search != "fused" or (seen.passage.vector_rank is None and seen.passage.text_rank is None):
        return []
    ranks = {"meaning": seen.passage.vector_rank, "words": seen.passage.text_rank}
    places = [_place(name, rank, words) for name, rank in ranks.items() if rank is not None]
    return [
        {"kind": "seen", "text": f"{round_text(seen.round.index, words)} · {' + '.join(places)}"},
        {"kind": "seen", "text": words("fused #{rank}", rank=seen.found.rank)},
    ]


def _place(name: str, rank: int | None, words: Words) -> str:
    return words(_RANKS_NONE[name]) if rank is None else words(_PLACES[name], rank=rank)


def _score(score: float | None, words: Words) -> str:
    return "" if score is None else words(" (BM25 {score})", score=f"{score:.1f}")
