"""Results of a loader, and the limits of every format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import groupby
from operator import itemgetter
from typing import Any

from engine.errors import SourceError
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.model.values import SourceKind, SourceNote

LONGEST_HEADING = 200
"""Characters of a title or heading that are kept."""
_LONGEST_PATH, _LONGEST_PATH_BYTES = 600, 2000
_LONGEST_PARAM = 300
"""Characters of one parameter of a note."""
MOST_TEXT = 64_000_000
"""Characters that one file gives, or twice its size where that is more.

Every row of a table says its headers and every value its names, so a small file can stand for a text without end.
"""

_PROGRAM = re.compile(r"^Microsoft (Word|PowerPoint|Excel) - ")
_NO_TITLE = re.compile(
    r"|untitled.*|\(?(anonymous|unspecified)\)?|about:blank|https?:.*|file:.*"
    r"|(word|powerpoint|ppt|excel) ?(document|presentation|演示文稿|文档)?"
    r"|(演示文稿|文档|幻灯片) ?\d*|(presentation|document|slide|book)\d*"
    r"|.*\.(docx?|pptx?|xlsx?|indd|tex|pdf|html?|wps)",
    re.IGNORECASE,
)
"""What programs write where their user gave no title."""
_ONE_WORD = re.compile(r"[-+−–]?\w+(?:[.,]\d+)?|\(.*\)|.", re.DOTALL)
_READS_AS_IT_IS = re.compile(r"\[[^\]]*\]|st|nd|rd|th|[®™℠©]|TM|SM")
"""Set above or below the line, and understood without it: references, English ordinals, marks of trade."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading."""

    path: tuple[str, ...]
    """Headings from the outermost to the section's own, the document's title left out."""
    text: str
    lines: tuple[int, ...] = field(default=(), compare=False)
    """For each line of the text its line in the file, from 1; empty for formats without lines."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of a file; ``title`` is empty if the file names none."""

    title: str
    sections: tuple[Section, ...]
    kind: SourceKind = "vector"
    notes: tuple[SourceNote, ...] = ()
    """What was left out and why; counts stand in ``count``."""
    encoding: str = ""
    """Of a text file, as Python names it; empty for formats that say it themselves."""
    read: Mapping[str, int] = field(default_factory=dict)
    """How many parts of each kind were read: ``{"paragraphs": 12, "tables": 2}``."""


Loader = Callable[[str, bytes, bool], Contents]
TextLoader = Callable[[str, str, bool], Contents]
"""Takes a file's name, its bytes, and whether what its author hid is read too; without that it is left out, counted."""


def note(code: str, **params: object) -> SourceNote:
    return SourceNote(code, {name: str(value) for name, value in params.items()})


def decoded(contents: Contents, text: Decoded) -> Contents:
    """The contents with the encoding of their text, and a note where that was found out by statistics."""
    guessed = (note("encoding", encoding=text.encoding),) if text.guessed else ()
    return replace(contents, encoding=text.encoding, notes=(*guessed, *contents.notes))


def of_text(load: TextLoader) -> Callable[..., Contents]:
    """Make a loader of what takes the text of a file; raises as :func:`read_text`, too."""

    @wraps(load)
    def loader(name: str, data: bytes, hidden: bool = False) -> Contents:
        text = read_text(name, data)
        return decoded(load(name, text.text, hidden), text)

    return loader


def counted(counts: Mapping[str, int]) -> tuple[SourceNote, ...]:
    """A note for each code with a count."""
    return tuple(note(code, count=count) for code, count in sorted(counts.items()) if count)


_NAMED = {"attachments": "names", "chapters": "names", "mails": "names", "formulas": "cells"}


def named(places: Mapping[str, Sequence[int] | Sequence[str]], **params: object) -> tuple[SourceNote, ...]:
    """A note for each code with the numbers or names of what it is about: ``slides_hidden`` names ``slides``."""
    notes: list[SourceNote] = []
    for code, held in places.items():
        if held:
            kind = code.partition("_")[0]
            notes.append(note(code, count=len(held), **{_NAMED.get(kind, kind): numbers(held)}, **params))
    return tuple(notes)


