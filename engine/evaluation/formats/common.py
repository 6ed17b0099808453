"""What the forms of data sets share: caps, notes about what was left out, text to documents."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from engine.errors import DataSetTooLarge, DataSetUnusable, SourceError
from engine.evaluation.cases import Case, Expectation
from engine.knowledge.ingest import IngestItem
from engine.knowledge.loaders.encoding import decode

MOST_BYTES = 256_000_000
"""Of one data set, unpacked."""
MOST_CASES = 20_000
MOST_DOCUMENTS = 100_000
LONGEST_QUESTION = 2000
MOST_NOTES = 200
"""Notes kept; the rest are counted."""
_LONGEST_SOURCE = 280
"""Bytes of a source's name, below what the HTTP API and a knowledge base take."""

NoteKind = Literal[
    "row",
    "duplicate_id",
    "no_document",
    "no_relevant",
    "no_qrels",
    "split",
    "empty_document",
    "same_document",
    "more",
]
"""``row``: a line was left out. ``no_document``: a label names a document that is not there. ``no_relevant``: questions
without a relevant document were left out. ``more``: further notes of any kind."""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Something that was left out or changed, so that nothing vanishes without a word."""

    kind: NoteKind
    fact: str
    """One sentence in English."""
    file: str = ""
    line: int | None = None
    """From 1, where the fault lies in one line."""
    count: int = 1
    """How many entries it is about."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.fact}" if place else self.fact


@dataclass(slots=True)
class Notes:
    """Collects notes; beyond :data:`MOST_NOTES` only their number."""

    kept: list[ImportNote] = field(default_factory=list)
    more: int = 0

    def add(self, kind: NoteKind, fact: str, file: str = "", line: int | None = None, count: int = 1) -> None:
        if len(self.kept) >= MOST_NOTES:
            self.more += 1
            return
        self.kept.append(ImportNote(kind, fact, file, line, count))

    def all(self) -> tuple[ImportNote, ...]:
        if not self.more:
            return tuple(self.kept)
        rest = ImportNote("more", f"{self.more} more entries were left out or changed.", count=self.more)
        return (*self.kept, rest)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one form of data set gave."""

    cases: tuple[Case, ...]
    items: tuple[IngestItem, ...] = ()


class Distinct:
    """Names that differ: one that is taken gets a number, from 2."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, wanted: str, numbered: Callable[[int], str]) -> str:
        """``wanted`` where it is free, else the first ``numbered`` one that is."""
        # Continues where it ended: a file that gives every line one name would take hours from the start each time.
        found, number = wanted, self._next.get(wanted, 2)
        while found in self._taken:
            found, number = numbered(number), number + 1
        self._taken.add(found)
        self._next[wanted] = number
        return found


class Documents:
    """Texts that become sources, each content once: the knowledge base would skip the second of two equal ones."""

    def __init__(self, name: str, notes: Notes) -> None:
        self._name = name
        self._notes = notes
        self._by_content: dict[str, str] = {}
        self._names = Distinct()
        self.items: list[IngestItem] = []

    def add(self, wanted: str, text: str) -> str | None:
        """The source that holds this text; None for a text without a visible character."""
        content = "\n".join(line.rstrip() for line in text.strip().splitlines())
        if not content:
            self._notes.add("empty_document", f"The document {wanted[:80]!r} holds no text.", self._name)
            return None
        key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
        known = self._by_content.get(key)
        if known is not None:
            return known
        if len(self.items) >= MOST_DOCUMENTS:
            raise DataSetTooLarge(name=self._name, what="documents", limit=MOST_DOCUMENTS)
        source = self._free(source_name(wanted))
        self._by_content[key] = source
        self.items.append(IngestItem(source, data=content.encode("utf-8", "replace")))
        return source

    def _free(self, source: str) -> str:
        stem = source.removesuffix(".txt")
        return self._names.take(source, lambda number: f"{stem}-{number}.txt")


