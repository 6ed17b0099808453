"""Word documents in the order of the text: headings, paragraphs, numbered lists, tables, boxes, notes, charts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, document_title
from engine.knowledge.loaders.drawings import drawn_text
from engine.knowledge.loaders.kinds import loader_of
from engine.knowledge.loaders.numbering import BULLET, is_on, value_of, whole_number
from engine.knowledge.loaders.numbering import WORD as W
from engine.knowledge.loaders.office import PART_FAULTS, RELATION, Package, addresses_unsaid
from engine.knowledge.loaders.tables import Span, table_text
from engine.knowledge.loaders.word_runs import ALTERNATIVES, CONTENTS, Runs, Styles, holds_words
from engine.messages import N_

_FALLBACK = f"{ALTERNATIVES}Fallback"
_INSIDE = frozenset(f"{W}{name}" for name in ("ins", "moveTo", "smartTag", "customXml"))
_NOTES = ("footnote", "endnote")
PAGE_WORDS = re.compile(r"(page|seite|pagina|página|of|von|de|sur|di|[\W\d_]|[第页頁共総])*", re.IGNORECASE)
_DEEPEST_INDENT = 8


def load_word(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sections by heading styles; raises ``SourceDamaged`` where nothing can be read.

    ``hidden``: whether hidden text goes in. What is missing or broken in the file costs itself alone.
    """
    package = Package(name, data, ".docx")
    root = package.xml(package.main)
    body = None if root is None else root.find(f"{W}body")
    if body is None:
        raise SourceDamaged.named(name=name, found=N_("its main part is missing or broken"))
    contents = _Walk(package, body, hidden).contents()
    if package.lost["parts_broken"] and not contents.sections:
        raise SourceDamaged.named(name=name, found=N_("its main part is missing or broken"))
    return contents


_Lines = list[tuple[int, str]]
"""Level and text of the lines of a list."""


class _Texts(list[str]):
    """The text of a cell or a note, where headings are lines like others."""

    def heading(self, level: int, words: str) -> None:
        self.append(words)

    def text(self, part: str) -> None:
        if part.strip():
            self.append(part.strip("\n"))


_Sink = Outline | _Texts


