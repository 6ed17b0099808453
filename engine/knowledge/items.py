"""Files to ingest: named directly, or all those below a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import (
    SourceError,
    SourceMissing,
    SourcePassedOver,
    SourceUnreadable,
    SourceUnsupported,
    TooManyFiles,
)
from engine.knowledge.load import suffixes

MOST_FILES = 20_000
"""Of one folder: a slip such as the root of a disk is said, and not walked for hours."""

_MISSED = frozenset(
    ".doc .dot .rtf .odt .wps .pages .xls .xlsb .ods .et .numbers .ppt .pps .odp .dps"
    " .epub .mobi .ofd .caj .eml .msg .rst .tex .mht .mhtml .xhtml".split()
)
"""Documents that no loader reads: in a folder they are reported, as whoever put them there would miss them."""
_LOCK = "~$"
"""Begins the name of a file that Office keeps beside a document that is open."""


@dataclass(frozen=True, slots=True)
class IngestItem:
    """One file to ingest: on disk (``path``) or in memory (``data``)."""

    name: str
    """Name of the source in the collection; with ``/`` between folders."""
    path: Path | None = None
    data: bytes | None = None
    hidden: bool = False
    """Whether what its author hid goes in too: text, slides, rows, columns, sheets."""

    def read(self) -> bytes:
        """The file's bytes; raises ``SourceMissing`` or ``SourceUnreadable``."""
        if self.data is not None:
            return self.data
        if self.path is None:
            raise SourceMissing(name=self.name)
        try:
            return self.path.read_bytes()
        except FileNotFoundError as error:
            raise SourceMissing(name=str(self.path)) from error
        except OSError as error:
            raise SourceUnreadable(name=self.name, why=error.strerror or type(error).__name__) from error


def items_of(paths: Iterable[Path], most: int = MOST_FILES) -> tuple[list[IngestItem], list[tuple[str, SourceError]]]:
    """Items for files and whole folders, and what cannot be read; blocks.

    A folder gives every file below it that can be loaded, named by its path relative to that folder with ``/``;
    hidden ones are left out. Links to folders or out of the folder are not followed, pipes and the like not opened;
    both are reported, as documents of other kinds are (old Office files, mails). Pictures, programs and the like are
    passed over. A file named directly is always an item, so that an unusable one is reported. Raises ``TooManyFiles``
    where a folder has more than ``most``.
    """
    items: list[IngestItem] = []
    failed: list[tuple[str, SourceError]] = []
    for path in paths:
        try:
            if path.is_dir():
                items += _in_folder(path, most, failed)
            elif path.exists():
                items.append(IngestItem(path.name, path=path))
            else:
                failed.append((str(path), SourceMissing(name=str(path))))
        except (OSError, ValueError) as error:  # ValueError: a NUL in a path that somebody typed
            failed.append((str(path), _unreadable(str(path), error)))
    return items, failed


def _in_folder(folder: Path, most: int, failed: list[tuple[str, SourceError]]) -> list[IngestItem]:
    """Items in the order of their names; folders below that cannot be opened are added to ``failed``."""
    root = folder.resolve()
    items: list[IngestItem] = []

    def note_failure(error: OSError) -> None:
        failed.append((str(error.filename), _unreadable(str(error.filename), error)))

    known, missed = suffixes(), list[str]()
    for path in _below(folder, note_failure, lambda link: failed.append(_link(link, folder))):
        suffix = path.suffix.lower()
        if suffix not in known and suffix not in _MISSED:
            continue
        if (passed_over := _passed_over(path, folder, root)) is not None:
            failed.append(passed_over)
            continue
        if len(items) + len(missed) == most:
            raise TooManyFiles(folder=str(folder), most=most)
        name = path.relative_to(folder).as_posix()
        if suffix in known:
            items.append(IngestItem(name, path=path))
        else:
            missed.append(name)
    missed.sort(key=lambda name: name.split("/"))
    failed += ((name, SourceUnsupported(name=name, suffixes=known)) for name in missed)
    return sorted(items, key=lambda item: item.name.split("/"))


def _passed_over(path: Path, folder: Path, root: Path) -> tuple[str, SourceError] | None:
    """What is said of a file that is not opened; None for one that is."""
    if path.is_file() and path.resolve().is_relative_to(root):
        return None
    name = path.relative_to(folder).as_posix()
    return _link(path, folder) if path.is_symlink() else (name, SourcePassedOver.special(name=name))


def _link(path: Path, folder: Path) -> tuple[str, SourceError]:
    name = path.relative_to(folder).as_posix()
    return name, SourcePassedOver.link(link=name)


def _below(folder: Path, note_failure: Callable[[OSError], None], linked: Callable[[Path], None]) -> Iterator[Path]:
    """Every file below a folder but hidden and lock files; linked folders are not entered: they may lead back up."""
    for place, folders, files in os.walk(folder, onerror=note_failure):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            if (inner := Path(place, name)).is_symlink():
                linked(inner)
        yield from (Path(place, name) for name in files if not name.startswith((".", _LOCK)))


def _unreadable(name: str, error: OSError | ValueError) -> SourceError:
    why = error.strerror if isinstance(error, OSError) else ""
    return SourceUnreadable(name=name, why=why or type(error).__name__)
