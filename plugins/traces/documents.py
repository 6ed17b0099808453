"""Documents wherever another program left them: in attributes, inputs and outputs of any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from engine.model.values import PassageId
from plugins.traces.foreign import ForeignPassage
from plugins.traces.spans import LONGEST_TEXT, Span, items, loaded, number

_TEXTS = ("page_content", "content", "text", "pageContent", "chunk", "passage", "body")
_LISTS = (
    "documents",
    "filtered_documents",
    "filtered_docs",
    "docs",
    "context",
    "passages",
    "chunks",
    "nodes",
    "results",
)
_SCORES = ("score", "relevance_score", "similarity", "similarity_score", "_score", "distance")
_SOURCES = ("source", "file_name", "filename", "file_path", "url", "title", "name")
_DEEPEST = 6


def documents_of(span: Span) -> tuple[ForeignPassage, ...]:
    """The documents that a search gave: by OpenInference's attributes, else in its output."""
    listed = span.get("reranker.output_documents") or span.get("retrieval.documents")
    found = tuple(document for item in items(listed) if (document := _flat(item)))
    return found or documents_in(span.output)


def _flat(item: Any) -> ForeignPassage | None:
    document = item.get("document") if isinstance(item, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(document.get("content"), str):
        return None
    metadata = loaded(document.get("metadata"))
    # LlamaIndex and others have every value a text.
    given_id = document.get("id")
    return passage(document["content"], given_id, metadata, number(document.get("score")))


def documents_in(value: Any, depth: int = 0) -> tuple[ForeignPassage, ...]:
    """The first list of documents in a value, or in the usual places of an object."""
    value = loaded(value)
    if depth > _DEEPEST:
        return ()
    listed = list(items(value))
    if listed:
        found = tuple(document for item in listed if (document := _any(item)))
        return found if len(found) == len(listed) else ()
    if isinstance(value, Mapping):
        inner = (value.get(name) for name in (*_LISTS, "output", "outputs", "update", "value", "return_value"))
        nested = (documents_in(item, depth + 1) for item in inner if item is not None and not isinstance(item, str))
        return next((found for found in nested if found), ())
    return ()


def _any(item: Any) -> ForeignPassage | None:
    """One document of a list: an object with a text, a pair of document and score, or a bare text."""
    item = loaded(item)
    if isinstance(item, str):
        return passage(item, None, None, None)
    pair = list(items(item))
    if len(pair) == 2 and number(pair[1]) is not None:
        inner = _any(pair[0])
        return (
            None if inner is None else ForeignPassage(inner.id, inner.text, inner.source, inner.title, number(pair[1]))
        )
    if not isinstance(item, Mapping):
        return None
    # Nodes of LlamaIndex and serialised objects of LangChain hold the document one level deeper.
    for wrapper in ("document", "node", "kwargs"):
        if isinstance(item.get(wrapper), Mapping) and not any(isinstance(item.get(name), str) for name in _TEXTS):
            score = next((found for name in _SCORES if (found := number(item.get(name))) is not None), None)
            inner = _any(item[wrapper])
            return inner and (
                inner if score is None else ForeignPassage(inner.id, inner.text, inner.source, inner.title, score)
            )
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), None)
    if text is None or item.get("role") or item.get("type") in ("human", "ai", "system", "tool"):
        return None
    metadata = loaded(item.get("metadata"))
    own = {name: item[name] for name in _SOURCES if isinstance(item.get(name), str)}
    merged = {**own, **(metadata if isinstance(metadata, Mapping) else {})}
    scores = (number(place.get(name)) for place in (item, merged) for name in _SCORES)
    return passage(
        text, item.get("id") or item.get("id_"), merged, next((found for found in scores if found is not None), None)
    )


def passage(text: str, given_id: Any, metadata: Any, score: float | None) -> ForeignPassage | None:
    """A document with text; None for one without."""
    text = text[:LONGEST_TEXT]
    if not text.strip():
        return None
    about = metadata if isinstance(metadata, Mapping) else {}
    named = next((str(about[name]) for name in _SOURCES if isinstance(about.get(name), str) and about[name]), "")
    title = about.get("title")
    own_id = given_id or about.get("id") or about.get("doc_id")
    name = str(own_id)[:200] if isinstance(own_id, str | int) and not isinstance(own_id, bool) else ""
    shown = title[:200] if isinstance(title, str) and title != named else ""
    return ForeignPassage(PassageId(name or hash_of(text)), text, named[:300], shown, score)


def hash_of(text: str) -> str:
    """Return the id of a document without one: the same text has the same id in every trace."""
    return f"text-{sha256(text.strip().encode('utf-8', 'replace')).hexdigest()[:16]}"


def texts_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text inside a value."""
    if depth > 30:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_in(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item, depth + 1)
