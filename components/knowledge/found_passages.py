"""Results of a search on the Knowledge page: similarity, both ranks, and the text with the query's words marked."""

from __future__ import annotations

from collections.abc import Sequence

from components.common.controls import table_csv
from components.common.i18n import Words
from components.common.markup import Node, chip, fold, node
from components.common.phrases import probability_text, section_text
from components.common.terms import segments
from components.knowledge.draw import draw_knowledge
from engine.library.values import FoundPassage
from engine.messages import N_, NC_
from engine.model.config import SearchMethod

_CSV = {
    "rank": N_("rank"),
    "source": N_("source"),
    "section": NC_("knowledge", "section"),
    "ordinal": N_("passage"),
    "similarity": N_("similarity"),
    "cosine": N_("cosine"),
    "vector_rank": NC_("knowledge", "rank by meaning"),
    "text_rank": NC_("knowledge", "rank by words"),
    "text_score": NC_("knowledge", "BM25 score"),
    "text": NC_("knowledge", "text"),
}

_NOT_FOUND = {
    "vector": N_("not among the nearest"),
    "text": N_("no word in common"),
}

_LISTS = {
    "vector": N_("meaning #{rank}"),
    "text": N_("words #{rank}"),
}

_SNIPPET = 420


def found_passages(
    found: Sequence[FoundPassage], terms: Sequence[str], method: SearchMethod, words: Words, *, key: str
) -> None:
    """Draw one card a passage, best first; ``terms`` are marked. Text is untrusted and drawn as text."""
    cards = [_card(rank, item, terms, method, words) for rank, item in enumerate(found, 1)]
    draw_knowledge([node("div", "founds", *cards)], words, key=key)


def found_csv(found: Sequence[FoundPassage], words: Words) -> bytes:
    """One row a passage, UTF-8 with a byte order mark."""
    return table_csv(
        [words(text) for text in _CSV.values()], (_cells(rank, item, words) for rank, item in enumerate(found, 1))
    )


def _cells(rank: int, item: FoundPassage, words: Words) -> list[str]:
    passage = item.passage
    return [
        str(rank),
        passage.source,
        section_text(passage.section, words),
        str(passage.ordinal),
        f"{item.similarity:.4f}",
        f"{item.cosine:.4f}",
        "" if item.vector_rank is None else str(item.vector_rank),
        "" if item.text_rank is None else str(item.text_rank),
        "" if item.text_score is None else f"{item.text_score:.4f}",
        passage.text,
    ]


def _card(rank: int, item: FoundPassage, terms: Sequence[str], method: SearchMethod, words: Words) -> Node:
    passage = item.passage
    section = (node("span", "muted", section_text(passage.section, words)),) if passage.section else ()
    where = node("div", "head", node("strong", "", passage.source), *section)
    # Rows of a table and items of a list each keep their line.
    text = "\n".join(" ".join(line.split()) for line in passage.text.splitlines() if line.strip())
    cut = len(text) > _SNIPPET
    begun = node("p", "beginning", *_marked(text[:_SNIPPET] + "…" if cut else text, terms))
    # The whole text, with its own line breaks, where the beginning is not all of it.
    whole = (
        (fold(passage.id, words("Whole passage"), node("p", "own-text", *_marked(passage.text, terms))),) if cut else ()
    )
    share = max(0.0, min(1.0, item.similarity))
    rail = node("span", "rail", node("span", "seg", data_fill=f"{100 * share:.0f}%"), aria_hidden="true")
    cosine = node("span", "muted small", words("cos {value}", value=probability_text(item.cosine)))
    value = node("div", "said num", node("strong", "", probability_text(item.similarity)), cosine)
    measures = node("div", "scored", value, rail, node("div", "marks", *_ranks(item, method, words)))
    what = node("div", "what", where, begun, *whole)
    return node("section", "card found", node("span", "ordinal num", str(rank)), what, measures)


def _ranks(item: FoundPassage, method: SearchMethod, words: Words) -> list[Node]:
    """Show the rank in each list; for a plain vector search, the position of the card says it."""
    if method == "vector":
        return []
    chips = []
    if method == "fused":
        chips.append(_rank("vector", item.vector_rank, words))
    chips.append(_rank("text", item.text_rank, words))
    if item.text_score is not None:
        chips.append(chip("grey", words("BM25 {value}", value=f"{item.text_score:.2f}")))
    return chips


def _rank(name: str, rank: int | None, words: Words) -> Node:
    if rank is None:
        return chip("grey", words(_NOT_FOUND[name]))
    return chip("plain", words(_LISTS[name], rank=rank))


def _marked(text: str, terms: Sequence[str]) -> list[Node | str]:
    return [node("mark", "", part) if marked else part for part, marked in segments(text, terms)]
