"""Load a file as a :class:`Document`: find encoding, kind and sections, and report everything unusable.

Loaders are found by suffix (:mod:`engine.knowledge.loaders.kinds`); each gets a name and bytes, and returns a title,
sections and a kind. A file of any other suffix, or of none, is read as text where it is text. What needs a
parser of its own is read in another process (:mod:`engine.knowledge.loaders.apart`).
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from engine.errors import SourceEmpty, SourceError
from engine.knowledge.loaders.apart import read_apart
from engine.knowledge.loaders.contents import LONGEST_HEADING, Contents, Loader, Section, ending, note, whole
from engine.knowledge.loaders.kinds import APART, HERE, loader_of, suffix_of
from engine.knowledge.scans import announced, pictures, recognised
from engine.library.accounts import HIDDEN
from engine.model.values import Account, SourceKind, SourceNote

DEFAULT_LIMIT_MB = 20.0
_LONGEST_NAME = 1000
"""Bytes of UTF-8: passages are kept by name and number."""


@dataclass(frozen=True, slots=True)
class Document:
    """A source that was read, not yet cut into passages."""

    source: str
    title: str
    sections: tuple[Section, ...]
    content_hash: str
    """Hash over title, headings, text and kind, regardless of the file's name, encoding and line ends."""
    kind: SourceKind = "vector"
    """Which source kind its passages are found under (QL-03)."""
    format: str = ""
    """Suffix without its dot, in small letters."""
    encoding: str = ""
    """Of a text file, as Python names it; empty for formats that say it themselves."""
    notes: tuple[SourceNote, ...] = ()
    """What was left out and why."""
    read: Mapping[str, int] = field(default_factory=dict)
    """How many parts of each kind were read."""
    hidden: bool = False
    """Whether what its author hid was to be read too."""

    @property
    def account(self) -> Account:
        return Account(dict(self.read), self.notes, self.hidden)


def suffixes() -> tuple[str, ...]:
    """Suffixes that can be loaded."""
    return tuple(sorted((*HERE, *APART)))


def load(
    path: Path, source: str = "", limit_mb: float = DEFAULT_LIMIT_MB, *, hidden: bool = False, recognise: bool = True
) -> Document:
    """Read a file under the name ``source`` (default: its own name); blocks, from any thread.

    ``hidden``: read what its author hid too, which is left out otherwise and counted in ``notes``. ``recognise``: read
    the text in pages that are pictures, which takes seconds each; else say how many they are.
    Raises the ``SourceError`` that fits, always naming the file.
    """
    name = source or path.name
    _check_name(name)
    _loader(name)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device may never end
            raise SourceError.unreadable(name=name, why=os.strerror(errno.EISDIR if path.is_dir() else errno.ENODEV))
        if found.st_size > limit_mb * 1e6:
            raise SourceError.too_large(name=name, size_mb=f"{found.st_size / 1e6:.1f}", limit_mb=limit_mb)
        with path.open("rb") as file:
            data = file.read(int(limit_mb * 1e6) + 1)  # it may grow meanwhile
    except FileNotFoundError as error:
        raise SourceError.missing(name=str(path)) from error
    except OSError as error:
        raise SourceError.unreadable(name=name, why=error.strerror or type(error).__name__) from error
    return load_bytes(name, data, limit_mb, hidden=hidden, recognise=recognise)


def load_bytes(
    name: str, data: bytes, limit_mb: float = DEFAULT_LIMIT_MB, *, hidden: bool = False, recognise: bool = True
) -> Document:
    """Read a file that is in memory already, e.g. an upload; raises like :func:`load`."""
    _check_name(name)
    loader = _loader(name)
    if len(data) > limit_mb * 1e6:
        raise SourceError.too_large(name=name, size_mb=f"{len(data) / 1e6:.1f}", limit_mb=limit_mb)
    if not data:
        raise SourceEmpty(name=name)
    try:
        given = whole(name, len(data), loader(name, data, hidden))
        contents = whole(name, len(data), recognised(name, data, given)) if recognise else announced(name, given)
    except (MemoryError, RecursionError) as error:
        raise SourceError.too_demanding(name=name) from error
    sections = tuple(section for section in contents.sections if section.text.strip())
    if not sections and (recognise or not pictures(given)):
        hides = any(item.code in HIDDEN for item in contents.notes)
        raise SourceEmpty.hidden(name=name) if hides else SourceEmpty(name=name)
    title = contents.title or PurePosixPath(name).stem
    cut = sum(ending(section.path) != " > ".join(section.path) for section in sections)
    return Document(
        source=name,
        title=title[:LONGEST_HEADING],
        sections=sections,
        content_hash=_hash(contents.title, *_known(data, given, contents), contents.kind),
        kind=contents.kind,
        format=suffix_of(name).removeprefix("."),
        encoding=contents.encoding,
        notes=(*contents.notes, note("headings_cut", count=cut)) if cut else contents.notes,
        read=contents.read or {"sections": len(sections)},
        hidden=hidden,
    )


def _check_name(name: str) -> None:
    """Raise ``SourceError.misnamed`` for a name that no store holds: one bad name must not stop a whole ingestion."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:  # half a surrogate pair, as file systems hand out for bytes that are no UTF-8
        size = _LONGEST_NAME + 1
    if size > _LONGEST_NAME:
        raise SourceError.misnamed(name=name[:80].encode(errors="replace").decode(), most=_LONGEST_NAME)


def _loader(name: str) -> Loader:
    suffix = suffix_of(name)
    return partial(read_apart, suffix) if suffix in APART else loader_of(name)


def _known(data: bytes, given: Contents, contents: Contents) -> tuple[tuple[Section, ...], tuple[str, ...]]:
    """Return the part of the key that is equal on every reading, whether or not pictures are recognised yet.

    Where that did not succeed for some pages, the next reading counts as another.
    """
    missed = [str(item.params) for item in contents.notes if item.code == "pages_not_recognised"]
    pictured = [hashlib.sha256(data).hexdigest(), *missed] if pictures(given) else []
    return tuple(section for section in given.sections if section.text.strip()), tuple(pictured)


def _hash(title: str, sections: tuple[Section, ...], pictured: tuple[str, ...], kind: SourceKind) -> str:
    parts = [title, *("\n".join((*section.path, section.text.strip())) for section in sections), *pictured]
    if kind != "vector":
        # The common kind adds nothing, so that what was ingested before there were kinds is still known.
        parts.append(f"kind: {kind}")
    return hashlib.sha256("\x1e".join(parts).encode(errors="replace")).hexdigest()[:32]
