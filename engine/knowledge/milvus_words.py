"""Searching passages by words: whether a store can, and what its hits are worth.

Milvus counts words by BM25 itself, from the words that we cut. Milvus Lite does so for each of its files apart, so that
passages of a small file lose against those of a large one: with 5 of 120 paragraphs in a file of their own, the right
one was among the first five for 50 % of the questions instead of 94 % (XQuAD). So from Lite many hits are taken, and
rescored with counts over the whole collection.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from engine.errors import FullTextMissing
from engine.knowledge.full_text import SEGMENTING, WordCounts, words
from engine.knowledge.milvus_connection import Client, Freshness, embedded
from engine.knowledge.milvus_reading import RowReader
from engine.knowledge.milvus_schema import SPARSE, Layout, create_collection
from engine.model.values import PassageId
from engine.roles import CollectionInfo

_LITE, _SERVER = (3, 2), (2, 5)
"""First versions with BM25; that of servers is by their documentation, no such server was at hand to prove it."""
_FROM_LITE = 100
"""Hits taken from Milvus Lite to be rescored, at least."""
_COUNTING_S = 60.0


class WordIndex:
    """Blocks, and raises foreign exceptions untranslated."""

    def __init__(self, client: Client, reader: RowReader, fresh: Freshness, uri: str, timeout_s: float) -> None:
        self._client = client
        self._reader = reader
        self._fresh = fresh
        self._uri = uri
        self.embedded = embedded(uri)
        self._timeout_s = timeout_s
        self._analyzer: str | None = None
        self._counts: dict[str, tuple[int, WordCounts]] = {}
        self._writes: Counter[str] = Counter()

    @property
    def analyzer(self) -> str:
        """The store's tokenizer that leaves our words as they are; empty where it has no full-text search."""
        if self._analyzer is None:
            self._analyzer = self._find_analyzer()
        return self._analyzer

    def told(self, info: CollectionInfo) -> CollectionInfo:
        """What is recorded of a collection that is made now."""
        return replace(info, full_text=bool(self.analyzer), segmenting=SEGMENTING if self.analyzer else "")

    def make_collection(self, name: str, dim: int) -> bool:
        """Make and load a collection of passages, with full text unless the store refuses; returns whether with it."""
        if self.analyzer:
            try:
                self._make(name, dim, self.analyzer)
            except Exception:
                # A server of the right version may have been built or set up without; anything else fails again below.
                if self._client.has_collection(name, timeout=self._timeout_s):
                    self._client.drop_collection(name, timeout=self._timeout_s)
                self._make(name, dim, "")
                self._analyzer = ""
                return False
            return True
        self._make(name, dim, "")
        return False

    def check(self, name: str, layout: Layout) -> None:
        """Raise ``FullTextMissing`` where a collection cannot be searched by words."""
        if not layout.words:
            raise self.missing(name)

    def missing(self, name: str) -> FullTextMissing:
        """Why a collection has no full text: because its store has none, or because of the collection."""
        return FullTextMissing.of(collection=name) if self.analyzer else FullTextMissing.at(address=self._uri)

    def search(self, name: str, layout: Layout, text: str, limit: int, where: str) -> list[tuple[Any, float]]:
        """Rows with their vectors, best first, each with its BM25 score, 0 and up; none for a text without words."""
        query = words(text)
        if not query:
            return []
        output = [*layout.output, layout.vector]
        if not self.embedded:
            found = self._ask(name, query, limit, where, output)
            # Best first as the store says; what sign it gives its scores is not relied on.
            key = layout.key
            return [
                ({**item["entity"], key: item.get(key, item.get("id"))}, abs(float(item["distance"]))) for item in found
            ]
        scored = self._scored_anew(name, layout, query, max(limit, _FROM_LITE), where)[:limit]
        ids = [PassageId(key) for key, _ in scored]
        rows = {str(row[layout.key]): row for row in self._reader.by_ids(name, layout, ids, output)}
        return [(rows[key], score) for key, score in scored if key in rows]

    def _scored_anew(
        self, name: str, layout: Layout, query: list[str], depth: int, where: str
    ) -> list[tuple[str, float]]:
        """Ids of hits of Milvus Lite, best first by counts over the whole collection, with their scores."""
        output = [layout.key, layout.words]
        found = self._ask(name, query, depth, where, output)
        if not found:
            return []
        counts = self._counted(name, layout)
        rare = counts.rarest(query, depth)
        if len(found) == depth and rare:
            # There were more, and what was left out may be the best of a small file: all that hold the rarest words.
            found += self._ask(name, rare, depth, where, output)
        fields = {str(item["id"]): str(item["entity"][layout.words]) for item in found}
        scored = [(key, counts.score(query, field)) for key, field in fields.items()]
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))

    def wrote(self, name: str) -> None:
        """Count the words of a collection again before the next search."""
        self._writes[name] += 1
        self._counts.pop(name, None)

    def _counted(self, name: str, layout: Layout) -> WordCounts:
        writes = self._writes[name]
        known = self._counts.get(name)
        if known is not None and known[0] == writes:
            return known[1]
        rows = self._client.query(
            name,
            filter=layout.every,
            output_fields=[layout.words],
            consistency_level=self._fresh.level(name),
            timeout=max(self._timeout_s, _COUNTING_S),
        )
        counts = WordCounts.of(str(row[layout.words]) for row in rows)
        self._counts[name] = (writes, counts)
        return counts

    def _ask(self, name: str, query: Sequence[str], limit: int, where: str, output: list[str]) -> list[Any]:
        (found,) = self._client.search(
            name,
            data=[" ".join(query)],
            anns_field=SPARSE,
            filter=where,
            limit=limit,
            output_fields=output,
            search_params={"metric_type": "BM25"},
            consistency_level=self._fresh.level(name),
            timeout=self._timeout_s,
        )
        return list(found)

    def _make(self, name: str, dim: int, analyzer: str) -> None:
        create_collection(self._client, name, dim, exact=self.embedded, timeout_s=self._timeout_s, analyzer=analyzer)

    def _find_analyzer(self) -> str:
        if self.embedded:
            # Lite has no tokenizer for white space; its standard one takes our words, which hold nothing else, whole.
            return "standard" if _numbers(version("milvus-lite")) >= _LITE else ""
        told = str(self._client.get_server_version(timeout=self._timeout_s))
        return "whitespace" if _numbers(told) >= _SERVER else ""


def _numbers(told: str) -> tuple[int, ...]:
    """The first two numbers of a version such as ``v2.3.5-dev``; none where it has no such form."""
    found = re.search(r"(\d+)\.(\d+)", told)
    return tuple(map(int, found.groups())) if found else ()
