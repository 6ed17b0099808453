"""Collections and their passages: look after, search, map."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from engine.builtin.embedder import HashingEmbedder
from engine.errors import InvalidConfig, StoreError, UnknownCollection
from engine.knowledge.advice import advice
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.graph.keeping import dropped, renamed
from engine.knowledge.passage_map import passage_map
from engine.knowledge.rates import rate_of, usual_rate
from engine.library.values import FoundPassage, GrowthAdvice, JobStatus, PassageMap, ProposedModel
from engine.messages import N_
from engine.model.config import BUILTIN, RunConfig, SearchMethod
from engine.model.loop_thread import LoopThread, on_loop
from engine.model.values import NEW_CONTEXT, SAMPLE_COLLECTION, Passage, PassageContext
from engine.people import WORKBENCH, acting_as, current_user
from engine.people.authorization import authorized, needs
from engine.roles import UNKNOWN_MODEL, CollectionInfo, StoredPassage
from engine.running.evaluations import Evaluations
from engine.running.resources import Resources
from engine.workflows.run_resources import RunResources

_T = TypeVar("_T")
LONGEST_DESCRIPTION = 2000
MOST_FOUND = 100
MAP_HITS = 10
"""Nearest passages that a map shows of a query."""
_OLLAMA_S = 1.0


@authorized
class Library:
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise.

    A collection may be named by an alias wherever it is named, except when it is deleted.
    """

    def __init__(
        self,
        loop: LoopThread,
        resources: Resources,
        jobs: Callable[[], Sequence[JobStatus]],
        evaluations: Evaluations,
        limit_copy: Callable[[str, str], None] = lambda _, __: None,
    ) -> None:
        """``jobs`` tells which ingestions there are: what one writes into is neither renamed nor deleted.

        ``limit_copy`` gets a collection and another name of it, which must be kept from the same people.
        """
        self._evaluations = evaluations
        self._limit_copy = limit_copy
        self._loop = loop
        self._resources = resources
        self._jobs = jobs

    @on_loop
    @needs("editor", log=N_("Collection made"), on=("name",))
    async def create(
        self,
        name: str,
        embedding_model: str = "",
        description: str = "",
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        *,
        context: PassageContext = NEW_CONTEXT,
        context_model: str = "",
    ) -> CollectionInfo:
        """Make an empty collection; an empty model is the setting's, prefixes of None are those known for it.

        ``context_model`` writes its sentences of context in the form ``written``; empty: the extractor of the settings.
        The dimension is learnt from the model, so a model of Ollama must answer. Raises
        ``StoreError.collection_exists``, ``StoreError.alias_taken``, ``StoreError.invalid_collection_name``,
        ``InvalidConfig``, and what the model raises.
        """
        _check_description(description)
        await self._check_free(name)
        given = (embedding_model, query_prefix, passage_prefix, context)
        embedder = await self._knowledge.embedder_into(name, *given, context_model=context_model)
        await embedder.embed_passages(())
        store = await self._knowledge.own_store()
        writer = self._knowledge.context_model(context, context_model)
        await store.create(CollectionInfo.new(name, embedder, description.strip(), context, writer))
        return await store.describe(name)

    @on_loop
    @needs("viewer")
    async def given(self, config: RunConfig, work: Callable[[RunResources], Awaitable[_T]]) -> _T:
        """Run ``work`` with the resources of a run with this config.

        Raises what makes the collection impossible to search, and what ``work`` does.
        """
        resources = self._resources
        retriever = await resources.knowledge.retriever(config.collection, config.milvus_address, config.search)
        return await work(
            RunResources(config, resources.settings, retriever, resources.knowledge, resources.graph_looks)
        )

    @on_loop
    @needs("admin", log=N_("Collection renamed"), on=("collection", "new_name"))
    async def rename(self, collection: str, new_name: str, *, keep_old: bool = True) -> CollectionInfo:
        """Give a collection another name; all that is kept of it goes with it: its graph, memories, drafts and fits.

        Records of earlier runs keep the old name, for they say what was. It stays an alias unless ``keep_old`` is
        False, so that branches of those runs, saved settings and API calls still find the collection. Raises
        ``StoreError.collection_exists``, ``StoreError.alias_taken``, ``StoreError.invalid_collection_name``,
        ``StoreError.foreign_collection``, ``StoreError.samples_stay``, ``StoreError.collection_busy``.
        """
        info = await self._own(collection)
        await self._check_idle(info)
        await self._check_free(new_name)
        await asyncio.to_thread(self._limit_copy, info.name, new_name)
        store = await self._knowledge.own_store()
        async with renamed(self._knowledge.graphs, info.name, new_name):
            found = await store.rename(info.name, new_name, keep_old=keep_old)
        await self._knowledge.memory().rename_collection(info.name, new_name)
        for kept in (self._knowledge.weak_points, self._evaluations.drafts, self._resources.fits):
            await asyncio.to_thread(kept.rename_collection, info.name, new_name)
        return found

    @on_loop
    @needs("admin", log=N_("Alias set"), on=("alias", "collection"))
    async def set_alias(self, alias: str, collection: str) -> CollectionInfo:
        """Let another name lead to a collection, wherever it led before; raises ``StoreError.collection_exists``."""
        info = await self._own(collection, samples=True)
        if alias in [item.name for item in await self._knowledge.collections()]:
            raise StoreError.collection_exists(name=alias)
        await asyncio.to_thread(self._limit_copy, info.name, alias)
        return await (await self._knowledge.own_store()).set_alias(alias, info.name)

    @on_loop
    @needs("admin", log=N_("Alias dropped"))
    async def drop_alias(self, alias: str) -> None:
        """Drop an alias; raises ``StoreError.unknown_alias``."""
        await (await self._knowledge.own_store()).drop_alias(alias)

    @on_loop
    @needs("editor", log=N_("Collection described"), on=("collection",))
    async def set_description(self, collection: str, text: str) -> CollectionInfo:
        """Record what a collection holds, at most 2 000 characters; raises ``InvalidConfig``, ``StoreError``."""
        _check_description(text)
        info = await self._own(collection, samples=True)
        return await (await self._knowledge.own_store()).set_description(info.name, text.strip())

    @on_loop
    @needs("admin", log=N_("Collection deleted"))
    async def drop(self, collection: str) -> None:
        """Delete a collection for good, with its sources, summaries, aliases, graph, open drafts and fits of graders.

        Records of runs, memories, query sets and what was decided about drafts stay, as the user's history. Raises
        ``UnknownCollection``, ``StoreError.alias_taken`` for an alias, ``StoreError.foreign_collection``,
        ``StoreError.samples_stay``, ``StoreError.collection_busy``.
        """
        info = await self._own(collection)
        if info.name != collection:
            raise StoreError.alias_taken(alias=collection, collection=info.name)
        await self._check_idle(info)
        async with dropped(self._knowledge.graphs, collection):
            await (await self._knowledge.own_store()).drop(collection)
        await asyncio.to_thread(self._knowledge.weak_points.delete_all, collection)
        await asyncio.to_thread(self._evaluations.drafts.forget, collection)
        await asyncio.to_thread(self._resources.fits.forget, collection)

    @on_loop
    @needs("viewer")
    async def search(
        self, collection: str, query: str, limit: int = 20, method: SearchMethod = "fused"
    ) -> list[FoundPassage]:
        """Retrieve as a run would, best first, at most 100; raises as a run does, e.g. ``FullTextMissing``."""
        query = self._resources.settings.checked_question(query)
        retriever = await self._knowledge.retriever(collection, method=method)
        found = (await retriever.search(query, max(1, min(limit, MOST_FOUND)))).passages
        stored = {item.id: item for item in await self._knowledge.get(collection, [item.id for item in found])}
        return [_found(item, stored[item.id]) for item in found if item.id in stored]

    @on_loop
    @needs("viewer")
    async def passage_map(self, collection: str, query: str = "", most: int = 2000) -> PassageMap:
        """Place at most ``most`` passages on two axes, with a query and its ten nearest among them where one is given.

        Reads the vectors of all of them: about a second for 2 000. Raises ``UnknownCollection``.
        """
        if not query.strip():
            return await passage_map(self._knowledge, collection, most)
        query = self._resources.settings.checked_question(query)
        info = await self._knowledge.describe(collection)
        vector = await self._knowledge.embedders.of(info).embed_query(query)
        found = await (await self._knowledge.retriever(collection)).search(query, MAP_HITS)
        return await passage_map(self._knowledge, collection, most, vector, [item.id for item in found.passages])

    @on_loop
    @needs("viewer")
    async def embedding_models(self) -> tuple[ProposedModel, ...]:
        """Models that a new collection can be built with here; ``dim`` is 0 where only the model itself knows it."""
        installed = (await self._resources.ollama(patience_s=_OLLAMA_S)).embedders
        files = await self._resources.local_models()
        builtin = self._knowledge.embedders.called(BUILTIN, 0)
        return (
            self._proposed(BUILTIN, builtin.dim),
            *(self._proposed(f"ollama:{name}", dim) for name, dim in installed.items()),
            *(self._proposed(item.role_name, item.embedding_length) for item in files if item.kind == "embedding"),
            self._proposed("hashing", HashingEmbedder().dim),
        )

    @on_loop
    @needs("viewer")
    async def advice(self, collection: str) -> GrowthAdvice | None:
        """Advise on the store for the collection's size; None if it is no trouble."""
        info = await self._knowledge.describe(collection)
        return advice(info, info.address or self._resources.settings.store_uri)

    @property
    def _knowledge(self) -> KnowledgeBase:
        return self._resources.knowledge

    def _proposed(self, model: str, dim: int) -> ProposedModel:
        model_id = self._knowledge.embedders.called(model, dim).model_id
        here = rate_of(self._resources.settings.data_dir, model_id)
        return ProposedModel(model, dim, True, "installed", here or usual_rate(model_id), here is not None)

    async def _check_idle(self, info: CollectionInfo) -> None:
        """Raise ``StoreError`` where a job is writing into the collection, by whichever of its names."""
        jobs = await asyncio.to_thread(self._jobs)
        if any(not job.over and job.collection in (info.name, *info.aliases) for job in jobs):
            raise StoreError.collection_busy(collection=info.name)

    async def _check_free(self, name: str) -> None:
        """Raise unless no collection, connection or alias has the name, one that is kept from who acts included."""
        try:
            with acting_as(WORKBENCH):
                info = await self._knowledge.describe(name)
        except UnknownCollection:
            return
        if info.name == name or not current_user().may_read(info.name, name):
            raise StoreError.collection_exists(name=name)
        raise StoreError.alias_taken(alias=name, collection=info.name)

    async def _own(self, collection: str, *, samples: bool = False) -> CollectionInfo:
        """The collection, if it may be changed; raises ``StoreError`` unless ``samples``."""
        info = await self._knowledge.describe(collection)
        if info.read_only or info.embedding_model == UNKNOWN_MODEL:
            raise StoreError.foreign_collection(name=collection)
        if info.name == SAMPLE_COLLECTION and not samples:
            raise StoreError.samples_stay(collection=info.name)
        return info


def _found(item: Passage, stored: StoredPassage) -> FoundPassage:
    return FoundPassage(
        passage=stored,
        similarity=item.similarity,
        cosine=item.raw_score or 0.0,
        vector_rank=item.vector_rank,
        text_rank=item.text_rank,
        text_score=item.text_score,
    )


def _check_description(text: str) -> None:
    if len(text) > LONGEST_DESCRIPTION or any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidConfig.description(most=LONGEST_DESCRIPTION)
