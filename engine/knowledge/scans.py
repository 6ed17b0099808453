"""Pages of a PDF that are pictures, and pictures: their text is recognised in the process that reads images."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import ParamSpec, TypeVar

from engine.builtin.apart import READERS
from engine.builtin.ocr import OcrReader
from engine.errors import SourceEmpty, SourceError
from engine.knowledge.loaders.contents import Contents, Section, note, numbers
from engine.knowledge.loaders.wrapping import joined
from engine.model.values import SourceNote

PAGE_LIMIT_S = 60.0
FILE_LIMIT_S = 1800.0
"""For all pages of one file: some 900 of them; what is left then is said."""
USUAL_S = 2.0
"""For one page, of two cores."""
_FULL = 0.85
"""Share of the longest line from which a line of a page is taken as one that continues below."""
_ENDED = "。！？；：…!?.:;”’」』）】)\"'"

Given = ParamSpec("Given")
Found = TypeVar("Found")
_STOPPED: ContextVar[threading.Event | None] = ContextVar("stopped", default=None)


def pictures(contents: Contents) -> tuple[int, ...]:
    """Pages whose text only text recognition can find."""
    if not any(item.code == "pages_without_text" for item in contents.notes):
        return ()
    return tuple(_page(section) for section in contents.sections if not section.text)


def announced(name: str, contents: Contents) -> Contents:
    """For a preview: how many pages would be recognised and how long that takes; raises as :func:`recognised`."""
    pages = pictures(contents)
    if not pages or not OcrReader.available():
        return recognised(name, b"", contents)
    minutes = max(1, round(len(pages) * USUAL_S / 60))
    return _noting(contents, (), [note("pages_to_recognise", count=len(pages), pages=numbers(pages), minutes=minutes)])


def recognised(name: str, data: bytes, contents: Contents) -> Contents:
    """The contents with the text of pictured pages in its place; blocks, up to ``FILE_LIMIT_S``.

    Raises ``SourceError.scanned`` or ``SourceError.garbled`` where no page has any text then,
    ``SourceError.timed_out`` where that is not known.
    """
    pages = pictures(contents)
    if not pages:
        return contents
    found, missed = _read(name, data, pages) if OcrReader.available() else ({}, [])
    sections = tuple(
        replace(section, text=found.get(_page(section), ("", 0.0))[0]) if not section.text else section
        for section in contents.sections
    )
    if not any(section.text for section in sections):
        raise SourceError.timed_out(name=name, seconds=PAGE_LIMIT_S) if missed else _nothing(name, contents, len(pages))
    said = [note("pages_not_recognised", count=len(missed), pages=numbers(missed))] if missed else []
    if found:
        signs = sum(len(text) for text, _ in found.values())
        sure = sum(sureness * len(text) for text, sureness in found.values()) / signs
        said.append(
            note("pages_recognised", count=len(found), pages=numbers(sorted(found)), confidence=f"{100 * sure:.0f}")
        )
    read = {**contents.read, "recognised pages": len(found)} if found else contents.read
    left = [page for page in pages if page not in found and page not in missed]
    return replace(_noting(contents, left, said), sections=sections, read=read)


async def in_thread(call: Callable[Given, Found], *args: Given.args, **kwargs: Given.kwargs) -> Found:
    """Run ``call`` in a thread, as ``asyncio.to_thread`` does; when it is cancelled, no further page is recognised."""
    stopped = threading.Event()
    token = _STOPPED.set(stopped)
    try:
        return await asyncio.to_thread(call, *args, **kwargs)
    finally:
        stopped.set()
        _STOPPED.reset(token)


def _read(name: str, data: bytes, pages: Sequence[int]) -> tuple[dict[int, tuple[str, float]], list[int]]:
    """Text of each page that has any and how surely it was recognised, and the pages that could not be done."""
    found: dict[int, tuple[str, float]] = {}
    missed: list[int] = []
    stopped = _STOPPED.get()
    end = time.monotonic() + FILE_LIMIT_S
    for page in pages:
        left = min(PAGE_LIMIT_S, end - time.monotonic())
        # A program that ends waits for its threads.
        if left <= 0 or (stopped is not None and stopped.is_set()) or not threading.main_thread().is_alive():
            missed.append(page)
            continue
        try:
            text, sureness = READERS.call(name, data, left, kind="page", page=page)
        except SourceError:  # too slow, or too much memory
            missed.append(page)
            continue
        if text.strip():
            found[page] = (_flowing(text), float(sureness))
    return found, missed


def _flowing(text: str) -> str:
    """The text with the lines of a paragraph joined where the page made them as long as it is wide."""
    lines = text.split("\n")
    longest = max(map(len, lines))
    made: list[str] = []
    goes_on = False
    for line in lines:
        made[-1:] = [joined([made[-1], line])] if goes_on and line.strip() else [*made[-1:], line]
        goes_on = len(line) >= _FULL * longest and not line.endswith(tuple(_ENDED))
    return "\n".join(made)


def _page(section: Section) -> int:
    return int(section.path[-1].removeprefix("p. "))


def _noting(contents: Contents, left: Sequence[int], said: Sequence[SourceNote]) -> Contents:
    """The contents with the pages that are left without text, and with further notes."""
    notes = []
    for item in contents.notes:
        if item.code != "pages_without_text":
            notes.append(item)
        elif left:
            notes.append(note(item.code, count=len(left), pages=numbers(left), of=item.params["of"]))
    return replace(contents, notes=(*said, *notes))


def _nothing(name: str, contents: Contents, pages: int) -> SourceError:
    looked_at = "pictures" in contents.read and OcrReader.available()
    if looked_at or any(item.code == "pages_unreadable" for item in contents.notes):
        return SourceEmpty(name=name)
    garbled = any(item.code == "pages_garbled" for item in contents.notes)
    return SourceError.garbled(name=name) if garbled else SourceError.scanned(name=name, pages=pages)