class _Walk:
    def __init__(self, package: Package, body: Any, hidden: bool) -> None:
        self._package = package
        self._lost, self._read = package.lost, package.read
        main = package.main
        self._styles = Styles(
            next(package.related(main, "styles"), None), next(package.related(main, "numbering"), None)
        )
        self._runs = Runs(self._styles, hidden, self._lost, self._read)
        self._links = package.relations(main)
        self._hidden = hidden
        self._after_table: list[str] | None = None
        """Footnotes of the table that is being read."""
        self._notes = self._marked_notes(body)
        _join_halves(body)
        tops = [paragraph for paragraph in body.iter(f"{W}p") if self._styles.level(paragraph) == 1]
        # One heading of the first level is the title; several divide the document.
        self._outline = Outline(title_level=1 if len(tops) == 1 else 0)
        self._blocks(body, self._outline)
        for key in [key for key in self._notes if key not in self._runs.marks]:  # nothing points at them
            self._outline.text(self._note(key))
        self._margins = self._headers_and_footers(main, body)
        self._lost["comments"] += sum(
            sum(1 for _ in comments.iter(f"{W}comment")) for comments in package.related(main, "comments")
        )

    def contents(self) -> Contents:
        sections = self._outline.sections()
        title = self._outline.title or document_title(self._package.title())
        said = "\n".join(text for text in self._margins if text != title)
        if said:
            sections += (Section(("Headers and footers",), said),)
        text = "\n".join(section.text for section in sections)
        self._lost["addresses_not_read"] = addresses_unsaid(self._package.relations(self._package.main), text)
        return Contents(title, sections, notes=counted(self._lost), read=dict(+self._read))

    def _blocks(self, parent: Any, sink: _Sink) -> None:
        lines: _Lines = []  # of the list that is being read
        for element in parent:
            with self._package.guarded("blocks_broken"):
                self._block(element, sink, lines)
        _end_list(lines, sink)

    def _block(self, element: Any, sink: _Sink, lines: _Lines) -> None:
        if element.tag == f"{W}p":
            self._paragraph(element, sink, lines)
        elif element.tag == f"{W}tbl":
            _end_list(lines, sink)
            self._table(element, sink)
        elif element.tag == f"{W}sdt":
            if _is_contents(element):
                self._lost["contents_lines"] += sum(holds_words(line) for line in element.iter(f"{W}p"))
                return
            for inner in element.iterfind(f"{W}sdtContent/*"):
                self._block(inner, sink, lines)
        elif element.tag in _INSIDE:
            for inner in element:
                self._block(inner, sink, lines)
        elif element.tag == f"{ALTERNATIVES}AlternateContent":
            for inner in next(iter(element), ()):
                self._block(inner, sink, lines)
        elif element.tag == f"{W}altChunk":
            self._file(element, sink)
        elif element.tag == f"{W}subDoc":
            self._lost["files_not_read"] += 1
        elif element.tag in (f"{W}del", f"{W}moveFrom"):
            self._lost["deletions"] += 1

    def _file(self, element: Any, sink: _Sink) -> None:
        """A page or a document that some programs put in whole, for Word to take apart when it opens the file."""
        link = self._links.get(element.get(f"{RELATION}id") or "")
        path = "" if link is None else link.target.lower()
        try:
            found = loader_of(path)(path, self._package.stored(path), self._hidden)
        except (*PART_FAULTS, SourceError):
            self._lost["files_not_read"] += 1
            return
        sink.heading(1, found.title)
        for section in found.sections:
            sink.heading(len(section.path) + 1, section.path[-1] if section.path else "")
            sink.text(section.text)
        self._lost.update({item.code: int(item.params["count"]) for item in found.notes if "count" in item.params})
        self._read["files"] += 1

    def _paragraph(self, element: Any, sink: _Sink, lines: _Lines) -> None:
        level = self._styles.level(element)
        if level == CONTENTS:
            self._lost["contents_lines"] += holds_words(element)
            return
        text = self._runs.text(element).strip()
        if self._runs.paged and PAGE_WORDS.fullmatch(text):
            text = ""
        # Word counts a paragraph without words too, if it is there to be seen.
        place = None if not text and self._runs.is_hidden(element) else self._styles.place(element)
        label = self._styles.numbering.label(*place) if place and place[0] != "0" else ""
        if text and level is not None:
            _end_list(lines, sink)
            sink.heading(level, label.removeprefix(BULLET) + text)
        elif label and (text or (label != BULLET and isinstance(sink, _Texts))):  # cells may hold numbers alone
            lines.append((min(place[1] if place else 0, _DEEPEST_INDENT), (label + text).strip()))
        elif text:
            _end_list(lines, sink)
            sink.text(text)
        self._read["headings" if level is not None else "paragraphs"] += bool(text)
        self._after(sink, lines)

    def _after(self, sink: _Sink, lines: _Lines) -> None:
        """Return the attachments of the last paragraph: its notes, charts, diagrams and text boxes."""
        notes, drawn, boxes = self._runs.notes, self._runs.drawn, self._runs.boxes
        texts = list(filter(None, map(self._note, notes)))
        if self._after_table is not None:
            self._after_table += texts
            texts = []
        for text in filter(None, (*texts, *(drawn_text(self._package, self._links, link) for link in drawn))):
            _end_list(lines, sink)
            sink.text(text)
        for box in boxes:
            _end_list(lines, sink)
            self._read["text boxes"] += 1
            self._blocks(box, sink)

    def _inner(self, parent: Any) -> list[str]:
        """The texts of what stands inside a cell, a note, a header."""
        texts = _Texts()
        self._blocks(parent, texts)
        return texts

    def _table(self, element: Any, sink: _Sink) -> None:
        rows = list(self._rows(element))
        if max((sum(1 for _ in _inside(row, "tc")) for row in rows), default=0) <= 1:  # a frame around text
            for row in rows:
                for cell in _inside(row, "tc"):
                    self._blocks(cell, sink)
            return
        self._read["tables"] += 1
        headers = {place for place, row in enumerate(rows) if is_on(row.find(f"{W}trPr/{W}tblHeader"))}
        outer, self._after_table = self._after_table, []
        cells = [list(self._cells(row)) for row in rows]
        notes, self._after_table = self._after_table, outer
        sink.text(table_text(cells, bool(headers), headers))
        if outer is not None:
            outer += notes
        else:
            for text in notes:
                sink.text(text)

    def _rows(self, table: Any) -> Iterator[Any]:
        for row in _inside(table, "tr"):
            if row.find(f"{W}trPr/{W}del") is not None:
                self._lost["deletions"] += 1
            else:
                yield row

    def _cells(self, row: Any) -> Iterator[Span]:
        """The cells of a row, those that it leaves out at its ends as empty ones."""
        properties = row.find(f"{W}trPr")
        if left := whole_number(value_of(properties, "gridBefore")):
            yield Span("", columns=left)
        for cell in _inside(row, "tc"):
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            reached = merged is not None and merged.get(f"{W}val") != "restart"
            columns = max(whole_number(value_of(cell.find(f"{W}tcPr"), "gridSpan")), 1)
            yield Span(None if reached else "\n".join(self._inner(cell)), columns=columns)
        if left := whole_number(value_of(properties, "gridAfter")):
            yield Span("", columns=left)

    def _marked_notes(self, body: Any) -> dict[tuple[str, str], Any]:
        """Footnotes and endnotes by kind and id; those that are pointed at get marks, numbered in the text's order."""
        found = {
            (kind, item.get(f"{W}id") or ""): item
            for kind in _NOTES
            for root in self._package.related(self._package.main, f"{kind}s")
            for item in root.findall(f"{W}{kind}")
            if item.get(f"{W}type") in (None, "normal")
        }
        marks: dict[tuple[str, str], str] = {}
        numbers = Counter[str]()
        for reference in body.iter(*(f"{W}{kind}Reference" for kind in _NOTES)):
            kind = reference.tag.removeprefix(W).removesuffix("Reference")
            key = (kind, reference.get(f"{W}id") or "")
            if next(reference.iterancestors(f"{W}del", f"{W}moveFrom", _FALLBACK), None) is not None:
                marks.setdefault(key, "")
            elif key in found and not marks.get(key):
                numbers[kind] += 1
                marks[key] = f"[{kind.capitalize()} {numbers[kind]}]"
        self._runs.marks = marks
        return found

    def _note(self, key: tuple[str, str]) -> str:
        """A note's text behind its mark; nothing for one that was read before."""
        item = self._notes.pop(key, None)
        text = "" if item is None else "\n".join(self._inner(item))
        self._read[f"{key[0]}s"] += bool(text)
        return " ".join(filter(None, (self._runs.marks.get(key), text))) if text else ""

    def _headers_and_footers(self, main: str, body: Any) -> list[str]:
        """Their different texts; lines that hold no more than the number of a page are left out."""
        settings = next(self._package.related(main, "settings"), None)
        even = settings is not None and is_on(settings.find(f"{W}evenAndOddHeaders"))
        first = any(is_on(section) for section in body.iter(f"{W}titlePg"))
        shown = {"first": first, "even": even}
        links, found = self._links, dict[str, None]()
        self._runs.in_margin = True
        for reference in body.iter(f"{W}headerReference", f"{W}footerReference"):
            link = links.pop(reference.get(f"{RELATION}id") or "", None)
            root = None if link is None else self._package.xml(link.target)
            if link is not None and root is not None:
                self._links = self._package.relations(link.target)
                text = "\n".join(self._inner(root))
                if shown.get(reference.get(f"{W}type") or "", True):
                    found[text] = None
                else:
                    self._lost["headers_unused"] += bool(text)
        found.pop("", None)
        self._read["headers and footers"] += len(found)
        return list(found)