def merged(notes: Iterable[SourceNote]) -> tuple[SourceNote, ...]:
    """The notes of several files as those of one: counts of the same kind added up, everything else in a row."""
    found: dict[str, dict[str, str]] = {}
    for item in notes:
        known = found.get(item.code)
        if known is None:
            found[item.code] = dict(item.params)
            continue
        for key, value in item.params.items():
            both = f"{known[key]}, {value}" if key in known and known[key] != value else value
            known[key] = str(int(known[key]) + int(value)) if key == "count" and key in known else both
    return tuple(SourceNote(code, params) for code, params in found.items())


def heading(text: str) -> str:
    """A title or heading on one line; :func:`whole` cuts it to what is kept."""
    return " ".join(text.split())


def document_title(text: str) -> str:
    """The title that a document's properties give, or nothing where a program filled it in by itself."""
    words = _PROGRAM.sub("", heading(text))
    return "" if _NO_TITLE.fullmatch(words) else words


def raised(text: str) -> str:
    """Words that are set above the line: ``^9``, ``^(n+1)``; a reference in brackets and ``th`` read as they are."""
    return _marked(text, "^")


def lowered(text: str) -> str:
    """Words that are set below the line: ``_2``, ``_(n+1)``."""
    return _marked(text, "_")


def struck(text: str) -> str:
    """Words that are struck out and must not read as if they held: ``~~5~~``."""
    words = text.strip()
    return text.replace(words, f"~~{words}~~", 1) if words else text


def marked(pieces: Iterable[tuple[tuple[str, bool], str]]) -> str:
    """The words of pieces of text, each after its place (``superscript``, ``subscript``) and whether it is struck."""
    text, before = "", ""
    for (place, is_struck), run in groupby((piece for piece in pieces if piece[1]), key=itemgetter(0)):
        words = "".join(piece for _, piece in run)
        # A number behind another that is set above or below it must not become one with it.
        text += " " if before and text[-1:].isdigit() and words[0].isdigit() else ""
        before = place
        words = raised(words) if place == "superscript" else lowered(words) if place == "subscript" else words
        text += struck(words) if is_struck else words
    return text


def _marked(text: str, mark: str) -> str:
    words = text.strip()
    if not words or _READS_AS_IT_IS.fullmatch(words):
        return text
    return text.replace(words, f"{mark}{words}" if _ONE_WORD.fullmatch(words) else f"{mark}({words})", 1)


def numbers(values: Iterable[int | str], most: int = 12) -> str:
    """``3, 5-7, 12`` for a list of ascending page or line numbers, or names; the rest as an ellipsis."""
    runs: list[list[Any]] = []
    for value in values:
        if runs and isinstance(value, int) and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in runs[:most]]
    return ", ".join([*shown, *(["…"] if len(runs) > most else [])])


