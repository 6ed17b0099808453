"""From a file to a :class:`Document`: encoding, kind and sections found out, everything unusable told honestly.

Loaders register by suffix (:func:`register`); each gets a name and bytes, and returns a title, sections and a kind.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.errors import (
    SourceEmpty,
    SourceEncoding,
    SourceMislabelled,
    SourceMisnamed,
    SourceMissing,
    SourceTooLarge,
    SourceUnreadable,
    SourceUnsupported,
)
from engine.values import SOURCE_KINDS, SourceKind, kind_named

DEFAULT_LIMIT_MB = 20.0
ENCODINGS: tuple[str, ...] = ("utf-8", "utf-16", "gb18030")


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading."""

    path: tuple[str, ...]
    """Headings from the outermost to the section's own, the document's title left out."""
    text: str


@dataclass(frozen=True, slots=True)
class Contents:
    """What a loader found in a file; ``title`` is empty where the file names none."""

    title: str
    sections: tuple[Section, ...]
    kind: SourceKind = "vector"


@dataclass(frozen=True, slots=True)
class Document:
    """A source that was read, not yet cut into passages."""

    source: str
    title: str
    sections: tuple[Section, ...]
    content_hash: str
    """Hash over title, headings, text and kind, whatever the file's name, encoding and line ends."""
    kind: SourceKind = "vector"
    """Which source kind its passages are found under (SPEC QL-03)."""


Loader = Callable[[str, bytes], Contents]

_LOADERS: dict[str, Loader] = {}

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an Office document"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a sound or image file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3", "a database"),
)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MOST_CONTROL = 0.01
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_HEADING = 200
_LONGEST_NAME = 1000
"""Bytes of UTF-8: passages are kept by name and number."""
_LONGEST_FRONT_MATTER = 100
_KINDS = "|".join(SOURCE_KINDS)
_KIND = re.compile(
    rf"kind:[ \t]*(?:([\"']?)({_KINDS})\1|\[[ \t]*([\"']?)({_KINDS})\3[ \t]*\])[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE
)
"""Whatever the case, alone in a YAML list, and with a comment after it."""


def register(suffix: str, loader: Loader) -> None:
    """Let files that end in ``suffix`` (with its dot, any case) be read by ``loader``."""
    _LOADERS[suffix.lower()] = loader


def suffixes() -> tuple[str, ...]:
    """Suffixes that can be loaded."""
    return tuple(sorted(_LOADERS))


def load(path: Path, source: str = "", limit_mb: float = DEFAULT_LIMIT_MB) -> Document:
    """Read a file under the name ``source`` (default: its own name); blocks.

    Raises the ``SourceError`` that fits, always naming the file.
    """
    name = source or path.name
    _check_name(name)
    _loader(name)
    try:
        size = path.stat().st_size
        if size > limit_mb * 1e6:
            raise SourceTooLarge.named(name, size / 1e6, limit_mb)
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise SourceMissing.at(str(path)) from error
    except OSError as error:
        raise SourceUnreadable.named(name, error.strerror or type(error).__name__) from error
    return load_bytes(name, data, limit_mb)


def load_bytes(name: str, data: bytes, limit_mb: float = DEFAULT_LIMIT_MB) -> Document:
    """Read a file that is in memory already, e.g. an upload; raises like :func:`load`."""
    _check_name(name)
    loader = _loader(name)
    if len(data) > limit_mb * 1e6:
        raise SourceTooLarge.named(name, len(data) / 1e6, limit_mb)
    if not data:
        raise SourceEmpty.named(name)
    contents = loader(name, data)
    sections = tuple(section for section in contents.sections if section.text.strip())
    if not sections:
        raise SourceEmpty.named(name)
    title = contents.title or PurePosixPath(name).stem
    content_hash = _hash(contents.title, sections, contents.kind)
    return Document(name, title[:_LONGEST_HEADING], sections, content_hash, contents.kind)


def decode(name: str, data: bytes) -> str:
    """Text of a file in UTF-8, UTF-16 or GB 18030, line ends as ``\\n``.

    Raises ``SourceMislabelled`` for what is no text, ``SourceEncoding`` where no encoding fits: a guess that turned
    words into other words would be worse than a refusal.
    """
    found = next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
    if found:
        raise SourceMislabelled.named(name, found)
    text = _decoded(data)
    if text is None:
        if b"\x00" in data:
            raise SourceMislabelled.named(name, "binary data")
        raise SourceEncoding.named(name, ENCODINGS)
    if len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text):
        raise SourceMislabelled.named(name, "binary data")
    text = text.lstrip("\ufeff")  # a second byte-order mark, as some editors write
    # A stray control character (an old form feed, a NUL) means nothing to a reader, and Milvus may choke on it.
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def load_text(name: str, data: bytes) -> Contents:
    return Contents("", (Section((), decode(name, data)),))


