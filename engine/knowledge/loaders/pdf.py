"""PDF: text of each page in reading order under the headings of the outline, and what is written onto the page."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from pypdfium2 import raw

from engine.errors import SourceDamaged, SourceEmpty, SourceError, SourceMislabelled
from engine.knowledge.loaders.contents import Contents, Section, counted, document_title, heading, named, note
from engine.knowledge.loaders.encoding import kind_of, without_control
from engine.knowledge.loaders.pdf_layout import Entry, Line, Page, path_at, read_pages, running_heads
from engine.knowledge.loaders.pdf_lines import drawn_lines, unified
from engine.messages import N_
from engine.model.values import SourceNote

Found = TypeVar("Found")

MOST_PAGES = 2000
"""The longest handbooks have about as many; reading them takes half a minute, embedding them hours."""
_MOST_ENTRIES = 5000
_HEAD = 1024
_END = b"%%EOF"
_OBJECT = re.compile(rb"\b\d{1,10} \d{1,5} obj\b")
_XFA_FULL = 2
"""PDFium's FORMTYPE_XFA_FULL: the page says only that another program is needed."""
_GARBLED_SHARE = 0.3
_UNKNOWN = re.compile(r"[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")
_LONGEST_STAMP = 80
_DIGITS = re.compile(r"\d")
_LEAST_OF_PAGE = 0.5
"""Of the area of a page that a picture of it covers."""
_MOST = 5000
"""Of one page that are looked at."""


