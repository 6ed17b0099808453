"""Retrieval from one collection by vectors, words or both; similarities mean the same for every model and store."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import assert_never, cast, get_args

import numpy as np

from engine.builtin.full_text import SEGMENTING
from engine.errors import FullTextMissing, StoreError
from engine.flow.context import Retrieval, SectionRetrieval
from engine.model.config import Expand, SearchMethod
from engine.model.language import language_of
from engine.model.surroundings import REACH, Sources
from engine.model.values import FoundSection, Language, Passage, PassageId, QueryKind, SourceKind, Surrounding
from engine.retrieval.reciprocal import (
    FOREIGN_TEXT_WEIGHT,
    TEXT_WEIGHT,
    by_both_queries,
    by_reciprocal_rank,
    search_depth,
)
from engine.retrieval.similarity import Calibration
from engine.roles import ANYWHERE, CollectionInfo, Embedder, Hit, PassageReader, StoredPassage, Stretch, Vector, Within

MOST_SECTIONS = 5
"""Summaries whose passages a hierarchical search looks at."""
MOST_COUNTED = 50_000
_SAMPLED = 50
_NEAREST = 5
"""Hits that say in which language a query finds its passages: few enough not to depend on how many are asked for."""
_KEYS = ("dated", "date", "published", "published_at", "updated", "updated_at", "timestamp")
"""Names under which sources and other programs keep a date; when a source was ingested says nothing about its age."""
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")


class CollectionRetriever:
    """Embeds a query with the collection's own model and searches the store (SC-02, SC-09).

    Similarity is that of the vectors no matter what found a passage: by words or by both, only the order is another.
    """

    def __init__(
        self,
        store: PassageReader,
        embedder: Embedder,
        collection: CollectionInfo,
        calibration: Calibration,
        method: SearchMethod = "vector",
    ) -> None:
        self._method = method
        self._store = store
        self._embedder = embedder
        self._collection = collection
        self._calibration = calibration
        others = tuple(kind for kind in collection.kinds if kind != "graph")
        # Entity notes repeat in a line each what other sources say: next to these they would only take their places.
        self.within: Within = Within(kinds=others) if others and len(others) < len(collection.kinds) else ANYWHERE
        self._queries: dict[str, Vector] = {}
        self._embedding: dict[str, asyncio.Lock] = {}

    @classmethod
    def checked(
        cls,
        store: PassageReader,
        embedder: Embedder,
        collection: CollectionInfo,
        calibration: Calibration,
        method: SearchMethod = "vector",
    ) -> CollectionRetriever:
        """Make a retriever of a collection that the embedder can search.

        Raises ``StoreError.embedding_mismatch`` naming both models where vectors of the two would not be comparable,
        and ``FullTextMissing`` where words alone are to be searched that the collection does not have; where both
        are, it is searched by vectors, and the manifest says so.
        """
        if (embedder.model_id, embedder.dim) != (collection.embedding_model, collection.dim):
            raise StoreError.embedding_mismatch(
                collection=collection.name,
                built_with=f"{collection.embedding_model} ({collection.dim} dimensions)",
                offered=f"{embedder.model_id} ({embedder.dim} dimensions)",
            )
        if not collection.full_text:
            if method == "full_text":
                raise FullTextMissing.of(collection=collection.name)
            method = "vector"
        return cls(store, embedder, collection, calibration, method)

    @property
    def parts(self) -> tuple[PassageReader, Embedder, CollectionInfo, Calibration]:
        """Parts for tests of the scores."""
        return self._store, self._embedder, self._collection, self._calibration

    @property
    def manifest(self) -> dict[str, str]:
        """Description of the searched collection and of the search, for a record."""
        info = self._collection
        # Passages were cut by the rules of when they were written, a query is by those of now.
        cut = {} if self._method == "vector" else {"passage_words": info.segmenting, "query_words": SEGMENTING}
        return {
            "search": self._method,
            **cut,
            "collection": info.name,
            "collection_fingerprint": info.fingerprint,
            "collection_passages": str(info.passages),
            "embedding_model": info.embedding_model,
            "dimension": str(info.dim),
            "query_prefix": info.query_prefix,
            "passage_prefix": info.passage_prefix,
            "context": info.context,
            **({"context_model": info.context_model} if info.context_model else {}),
        }

    async def search(self, query: str, limit: int) -> Retrieval:
        """Return at most ``limit`` passages, best first; fewer where the collection has fewer.

        Notes on entities, the kind ``graph``, are left out unless the collection has nothing else.
        """
        return await self._search(query, limit, self.within)

    async def search_both(self, query: str, translated: str, limit: int, main: QueryKind = "translated") -> Retrieval:
        """Return at most ``limit`` passages, best first, of what a query and its translation find.

        One that the translation found has its similarity, which two texts of one language are measured by.
        """
        depth = search_depth(limit)
        asked, other = await asyncio.gather(self.search(query, depth), self.search(translated, depth))
        both = by_both_queries(asked.passages, other.passages, limit, main)
        return replace(
            asked,
            passages=tuple(item for item, _ in both),
            found_by={item.id: ranks for item, ranks in both},
            translated_floor=other.floor,
            translated_anchors=other.anchors,
        )

    async def languages(self) -> Mapping[Language, int]:
        """Count some passages from all over the collection by the language that they are in, the commonest first.

        None are looked at in a collection with more than :data:`MOST_COUNTED`, whose ids take long to read.
        """
        if self._collection.passages > MOST_COUNTED:
            return {}
        ids = await self._store.ids(self._collection.name)
        some = await self._store.get(self._collection.name, ids[:: max(1, len(ids) // _SAMPLED)])
        return dict(Counter(written_in(item) for item in some).most_common())

    async def kinds(self) -> tuple[SourceKind, ...]:
        """Source kinds that the collection has passages of, in the order of ``SOURCE_KINDS``."""
        return self._collection.kinds

    async def search_kind(self, query: str, kind: SourceKind, limit: int) -> Retrieval:
        """Return at most ``limit`` passages of one source kind, best first (QL-03)."""
        return await self._search(query, limit, Within(kinds=(kind,)))

    async def has_summaries(self) -> bool:
        """Return whether the collection has summaries of its sources, which a hierarchical search begins with."""
        return self._collection.summaries > 0

    async def search_sections(self, query: str, limit: int) -> SectionRetrieval:
        """Return at most ``limit`` passages, best first, of the sections whose summaries come nearest (DL-03).

        A source as a whole may be among the sections; nothing is found where the collection has no summaries. Notes on
        entities are left out as in :meth:`search`.
        """
        vector = await self._embed(query)
        hits = await self._store.search_summaries(self._collection.name, vector, MOST_SECTIONS, self.within)
        floor = self._calibration.floor(vector, _language_near(query, hits)).value
        sections = tuple(
            FoundSection(
                source=hit.passage.source,
                section=hit.passage.section,
                summary=hit.passage.text,
                similarity=self._calibration.similarity(hit.cosine, floor),
            )
            for hit in hits
        )
        if not sections:
            return SectionRetrieval((), self._retrieval(query, vector, ()))
        within = Within(sections=tuple((item.source, item.section) for item in sections))
        return SectionRetrieval(sections, await self._search(query, limit, within))

    async def measured(
        self, query: str, stored: Sequence[StoredPassage], known: dict[tuple[str, str], Vector] | None = None
    ) -> Retrieval:
        """Passages that no store holds, such as web results, with their similarity to the query, best first.

        Each is embedded with the collection's model and form of context, so that its similarity means what it means
        everywhere (SC-09); vectors that are ``known`` by model and text are not made again, and new ones are added.
        """
        known = {} if known is None else known
        vector = await self._embed(query)
        model = f"{self._embedder.model_id} {self._embedder.passage_prefix}"
        texts = [item.searched(self._collection.context) for item in stored]
        fresh = list(dict.fromkeys(text for text in texts if (model, text) not in known))
        if fresh:
            for text, row in zip(fresh, await self._embedder.embed_passages(fresh), strict=True):
                known[model, text] = row
        hits = [Hit(item, float(np.dot(vector, known[model, text]))) for item, text in zip(stored, texts, strict=True)]
        return self._retrieval(query, vector, sorted(hits, key=lambda hit: -hit.cosine))

    async def these(self, query: str, ids: Sequence[PassageId]) -> Retrieval:
        """Passages that something else led to, by id, with their similarity to the query, most similar first.

        Ids that the collection does not have are left out, and notes on entities as in :meth:`search`.
        """
        vector = await self._embed(query)
        stored, vectors = await asyncio.gather(
            self._store.get(self._collection.name, ids), self._store.vectors(self._collection.name, ids)
        )
        wanted = [item for item in stored if not self.within.kinds or item.kind in self.within.kinds]
        hits = [Hit(item, float(np.dot(vector, vectors[item.id]))) for item in wanted if item.id in vectors]
        return self._retrieval(query, vector, sorted(hits, key=lambda hit: (-hit.cosine, hit.passage.id)))

    async def around(self, passages: Sequence[Passage], expand: Expand) -> list[Surrounding]:
        """What passages of the collection bring along from their sources, in one read."""
        reach = REACH[expand]
        wanted = [Stretch(item.source, item.ordinal - reach, item.ordinal + reach) for item in passages]
        stored = await self._store.stretches(self._collection.name, wanted)
        read = [Surrounding(item.id, item.source, item.text, item.section, item.title, item.ordinal) for item in stored]
        sources = Sources(passages, read)
        near = {item.id: item for passage in passages for item in sources.near(passage, expand)}
        return list(near.values())

    async def nearness(self, query: str, vectors: Vector) -> list[tuple[float, float]]:
        """Similarity and cosine to the query of texts that the collection's model made vectors of, shape (n, dim)."""
        vector = await self._embed(query)
        floor = self._calibration.floor(vector, language_of(query)).value
        cosines = [float(np.dot(vector, row)) for row in vectors]
        return [(self._calibration.similarity(cosine, floor), cosine) for cosine in cosines]

    async def similarity_of(self, question: str, passages: Sequence[Passage]) -> list[float]:
        """Similarity of each passage to the question as asked, whichever query found it.

        A grader must give one passage one verdict in every round, so it may not look at the score of a rewrite.
        """
        vector = await self._embed(question)
        vectors = await self._store.vectors(self._collection.name, [passage.id for passage in passages])
        return [
            self._calibration.similarity(
                float(np.dot(vector, vectors[passage.id])),
                self._calibration.floor(vector, language_of(passage.text)).value,
            )
            if passage.id in vectors
            else passage.similarity
            for passage in passages
        ]

    async def _search(self, query: str, limit: int, within: Within) -> Retrieval:
        vector = await self._embed(query)
        name = self._collection.name
        match self._method:
            case "vector":
                return self._retrieval(query, vector, await self._store.search(name, vector, limit, within))
            case "full_text":
                found = await self._store.search_text(name, query, vector, search_depth(limit), within)
                return _ranked(self._retrieval(query, vector, found[:limit]))
            case "fused":
                depth = search_depth(limit)
                near, found = await asyncio.gather(
                    self._store.search(name, vector, depth, within),
                    self._store.search_text(name, query, vector, depth, within),
                )
                by_vector, by_words = (self._retrieval(query, vector, hits, near) for hits in (near, found))
                fused = by_reciprocal_rank(by_vector.passages, by_words.passages, limit, _text_weight(query, near))
                return replace(by_vector, passages=fused)
            case _:
                assert_never(self._method)

    def _retrieval(
        self, query: str, vector: Vector, hits: Sequence[Hit], near: Sequence[Hit] | None = None
    ) -> Retrieval:
        """The hits with their similarities; the nearest ones, ``near``, say which language they are measured by."""
        floor = self._calibration.floor(vector, _language_near(query, hits if near is None else near))
        passages = tuple(passage_of(hit, self._calibration.similarity(hit.cosine, floor.value)) for hit in hits)
        return Retrieval(passages=passages, floor=floor.value, anchors=floor.anchors)

    async def _embed(self, text: str) -> Vector:
        # One run asks for the question's vector in every round, and for that of a query once for each kind of source,
        # at the same time.
        async with self._embedding.setdefault(text, asyncio.Lock()):
            if text not in self._queries:
                self._queries[text] = await self._embedder.embed_query(text)
        return self._queries[text]