def _inside(parent: Any, name: str) -> Iterator[Any]:
    """Rows of a table or cells of a row, out of what they may be wrapped in."""
    for element in parent:
        if element.tag == f"{W}{name}":
            yield element
        elif element.tag in (f"{W}sdt", f"{W}sdtContent", *_INSIDE):
            yield from _inside(element, name)


def _end_list(lines: _Lines, sink: _Sink) -> None:
    """Give what a list has so far, deeper levels indented."""
    if lines:
        shallowest = min(level for level, _ in lines)
        sink.text("\n".join(f"{'  ' * (level - shallowest)}{text}" for level, text in lines))
        lines.clear()


def _goes_on(paragraph: Any) -> bool:
    """Return whether a paragraph is one with the next: its end is deleted, or it is a large initial letter."""
    initial = paragraph.find(f"{W}pPr/{W}framePr")
    is_initial = initial is not None and initial.get(f"{W}dropCap", "none") != "none"
    return is_initial or paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None


def _join_halves(body: Any) -> None:
    """Put the words of each paragraph that is one with the next into that."""
    for paragraph in list(body.iter(f"{W}p")):
        following = paragraph.getnext()
        if following is not None and following.tag == f"{W}p" and _goes_on(paragraph):
            place = len(following.findall(f"{W}pPr"))
            following[place:place] = [child for child in paragraph if child.tag != f"{W}pPr"]
            paragraph.getparent().remove(paragraph)


def _is_contents(element: Any) -> bool:
    gallery = element.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
    return gallery is not None and gallery.get(f"{W}val") == "Table of Contents"
