"""Progress of an ingestion: counted while it runs, returned as plain values."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from engine.knowledge.journal import Entry
from engine.model.values import Fault, SourceNote

_WINDOW_S = 30.0
"""The rate is that of the last half minute: long enough to be steady, short enough to follow the machine's load."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Result for every item of one ingestion."""

    added: tuple[str, ...]
    skipped_duplicates: tuple[tuple[str, str], ...]
    """Item and the source that has the same content."""
    replaced: tuple[str, ...]
    failed: tuple[tuple[str, Fault], ...]
    passages: int
    """Passages written."""
    seconds: float
    notes: tuple[tuple[str, SourceNote], ...] = ()
    """What a reader should know of files that went in."""
    unreadable: int = 0
    """Passages for which a chat model wrote no sentence that could be used: they stand under their headings alone."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values: names of sources, and for each failed item its code, fact and remedy."""
        return {
            "added": list(self.added),
            "skipped": [{"name": name, "same_as": same} for name, same in self.skipped_duplicates],
            "replaced": list(self.replaced),
            "failed": [{"name": name, **fault.said()} for name, fault in self.failed],
            "notes": [{"name": name, "code": note.code, "params": note.params} for name, note in self.notes],
            "passages": self.passages,
            "unreadable": self.unreadable,
            "seconds": round(self.seconds, 3),
        }


NOTHING = IngestReport((), (), (), (), 0, 0.0)


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Counts of a graph under construction."""

    entities: int = 0
    relationships: int = 0
    communities: int = 0
    unreadable: int = 0
    """Passages of which the reply could not be read."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an ingestion."""

    done: int
    total: int
    """Passages to embed, duplicates and unusable files left out; 0 while files are read."""
    per_second: float
    remaining_s: float | None
    """None before the first batch."""
    source: str
    """The source being worked on."""
    state: Literal[
        "reading",
        "describing",
        "embedding",
        "writing",
        "extracting",
        "summarising",
        "indexing",
        "measuring",
        "downloading",
    ] = "embedding"
    files_done: int = 0
    """Files read, and from then on those of which it is known what became of them."""
    report: IngestReport = NOTHING
    """So far."""
    files: int = 0
    """Files, or sources, to work on."""
    graph: GraphCounts | None = None
    """Of the building of a graph."""