def load_pdf(name: str, data: bytes, hidden: bool = False) -> Contents:
    """One section a page and heading: ``(Heading, p. 12)``; an empty one for a page whose text only a reader of images
    could find.

    ``hidden``: text that is drawn invisibly on a page without a picture is read too. Raises ``SourceError.encrypted``,
    ``SourceError.too_many_pages``, ``SourceDamaged`` where no page can be read.
    """
    if b"%PDF-" not in data[:_HEAD]:
        raise SourceMislabelled(name=name, found=kind_of(data))
    import pypdfium2

    end = data.rfind(_END)
    whole = end >= 0 and not _OBJECT.search(data, end)
    try:
        # What follows the end, such as zeros of a broken download, would keep PDFium from finding it.
        document = pypdfium2.PdfDocument(data[: end + len(_END)] + b"\n" if whole else data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise SourceError.encrypted(name=name) from error
        found = N_("its list of objects cannot be read") if whole else N_("its end is missing")
        raise SourceDamaged.named(name=name, found=found) from error
    try:
        return _Reading(name, document, hidden).contents(whole)
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # an object of a type that the standard does not allow there
        raise SourceDamaged.named(name=name, found=N_("a page or its outline cannot be read")) from error
    finally:
        document.close()


class _Reading:
    """Goes through the pages of a document and keeps the account of what was read and what was left out."""

    def __init__(self, name: str, document: Any, hidden: bool) -> None:
        self._name = name
        self._document = document
        self._hidden = hidden
        self._forms = _guarded(document.init_forms, False)
        self._written: dict[int, Written] = {}
        self._at: dict[str, list[int]] = {"pages_without_text": [], "pages_unreadable": [], "pages_garbled": []}
        """Pages by the code of the note that names them."""
        self._lost, self._read = Counter[str](), Counter[str]()
        self._stamps: dict[int, str] = {}
        """The few words on a page that is a picture else, without their digits."""

    def contents(self, whole: bool) -> Contents:
        count = len(self._document)
        if count > MOST_PAGES:
            raise SourceError.too_many_pages(name=self._name, pages=count, limit=MOST_PAGES)
        pages = self._without_stamps([page for page in map(self._page, range(count)) if page is not None])
        outline = _guarded(lambda: _entries(self._document), None)
        title, entries = _titled(document_title(unified(without_control(self._title()))), outline or [])
        sections = self._sections(pages, entries)
        if not sections:
            raise self._why_empty(count)
        self._lost["running_heads"] += running_heads(pages)
        self._read["pages"] = count - len(self._at["pages_unreadable"]) - len(self._at["pages_without_text"])
        notes = self._notes(count, whole, outline is None)
        return Contents(title, tuple(sections), notes=notes, read=dict(+self._read))

    def _without_stamps(self, pages: list[Page]) -> list[Page]:
        """The pages, pictures without the few words that stand on others too, such as the name of a scanner."""
        stamps = Counter(self._stamps.values())
        stamped = {number for number, said in self._stamps.items() if stamps[said] > 1}
        self._at["pages_without_text"] = sorted({*self._at["pages_without_text"], *stamped})
        return [Page(page.number, []) if page.number in stamped else page for page in pages]

    def _notes(self, count: int, whole: bool, no_outline: bool) -> tuple[SourceNote, ...]:
        self._lost["files_not_read"] += self._document.count_attachments()
        form = self._document.get_formtype() == _XFA_FULL
        faults = {"outline_unreadable": no_outline, "end_missing": not whole, "form_not_read": form}
        return (
            *named(self._at, of=count),
            *counted(self._lost),
            *(note(code) for code, holds in faults.items() if holds),
        )

    def _title(self) -> str:
        return _guarded(lambda: str(self._document.get_metadata_value("Title")), "")  # it may hold half a character

    def _sections(self, pages: Sequence[Page], entries: Sequence[Entry]) -> list[Section]:
        """Return the text of each page, then its annotations; empty for a page that is a picture."""
        said: dict[int, list[Section]] = {}
        for path, page, text in read_pages(pages, entries):
            said.setdefault(page, []).append(Section((*path, f"p. {page}"), without_control(text)))
        for page, item in self._written.items():
            self._lost += item.lost
            self._read["fields"] += len(item.fields)
            filled = [f"- {name}: {value}" if name else f"- {value}" for name, value in item.fields.items()]
            here = said.setdefault(page, [])
            if not here and (filled or page in self._at["pages_without_text"]):
                here.append(Section((*path_at(entries, page), f"p. {page}"), ""))
            if filled:
                here[-1] = Section(here[-1].path, "\n\n".join(filter(None, [here[-1].text, "\n".join(filled)])))
        return [section for page in sorted(said) for section in said[page]]

    def _why_empty(self, count: int) -> SourceError:
        if self._at["pages_unreadable"] or not count:
            return SourceDamaged.named(name=self._name, found=N_("none of its pages can be read"))
        return SourceEmpty(name=self._name)

    def _page(self, number: int) -> Page | None:
        """A page; None where it is broken, which must not cost the others."""
        try:
            page = self._document[number]
            try:
                lines, drawn = self._drawn(page)
                text = "".join(line.text for line in lines)
                if 0 < len(text) < _LONGEST_STAMP and _has_picture(page):
                    self._stamps[number + 1] = _DIGITS.sub("", text)
                form = self._document.formenv if self._forms else None
                written = _guarded(lambda: written_on(page, form, self._hidden), Written())
            finally:
                page.close()
        except MemoryError:
            raise
        except Exception:  # PDFium says what it met with in many ways
            self._at["pages_unreadable"].append(number + 1)
            return None
        if len(_UNKNOWN.findall(text)) > _GARBLED_SHARE * len(text):
            lines, drawn = [], True
            self._at["pages_garbled"].append(number + 1)
        if drawn and not lines:
            self._at["pages_without_text"].append(number + 1)
        self._written[number + 1] = written
        return Page(number + 1, lines)

    def _drawn(self, page: Any) -> tuple[list[Line], bool]:
        """Lines of a page as they are drawn, and whether anything is drawn at all."""
        text_page = page.get_textpage()
        try:
            lines = drawn_lines(text_page, page.get_height())
            # Over a picture of the page, invisible text is what was recognised in it.
            if not all(line.visible for line in lines) and not _has_picture(page) and not self._hidden:
                self._lost["hidden_text"] += sum(not line.visible for line in lines)
                return [line for line in lines if line.visible], False
        finally:
            text_page.close()
        return lines, bool(lines) or next(iter(page.get_objects(max_depth=1)), None) is not None


def _guarded(read: Callable[[], Found], instead: Found) -> Found:
    """Read a part of the file; return ``instead`` if it is broken."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception:  # PDFium says what it met with in many ways
        return instead


def _has_picture(page: Any) -> bool:
    """Return whether a picture covers most of a page, as in a scan."""
    from pypdfium2 import raw

    area = page.get_width() * page.get_height()
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = item.get_bounds()
        if (right - left) * (top - bottom) > _LEAST_OF_PAGE * area:
            return True
    return False


def _titled(title: str, entries: list[Entry]) -> tuple[str, list[Entry]]:
    """The title and the entries below it: one entry above all others is the document itself."""
    if len(entries) > 1 and all(entry.level > entries[0].level for entry in entries[1:]):
        return title or entries[0].title, entries[1:]
    return title, entries


def _entries(document: Any) -> list[Entry]:
    """The outline, as far as it points into the document."""
    entries = []
    for bookmark in islice(document.get_toc(), _MOST_ENTRIES):
        # Half a character in one name must not cost the document.
        title = heading(unified(without_control(_guarded(bookmark.get_title, "") or "")))
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


@dataclass(slots=True)
class Written:
    fields: dict[str, str] = field(default_factory=dict)
    """Value by name; ``☑`` and ``☐`` for a check box, the chosen one for a group of buttons."""
    lost: Counter[str] = field(default_factory=Counter)
    """Comments, files, and what is not shown, by the code of the note that counts them."""


def written_on(page: Any, form: Any, hidden: bool = False) -> Written:
    """``form``: the document's environment of forms, or None; ``hidden``: what is not shown is read too."""
    found = Written()
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        note = raw.FPDFPage_GetAnnot(page, number)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            unseen = bool(raw.FPDFAnnot_GetFlags(note) & (raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW))
            if unseen and not hidden:
                says = list(_filled_in(form, note, {})) if kind == raw.FPDF_ANNOT_WIDGET and form is not None else []
                found.lost["hidden_text"] += bool(says or _words(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
            elif kind == raw.FPDF_ANNOT_WIDGET and form is not None:
                found.fields.update(_filled_in(form, note, found.fields))
            elif kind == raw.FPDF_ANNOT_FILEATTACHMENT:
                found.lost["files_not_read"] += 1
            elif kind not in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
                found.lost["comments"] += bool(_words(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return found


def _filled_in(form: Any, note: Any, before: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Name and value of a field that says something."""
    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    name = heading(_words(raw.FPDFAnnot_GetFormFieldAlternateName, form, note)) or heading(
        _words(raw.FPDFAnnot_GetFormFieldName, form, note)
    )
    if kind == raw.FPDF_FORMFIELD_CHECKBOX:
        ticked = bool(raw.FPDFAnnot_IsChecked(form, note))
        yield name, "☑" if ticked or before.get(name) == "☑" else "☐"
    elif kind == raw.FPDF_FORMFIELD_RADIOBUTTON:
        if raw.FPDFAnnot_IsChecked(form, note):
            yield name, _words(raw.FPDFAnnot_GetFormFieldExportValue, form, note)
    elif kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        value = _words(raw.FPDFAnnot_GetFormFieldValue, form, note)
        if value:
            yield name, value


def _words(call: Callable[..., int], *arguments: Any) -> str:
    size = call(*arguments, None, 0)
    buffer = ctypes.create_string_buffer(max(size, 2))
    call(*arguments, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return without_control(buffer.raw[: size - 2].decode("utf-16-le", "replace")).strip()