class Allowance:
    """Counts the text that a file has given, and raises ``SourceError`` where it becomes too much."""

    def __init__(self, name: str, size: int) -> None:
        """``size``: bytes of the file, or characters of its text."""
        self.name = name
        self._most = max(MOST_TEXT, 2 * size)
        self._given = 0

    def line(self, text: str) -> str:
        self._given += len(text) + 1
        if self._given > self._most:
            raise SourceError.too_much_text(name=self.name, limit_mb=self._most // 1_000_000)
        return text

    def lines(self, texts: Iterable[str]) -> Iterator[str]:
        return map(self.line, texts)


def whole(name: str, size: int, contents: Contents) -> Contents:
    """The contents, if they are not too much (``SourceError``), without halves of characters, which no store holds.

    What is too long for a heading or title, as a paragraph that is set as one, stands whole in the text below it.
    """
    allowance = Allowance(name, size)
    title = _whole(contents.title)
    sections, broken, written = [], 0, set[str]()
    for section in contents.sections:
        path, text = tuple(map(_whole, section.path)), _whole(section.text)
        broken += text.count("\ufffd") - section.text.count("\ufffd")
        long = [part for part in (title, *path) if len(part) > LONGEST_HEADING and part not in written]
        written.update(long)
        above = [part for part in long if not text.startswith(part)]
        lines = (*(0 for _ in above for _ in range(2)), *section.lines) if section.lines else ()
        text = allowance.line("\n\n".join((*above, text)))
        sections.append(Section(tuple(part[:LONGEST_HEADING].strip() for part in path), text, lines))
    notes = [
        SourceNote(item.code, {key: _whole(value)[:_LONGEST_PARAM] for key, value in item.params.items()})
        for item in contents.notes
    ]
    notes += [note("characters_broken", count=broken)] if broken else []
    return replace(contents, title=title[:LONGEST_HEADING].strip(), sections=tuple(sections), notes=tuple(notes))


def ending(path: tuple[str, ...]) -> str:
    """A path of headings in one line, and only the end of it where a store holds no more, no matter in what script."""
    return " > ".join(path)[-_LONGEST_PATH:].encode()[-_LONGEST_PATH_BYTES:].decode(errors="ignore")


def _whole(text: str) -> str:
    text = text.replace("\u00ad", "")  # where a word may be broken, which is seen at the end of a line alone
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class Outline:
    """Collects text under headings as it comes, for formats whose headings have levels.

    A heading without text of its own or below it becomes its own text, so that no line is lost.
    """

    def __init__(self, title_level: int = 1) -> None:
        """``title_level``: a first heading of this level or above is the title and no section."""
        self.title = ""
        self._title_level = title_level
        self._path: list[str] = []
        self._levels: list[int] = []
        self._parts: list[str] = []
        self._lines: list[int] = []
        self._line = 0
        """Of the last heading."""
        self._sections: list[Section] = []

    def heading(self, level: int, words: str, line: int = 0, titled: bool | None = None) -> None:
        """Begin a section, or name the document where nothing came before, unless ``titled`` says whether it does.

        ``line``: its number in the file, for formats with lines.
        """
        words = heading(words)
        if not words:
            return
        self._close(level)
        while self._levels and self._levels[-1] >= level:
            self._levels.pop()
            self._path.pop()
        self._line = line
        if not self.title and (level <= self._title_level and not self._sections if titled is None else titled):
            self.title = words
            return
        self._levels.append(level)
        self._path.append(words)

    def text(self, part: str, lines: Sequence[int] = ()) -> None:
        """Add a paragraph, list or table; ``lines``: the number of each of its lines."""
        if part.strip():
            begin = len(part) - len(part.lstrip("\n"))
            between = [0] if self._lines else []  # the blank line that is put there
            self._lines += [*between, *lines[begin : begin + part.strip("\n").count("\n") + 1]]
            self._parts.append(part.strip("\n"))

    def sections(self) -> tuple[Section, ...]:
        """Everything collected; a title with nothing below it is its own text."""
        self._close(0)
        if self.title and not self._sections:
            self._sections.append(self._section((), self.title))
        return tuple(self._sections)

    def _close(self, next_level: int) -> None:
        if self._parts:
            self._sections.append(Section(tuple(self._path), "\n\n".join(self._parts), tuple(self._lines)))
            self._parts, self._lines = [], []
        elif self._levels and next_level <= self._levels[-1] and not self._has_own_text():
            self._sections.append(self._section(tuple(self._path), self._path[-1]))

    def _section(self, path: tuple[str, ...], heading: str) -> Section:
        return Section(path, heading, (self._line,) if self._line else ())

    def _has_own_text(self) -> bool:
        return bool(self._sections) and self._sections[-1].path[: len(self._path)] == tuple(self._path)
