"""The store of evaluations and the runner of batches of one engine, opened when somebody first asks for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from engine.errors import EngineClosed

if TYPE_CHECKING:
    from engine.evaluation.batch import BatchEngine, BatchRunner
    from engine.evaluation.store import EvaluationStore


class Evaluations:
    """Opens each once, whichever thread asks first; most starts of the engine need neither."""

    def __init__(self, engine: BatchEngine) -> None:
        self._engine = engine
        self._guard = threading.Lock()
        self._closed = False
        self._store: EvaluationStore | None = None
        self._batches: BatchRunner | None = None

    @property
    def store(self) -> EvaluationStore:
        """Open the store of evaluations once.

        Raises ``EvaluationError`` where its file cannot be used, ``EngineClosed`` after :meth:`end_batches`.
        """
        with self._guard:
            return self._opened()

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
        if self._store is not None:
            self._store.close()

    def _opened(self) -> EvaluationStore:
        from engine.evaluation.store import EvaluationStore

        if self._closed:
            raise EngineClosed()
        if self._store is None:
            self._store = EvaluationStore(self._engine.settings.data_dir / "evaluation.db")
        return self._store
