"""The store of evaluations and the runner of batches of one engine, opened on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.errors import EngineClosed

if TYPE_CHECKING:
    from engine.drafting.store import DraftStore
    from engine.evaluation.annotation.store import DeskStore
    from engine.evaluation.batch import BatchRunner
    from engine.evaluation.case_runs import CaseEngine
    from engine.evaluation.store import EvaluationStore


class Evaluations:
    """Opens each once, whichever thread asks first; most starts of the engine need neither."""

    def __init__(self, engine: CaseEngine, groups_of: Callable[[str], frozenset[str]]) -> None:
        """``groups_of`` says which groups a collection is limited to."""
        self._engine = engine
        self._groups_of = groups_of
        self._guard = threading.Lock()
        self._closed = False
        self._store: EvaluationStore | None = None
        self._drafts: DraftStore | None = None
        self._desk: DeskStore | None = None
        self._batches: BatchRunner | None = None

    @property
    def store(self) -> EvaluationStore:
        """Open the store of evaluations once.

        Raises ``EvaluationError`` where its file cannot be used, ``EngineClosed`` after :meth:`end_batches`.
        """
        with self._guard:
            return self._opened()

    @property
    def drafts(self) -> DraftStore:
        """Open the store of drafted questions once; raises like :attr:`store`."""
        from engine.drafting.store import DraftStore

        with self._guard:
            if self._closed:
                raise EngineClosed()
            if self._drafts is None:
                self._drafts = DraftStore(self._engine.databases.evaluation, self._groups_of)
            return self._drafts

    @property
    def desk(self) -> DeskStore:
        """Open the store of the judging desk once; raises like :attr:`store`."""
        from engine.evaluation.annotation.store import DeskStore

        with self._guard:
            if self._closed:
                raise EngineClosed()
            if self._desk is None:
                self._desk = DeskStore(self._engine.databases.evaluation, self._groups_of)
            return self._desk

    @property
    def batches(self) -> BatchRunner:
        """Return the runner of batches; raises like :attr:`store`."""
        from engine.evaluation.batch import BatchRunner

        with self._guard:
            store = self._opened()
            if self._batches is None:
                self._batches = BatchRunner(self._engine, store)
            return self._batches

    def end_batches(self, timeout_s: float) -> None:
        """Open nothing any more and end the batch that is running; the store stays usable for what it still notes."""
        with self._guard:
            self._closed = True
        if self._batches is not None:
            self._batches.close(timeout_s)

    def close(self) -> None:
        """Let the file go; after :meth:`end_batches`."""
        for store in (self._store, self._drafts, self._desk):
            if store is not None:
                store.close()

    def _opened(self) -> EvaluationStore:
        from engine.evaluation.store import EvaluationStore

        if self._closed:
            raise EngineClosed()
        if self._store is None:
            self._store = EvaluationStore(self._engine.databases.evaluation, self._groups_of)
        return self._store