def written_in(stored: StoredPassage) -> Language:
    """The language of a passage, as ingestion knew it."""
    known = stored.meta.get("language")
    return cast(Language, known) if known in get_args(Language) else language_of(stored.text)


def passage_of(hit: Hit, similarity: float) -> Passage:
    stored = hit.passage
    return Passage(
        id=stored.id,
        source=stored.source,
        text=stored.text,
        similarity=similarity,
        raw_score=hit.cosine,
        section=stored.section,
        title=stored.title,
        ordinal=stored.ordinal,
        dated=dated(stored),
        text_score=hit.text_score,
        context=stored.context,
        written=stored.written,
    )


def _language_near(query: str, hits: Sequence[Hit]) -> Language:
    """The language that most of the first hits are in, that of the query where as many are.

    A question in another language is no nearer to unrelated passages than one in theirs (SC-09).
    """
    counted = Counter([written_in(hit.passage) for hit in hits[:_NEAREST]])
    own = language_of(query)
    return max(counted, key=lambda language: (counted[language], language == own), default=own)


def _text_weight(query: str, near: Sequence[Hit]) -> float:
    """What words count for: another share where most passages near a query are in another language."""
    own = language_of(query)
    foreign = 2 * sum(written_in(hit.passage) != own for hit in near) > len(near)
    return FOREIGN_TEXT_WEIGHT.get(own, TEXT_WEIGHT) if foreign else TEXT_WEIGHT


def _ranked(found: Retrieval) -> Retrieval:
    """Hits by words with their places among themselves."""
    return replace(
        found, passages=tuple(replace(item, text_rank=place) for place, item in enumerate(found.passages, start=1))
    )


def dated(stored: StoredPassage) -> str:
    """ISO 8601 date; of a dated history that of the entry's heading. Empty where there is none, or none to be read."""
    given = next((str(stored.meta[key]) for key in _KEYS if stored.meta.get(key)), "")
    text = given or (stored.section if stored.kind == "temporal" else "")
    for pattern in (_ISO, _CHINESE):
        if found := pattern.search(text):
            return _iso(*found.groups())
    return ""


def _iso(year: str, month: str, day: str) -> str:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""
