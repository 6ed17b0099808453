"""Searching passages by words: whether a store can, and what its hits are worth.

Milvus counts words by BM25 itself, from the words that we cut. Milvus Lite does so for each of its files apart, so that
passages of a small file lose against those of a large one: with 5 of 120 paragraphs in a file of their own, the right
one was among the first five for 50 % of the questions instead of 94 % (XQuAD). So from Lite many hits are taken, and
rescored with counts over the whole collection.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from engine.builtin.full_text import SEGMENTING, WordCounts, missing_parts, query_words, with_parts, words_in
from engine.errors import FullTextMissing
from engine.knowledge.milvus_database import SPARSE, Database
from engine.knowledge.milvus_filter import holds_any
from engine.knowledge.milvus_reader import CollectionReader, cosine
from engine.knowledge.milvus_schema import Layout, create_passages, own_layout
from engine.model.values import PassageId
from engine.roles import CollectionInfo, Hit, Vector

_LITE, _SERVER = (3, 2), (2, 5)
"""First versions with BM25; that of servers is by their documentation, no such server was at hand to prove it."""
FROM_LITE = 100
"""Hits taken from Milvus Lite to be rescored, at least."""
_COUNTING_S = 60.0


class WordIndex:
    """Blocks, and raises foreign exceptions untranslated."""

    def __init__(self, db: Database, uri: str) -> None:
        self._db = db
        self._uri = uri
        self._analyzer: str | None = None
        self._counts: dict[str, tuple[int, WordCounts]] = {}
        self._writes: Counter[str] = Counter()

    @property
    def analyzer(self) -> str:
        """The store's tokenizer that leaves our words as they are; empty where it has no full-text search."""
        if self._analyzer is None:
            self._analyzer = self._find_analyzer()
        return self._analyzer

    def described(self, info: CollectionInfo) -> CollectionInfo:
        """Record a new collection."""
        return replace(info, full_text=bool(self.analyzer), segmenting=SEGMENTING if self.analyzer else "")

    def make_collection(self, name: str, dim: int) -> bool:
        """Make and load a collection of passages, with full text unless the store refuses; returns whether with it."""
        if self.analyzer:
            try:
                create_passages(self._db, own_layout(name, dim, worded=True), self.analyzer)
                return True
            except Exception:
                # A server of the right version may have been built or set up without; anything else fails again below.
                self._db.drop(name)
                self._analyzer = ""
        create_passages(self._db, own_layout(name, dim))
        return False

    def missing(self, name: str) -> FullTextMissing:
        """Explain why a collection has no full-text search: its store or the collection lacks it."""
        return FullTextMissing.of(collection=name) if self.analyzer else FullTextMissing.at(address=self._uri)

    def search(self, reader: CollectionReader, text: str, vector: Vector, limit: int, where: str) -> list[Hit]:
        """Best BM25 score first, 0 and up, each with its cosine to ``vector``; none for a text without words."""
        layout, query = reader.layout, query_words(text)
        if not query:
            return []
        if self._db.embedded:
            scores = self._rescored(layout, query, max(limit, FROM_LITE), where)
            held: Container[str] = self._counted(layout).containing
        else:
            # Best first as the store says; what sign it gives its scores is not relied on.
            asked = self._ask(layout, query, limit, where, [layout.key, layout.words])
            scores = {_key(layout, item): abs(float(item["distance"])) for item in asked}
            held = words_in(_field(layout, item) for item in asked)
        scores = self._with_parts(layout, missing_parts(query, held, found=bool(scores)), limit, where, scores)
        best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
        output = [*layout.output, layout.vector]
        rows = {str(row[layout.key]): row for row in reader.by_ids([PassageId(key) for key, _ in best], output)}
        return [
            Hit(layout.passage(rows[key], key), cosine(vector, rows[key][layout.vector]), score)
            for key, score in best
            if key in rows
        ]

    def _rescored(self, layout: Layout, query: list[str], depth: int, where: str) -> dict[str, float]:
        """Hits of Milvus Lite by id, with their scores by counts over the whole collection."""
        output = [layout.key, layout.words]
        found = self._ask(layout, query, depth, where, output)
        if not found:
            return {}
        counts = self._counted(layout)
        rare = counts.rarest(query, depth)
        if len(found) == depth and rare:
            # There were more, and what was left out may be the best of a small file: all that hold the rarest words.
            found += self._ask(layout, rare, depth, where, output)
        return {_key(layout, item): counts.score(query, _field(layout, item)) for item in found}

    def _with_parts(
        self, layout: Layout, parts: list[str], limit: int, where: str, scores: dict[str, float]
    ) -> dict[str, float]:
        """Scores by id, with those of passages that hold parts of words, unless they are too many to tell anything."""
        if not parts:
            return scores
        most = max(limit, FROM_LITE)
        holding = holds_any(layout.words, parts)
        filtered = f"({where}) and ({holding})" if where else holding
        rows = self._db.rows(layout.name, filtered, [layout.key, layout.words], limit=most)
        if scores and len(rows) == most:
            return scores
        return with_parts(scores, {str(row[layout.key]): str(row[layout.words]) for row in rows}, parts)

    def wrote(self, name: str) -> None:
        """Count the words of a collection again before the next search."""
        self._writes[name] += 1
        self._counts.pop(name, None)

    def _counted(self, layout: Layout) -> WordCounts:
        name = layout.name
        writes = self._writes[name]
        known = self._counts.get(name)
        if known is not None and known[0] == writes:
            return known[1]
        rows = self._db.rows(name, layout.every, [layout.words], patience_s=_COUNTING_S)
        counts = WordCounts.of(str(row[layout.words]) for row in rows)
        self._counts[name] = (writes, counts)
        return counts

    def _ask(self, layout: Layout, query: Sequence[str], limit: int, where: str, output: list[str]) -> list[Any]:
        asked, by = " ".join(query), {"metric_type": "BM25"}
        return self._db.search(layout.name, SPARSE, asked, where, limit=limit, output=output, search_params=by)

    def _find_analyzer(self) -> str:
        if self._db.embedded:
            # Lite has no tokenizer for white space; its standard one takes our words, which hold nothing else, whole.
            return "standard" if version_numbers(version("milvus-lite")) >= _LITE else ""
        return "whitespace" if version_numbers(self._db.version()) >= _SERVER else ""


def _key(layout: Layout, item: Any) -> str:
    return str(item.get(layout.key, item.get("id")))


def _field(layout: Layout, item: Any) -> str:
    return str(item["entity"][layout.words])


def version_numbers(text: str) -> tuple[int, ...]:
    """The first two numbers of a version such as ``v2.3.5-dev``; none where it has no such form."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()
