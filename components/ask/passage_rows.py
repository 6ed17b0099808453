"""A passage of a run as one row of the tab Passages or the report: scores, verdict, reason, history by rounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.life_lines import LifeLine, Sighting
from components.common.markup import WRITTEN
from components.common.outcomes import GATES
from components.common.phrases import (
    bar_text,
    chance_text,
    parts_text,
    place_text,
    probability_text,
    section_text,
    verdict_label,
    verdict_reason,
    verdict_text,
)
from components.common.run_settings import setting_of_config
from components.common.terms import segments
from components.labels import GRAPH_LISTS, SOURCE_KIND_NAMES, WEB_PASSAGE
from components.sentences.rounds import round_names
from engine.builtin.strips import strips_of
from engine.flow import workflow
from engine.messages import N_, NC_
from engine.model.config import RunConfig
from engine.model.surroundings import near_of
from engine.model.values import (
    NO_SCALE,
    THEIR_SCALE,
    Around,
    Comparison,
    Passage,
    PassageId,
    RunRecord,
    Sentence,
    Stage,
    Verdict,
    operands,
)

_STAGE = {"fused": N_("fused"), "ranked": N_("ranked"), "reranked": N_("reranked")}

_STAGES: tuple[Stage, ...] = ("fused", "ranked", "reranked")
_MOST_VIA = 4
_LISTS = {
    "meaning": N_("meaning"),
    "words": N_("words"),
    "asked": NC_("round", "as asked"),
    "translated": NC_("passages", "translated"),
}

COLUMNS = {
    "round": N_("round"),
    "query": N_("query"),
    "rank": N_("rank"),
    "ranks": N_("lists"),
    "similarity": N_("similarity"),
    "cosine": N_("cosine"),
    "floor": N_("floor"),
    "gate": N_("gate"),
    "margin": N_("margin"),
    "verdict": N_("verdict"),
}
"""What is known of a passage in one round, by its name in ``seen`` of a row."""

_SNIPPET = 220
_DROPPED = ("below_threshold", "below_graph", "below_rerank", "beyond_top_k")


def passage_row(
    line: LifeLine, record: RunRecord, terms: Sequence[str], words: Words, near: Collection[str] = ()
) -> dict[str, Any]:
    """Build the row that the browser draws; every value is text or a number, all words are rendered.

    ``near``: the parts of the passage that come nearest to what the answer says without support.
    """
    best, passage, verdict, config = line.best, line.passage, line.verdict, record.config
    names = round_names(record, words)
    return {
        "id": passage.id,
        "rank": best.found.rank,
        "rounds": [seen.round.index for seen in line.sightings],
        "source": passage.source,
        "section": section_text(passage.section, words),
        "snippet": segments(beginning(passage.text, _SNIPPET), terms),
        "context": [line for line in (passage.context, _written(passage, record, words)) if line],
        "text": full_text(line, record, terms, near),
        **_surroundings(passage.id, record),
        "similarity": best.passage.similarity if best.round.scaled else 0.0,
        "bar": best.round.scaled,
        "value": similarity_value(best),
        "cosine": score_value(best, words),
        "tip": _similarity_tip(best, config, words),
        "ranks": ranks_text(best, config, words),
        "dropped": line.dropped,
        "state": _state(line),
        "chip": _chip(line, config, words),
        # A yes or no alone is no share, and sorts as one all the same.
        "p": -1.0 if verdict is None or verdict.relevant is None else verdict.p_relevant,
        "reason": drop_reason(best, config, words) if line.dropped else _reason(verdict, config, words),
        "history": history(line, record, names, words),
        "grader": _grader(verdict, words),
        "own": verdict_reason(verdict, words) if verdict else "",
        "seen": [_seen(seen, names[seen.round.index], config, words) for seen in line.sightings],
        "kind": line.kind or "",
        "kind_text": words(SOURCE_KIND_NAMES[line.kind]) if line.kind else "",
        "kind_tip": words(WEB_PASSAGE) if line.kind == "web" else "",
    }


def _surroundings(passage_id: PassageId, record: RunRecord) -> dict[str, list[dict[str, Any]]]:
    """What stands before and after a passage that the generator was given, and whether the answer cites it."""
    around = near_of(record).get(passage_id, Around())
    cited = {name for item in record.citations if item.passage_id == passage_id for name in item.around}
    refined = record.context.refined if record.context else {}
    return {
        name: [
            {
                "text": item.text,
                "id": item.id,
                "cited": item.id in cited,
                "cut": [[strip.text, not strip.kept] for strip in refined.get(item.id, ())],
            }
            for item in items
        ]
        for name, items in (("before", around.before), ("after", around.after))
    }


def _written(passage: Passage, record: RunRecord, words: Words) -> str:
    """The sentence of context by a chat model, with its name."""
    writer = record.manifest.get("context_model", "")
    return words(WRITTEN, model=writer, text=passage.written) if passage.written else ""


def history(line: LifeLine, record: RunRecord, names: Mapping[int, str], words: Words) -> list[dict[str, str]]:
    """A sign with its words for each round of the run, and for what became of the passage in the answer."""
    by_round = {seen.round.index: seen for seen in line.sightings}
    signs = []
    for index, name in names.items():
        seen = by_round.get(index)
        look, glyph, said = ("absent", "·", words("not found")) if seen is None else _sign(seen, record.config, words)
        signs.append({"look": look, "glyph": glyph, "said": words("{what}: {why}", what=name, why=said)})
    if line.fate in ("cited", "uncited"):
        said = words("cited as [{n}]" if line.cited else "read as [{n}], not cited", n=line.marker)
        signs.append({"look": line.fate, "glyph": str(line.marker), "said": said})
    elif line.fate == "cut":
        signs.append({"look": "drop", "glyph": "–", "said": words("cut: no room")})
    return signs


def _sign(seen: Sighting, config: RunConfig, words: Words) -> tuple[str, str, str]:
    """Look, sign and words of a passage in one round: its ranks, and what the gate or the grader made of it."""
    verdict = seen.verdict
    if seen.found.gate != "kept":
        look, glyph, what = "drop", "–", gate_text(seen, words)
    elif verdict is None:
        look, glyph, what = "none", "–", words("not graded")
    elif verdict.relevant is None:
        look, glyph, what = "fault", "?", words("unreadable")
    else:
        passes = verdict.passes(config.min_confidence)
        look, glyph, what = ("pass", "✓", words("passed")) if passes else ("fail", "✗", words("not passed"))
    said = [*_found(seen, config, words), f"{what} ({words('reused')})" if seen.reused else what]
    if seen.place is not None and verdict is not None:
        said.append(f"{words('reranked')} #{seen.place} · {chance_text(verdict, words)}")
    return look, glyph, " → ".join(said)


def _found(seen: Sighting, config: RunConfig, words: Words) -> list[str]:
    """List the ranks of a passage in a search; for fused lists, the rank in each list and in the result."""
    places = [f"{words(SOURCE_KIND_NAMES[kind])} #{rank}" for kind, rank in seen.found.found_at.items()]
    places += [_place(kind, rank, words) for kind, rank in seen.found.found_by.items()]
    if config.search == "fused" and not places:
        ranks = {"meaning": seen.passage.vector_rank, "words": seen.passage.text_rank}
        places = [_place(name, rank, words) for name, rank in ranks.items() if rank is not None]
    return [" + ".join(places), f"{words('fused')} #{seen.found.rank}"] if places else [f"#{seen.found.rank}"]


def _margin(margin: float) -> str:
    """``+0.05``; a narrow one with the digits that tell it from none."""
    digits = 2 if round(margin, 2) or not margin else 4
    return f"{margin:+.{digits}f}".replace("-", "−")


def _state(line: LifeLine) -> str:
    if line.dropped:
        return line.fate if line.fate in _DROPPED else line.best.found.gate
    if line.verdict is None:
        return "ungraded"
    if line.verdict.relevant is None:
        return "unreadable"
    return "passed" if line.passes else "failed"


def _reason(verdict: Verdict | None, config: RunConfig, words: Words) -> str:
    if verdict:
        of_parts = parts_text(verdict, config.min_confidence, words)
        return words("; ").join(part for part in (of_parts, verdict_reason(verdict, words)) if part)
    return words("not graded" if workflow(config.workflow).grades else "no grader judges it")


def _grader(verdict: Verdict | None, words: Words) -> str:
    if verdict is None:
        return ""
    name = words("built-in") if verdict.grader.split(":")[0] == "builtin" else verdict.grader
    return f"{name} · {verdict_text(verdict, words)}"


def _chip(line: LifeLine, config: RunConfig, words: Words) -> dict[str, str]:
    verdict = line.verdict
    if verdict is None:
        text = gate_text(line.best, words) if line.dropped else words("not graded")
        return {"look": "plain", "text": text, "note": ""}
    if verdict.relevant is None:
        return {"look": "fault", "text": verdict_text(verdict, words), "note": ""}
    odd = verdict.by_cut or verdict.relevant != line.passes or verdict.held_back(config.min_confidence)
    note = bar_text(verdict, config, words) if odd else ""
    return {"look": "pass" if line.passes else "warn", "text": verdict_text(verdict, words), "note": note}


def _seen(seen: Sighting, name: str, config: RunConfig, words: Words) -> dict[str, str]:
    verdict = verdict_text(seen.verdict, words) if seen.verdict else verdict_label(None, words)
    return {
        "round": name,
        "query": query_text(seen, words),
        "rank": f"#{seen.found.rank}",
        "ranks": ranks_text(seen, config, words)
        or " · ".join(filter(None, (moves_text(seen, words), scores_text(seen, words)))),
        "similarity": similarity_value(seen),
        "cosine": score_value(seen, words) or "–" if _theirs(seen) else f"{seen.passage.raw_score:.3f}",
        "floor": "–" if _theirs(seen) else f"{seen.round.floor_of(seen.found):.3f}",
        "gate": gate_text(seen, words),
        "margin": _margin(seen.found.margin) if seen.round.scaled else "–",
        "verdict": f"{verdict} ({words('reused')})" if seen.reused else verdict,
    }


def gate_text(seen: Sighting, words: Words) -> str:
    """``kept``, ``dropped: similarity`` or ``dropped: top-k``."""
    return words(GATES[seen.found.gate].label)


def drop_reason(seen: Sighting, config: RunConfig, words: Words) -> str:
    """Explain why a candidate was dropped and by how much, its rank first (SC-02)."""
    if staged := stage_drop(seen, config, words):
        return staged
    if seen.found.gate == "beyond_top_k":
        return words("rank {rank} > top-k {top_k}", rank=seen.found.rank, top_k=config.top_k)
    left, right = operands(Comparison("pass_rate", seen.passage.similarity, "<", config.similarity_threshold))
    missed = max(0.0, config.similarity_threshold - seen.passage.similarity)
    digits = max(2, len(left) - 2)
    return words("{value} < {bound}, missed by {missed}", value=left, bound=right, missed=f"{missed:.{digits}f}")


def similarity_value(seen: Sighting) -> str:
    """The similarity; a dash where an imported trace gives no scale for it."""
    return probability_text(seen.passage.similarity) if seen.round.scaled else "–"


def _theirs(seen: Sighting) -> bool:
    """Return whether another program searched, whose scores are no cosines."""
    return seen.round.anchors in (THEIR_SCALE, NO_SCALE)


def score_value(seen: Sighting, words: Words) -> str:
    """The cosine, or the score that another program gave; empty where it gave none."""
    score = seen.passage.raw_score
    if score is None:
        return ""
    if _theirs(seen):
        return words("score {value}", value=f"{score:.4g}")
    return f"cos {probability_text(score)}"


def _similarity_tip(seen: Sighting, config: RunConfig, words: Words) -> str:
    if not seen.round.scaled:
        return words("The imported trace gives no scale for its scores, so no similarity is known.")
    if seen.round.anchors == THEIR_SCALE:
        return words(
            "The score of the other program, taken as it is. Threshold {threshold}.",
            threshold=probability_text(config.similarity_threshold),
        )
    return words(
        "Cosine {cosine}. Cosine {floor} counts as similarity 0 for this query (anchors {anchors}); that makes "
        "{similarity}. Threshold {threshold}.",
        cosine=f"{seen.passage.raw_score:.3f}",
        floor=f"{seen.round.floor_of(seen.found):.3f}",
        anchors=anchors_of(seen) or "–",
        similarity=probability_text(seen.passage.similarity),
        threshold=probability_text(config.similarity_threshold),
    )


def stage_drop(seen: Sighting, config: RunConfig, words: Words) -> str:
    """Explain why a stage of graph + vector retrieval dropped a passage; empty if another gate did."""
    if seen.found.gate not in ("below_graph", "below_rerank"):
        return ""
    graph = seen.found.gate == "below_graph"
    score = (seen.found.graph_score if graph else seen.found.rerank_score) or 0.0
    bound = setting_of_config(config, "graph_threshold" if graph else "rerank_threshold")
    left, right = operands(Comparison("pass_rate", score, "<", bound))
    missed = f"{bound - score:.{max(2, len(left) - 2)}f}"
    said = words("{value} < {bound}, missed by {missed}", value=left, bound=right, missed=missed)
    return f"{words('graph score' if graph else 'rerank score')} {said}"


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
        "lists": [[name, f"{words(GRAPH_LISTS[name])} #{rank}"] for name, rank in best.found.found_in.items()],
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
        said.append(f"{words(_STAGE[stage])} #{place}{arrow}")
        last = place
    return " → ".join(said)


def scores_text(seen: Sighting, words: Words) -> str:
    parts = []
    if seen.found.graph_score is not None:
        parts.append(f"{words('graph score')} {probability_text(seen.found.graph_score)}")
    if seen.found.rerank_score is not None:
        parts.append(f"{words('rerank score')} {probability_text(seen.found.rerank_score)}")
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


def full_text(line: LifeLine, record: RunRecord, terms: Sequence[str], near: Collection[str] = ()) -> list[list[Any]]:
    """The whole passage as segments, each with its look.

    ``out``: of a sentence that was left out before the answer was written; ``near``: as in
    :func:`passage_row`.
    """
    refined: tuple[Sentence, ...] = record.context.refined.get(line.passage.id, ()) if record.context else ()
    parts = [(item.text, item.kept) for item in refined] or [(text, True) for text in strips_of(line.passage.text)]
    looks = [(text, "out" if not kept else "near" if text in near else "") for text, kept in parts]
    return [[text, marked, look] for part, look in looks for text, marked in segments(part, terms)]


def ranks_text(seen: Sighting, config: RunConfig, words: Words) -> str:
    """``meaning #3 · words #1 (BM25 7.2)``; a dash where one list does not have it, empty without a search by words."""
    queries = [_place(kind, rank, words) for kind, rank in seen.found.found_by.items()]
    if seen.passage.vector_rank is None and seen.passage.text_rank is None:
        return " · ".join(queries)
    parts = [_place("words", seen.passage.text_rank, words) + _score(seen.passage.text_score, words)]
    if config.search == "fused":
        parts.insert(0, _place("meaning", seen.passage.vector_rank, words))
    return " · ".join((*queries, *parts))


def query_text(seen: Sighting, words: Words) -> str:
    """The query that measured a passage: the round's own, or its translation."""
    query, translation = seen.round.query, seen.round.translation
    if translation is not None and "translated" in seen.found.found_by:
        return translation.query
    return query if seen.round.searched else words("not searched again: {query}", query=query)


def anchors_of(seen: Sighting) -> str:
    """The anchor set behind the similarity of a passage."""
    translation = seen.round.translation
    return translation.anchors if translation and "translated" in seen.found.found_by else seen.round.anchors


def _place(name: str, rank: int | None, words: Words) -> str:
    return f"{words(_LISTS[name])} {'–' if rank is None else f'#{rank}'}"


def _score(score: float | None, words: Words) -> str:
    return "" if score is None else words(" (BM25 {score})", score=f"{score:.1f}")