class Pace:
    """Counts files and passages, and reports progress."""

    def __init__(
        self, report: Callable[[Progress], None] | None, failed: Iterable[tuple[str, Fault]] = (), files: int = 0
    ) -> None:
        """``files`` to work on, where it is known already; ``failed`` among them: nothing can be done with those."""
        self._report = report
        self._began = time.monotonic()
        self._files = files
        self._failed_before = tuple(failed)
        self._state: Literal["reading", "describing", "embedding", "writing"] = "reading"
        self._source = ""
        self._files_read = 0
        self._read_ahead = 0
        self._entries: dict[int, Entry] = {}
        self._settled = 0
        self._so_far = replace(NOTHING, failed=self._failed_before)
        self._total = self._done = 0
        self._fresh = 0
        self._tokens = 0.0
        self._embedding_since: float | None = None
        self._rate = Rate()

    def reading(self, name: str, done: int = 0) -> None:
        """A file is being read; ``done`` where others were read out of turn."""
        self._source = name
        self._read_ahead = done
        self._tell()

    def read(self, entry: Entry) -> None:
        self._files_read += 1
        if entry.fault is not None:
            self._so_far = replace(self._so_far, failed=(*self._so_far.failed, (entry.name, entry.fault)))

    def planned(self, entries: Iterable[Entry]) -> None:
        """Everything is read; what was written before, by a process that was cut off, counts as done."""
        self._entries = {entry.position: entry for entry in entries}
        self._settled = sum(entry.state not in ("new", "replaces") for entry in self._entries.values())
        self._files = self._files or len(self._entries) + len(self._failed_before)
        known = self._entries.values()
        self._done = sum(entry.passages for entry in known if entry.state in ("added", "replaced"))
        self._total = self._done + sum(entry.passages for entry in known if entry.state in ("new", "replaces"))
        self._state = "embedding"
        self._so_far = self._gathered()

    def embedding(self, source: str) -> None:
        self._state, self._source = "embedding", source
        self._mark()
        self._tell()

    def describing(self, source: str) -> None:
        """A chat model is asked for the context of a source, which takes longer than embedding it."""
        self._state, self._source = "describing", source
        self._tell()

    def described(self, count: int, unreadable: int) -> None:
        """Count passages whose context is known; ``unreadable`` of all are without a sentence that could be used."""
        self._so_far = replace(self._so_far, unreadable=unreadable)
        self.advance(count, 0.0, self._source)

    def advance(self, count: int, tokens: float, source: str) -> None:
        """Count passages that were embedded."""
        self._done += count
        self._fresh += count
        self._tokens += tokens
        self._source = source
        self._mark()
        self._tell()

    def reused(self, count: int, source: str = "") -> None:
        """Count passages that had been embedded by a process that was cut off."""
        self._done += count
        self._source = source or self._source
        self._tell()

    def writing(self, source: str) -> None:
        self._state, self._source = "writing", source
        self._tell()

    def ended(self, entry: Entry) -> None:
        """It is known what became of a file."""
        self._entries[entry.position] = entry
        self._settled += 1
        before = self._so_far
        if entry.fault is not None:
            self._total -= entry.passages
            self._so_far = replace(before, failed=(*before.failed, (entry.name, entry.fault)))
        else:
            self._so_far = replace(
                before,
                added=(*before.added, entry.name) if entry.state == "added" else before.added,
                replaced=(*before.replaced, entry.name) if entry.state == "replaced" else before.replaced,
                passages=before.passages + entry.passages,
                notes=(*before.notes, *_notes(entry)),
            )
        self._tell()

    def copied(self, done: int, total: int) -> None:
        """Set how many of all passages were copied as they are, without being embedded."""
        self._total, self._state = total, "writing"
        self._fresh += done - self._done
        self._done = done
        self._mark()
        self._tell()

    def report(self) -> IngestReport:
        return self._gathered()

    def timed(self) -> tuple[float, float]:
        """Estimated tokens embedded here, and the seconds that it took with all that goes with it."""
        since = self._embedding_since
        return self._tokens, time.monotonic() - since if since is not None else 0.0

    def _mark(self) -> None:
        now = time.monotonic()
        if self._embedding_since is None:
            self._embedding_since = now
        self._rate.mark(now, self._fresh)

    def _gathered(self) -> IngestReport:
        entries = [self._entries[position] for position in sorted(self._entries)]
        of = {state: tuple(item.name for item in entries if item.state == state) for state in ("added", "replaced")}
        written = [item for item in entries if item.state in of]
        return IngestReport(
            added=of["added"],
            skipped_duplicates=tuple((item.name, item.same_as) for item in entries if item.state == "duplicate"),
            replaced=of["replaced"],
            failed=(*self._failed_before, *((item.name, item.fault) for item in entries if item.fault is not None)),
            passages=sum(item.passages for item in written),
            seconds=time.monotonic() - self._began,
            notes=tuple(note for item in written for note in _notes(item)),
            unreadable=self._so_far.unreadable,
        )

    def _tell(self) -> None:
        if self._report is None:
            return
        per_second, left = self._rate.of(self._total - self._done)
        self._report(
            Progress(
                done=self._done,
                total=self._total,
                per_second=per_second,
                remaining_s=left,
                source=self._source,
                state=self._state,
                files_done=len(self._failed_before)
                + (self._settled if self._entries else max(self._files_read, self._read_ahead)),
                report=self._so_far,
                files=self._files,
            )
        )


def _notes(entry: Entry) -> list[tuple[str, SourceNote]]:
    return [(entry.name, note) for note in entry.account.notes] if entry.account is not None else []


class Rate:
    """Work done in the last half minute."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def mark(self, now: float, done: int) -> None:
        """Note how much is done by now, on the monotonic clock."""
        self._marks.append((now, done))
        while len(self._marks) > 2 and self._marks[1][0] < now - _WINDOW_S:
            self._marks.popleft()

    def of(self, left: int) -> tuple[float, float | None]:
        """Return the rate per second and the remaining seconds; 0 and None before anything was done."""
        if not self._marks or not self._marks[-1][1]:
            return 0.0, None
        (first, fewer), (last, more) = self._marks[0], self._marks[-1]
        per_second = (more - fewer) / max(last - first, 1e-6)
        return per_second, left / per_second if per_second else None
