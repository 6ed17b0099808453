"""PDF: text of each page in reading order, under the headings of the outline, with the page said."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from engine.errors import (
    SourceDamaged,
    SourceEmpty,
    SourceEncrypted,
    SourceError,
    SourceGarbled,
    SourceMislabelled,
    SourceScanned,
    SourceTooManyPages,
)
from engine.knowledge.loaders.contents import Contents, Section, document_title, heading, note, numbers
from engine.knowledge.loaders.encoding import kind_of, without_control
from engine.knowledge.loaders.pdf_layout import Entry, Line, Page, read_pages
from engine.knowledge.loaders.radicals import unified
from engine.messages import N_

MOST_PAGES = 2000
"""The longest handbooks have about as many; reading them takes half a minute, embedding them hours."""
_MOST_ENTRIES = 5000
_HEAD, _TAIL = 1024, 65_536
_GARBLED_SHARE = 0.3
_UNKNOWN = re.compile(r"[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")
_LEADERS = re.compile(r"\s*(?:[.·…．]\s?){5,}")
_SOFT_HYPHEN = re.compile(r"[\x02\ufffe\u00ad](?:\r?\n)?")


def load_pdf(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """One section a page and heading: ``(Heading, p. 12)``.

    Raises ``SourceEncrypted``, ``SourceTooManyPages``, ``SourceScanned`` where no page holds text, ``SourceGarbled``
    where fonts hide their characters, ``SourceDamaged`` for a file that was cut short.
    """
    if b"%PDF-" not in data[:_HEAD]:
        raise SourceMislabelled(name=name, found=kind_of(data))
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise SourceEncrypted(name=name) from error
        raise SourceDamaged.named(name=name, found=N_("its list of objects cannot be read")) from error
    try:
        return _contents(name, data, document)
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # an object of a type that the standard does not allow there
        raise SourceDamaged.named(name=name, found=N_("a page or its outline cannot be read")) from error
    finally:
        document.close()


def _contents(name: str, data: bytes, document: Any) -> Contents:
    count = len(document)
    if count > MOST_PAGES:
        raise SourceTooManyPages(name=name, pages=count, limit=MOST_PAGES)
    if b"%%EOF" not in data[-_TAIL:]:
        raise SourceDamaged.named(name=name, found=N_("its end is missing"))
    pages, pictures, lost = [], [], []
    for number in range(count):
        try:
            lines, drawn = _page(document, number)
        except MemoryError:
            raise
        except Exception:  # one broken page must not cost the others
            lost.append(number + 1)
            continue
        pages.append(Page(number + 1, lines))
        if drawn and not lines:
            pictures.append(number + 1)
    text = "".join(line.text for page in pages for line in page.lines)
    if not text:
        raise _why_empty(name, count, pictures, lost)
    if len(_UNKNOWN.findall(text)) > _GARBLED_SHARE * len(text):
        raise SourceGarbled(name=name)
    title = document_title(unified(without_control(_title(document))))
    entries = _entries(document)
    if entries and all(entry.level > entries[0].level for entry in entries[1:]) and len(entries) > 1:
        title = title or entries[0].title  # one entry above all others is the document itself
        entries = entries[1:]
    sections = tuple(
        Section((*path, f"p. {page}"), without_control(said)) for path, page, said in read_pages(pages, entries)
    )
    notes = []
    if pictures:
        notes.append(note("pages_without_text", count=len(pictures), pages=numbers(pictures), of=count))
    if lost:
        notes.append(note("pages_unreadable", count=len(lost), pages=numbers(lost), of=count))
    return Contents(title, sections, notes=tuple(notes))


def _why_empty(name: str, count: int, pictures: Sequence[int], lost: Sequence[int]) -> SourceError:
    if lost or not count:
        return SourceDamaged.named(name=name, found=N_("none of its pages can be read"))
    return SourceScanned(name=name, pages=count) if pictures else SourceEmpty(name=name)


def _page(document: Any, number: int) -> tuple[list[Line], bool]:
    """Lines of a page as they are drawn, and whether anything is drawn at all."""
    page = document[number]
    try:
        height = page.get_height()
        text_page = page.get_textpage()
        try:
            lines = list(_lines(text_page, height))
        finally:
            text_page.close()
        return lines, bool(lines) or next(iter(page.get_objects(max_depth=1)), None) is not None
    finally:
        page.close()


def _lines(text_page: Any, height: float) -> Iterator[Line]:
    from pypdfium2 import raw

    place = 0
    box = raw.FS_RECTF()
    edges = [ctypes.c_double() for _ in range(4)]
    text = _SOFT_HYPHEN.sub(lambda match: "\x02" * len(match.group()), text_page.get_text_range())
    for drawn in text.split("\r\n"):
        words = drawn.strip()
        if words:
            first = place + len(drawn) - len(drawn.lstrip())
            last = place + len(drawn.rstrip()) - 1
            raw.FPDFText_GetLooseCharBox(text_page, first, ctypes.byref(box))
            raw.FPDFText_GetCharBox(text_page, last, *map(ctypes.byref, edges))
            shown = unified(_LEADERS.sub(" … ", words.replace("\x02", "")))
            if shown:
                yield Line(
                    text=shown,
                    left=box.left,
                    right=max(edges[1].value, box.right),
                    top=height - box.top,
                    bottom=height - box.bottom,
                )
        place += len(drawn) + 2


def _title(document: Any) -> str:
    try:
        return str(document.get_metadata_value("Title"))
    except ValueError:  # half a character
        return ""


def _entries(document: Any) -> list[Entry]:
    """The outline, as far as it points into the document."""
    entries = []
    for bookmark in islice(document.get_toc(), _MOST_ENTRIES):
        try:
            title = heading(unified(without_control(bookmark.get_title() or "")))
        except ValueError:  # half a character: one spoiled name must not cost the document
            continue
        target = bookmark.get_dest()
        page = target.get_index() if target is not None else None
        if page is None or page < 0 or not title:
            continue
        _, view = target.get_view()
        height = document.get_page_size(page)[1]
        # Of the usual ways to point at a place only XYZ gives its height; all others mean the whole page.
        top = height - view[1] if len(view) == 3 and view[1] else 0.0
        entries.append(Entry(bookmark.level, title, page + 1, top))
    return entries
