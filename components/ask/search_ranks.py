"""Where a passage stood in the list by meaning and in the list by words, in words of the page."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.life_lines import Sighting
from engine.messages import N_
from engine.model.config import RunConfig

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


def ranks_text(seen: Sighting, config: RunConfig, words: Words) -> str:
    """``meaning #3 · words #1 (BM25 7.2)``; a dash where one list does not have it, empty without a search by words."""
    if seen.passage.vector_rank is None and seen.passage.text_rank is None:
        return ""
    parts = [_place("words", seen.passage.text_rank, words) + _score(seen.passage.text_score, words)]
    if config.search == "fused":
        parts.insert(0, _place("meaning", seen.passage.vector_rank, words))
    return " · ".join(parts)


def ranks_tip(seen: Sighting, config: RunConfig, words: Words) -> str:
    """What the ranks mean, and which list does not have the passage; empty where there are none."""
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
        {"kind": "seen", "text": f"r{seen.round.index} {' + '.join(places)}"},
        {"kind": "seen", "text": words("fused #{rank}", rank=seen.found.rank)},
    ]


def _place(name: str, rank: int | None, words: Words) -> str:
    return words(_RANKS_NONE[name]) if rank is None else words(_PLACES[name], rank=rank)


def _score(score: float | None, words: Words) -> str:
    return "" if score is None else words(" (BM25 {score})", score=f"{score:.1f}")
