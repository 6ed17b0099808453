"""Long work that a page starts and watches: it continues when the page is left, and stops when asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field

from engine.engine import Engine
from engine.knowledge.ingest import IngestItem, IngestReport, Progress


@dataclass(slots=True)
class IngestJob:
    """One ingestion in the background; ``progress`` is replaced as it is running."""

    collection: str
    progress: Progress | None = None
    future: Future[IngestReport] | None = None
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def start(
        cls,
        engine: Engine,
        items: Sequence[IngestItem],
        collection: str,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> IngestJob:
        job = cls(collection)
        job.future = engine.start_ingest(items, collection, job._note, query_prefix, passage_prefix)
        return job

    def stop(self) -> None:
        if self.future is not None:
            self.future.cancel()

    @property
    def done(self) -> bool:
        return self.future is not None and self.future.done()

    @property
    def report(self) -> IngestReport | None:
        """None while it runs, where it was stopped, and where it failed."""
        if self.future is None or not self.done or self.future.cancelled() or self.future.exception() is not None:
            return None
        return self.future.result()

    @property
    def fault(self) -> BaseException | None:
        if self.future is None or not self.done or self.future.cancelled():
            return None
        try:
            return self.future.exception()
        except CancelledError:
            return None

    def _note(self, progress: Progress) -> None:
        with self._guard:
            self.progress = progress
