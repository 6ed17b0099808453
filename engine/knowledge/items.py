"""Files to ingest: named directly, all those below a folder, or all those in an archive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import JobError, SourceError
from engine.knowledge.archives import member_of, members
from engine.knowledge.left_out import FILLED, LeftOut, by_content, by_name
from engine.knowledge.loaders.kinds import is_known

MOST_FILES = 20_000
"""Of one folder: a slip such as the root of a disk is said, and not walked for hours."""

_HEAD = 4096
"""Bytes of a file of unknown kind that say whether it is text."""


@dataclass(frozen=True, slots=True)
class IngestItem:
    """One file to ingest: on disk (``path``) or in memory (``data``)."""

    name: str
    """Name of the source in the collection; with ``/`` between folders."""
    path: Path | None = None
    data: bytes | None = None
    hidden: bool = False
    """Whether what its author hid goes in too: text, slides, rows, columns, sheets."""
    member: str = ""
    """Of a file in a ZIP archive, which ``path`` or ``data`` then is: its name there."""

    def read(self) -> bytes:
        """The file's bytes; raises ``SourceError``, for a member as :func:`member_of`."""
        if self.member:
            return member_of(self.name, self.data if self.data is not None else self.path, self.member)
        if self.data is not None:
            return self.data
        if self.path is None:
            raise SourceError.missing(name=self.name)
        try:
            return self.path.read_bytes()
        except FileNotFoundError as error:
            raise SourceError.missing(name=str(self.path)) from error
        except OSError as error:
            raise SourceError.unreadable(name=self.name, why=error.strerror or type(error).__name__) from error


def items_of(paths: Iterable[Path], most: int = MOST_FILES) -> tuple[list[IngestItem], list[tuple[str, SourceError]]]:
    """Items for files, whole folders and archives, and what cannot be read; blocks.

    A folder gives every file below it that can be loaded, named by its path relative to that folder with ``/``. Hidden
    files, what programs made, what may hold passwords, pictures and files without text are left out and counted. Links
    to folders or out of the folder are not followed, pipes and the like not opened; both are reported. A
    file named directly is always an item, so that an unusable one is reported. Raises
    ``JobError.too_many_files`` where a folder has more than ``most``.
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
                failed.append((str(path), SourceError.missing(name=str(path))))
        except (OSError, ValueError) as error:  # ValueError: a NUL in a typed path
            failed.append((str(path), _unreadable(str(path), error)))
    unpacked, unusable = with_members(items)
    return unpacked, failed + unusable


def with_members(items: Iterable[IngestItem]) -> tuple[list[IngestItem], list[tuple[str, SourceError]]]:
    """The items with every archive among them replaced by the files in it, ``archive.zip/folder/file``; blocks.

    An archive inside an archive is not opened; what is left out is counted as for a folder.
    """
    found: list[IngestItem] = []
    failed: list[tuple[str, SourceError]] = []
    for item in items:
        if item.member or not item.name.lower().endswith(".zip"):
            found.append(item)
            continue
        left_out = LeftOut(item.name)
        try:
            held = list(members(item.name, item.data if item.data is not None else item.path))
            places = [name.rpartition("/") for name, _, _ in held]
            filled = tuple(f"{folder}/" for folder, _, last in places if folder and last in FILLED)
            for name, member, head in held:
                reason = "made" if name.startswith(filled) else by_name(name)
                reason = reason or (by_content(head) if not is_known(name) else None)
                if reason is not None:
                    left_out.add(reason, name)
                else:
                    found.append(replace(item, name=f"{item.name}/{name}", member=member))
        except SourceError as error:
            failed.append((item.name, error))
        failed += left_out.said()
    return found, failed


def _in_folder(folder: Path, most: int, failed: list[tuple[str, SourceError]]) -> list[IngestItem]:
    """Items in the order of their names; what else is in the folder is added to ``failed``."""
    root = folder.resolve()
    items: list[IngestItem] = []

    def note_failure(error: OSError) -> None:
        failed.append((str(error.filename), _unreadable(str(error.filename), error)))

    left_out = LeftOut(folder.name or str(folder))
    for path in _below(folder, note_failure, lambda link: failed.append(_link(link, folder)), left_out):
        name = path.relative_to(folder).as_posix()
        if (reason := by_name(name)) is not None:
            left_out.add(reason, name)
        elif (passed_over := _passed_over(path, folder, root)) is not None:
            failed.append(passed_over)
        elif not is_known(name) and (reason := by_content(_head_of(path))) is not None:
            left_out.add(reason, name)
        elif len(items) == most:
            raise JobError.too_many_files(folder=str(folder), most=most)
        else:
            items.append(IngestItem(name, path=path))
    failed += left_out.said()
    return sorted(items, key=lambda item: item.name.split("/"))


def _head_of(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:  # said where the file is read
        return b""


def _passed_over(path: Path, folder: Path, root: Path) -> tuple[str, SourceError] | None:
    """Explain why a file is not opened; None if it is."""
    if path.is_file() and path.resolve().is_relative_to(root):
        return None
    name = path.relative_to(folder).as_posix()
    return _link(path, folder) if path.is_symlink() else (name, SourceError.special(name=name))


def _link(path: Path, folder: Path) -> tuple[str, SourceError]:
    name = path.relative_to(folder).as_posix()
    return name, SourceError.link(link=name)


def _below(
    folder: Path, note_failure: Callable[[OSError], None], linked: Callable[[Path], None], left_out: LeftOut
) -> Iterator[Path]:
    """Every file below a folder; linked folders are not entered, as they may lead back up."""
    for place, folders, files in os.walk(folder, onerror=note_failure):
        inner = {name: Path(place, name).relative_to(folder).as_posix() for name in folders}
        if place != str(folder) and not FILLED.isdisjoint(files):
            left_out.add("made", Path(place).relative_to(folder).as_posix())
            folders.clear()
            continue
        for name in list(folders):
            if (reason := by_name(f"{inner[name]}/")) is not None:
                left_out.add(reason, inner[name])
                folders.remove(name)
            elif Path(place, name).is_symlink():
                linked(Path(place, name))
        yield from (Path(place, name) for name in files)


def _unreadable(name: str, error: OSError | ValueError) -> SourceError:
    why = error.strerror if isinstance(error, OSError) else ""
    return SourceError.unreadable(name=name, why=why or type(error).__name__)
