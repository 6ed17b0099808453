"""Code shared by data set formats: limits, notes on what was left out, text to documents."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from engine.errors import EvaluationError, SourceError
from engine.evaluation.cases import Case, Expectation
from engine.knowledge.ingest import IngestItem
from engine.knowledge.loaders.encoding import decode
from engine.knowledge.sheets import listed

MOST_BYTES = 256_000_000
"""Of one data set, unpacked."""
MOST_CASES = 20_000
MOST_DOCUMENTS = 100_000
LONGEST_QUESTION = 2000
LONGEST_ANSWER = 2000
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
    "answer_column",
    "unused_columns",
    "sheets",
    "more",
]
"""``row``: a line was left out. ``no_document``: a label names a document that is not there. ``no_relevant``: questions
without a relevant document were left out. ``sheets``: of a workbook only the first one was read. ``more``: further
notes of any kind."""


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Something that was left out or changed, so that nothing vanishes without a word."""

    kind: NoteKind
    fact: str
    """One sentence in English."""
    file: str = ""
    line: int | None = None
    """From 1, where the fault is in one line."""
    count: int = 1
    """How many entries it is about."""
    names: str = ""
    """Names that it is about, with commas between them."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.fact}" if place else self.fact


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


class Import:
    """A data set as it is being read: its questions, the texts that become sources, and notes of what was left out."""

    def __init__(self, name: str, known: Collection[str] = ()) -> None:
        """``known``: sources that the collection has, which labels may name."""
        self.name = name
        self.known = frozenset(known)
        self.cases: list[Case] = []
        self.items: list[IngestItem] = []
        self._notes: list[ImportNote] = []
        self._more = 0
        self._ids, self._names = Distinct(), Distinct()
        self._by_content: dict[str, str] = {}

    @property
    def notes(self) -> tuple[ImportNote, ...]:
        """Return up to :data:`MOST_NOTES` notes, and how many more there would be."""
        rest = ImportNote("more", f"{self._more} more entries were left out or changed.", count=self._more)
        return (*self._notes, rest) if self._more else tuple(self._notes)

    def note(
        self, kind: NoteKind, fact: str, line: int | None = None, *, file: str = "", count: int = 1, names: str = ""
    ) -> None:
        """Say what was left out or changed, by default of the data set's own file."""
        if len(self._notes) >= MOST_NOTES:
            self._more += 1
            return
        self._notes.append(ImportNote(kind, fact, file or self.name, line, count, names))

    def leave_out(self, why: str, line: int, file: str = "") -> None:
        """Note that a line says nothing that can be used."""
        self.note("row", f"The line is left out: {why}.", line, file=file)

    def add_case(self, case: Case, line: int | None = None, file: str = "") -> None:
        """Take a question; an id that stands twice gets a number."""
        if len(self.cases) >= MOST_CASES:
            raise EvaluationError.data_set_too_large(name=self.name, what="questions", limit=MOST_CASES)
        given = plain_text(case.id)
        case_id = self._ids.take(given, lambda number: f"{given}-{number}")
        if case_id != given:
            fact = f"The id {given[:80]!r} stands twice; the second one is called {case_id[:90]!r}."
            self.note("duplicate_id", fact, line, file=file)
        self.cases.append(replace(case, id=case_id))

    def add_document(self, wanted: str, text: str) -> str | None:
        """Take a text and return its source; None for one without a visible character.

        Each content is taken once: the knowledge base would skip the second of two equal ones.
        """
        content = "\n".join(line.rstrip() for line in text.strip().splitlines())
        if not content:
            self.note("empty_document", f"The document {wanted[:80]!r} holds no text.")
            return None
        key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
        known = self._by_content.get(key)
        if known is not None:
            return known
        if len(self.items) >= MOST_DOCUMENTS:
            raise EvaluationError.data_set_too_large(name=self.name, what="documents", limit=MOST_DOCUMENTS)
        stem = source_name(wanted).removesuffix(".txt")
        source = self._names.take(f"{stem}.txt", lambda number: f"{stem}-{number}.txt")
        self._by_content[key] = source
        self.items.append(IngestItem(source, data=content.encode("utf-8", "replace")))
        return source


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
    """Text in UTF-8, UTF-16 or GB 18030; raises ``EvaluationError.data_set_unusable``."""
    try:
        return decode(name, data)
    except SourceError as error:
        raise EvaluationError.data_set_unusable(name=name, cause=error.fact) from None


def list_of(made: Import, data: bytes) -> str:
    """The data set's own file as text, the first sheet of a workbook as CSV; raises ``EvaluationError``."""
    try:
        text, others = listed(made.name, data)
    except SourceError as error:
        raise EvaluationError.data_set_unusable(name=made.name, cause=error.fact) from None
    if others:
        made.note("sheets", "Only the first sheet with something in it was read.")
    return text


def json_of(name: str, text: str) -> Any:
    """Parse JSON; raises ``EvaluationError.data_set_unusable`` naming the place of the fault."""
    try:
        return json.loads(text)
    except RecursionError:
        raise EvaluationError.data_set_unusable(name=name, cause="it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise EvaluationError.data_set_unusable(
            name=name, cause=f"line {error.lineno} is not JSON ({error.msg})"
        ) from None
    except ValueError:
        raise EvaluationError.data_set_unusable(name=name, cause="a number in it is too large") from None


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
    """A file's content; raises ``EvaluationError`` in the name of its data set, and ``EvaluationError``."""
    try:
        if path.stat().st_size > most_bytes:
            raise EvaluationError.data_set_too_large(name=name, what="megabytes", limit=MOST_BYTES // 1_000_000)
        return path.read_bytes()
    except OSError as error:
        raise EvaluationError.data_set_unusable(name=str(path), cause=error.strerror or type(error).__name__) from None


def sources(names: Iterable[str]) -> tuple[Expectation, ...]:
    return tuple(Expectation("source", name) for name in dict.fromkeys(names))


def question_fault(question: object) -> str:
    """Explain why a question cannot be asked; empty if it can."""
    if not isinstance(question, str):
        return "the question is missing" if question is None else "the question is no text"
    if not question.strip():
        return "the question is empty"
    if len(question.strip()) > LONGEST_QUESTION:
        return f"the question has more than {LONGEST_QUESTION} characters"
    return ""
