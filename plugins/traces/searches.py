"""The rounds of searching in a trace: what overlaps in time is one round, what follows another one is the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.model.language import normalised_query
from engine.model.values import PassageId
from engine.retrieval.fuse import RANK_CONSTANT
from plugins.traces.documents import documents_of, hash_of
from plugins.traces.foreign import ForeignPassage, ForeignSearch
from plugins.traces.spans import Span, loaded
from plugins.traces.tree import Tree


def searches_of(tree: Tree) -> tuple[ForeignSearch, ...]:
    """The searches in their order, with the order of a reranker where one followed."""
    groups: list[list[Span]] = []
    for span in _searching(tree):
        if groups and _same_round(groups[-1], span):
            groups[-1].append(span)
        else:
            groups.append([span])
    found = [_merged(tree, group) for group in groups]
    for span in tree.spans:
        if span.kind == "RERANKER" and (order := documents_of(span)):
            found = _reranked(found, order, tree.ms(span.start_ns))
    return tuple(found)


def _searching(tree: Tree) -> list[Span]:
    """Spans that gave documents, the outermost where one contains another."""
    named = [span for span in tree.spans if span.kind == "RETRIEVER" and (documents_of(span) or _empty(span))]
    if not named:
        # Nodes of a graph whose retriever was not traced itself.
        named = [
            span
            for span in tree.spans
            if span.id != tree.root.id
            and span.kind in ("CHAIN", "TOOL", "")
            and tree.does(span) == "search"
            and documents_of(span)
        ]
    ids = {span.id for span in named}
    return [span for span in named if not any(outer.id in ids for outer in tree.above(span))]


def _empty(span: Span) -> bool:
    """Return whether a search was made that found nothing."""
    return not span.error and not span.lacks_output and query_of(span) != ""


def query_of(span: Span) -> str:
    """Return the search query; empty if the span does not say."""
    value = loaded(span.get("input.value"))
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for name in ("query", "question", "input", "search_query", "text"):
            inner = value.get(name)
            if isinstance(inner, str):
                return inner.strip()
            if isinstance(inner, dict) and isinstance(inner.get("query_str"), str):
                return str(inner["query_str"]).strip()
    return ""


def _same_round(group: Sequence[Span], span: Span) -> bool:
    overlaps = span.start_ns < max(item.end_ns for item in group)
    query = normalised_query(query_of(span))
    return overlaps or (query != "" and query == normalised_query(query_of(group[0])))


def _merged(tree: Tree, group: Sequence[Span]) -> ForeignSearch:
    lists = [_distinct(documents_of(span)) for span in group]
    queries = list(dict.fromkeys(query_of(span) for span in group))
    return ForeignSearch(
        # Several at once are variants of one query, and none of them is more than the others.
        query=queries[0] if len(queries) == 1 else "",
        passages=lists[0] if len(lists) == 1 else _fused(lists),
        start_ms=tree.ms(min(span.start_ns for span in group)),
        end_ms=tree.ms(max(span.end_ns for span in group)),
        lists=len(lists),
    )


def _distinct(passages: Sequence[ForeignPassage]) -> tuple[ForeignPassage, ...]:
    found: dict[PassageId, ForeignPassage] = {}
    for item in passages:
        same = found.get(item.id)
        # One id for two texts: that of the document that both are pieces of.
        own = item if same is None or same.text == item.text else replace(item, id=_piece(item))
        found.setdefault(own.id, own)
    return tuple(found.values())


def _piece(item: ForeignPassage) -> PassageId:
    return PassageId(f"{item.id}/{hash_of(item.text)}")


def _fused(lists: Sequence[Sequence[ForeignPassage]]) -> tuple[ForeignPassage, ...]:
    """Lists merged by reciprocal rank: scores of several searches have no common scale."""
    scores: dict[PassageId, float] = {}
    first: dict[PassageId, ForeignPassage] = {}
    for members in lists:
        for rank, item in enumerate(members, start=1):
            scores[item.id] = scores.get(item.id, 0.0) + 1.0 / (RANK_CONSTANT + rank)
            first.setdefault(item.id, replace(item, score=None))
    order = sorted(first, key=lambda name: (-scores[name], str(name)))
    return tuple(first[name] for name in order)


def _reranked(found: list[ForeignSearch], order: Sequence[ForeignPassage], at_ms: float) -> list[ForeignSearch]:
    """The newest search before a reranker in its order; what it left out comes after."""
    places = [place for place, search in enumerate(found) if search.start_ms <= at_ms]
    if not places:
        return found
    search = found[places[-1]]
    by_text = {item.text.strip(): item for item in search.passages}
    first = [by_text[item.text.strip()] for item in order if item.text.strip() in by_text]
    scores = {item.text.strip(): item.score for item in order}
    if not first:
        return found
    kept = {item.id for item in first}
    ranked = (
        *(replace(item, score=scores[item.text.strip()]) for item in _distinct(first)),
        *(replace(item, score=None) for item in search.passages if item.id not in kept),
    )
    found[places[-1]] = replace(search, passages=ranked, reranked=True)
    return found
