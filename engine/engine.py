"""The engine: one per process, with one event loop in a thread of its own that runs every workflow."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from engine.attachments.admission import admitted
from engine.attachments.readers import read_with
from engine.database.databases import Databases
from engine.errors import (
    DataFolderGone,
    HostError,
    RecordError,
    WorkbenchError,
)
from engine.evaluation.grader_fits import GraderFits
from engine.flow import compiled, workflow
from engine.flow.graph import WorkflowGraph, graph_of
from engine.llm.discovery import OllamaStatus
from engine.messages import N_
from engine.model.config import USUAL, RoleModel, RunConfig, WorkflowName
from engine.model.events import Event
from engine.model.loop_thread import LoopThread
from engine.model.noted_faults import NotedFault, NotedFaults
from engine.model.values import Attachment, Chat, Fault, PassageId, RunId, RunRecord
from engine.people import WORKBENCH, acting_as, current_user
from engine.people.authorization import RESULT, authorized, internal, needs
from engine.people.limits import CollectionLimits, PeopleDatabase
from engine.plugins import Inside, Part, opened, room
from engine.records import CHAT
from engine.records.data_folder import DataFolder
from engine.records.store import Filters, RunStore, RunSummary
from engine.replay import WhatIf, what_if
from engine.replay.fork import branch_off
from engine.replay.rejudged import rejudged
from engine.running.condensing import condensed
from engine.running.drafting import Drafting
from engine.running.evaluations import Evaluations
from engine.running.followed_runs import FollowedRuns
from engine.running.graphs import Graphs
from engine.running.ingestions import Ingestions
from engine.running.job_list import JobList
from engine.running.judging import Judging
from engine.running.knowledge_operations import KnowledgeOperations
from engine.running.library import Library
from engine.running.live_runs import LiveRuns
from engine.running.own_judge import own_judge_warnings
from engine.running.resources import Resources
from engine.running.run_lookup import RunLookup
from engine.samples.archive import Archive
from engine.settings import Settings
from engine.system.host import Host

if TYPE_CHECKING:
    from engine.evaluation.batch import BatchRunner
    from engine.evaluation.noise import Regraded
    from engine.evaluation.store import EvaluationStore

_P = TypeVar("_P", bound=Part)
_PATIENCE_S = 0.5
"""How long a page waits to hear whether Ollama is there."""
_CLOSING_S = 10.0
_NOTICED_S = 6.0
"""By then a proxy that asks every two seconds has noticed that this process is about to end."""


@authorized
class Engine(KnowledgeOperations):
    """Runs questions, keeps their records, and looks after the knowledge base; safe to call from any thread.

    ``Engine.open`` returns at once: the knowledge base opens in the background, and what needs it waits for it.
    """

    def __init__(self, settings: Settings, resources: Resources | None = None, *, worker: bool = False) -> None:
        """A ``worker`` does what it is given, and takes over nothing that another process has left."""
        self.settings = settings
        self.worker = worker
        self.instance = uuid.uuid4().hex
        """Tells this engine from any other that may answer at the same address later."""
        self.local_token = secrets.token_urlsafe()
        """By which command lines on this machine, which may read the data folder, are let in while this runs."""
        self.draining = False
        """Whether this process is about to end."""
        self._closing = threading.Lock()
        self._closed = False
        self._faults = NotedFaults()
        self._folder = DataFolder(settings.data_dir)
        self._folder_gone = False
        self._lost: set[str] = set()
        self.databases = Databases.of(settings)
        self._store = RunStore(self.databases.runs, on_fault=self._faults.note, on_over=self._faults.over)
        self.resources = resources or Resources(settings, self.databases)
        self._archive = Archive(self._store)
        self.limits = CollectionLimits(PeopleDatabase(self.databases.people))
        self.resources.knowledge.limit_new = self.limits.limit_new
        self._loop = LoopThread("engine-loop")
        self.grader_fits = GraderFits(self.databases.evaluation, self._loop, self.resources)
        self.ingestions = Ingestions(self._loop, self.resources, self.limits.limit_copy)
        self._runs = LiveRuns(self._loop, self.resources, self._hear, settings.max_concurrent_runs)
        self._followed = FollowedRuns(self._store, self.databases.runs.signals, self._runs.cancel)
        self._any = RunLookup(self._runs, self._followed, self._archive)
        self.graphs = Graphs(self._loop, self.resources, self.ingestions)
        self._evaluations = Evaluations(self, self.limits.groups_of)
        self.library = Library(
            self._loop, self.resources, self.ingestions.jobs, self._evaluations, self.limits.limit_copy
        )
        self.host = Host(self._loop, self.resources, self.ingestions, lambda: self.noted_faults)
        self.drafting = Drafting(self._loop, self.resources, self._evaluations, self.ingestions)
        self.jobs = JobList(self.ingestions, lambda: self.batches)
        self.judging = Judging(self._evaluations)
        self._parts = opened(self, Inside(self._faults, self._loop, self._store))
        self._loop.submit(self._warm_up())

    @classmethod
    @internal
    def open(cls, settings: Settings | None = None) -> Self:
        """Open an engine on embedded defaults, with the sample knowledge base present.

        >>> with Engine.open() as engine:
        ...     print(engine.run("糖尿病能不能治好？").outcome)
        answered
        """
        return cls(settings or Settings.load())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @internal
    def close(self) -> None:
        """Cancel what runs, write what is left, release the knowledge base; a second call does nothing."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        with acting_as(WORKBENCH):
            for part in (self._followed, self.ingestions):
                part.close()
            self._loop.refuse()
            self._runs.close(_CLOSING_S)
            self._evaluations.end_batches(_CLOSING_S)
            self._loop.close(self.resources.close, _CLOSING_S)
            for plugged in self._parts:
                plugged.close()
            self._store.close()
            self._evaluations.close()
        self.databases.close()

    @internal
    def part(self, kind: type[_P]) -> _P | None:
        """Return a plug-in's part by its class; None if the settings do not enable it."""
        return next((part for part in self._parts if isinstance(part, kind)), None)

    def _hear(self, run_id: RunId, event: Event) -> None:
        """Take an event of a run: its record first, then the parts."""
        self._store.append(run_id, event)
        for part in self._parts:
            part.note(run_id, event)

    # -- runs ---------------------------------------------------------------------------------------------------

    @needs("editor", log=N_("Run started"), on=(RESULT,))
    def start(
        self,
        question: str,
        config: RunConfig | None = None,
        *,
        run_id: str | None = None,
        attachments: Sequence[Attachment] = (),
        trial: bool = False,
        chat: Chat | None = None,
    ) -> RunId:
        """Begin a run and return its id at once; one that a ``chat`` led to has the tag ``chat``.

        A ``trial`` is to show what settings do: it recalls nothing that runs of this very question left, and leaves
        nothing behind. Branches are trials, and so are the runs of races, batches and evaluations.

        Without a config it is the default one of the settings. ``run_id`` is for a caller that
        has to know the id before the run exists; it must be unused. ``attachments`` are what :meth:`read_attachment`
        gave, or a person's correction. Raises ``InvalidQuestion``, ``InvalidConfig``, ``AttachmentError`` and
        ``TooManyRuns``.
        """
        config = config or self.settings.defaults_of_runs.of()
        workflow(config.workflow)
        question = self.settings.checked_question(question)
        self._require_folder()
        files = admitted(attachments, config)
        with room(self._parts):
            begun = self._runs.begin(question, config, run_id=run_id, attachments=files, trial=trial, chat=chat)
        if chat is not None:
            # Where nothing can be written, `faults` say so, and the run continues.
            with suppress(RecordError):
                self._store.tag(begun, CHAT)
        return begun

    @needs("editor")
    def condense(self, chat: Chat, config: RunConfig) -> Future[tuple[str, Chat]]:
        """The question that the last message of a chat asks, and the chat with how it was found, for :meth:`start`.

        Cancelling the future ends the call of the chat model that writes it. Raises ``TooManyRuns`` where no run
        may begin, before any model is asked.
        """
        with room(self._parts):
            return self._loop.submit(condensed(chat, config, self.settings))

    @needs("editor", log=N_("Branch started"), on=(RESULT,))
    def fork(
        self,
        parent: str | RunRecord,
        config: RunConfig,
        *,
        round: int | None = None,
        query: str = "",
        verdicts: Mapping[PassageId, bool] | None = None,
    ) -> RunId:
        """Continue from a decision of a finished run under other settings, another query or other verdicts.

        A new run through the same workflow: the rounds before ``round`` stand, and all that was asked before is reused
        (:func:`engine.replay.fork.fork_price` says what is left to pay). Without a round it begins where
        :meth:`what_if` does: at round 0, or where the parent, a branch itself, parted. Raises ``UnknownRun``,
        ``RecordError.run_not_over``, ``RecordError`` and ``TooManyRuns``.
        """
        self._require_folder()
        record = self.record(parent) if isinstance(parent, str) else parent
        self._require_same_readers(record, config)
        longest = self.settings.max_question_chars
        branch = branch_off(
            record, config, round_index=round, query=query, verdicts=verdicts or {}, longest_query=longest
        )
        with room(self._parts):
            return self._runs.begin(record.question, config, branch)

    def _require_same_readers(self, record: RunRecord, config: RunConfig) -> None:
        """Raise ``RecordError`` where an alias leads to a collection by now that others read than that of the run."""
        limited = self.limits.groups_of(record.collection)
        if limited and self.limits.groups_of(self.describe(config.collection).name) != limited:
            raise RecordError.fork_other_setting(field="collection")

    @needs("viewer")
    def warnings_before(self, question: str, config: RunConfig) -> tuple[Fault, ...]:
        """List warnings before a run starts, such as a threshold that no round can reach (QL-08).

        Raises ``UnknownCollection`` and what else makes the run impossible.
        """
        found = self._loop.call(workflow(config.workflow).warnings_before(question, config, self.resources))
        return tuple(Fault.of(item) for item in (*found, *own_judge_warnings(config)))

    @needs("editor")
    def run(
        self, question: str, config: RunConfig | None = None, *, attachments: Sequence[Attachment] = ()
    ) -> RunRecord:
        """Run a question to its end and return its record, regardless of the outcome; raises as :meth:`start` does."""
        run = self._runs.named(self.start(question, config, attachments=attachments))
        run.wait()
        return run.record

    @needs("editor")
    def stream(
        self, question: str, config: RunConfig | None = None, *, attachments: Sequence[Attachment] = ()
    ) -> Iterator[Event]:
        """The same run as typed events; closing the iterator before its end cancels the run.

        >>> for event in engine.stream("糖尿病能不能治好？"):
        ...     if isinstance(event, Decided):
        ...         print(event.decision.route)
        rewrite
        generate
        """
        run = self._runs.named(self.start(question, config, attachments=attachments))
        try:
            yield from run.follow()
        finally:
            self._runs.stop(run)

    @needs("editor")
    def read_attachment(
        self, name: str, data: bytes, config: RunConfig | None = None, *, question: str = ""
    ) -> Attachment:
        """Read an image or a table for a question to come, by what its bytes are; blocks until it is read.

        An image is read by the vision model of ``config``, which looks at it with the question in mind, or by the
        built-in text recognition. What was read may be corrected before it goes into :meth:`start`. Raises
        ``AttachmentError``, ``SourceError`` and ``ModelError``.
        """
        model = config.models.vision if config else RoleModel()
        work = read_with(model, self.settings, self.resources.ollama, name=name, data=data, question=question)
        return self._loop.call(work)

    @needs("editor", log=N_("Run stopped"))
    def cancel(self, run_id: str) -> bool:
        """Stop a run within one step, also one of another replica; False where it had ended. Raises ``UnknownRun``."""
        return self._any.cancel(run_id)

    @needs("viewer")
    def wait(self, run_id: str, timeout_s: float | None = None) -> bool:
        """Block until a run has ended; False where ``timeout_s`` passed first. Raises ``UnknownRun``."""
        return self._any.wait(run_id, timeout_s)

    @needs("viewer")
    def record(self, run_id: str) -> RunRecord:
        """The record of a run, live or stored; raises ``UnknownRun``."""
        return self._any.record(run_id)

    @needs("viewer")
    def reasons_coming(self, record: RunRecord) -> bool:
        """Return whether a run that is over is still given reasons of its verdicts, by this process."""
        run = self._runs.find(record.id)
        return run is not None and run.amending

    @needs("viewer")
    def events(self, run_id: str, after: int = 0) -> Iterator[Event]:
        """Events above sequence number ``after``; follows a live run to its end. Raises ``UnknownRun``."""
        return self._any.events(run_id, after)

    @needs("viewer")
    def aevents(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """:meth:`events` for an event loop, e.g. the web server's."""
        return self._any.aevents(run_id, after)

    @needs("viewer")
    def runs(self, limit: int = 50, **filters: Unpack[Filters]) -> list[RunSummary]:
        """Runs, newest first: at most ``limit`` of those that the filters of ``records.listing.Wanted`` let through."""
        return self._store.list(limit, reader=current_user(), **filters)

    @needs("viewer")
    def run_configs(self, run_ids: Sequence[RunId]) -> dict[RunId, RunConfig]:
        """Settings of stored runs, by id; those that cannot be read are left out."""
        return self._store.configs(run_ids, current_user())

    @needs("editor", log=N_("Tag put on a run"), on=("run_id", "tag"))
    def tag_run(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Put a tag on a run and return all it has then; raises ``RecordError``, ``UnknownRun``."""
        self._archive.require_own(run_id)
        self._require_folder()
        return self._store.tag(run_id, tag)

    @needs("editor", log=N_("Tag taken from a run"), on=("run_id", "tag"))
    def untag_run(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Take a tag from a run and return those left; raises ``RecordError``, ``UnknownRun``."""
        self._archive.require_own(run_id)
        self._require_folder()
        return self._store.untag(run_id, tag)

    @needs("viewer")
    def tags(self) -> dict[str, int]:
        """Count the runs of each tag, in alphabetical order."""
        return self._store.tags(current_user())

    @needs("admin", log=N_("Run deleted"))
    def delete_run(self, run_id: str) -> None:
        """Remove a record; raises ``RecordError`` while it runs or where it is shipped, ``UnknownRun`` for none."""
        self._archive.require_own(run_id)
        self._runs.require_over(run_id)
        self._require_folder()
        self._runs.forget(run_id)
        self._store.delete(run_id)

    @needs("viewer")
    def what_if(self, record: RunRecord, config: RunConfig) -> WhatIf:
        """Return what ``record``'s question would have done under ``config``, without a model call.

        >>> record = engine.run("糖尿病能不能治好？")
        >>> engine.what_if(record, replace(record.config, max_rewrites=0)).outcome
        'abstained'
        """
        own, wanted = record.config.models.grader, config.models.grader
        if wanted.fit == own.fit or wanted.model != own.model:
            return what_if(record, config)
        fits = {fit.id: fit for fit in self.grader_fits.of(record.collection)} if wanted.fit else {}
        return what_if(rejudged(record, wanted, fits), config, record)

    @needs("viewer")
    def flush(self) -> bool:
        """Block until every event so far is in the file of runs; False where it cannot be written at the moment."""
        return self._store.flush()

    @needs("viewer")
    def under_way(self, run_id: str) -> tuple[float, int]:
        """Milliseconds that a live run has taken until now, and the model calls that wait for their end."""
        return self._any.under_way(run_id)

    @needs("viewer")
    def active_runs(self) -> int:
        return self._runs.active()

    @internal
    def drain(self, timeout_s: float) -> bool:
        """Say that this process is about to end, and wait for its runs; False where ``timeout_s`` passed first.

        None is refused meanwhile: a proxy that asks ``/api/ready`` sends new ones to other replicas, after a moment.
        """
        self.draining = True
        end = time.monotonic() + timeout_s
        threading.Event().wait(min(_NOTICED_S, timeout_s))
        return self._runs.wait_idle(max(0.0, end - time.monotonic()))

    # -- opening ------------------------------------------------------------------------------------------------

    @needs("viewer")
    def open_again(self) -> None:
        """Try to open the knowledge base again, in the background."""
        self._loop.submit(self._warm_up())

    async def _warm_up(self) -> None:
        with acting_as(WORKBENCH):
            for fault in await self.resources.warm_up() or ():
                self._faults.note(fault)

    # -- evaluation ---------------------------------------------------------------------------------------------

    @needs("editor")
    def start_regrade(
        self, records: Sequence[RunRecord], times: int, note: Callable[[int], None] | None = None
    ) -> Future[Regraded]:
        """Judge the passages of these runs ``times`` times more, never from the cache; see ``evaluation.regrading``."""
        from engine.evaluation.regrading import begin_regrade

        return begin_regrade(self._loop, self.resources, records, times, note)

    @property
    @needs("viewer")
    def evaluation(self) -> EvaluationStore:
        """Query sets, batches, labels and saved settings; opened when first asked for.

        Raises ``EvaluationError`` where their file cannot be used.
        """
        return self._evaluations.store

    @property
    @needs("viewer")
    def batches(self) -> BatchRunner:
        """The one runner of batches of this process; raises like :attr:`evaluation`."""
        return self._evaluations.batches

    # -- the rest -----------------------------------------------------------------------------------------------

    @needs("viewer")
    def graph(self, name: WorkflowName = USUAL) -> WorkflowGraph:
        """The shape of a workflow, read off its compiled graph."""
        return graph_of(compiled(name))

    @needs("viewer")
    def worst_case_calls(self, config: RunConfig) -> int:
        """Chat-model calls of the longest run this config allows."""
        return workflow(config.workflow).worst_case_calls(config)

    @needs("viewer")
    def ollama(self, *, fresh: bool = False) -> OllamaStatus:
        """Return the state of Ollama on this machine, at most half a minute old unless ``fresh``."""
        return self._loop.call(self.resources.ollama(fresh=fresh, patience_s=None if fresh else _PATIENCE_S))

    @needs("viewer")
    def chat_models(self, *, fresh: bool = False) -> tuple[str, ...]:
        """Chat models that the servers set up here list, for pickers; looked up as :meth:`ollama` is."""
        return self._loop.call(self.resources.chat_models(fresh=fresh, patience_s=None if fresh else _PATIENCE_S))

    @property
    @needs("viewer")
    def faults(self) -> tuple[Fault, ...]:
        """Current faults outside any run, e.g. a full disk: newest last."""
        return tuple(fault for fault in self.noted_faults if not fault.over_since)

    @property
    @needs("viewer")
    def noted_faults(self) -> tuple[NotedFault, ...]:
        """The last fifty with their times, those that are over among them; newest last."""
        with suppress(DataFolderGone):
            self._require_folder()
            self._note_gone()
        return self._faults.all()

    def _note_gone(self) -> None:
        """Note the knowledge base and the databases that were taken away while they were used, each once."""
        lost: dict[str, WorkbenchError] = {
            item.place: HostError.database_gone(path=item.place) for item in self.databases.kept if item.gone
        }
        if (store := self.resources.knowledge.gone) is not None:
            lost[store.params["path"]] = store
        for place in lost.keys() - self._lost:
            self._lost.add(place)
            self._faults.note(lost[place])

    def _require_folder(self) -> None:
        """Raise ``DataFolderGone`` where what is written now would not be found again; noted once."""
        try:
            self._folder.require()
        except DataFolderGone as fault:
            if not self._folder_gone:
                self._folder_gone = True
                self._faults.note(fault)
            raise
