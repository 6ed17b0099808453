"""The operations of an engine on its knowledge base and on long-term memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Literal, TypedDict, Unpack, get_args

from engine.errors import StoreError
from engine.knowledge.ingest import IngestItem, IngestReport, Progress
from engine.knowledge.weak_points import WeakPoints
from engine.library.values import ChunkOptions
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.loop_thread import LoopThread
from engine.model.values import Fault, Memory, PassageContext, SourceKind
from engine.people import current_user
from engine.people.authorization import internal, needs, require_role
from engine.people.limits import CollectionLimits
from engine.roles import CollectionInfo, SourceInfo, StoredPassage
from engine.running.resources import Resources

Loaded = Literal["knowledge_base", "workflow"]


class IngestOptions(TypedDict, total=False):
    """How files are put into a collection."""

    query_prefix: str | None
    passage_prefix: str | None
    chunks: ChunkOptions
    embedding_model: str
    context: PassageContext | None


class KnowledgeOperations:
    """What an engine can do with collections, their sources, and what its runs remember."""

    resources: Resources
    limits: CollectionLimits
    _loop: LoopThread

    @internal
    def wait_until_ready(self) -> None:
        """Block until a question can be answered; raises what kept the store from opening."""
        self._loop.call(self.resources.knowledge.ready())
        self._loop.call(self.resources.load_workflow())

    @property
    @internal
    def ready(self) -> bool:
        """True if a question can be answered without a wait for what a start loads; never blocks."""
        return not self.loading

    @property
    @internal
    def loading(self) -> tuple[Loaded, ...]:
        """Parts that the first question would still wait for; never blocks."""
        there = {"knowledge_base": self.resources.knowledge.is_open, "workflow": self.resources.workflow_loaded}
        return tuple(name for name in get_args(Loaded) if not there[name])

    @property
    @needs("viewer")
    def opening_fault(self) -> Fault | None:
        """Fault that keeps the knowledge base closed, until :meth:`open_again` tries again."""
        error = self.resources.knowledge.opening_error
        return Fault.of(error) if error is not None else None

    @property
    @needs("viewer")
    def unopened(self) -> Fault | None:
        """Last fault of opening the knowledge base, also while another attempt runs."""
        error = self.resources.knowledge.last_error
        return Fault.of(error) if error is not None else None

    @needs("viewer")
    def collections(self) -> list[CollectionInfo]:
        return self._loop.call(self.resources.knowledge.collections())

    @needs("viewer")
    def describe(self, collection: str) -> CollectionInfo:
        """Describe a collection; raises ``UnknownCollection``."""
        return self._loop.call(self.resources.knowledge.describe(collection))

    @needs("viewer")
    def sources(self, collection: str) -> list[SourceInfo]:
        return self._loop.call(self.resources.knowledge.sources(collection))

    @needs("viewer")
    def passages(self, collection: str, source: str) -> list[StoredPassage]:
        return self._loop.call(self.resources.knowledge.passages(collection, source))

    @needs("admin", log=N_("Source deleted"), on=("collection", "source"))
    def delete_source(self, collection: str, source: str) -> int:
        """Remove a source's passages; returns how many."""
        return self._loop.call(self.resources.knowledge.delete_source(collection, source))

    @needs("admin", log=N_("Query prefix changed"), on=("collection", "prefix"))
    def set_query_prefix(self, collection: str, prefix: str) -> CollectionInfo:
        """Change what is put before queries of a collection; ``InvalidConfig`` where its model has a fixed prefix."""
        return self._loop.call(self.resources.knowledge.set_query_prefix(collection, prefix))

    @needs("admin", log=N_("Collection limited to groups"), on=("collection", "groups"))
    def limit_collection(self, collection: str, groups: Sequence[str]) -> None:
        """Let only people of some groups, and admins, read a collection; no group: all.

        Raises ``NotAllowed.sign_in_off``.
        """
        info = self.describe(collection)
        self.limits.limit((info.name, *info.aliases), groups)

    @needs("editor")
    def ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: Callable[[Progress], None] | None = None,
        **options: Unpack[IngestOptions],
    ) -> IngestReport:
        """Put files into a collection, making it where missing; bad files are named and the others go in.

        Prefixes are for a new collection with a model of Ollama; None takes those known for the model. An empty
        ``embedding_model`` is that of the collection, or of the settings for a new one; ``context`` is the form of
        context of a new one. Raises ``InvalidConfig`` where others are fixed already. :attr:`ingestions` does the same
        as a job that can be stopped and resumed.
        """
        return self.start_ingest(items, collection, progress, **options).result()

    @needs("editor", log=N_("Files put in"), on=("collection",))
    def start_ingest(
        self,
        items: Sequence[IngestItem],
        collection: str,
        progress: Callable[[Progress], None] | None = None,
        **options: Unpack[IngestOptions],
    ) -> Future[IngestReport]:
        """:meth:`ingest` in the background; cancelling the future leaves no half source behind."""
        if any(item.data is None for item in items):
            require_role(current_user(), "admin")  # a path is one of this machine's own disk
        return self._loop.submit(self.resources.knowledge.ingest(items, collection, progress, **options))

    @needs("viewer")
    def source_kinds(self, collection: str) -> tuple[SourceKind, ...]:
        """Kinds of sources that a run finds in a collection; raises ``UnknownCollection``."""
        return self._loop.call(self.resources.source_kinds(RunConfig(collection=collection)))

    @needs("viewer")
    def memories(self) -> list[Memory]:
        """List the entries of long-term memory, passed and failed answers, newest first; raises ``StoreError``."""
        found = self._loop.call(self.resources.knowledge.memory().list())
        return [item for item in found if current_user().may_read(item.collection)]

    @needs("admin", log=N_("Memory forgotten"))
    def forget_memory(self, memory_id: str) -> None:
        """Remove one memory for good; raises ``StoreError.unknown_memory`` where there is none of that id."""
        if not self._loop.call(self.resources.knowledge.memory().forget(memory_id)):
            raise StoreError.unknown_memory(memory=memory_id)

    @needs("admin", log=N_("Every memory forgotten"))
    def forget_every_memory(self) -> int:
        """Remove all memories for good, passed and failed; returns how many there were."""
        return self._loop.call(self.resources.knowledge.memory().forget_all())

    @property
    @needs("viewer")
    def weak_points(self) -> WeakPoints:
        """The history of weak points, which runs fill; its calls raise ``RunError.weak_points_unusable``."""
        return self.resources.knowledge.weak_points