def load_markdown(name: str, data: bytes) -> Contents:
    """Sections by heading; the first level-one heading at the top is the title.

    A heading without text of its own or below it becomes its own text, so that no line is lost. Front matter may say
    ``kind: temporal``, ``graph`` or ``vector``; that line is taken out, and so is front matter that says nothing else.
    """
    kind, body = _front_matter(decode(name, data).split("\n"))
    title, path, levels, lines, fence = "", list[str](), list[int](), list[str](), ""
    sections: list[Section] = []

    def close(next_level: int) -> None:
        text = "\n".join(lines).strip("\n")
        lines.clear()
        if not text.strip() and levels and next_level <= levels[-1]:
            text = path[-1]
        if text.strip():
            sections.append(Section(tuple(path), text))

    for line in body:
        mark = _FENCE.match(line)
        if mark:
            fence = _after_fence(fence, mark.group(1), line)
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        level, words = len(heading.group(1)), heading.group(2).strip()[:_LONGEST_HEADING]
        close(level)
        while levels and levels[-1] >= level:
            levels.pop()
            path.pop()
        if level == 1 and not title and not sections:
            title = words
        elif words:
            levels.append(level)
            path.append(words)
    close(0)
    if title and not sections:
        sections.append(Section((), title))
    return Contents(title, tuple(sections), kind)


def _front_matter(lines: list[str]) -> tuple[SourceKind, list[str]]:
    """The kind that front matter names, and the lines without it; lines that say anything else stay as they are."""
    if lines[0].rstrip() != "---":
        return "vector", lines
    end = next((n for n, line in enumerate(lines[1:_LONGEST_FRONT_MATTER], 1) if line.rstrip() in ("---", "...")), 0)
    for number, line in enumerate(lines[:end]):
        found = _KIND.fullmatch(line)
        if found:
            kept = lines[1:number] + lines[number + 1 : end]
            inside = [*lines[:1], *kept, *lines[end : end + 1]] if any(item.strip() for item in kept) else []
            return kind_named((found.group(2) or found.group(4)).lower()), inside + lines[end + 1 :]
    return "vector", lines


def _after_fence(fence: str, mark: str, line: str) -> str:
    """The fence that is open after a line that starts with a fence mark; empty where none is."""
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0])
    return "" if closes else fence


def _check_name(name: str) -> None:
    """Raise ``SourceMisnamed`` for a name that no store holds: one bad name must not stop a whole ingestion."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:  # half a surrogate pair, as file systems hand out for bytes that are no UTF-8
        size = _LONGEST_NAME + 1
    if size > _LONGEST_NAME:
        raise SourceMisnamed.named(name, _LONGEST_NAME)


def _loader(name: str) -> Loader:
    loader = _LOADERS.get(PurePosixPath(name.lower()).suffix)
    if loader is None:
        raise SourceUnsupported.named(name, suffixes())
    return loader


def _decoded(data: bytes) -> str | None:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return _strictly(data, encoding)
    text = _strictly(data, "utf-8")
    if text is not None and "\x00" not in text:
        return text
    if b"\x00" in data:
        return _utf_16_without_mark(data)
    return _gb18030(data)


def _utf_16_without_mark(data: bytes) -> str | None:
    # ASCII signs (spaces, line ends, digits) have a zero byte on one side only, and every text has some.
    high_first, low_first = data[0::2].count(0), data[1::2].count(0)
    encoding = "utf-16-be" if high_first > low_first else "utf-16-le"
    text = _strictly(data, encoding)
    if text is None or "\x00" in text:
        return None
    # Any even number of bytes is some UTF-16, mostly of rare characters; a text keeps to common ones.
    common = sum(char.isascii() or _in_gb2312(char) for char in text)
    return text if common >= 0.9 * len(text) else None


def _gb18030(data: bytes) -> str | None:
    text = _strictly(data, "gb18030")
    if text is None:
        return None
    # Almost any bytes decode; what is really Chinese keeps to the characters of GB 2312.
    foreign = [char for char in text if ord(char) > 127]
    common = sum(_in_gb2312(char) for char in foreign)
    return text if common >= 0.9 * len(foreign) else None


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _hash(title: str, sections: tuple[Section, ...], kind: SourceKind) -> str:
    parts = [title, *("\n".join((*section.path, section.text.strip())) for section in sections)]
    if kind != "vector":
        # The common kind adds nothing, so that what was ingested before there were kinds is still known.
        parts.append(f"kind: {kind}")
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:32]


for _suffix in (".txt", ".text", ".log"):
    register(_suffix, load_text)
for _suffix in (".md", ".markdown"):
    register(_suffix, load_markdown)
