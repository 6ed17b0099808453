"""A batch of files before it goes in: read and cut in a thread of its own, so that the page stays usable."""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.knowledge.chunk import chunk
from engine.knowledge.ingest import read_document
from engine.knowledge.items import IngestItem, items_of, with_members
from engine.knowledge.load import Document
from engine.library.values import ChunkOptions, Preview, PreviewedSource
from engine.model.language import tokens
from engine.model.values import Fault, PassageContext
from engine.people.current_user import with_current_user
from pages.parts.common.following import settled

_log = logging.getLogger(__name__)
_lane = ThreadPoolExecutor(2, thread_name_prefix="preview")


@dataclass(frozen=True, slots=True)
class Batch:
    """Files to put in: uploaded ones, or a path of the machine where the workbench runs."""

    uploads: tuple[IngestItem, ...] = field(default=(), compare=False, repr=False)
    ids: tuple[str, ...] = ()
    """One for each upload: two batches of the same are the same."""
    path: str = ""

    @property
    def empty(self) -> bool:
        return not self.uploads and not self.path.strip()

    def items(self, *, hidden: bool) -> tuple[list[IngestItem], tuple[tuple[str, Fault], ...]]:
        """Every file of it, and what cannot be read with the reason; blocks while a folder is walked.

        ``hidden``: whether hidden content of the files goes in.
        """
        typed = self.path.strip().strip("\"'")
        items, failed = with_members(self.uploads) if self.uploads else items_of([Path(typed).expanduser()])
        return (
            [replace(item, hidden=hidden) for item in items],
            tuple((name, Fault.of(error)) for name, error in failed),
        )


class _Cancelled(Exception):
    """Ends a preview that no one waits for any more."""


@dataclass(frozen=True, slots=True)
class DraftFor:
    """Target collection of a preview, and how its files are read and cut."""

    collection: str
    embedding_model: str
    chunks: ChunkOptions
    hidden: bool = False
    """Whether hidden content of the files goes in."""
    context: PassageContext | None = None
    """Form of context of a new collection."""
    context_model: str = ""
    """What writes its sentences."""


@dataclass(slots=True)
class Draft:
    """A preview that is being made, or is there."""

    batch: Batch
    wanted: DraftFor
    read: int = 0
    """Files read by now."""
    total: int = 0
    """All files; 0 while they are still looked for."""
    source: str = ""
    """The file that is being read."""
    items: tuple[IngestItem, ...] = ()
    failed: tuple[tuple[str, Fault], ...] = ()
    cancelled: bool = False
    future: Future[Preview] | None = field(default=None, repr=False)

    @classmethod
    def start(cls, engine: Engine, batch: Batch, wanted: DraftFor) -> Draft:
        """Begin to read and cut; returns at once."""
        draft = cls(batch, wanted)
        draft.future = _lane.submit(with_current_user(draft._make), engine)
        return draft

    def again(self, engine: Engine, wanted: DraftFor) -> Draft:
        """The same files for other settings."""
        self.cancel()
        return self.start(engine, self.batch, wanted)

    @property
    def done(self) -> bool:
        return self.future is not None and self.future.done()

    @property
    def preview(self) -> Preview | None:
        """None while it is made and where it failed."""
        return settled(self.future)[0]

    @property
    def nothing_goes_in(self) -> bool:
        """True if the preview found no file that is new or changed and can be read, and nothing to record of others."""
        preview = self.preview
        return preview is not None and all(item.same_as and not item.recorded for item in preview.sources)

    @property
    def fault(self) -> Fault | None:
        return settled(self.future)[1]

    def cancel(self) -> None:
        """End it after the file that is being read."""
        self.cancelled = True
        if self.future is not None:
            self.future.cancel()

    def _make(self, engine: Engine) -> Preview:
        items, failed = self.batch.items(hidden=self.wanted.hidden)
        self.items, self.failed, self.total = tuple(items), failed, len(items)
        try:
            return engine.ingestions.preview(
                items,
                self.wanted.collection,
                self.wanted.chunks,
                embedding_model=self.wanted.embedding_model,
                context=self.wanted.context,
                context_model=self.wanted.context_model,
                failed=failed,
                looking=self._look,
            )
        except (WorkbenchError, _Cancelled):
            raise
        except Exception:
            _log.exception("a preview failed")
            raise

    def _look(self, read: int, _total: int, name: str) -> None:
        self.read, self.source = read, name
        if self.cancelled:
            raise _Cancelled


def read_aside(item: IngestItem, limit_mb: float) -> Future[Document]:
    """The document of one file, read in the background, so that a slider can cut it again at once."""
    return _lane.submit(read_document, item, limit_mb)


def cut_again(source: PreviewedSource, document: Document, chunks: ChunkOptions) -> PreviewedSource:
    """A file as these options cut it."""
    passages = tuple(chunk(document, chunks))
    return replace(source, passages=passages, tokens=tuple(round(tokens(item.text)) for item in passages))