class Cases:
    """Cases with ids that differ and at most so many of them."""

    def __init__(self, name: str, notes: Notes) -> None:
        self._name = name
        self._notes = notes
        self._ids = Distinct()
        self.found: list[Case] = []

    def add(self, case: Case, line: int | None = None) -> None:
        if len(self.found) >= MOST_CASES:
            raise DataSetTooLarge(name=self._name, what="questions", limit=MOST_CASES)
        given = plain_text(case.id)
        case_id = self._ids.take(given, lambda number: f"{given}-{number}")
        if case_id != given:
            fact = f"The id {given[:80]!r} stands twice; the second one is called {case_id[:90]!r}."
            self._notes.add("duplicate_id", fact, self._name, line)
        self.found.append(replace(case, id=case_id))


def plain_text(name: str) -> str:
    """The name without halves of surrogate pairs, which neither a file nor a terminal takes."""
    return name.encode("utf-8", "replace").decode()


def source_name(wanted: str) -> str:
    """A name for a text document, short enough for a knowledge base and different for different ``wanted`` ones."""
    plain = (
        re.sub(r"\s+", " ", "".join(char if char.isprintable() else " " for char in wanted)).strip(" /") or "document"
    )
    cleaned = plain_text(plain)
    if len(cleaned.encode()) > _LONGEST_SOURCE:
        short = cleaned.encode()[: _LONGEST_SOURCE - 20].decode("utf-8", "ignore")
        cleaned = f"{short}-{hashlib.sha256(wanted.encode('utf-8', 'replace')).hexdigest()[:12]}"
    return f"{cleaned}.txt"


def text_of(name: str, data: bytes) -> str:
    """Text in UTF-8, UTF-16 or GB 18030; raises ``DataSetUnusable``."""
    try:
        return decode(name, data)
    except SourceError as error:
        raise DataSetUnusable(name=name, cause=error.fact) from None


def json_of(name: str, text: str) -> Any:
    """Raises ``DataSetUnusable`` naming the place of the fault."""
    try:
        return json.loads(text)
    except RecursionError:
        raise DataSetUnusable(name=name, cause="it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise DataSetUnusable(name=name, cause=f"line {error.lineno} is not JSON ({error.msg})") from None
    except ValueError:
        raise DataSetUnusable(name=name, cause="a number in it is too large") from None


def json_lines(text: str) -> Iterator[tuple[int, Mapping[Any, Any] | str]]:
    """The objects of a text that has one a line, with their lines from 1; for one that cannot be read, why."""
    # Not splitlines: a string of JSON may hold U+2028, which is no end of a line there.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
        except RecursionError:
            yield number, "it is nested too deeply"
        except json.JSONDecodeError as error:
            yield number, f"it is not JSON ({error.msg})"
        except ValueError as error:
            yield number, str(error)
        else:
            yield number, plain if isinstance(plain, Mapping) else "it is no object"


def file_of(path: Path, name: str, most_bytes: int) -> bytes:
    """A file's content; raises ``DataSetTooLarge`` in the name of its data set, and ``DataSetUnusable``."""
    try:
        if path.stat().st_size > most_bytes:
            raise DataSetTooLarge(name=name, what="megabytes", limit=MOST_BYTES // 1_000_000)
        return path.read_bytes()
    except OSError as error:
        raise DataSetUnusable(name=str(path), cause=error.strerror or type(error).__name__) from None


def sources(names: Iterable[str]) -> tuple[Expectation, ...]:
    return tuple(Expectation("source", name) for name in dict.fromkeys(names))


def question_fault(question: object) -> str:
    """Why a question cannot be asked; empty where it can."""
    if not isinstance(question, str):
        return "the question is missing" if question is None else "the question is no text"
    if not question.strip():
        return "the question is empty"
    if len(question.strip()) > LONGEST_QUESTION:
        return f"the question has more than {LONGEST_QUESTION} characters"
    return ""
