"""Jobs of every kind but batches, which outlive a page and a crash."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engine.errors import EngineClosed, JobError, UnknownCollection, UnknownJob, WorkbenchError
from engine.knowledge import preview as previews
from engine.knowledge.items import IngestItem, with_members
from engine.knowledge.job_steps import knowledge_kinds
from engine.knowledge.jobs import Jobs, SharedJobs
from engine.knowledge.manifest import Manifest
from engine.knowledge.milvus_schema import check_new_name
from engine.knowledge.rates import rate_of, usual_rate, writer_of
from engine.knowledge.written_context import price_of
from engine.library.values import DEFAULT_CHUNKS, IN_COLLECTIONS, ChunkOptions, ContextPrice, JobStatus, Preview
from engine.messages import N_
from engine.model.config import RoleModel
from engine.model.loop_thread import LoopThread
from engine.model.values import NEW_CONTEXT, Fault, PassageContext
from engine.people import WORKBENCH, acting_as, current_user
from engine.people.authorization import RESULT, authorized, internal, needs, require_role
from engine.roles import SourceInfo
from engine.roles.graph import Extractor, GraphInfo
from engine.running.resources import Resources

_CLOSING_S = 10.0
_PRICED_SOURCES = 5
"""Sources whose passages are read to say what a collection would cost."""
_log = logging.getLogger(__name__)


@authorized
class Ingestions:
    """Safe to call from any thread; every method blocks until it is done unless it says otherwise."""

    def __init__(
        self,
        loop: LoopThread,
        resources: Resources,
        limit_copy: Callable[[str, str], None] = lambda _, __: None,
    ) -> None:
        """``limit_copy`` gets a collection and the name of its copy, which must be kept from the same people."""
        self._limit_copy = limit_copy
        self._loop = loop
        self._resources = resources
        self.kinds = dict(knowledge_kinds(resources.knowledge, self._extractor))
        """How jobs are done; other parts of the engine add theirs when they are made."""
        self._jobs = Jobs(resources.settings.data_dir, self.kinds)

    @internal
    def share(self, make: Callable[[Jobs, Callable[[str, str], JobStatus]], SharedJobs]) -> None:
        """Share the jobs with other processes from now on.

        ``make`` is given those of this process, and what does ``stop`` or ``resume`` with one of them.
        """
        self._jobs.shared = make(self._jobs, self._run)

    @internal
    def close(self) -> None:
        """Stop what is running; nothing half done is left behind."""
        if self._jobs.shared is not None:
            self._jobs.shared.close()
        try:
            self._loop.submit(self._jobs.close()).result(_CLOSING_S)
        except EngineClosed:
            return
        except Exception:
            _log.exception("the ingestions could not be stopped in order")

    @needs("editor")
    def preview(
        self,
        items: Sequence[IngestItem],
        collection: str,
        chunks: ChunkOptions = DEFAULT_CHUNKS,
        *,
        embedding_model: str = "",
        context: PassageContext | None = None,
        context_model: str = "",
        failed: Iterable[tuple[str, WorkbenchError | Fault]] = (),
        looking: previews.Looking | None = None,
    ) -> Preview:
        """Preview an ingestion; embeds and writes nothing.

        Works in the thread that calls it. ``looking`` gets files read, all files and the next one's name; what it
        raises ends the preview. Raises as :meth:`start` where the collection cannot take passages.
        """
        _require_own_files(items)
        items, unusable = with_members(items)
        knowledge = self._resources.knowledge
        settings = self._resources.settings
        embedder = self._loop.call(knowledge.embedder_into(collection, embedding_model))
        known = {info.name: info for info in self._loop.call(knowledge.collections())}
        there = known.get(collection)
        writer = there.context_model if there else knowledge.context_model(context, context_model)
        present: list[SourceInfo] = self._loop.call(knowledge.sources(collection)) if collection in known else []
        return previews.preview(
            items,
            present,
            chunks,
            context=there.context if there else context or NEW_CONTEXT,
            context_model=writer,
            context_tokens_per_s=rate_of(settings.data_dir, writer_of(writer)),
            limit_mb=settings.max_upload_mb,
            tokens_per_s=rate_of(settings.data_dir, embedder.model_id),
            usual_tokens_per_s=usual_rate(embedder.model_id),
            failed=_faults([*failed, *unusable]),
            looking=looking,
        )

    @needs("editor", log=N_("Files put in"), on=("collection", RESULT))
    def start(
        self,
        items: Sequence[IngestItem],
        collection: str,
        *,
        chunks: ChunkOptions = DEFAULT_CHUNKS,
        embedding_model: str = "",
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        context: PassageContext | None = None,
        context_model: str = "",
        description: str = "",
        failed: Iterable[tuple[str, WorkbenchError | Fault]] = (),
        graph: str = "",
        replace_graph: bool = False,
    ) -> str:
        """Begin an ingestion and return its id as soon as its uploads are on the disk.

        An empty ``embedding_model`` is that of the collection, or of the settings for a new one; prefixes,
        ``context`` and ``description`` are for a new collection, as is ``context_model``, which writes sentences of
        context in the form ``written``: that of the extractor where none is named. ``failed``: what
        :func:`~engine.knowledge.items.items_of` could not read, to be reported with the rest. An unfinished job for the
        very same files on this machine gives way to the new one, which takes over what it has embedded. With ``graph``,
        ``builtin`` or a chat model, a second job then reads it all into the knowledge graph; its id is the first one's
        ``follow_up``. Raises
        ``StoreError.embedding_mismatch``, ``InvalidConfig``, ``StoreError.foreign_collection``,
        ``StoreError.invalid_collection_name``, ``JobError.disk_full``, and without ``replace_graph``
        ``JobError.graph_replaced`` where another extractor has read the graph.
        """
        _require_own_files(items)
        items, unusable = with_members(items)
        if graph:
            self.check_graph(collection, graph, replace=replace_graph)
        knowledge = self._resources.knowledge
        given = (embedding_model, query_prefix, passage_prefix, context)
        self._loop.call(knowledge.embedder_into(collection, *given, context_model=context_model))
        return self.begin(
            Manifest(
                id="",
                kind="ingest",
                collection=collection,
                started_at="",
                owner="",
                items=tuple(items),
                failed=tuple(_faults([*failed, *unusable])),
                chunks=chunks,
                embedding_model=embedding_model,
                query_prefix=query_prefix,
                passage_prefix=passage_prefix,
                context=context,
                context_model=context_model,
                description=description,
                graph=graph,
            )
        )

    @needs("editor")
    def check_graph(self, collection: str, extractor: str, *, replace: bool = False) -> None:
        """Raise ``InvalidConfig`` for no model, ``JobError`` where the graph of another would be thrown away."""
        RoleModel(extractor)
        has = self._loop.call(self._graph_of(collection))
        if has is not None and has.passages and has.extractor != extractor and not replace:
            raise JobError.graph_replaced(collection=has.collection, has=has.extractor, wanted=extractor)

    async def _graph_of(self, collection: str) -> GraphInfo | None:
        knowledge = self._resources.knowledge
        try:
            return await knowledge.graphs.describe((await knowledge.describe(collection)).name)
        except UnknownCollection:
            return None

    @needs("editor", log=N_("Knowledge graph begun"), on=("collection", RESULT))
    def start_graph(self, collection: str, extractor: str) -> str:
        """Begin to build a knowledge graph; :meth:`engine.running.graphs.Graphs.build` says what is checked before.

        Raises ``UnknownCollection``.
        """
        self._loop.call(self._resources.knowledge.describe(collection))
        return self.begin(Manifest("", "graph", collection, "", "", graph=extractor))

    @needs("admin", log=N_("Collection embedded again"), on=("collection", "new_name", "model"))
    def start_reembed(
        self,
        collection: str,
        new_name: str,
        model: str,
        *,
        switch: bool = False,
        context: PassageContext | None = None,
        context_model: str = "",
    ) -> str:
        """Begin to embed a collection's passages again into a new collection; returns the job's id.

        With another model, another form of context, or both; without a ``context`` the form stays. Sentences
        in the form ``written`` are by ``context_model``, that of the extractor where none is named. With ``switch`` the
        new collection takes the name of the old one at the end. Raises ``UnknownCollection``,
        ``StoreError.invalid_collection_name``, ``InvalidConfig`` for a model that writes no context.
        """
        info = self._loop.call(self._resources.knowledge.describe(collection))
        check_new_name(new_name)
        form = context or info.context
        same = form == info.context and context_model in ("", info.context_model)
        writer = info.context_model if same else self._resources.knowledge.context_model(form, context_model)
        self._limit_copy(info.name, new_name)
        wanted = Manifest("", "reembed", new_name, "", "", embedding_model=model, context=form, context_model=writer)
        return self.begin(replace(wanted, origin=collection, switch=switch))

    @needs("viewer")
    def context_price(self, collection: str, model: str) -> ContextPrice:
        """The price of sentences of context by a chat model for a collection that has none of it.

        Raises ``UnknownCollection``, and ``InvalidConfig`` for a model that writes none.
        """
        knowledge = self._resources.knowledge
        info = self._loop.call(knowledge.describe(collection))
        writer = knowledge.context_model("written", model)
        few = [item.source for item in self._loop.call(knowledge.sources(info.name))[:_PRICED_SOURCES]]
        sampled = [self._loop.call(knowledge.passages(info.name, source)) for source in few]
        rate = rate_of(self._resources.settings.data_dir, writer_of(writer))
        return price_of(writer, info.passages, sampled, rate)

    @needs("editor", log=N_("Search by words added"), on=("collection",))
    def start_add_full_text(self, collection: str) -> str:
        """Begin to make a collection of an earlier version searchable by words; returns the job's id."""
        self._loop.call(self._resources.knowledge.describe(collection))
        return self.begin(Manifest("", "add_full_text", collection, "", ""))

    @internal
    def begin(self, wanted: Manifest) -> str:
        """Begin a job that was checked and that the current user may do; returns its id, which may be given."""
        # In the caller's thread: uploads may be large, and the loop runs everybody's questions.
        kept = self._jobs.kept(wanted)
        return self._loop.call(self._jobs.begin(kept))

    @needs("viewer")
    def jobs(self) -> tuple[JobStatus, ...]:
        """Jobs that write into collections, newest first: all that are not done, and the last twenty that are."""
        return tuple(job for job in self.every() if job.kind in IN_COLLECTIONS)

    @needs("viewer")
    def every(self) -> tuple[JobStatus, ...]:
        """Jobs of every kind but batches, as :meth:`jobs` lists them."""
        return self._readable((self._jobs.shared or self._jobs).all())

    @internal
    def here(self) -> tuple[JobStatus, ...]:
        """List the jobs of this process alone, where replicas share them."""
        return self._jobs.all()

    @needs("viewer")
    def job(self, job_id: str) -> JobStatus:
        """Return a job by its id; raises ``UnknownJob``."""
        found = self._readable(((self._jobs.shared or self._jobs).status(job_id),))
        if not found:
            raise UnknownJob(job=job_id)
        return found[0]

    @needs("viewer")
    def wait(self, job_id: str, timeout_s: float | None = None) -> JobStatus:
        """The status once the job is over, or after ``timeout_s``; raises ``UnknownJob``."""
        self.job(job_id)
        return (self._jobs.shared or self._jobs).wait(job_id, timeout_s)

    @needs("editor", log=N_("Job stopped"))
    def stop(self, job_id: str) -> JobStatus:
        """End a job between two batches; what is written stays, and it can be resumed. Raises ``UnknownJob``."""
        self._require_changeable(job_id)
        return self._jobs.shared.stop(job_id) if self._jobs.shared is not None else self._run("stop", job_id)

    @needs("editor", log=N_("Job resumed"))
    def resume(self, job_id: str) -> JobStatus:
        """Continue a job that was stopped, failed or interrupted, as if it had never been.

        Files that were read already count as they were read then. Raises ``UnknownJob``, ``JobError``,
        ``JobDamaged``.
        """
        self._require_changeable(job_id)
        return self._jobs.shared.resume(job_id) if self._jobs.shared is not None else self._run("resume", job_id)

    @needs("editor", log=N_("Job forgotten"))
    def discard(self, job_id: str) -> None:
        """Forget a job that is over; what it put into the collection stays. Raises ``UnknownJob``, ``JobError``."""
        self._require_changeable(job_id)
        if self._jobs.shared is None or not self._jobs.shared.discard(job_id):
            self._loop.call(self._jobs.discard(job_id))

    def _require_changeable(self, job_id: str) -> None:
        """Raise ``UnknownJob``, and ``NotAllowed`` for the download of a model, which is for admins."""
        if self.job(job_id).kind == "pull":
            require_role(current_user(), "admin")

    def _run(self, action: str, job_id: str) -> JobStatus:
        return self._loop.call(self._jobs.stop(job_id) if action == "stop" else self._jobs.resume(job_id))

    def _readable(self, jobs: tuple[JobStatus, ...]) -> tuple[JobStatus, ...]:
        """Those of the jobs whose collection is not kept from who acts; one that is not there yet has only its name."""
        person = current_user()
        if person.reads_all or not jobs:
            return jobs
        own_name = self._loop.call(self._own_names())
        return tuple(
            job
            for job in jobs
            if job.kind == "pull" or person.may_read(own_name.get(job.collection, job.collection), job.collection)
        )

    async def _own_names(self) -> dict[str, str]:
        """The own name of every collection, by each of its names."""
        with acting_as(WORKBENCH):
            infos = await self._resources.knowledge.collections()
        return {name: info.name for info in infos for name in (info.name, *info.aliases)}

    def _extractor(self, name: str) -> Extractor:
        from engine.llm.extractor import make_extractor

        return make_extractor(RoleModel(name), self._resources.settings)


def _require_own_files(items: Iterable[IngestItem]) -> None:
    """Raise ``NotAllowed`` where files are named by a path of this machine, which is for its admins."""
    if any(item.data is None for item in items):
        require_role(current_user(), "admin")


def _faults(failed: Iterable[tuple[str, WorkbenchError | Fault]]) -> list[tuple[str, Fault]]:
    return [(name, fault if isinstance(fault, Fault) else Fault.of(fault)) for name, fault in failed]
