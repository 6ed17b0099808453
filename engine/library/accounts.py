"""The account of a source in words: what was read of it, what was left out, each with its count.

Loaders give codes and counts (:class:`~engine.model.values.Account`); the code that shows them knows the language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Protocol

from engine.errors import SourceError
from engine.messages import CONTEXT_END, N_, NN_
from engine.model.values import EXPECTED, Account, Fault, SourceNote

NOTES: Mapping[str, str | tuple[str, str]] = {
    "encoding": N_("read as {encoding}, which is a guess"),
    "lines_unreadable": NN_(
        "{count} line is no JSON and was left out (line {lines})",
        "{count} lines are no JSON and were left out (lines {lines})",
    ),
    "characters_broken": NN_(
        "half of {count} character is missing, and � stands in its place",
        "halves of {count} characters are missing, and � stands in their place",
    ),
    "headings_cut": NN_(
        "the headings above {count} section are too long to keep: the outermost ones are cut off there",
        "the headings above {count} sections are too long to keep: the outermost ones are cut off there",
    ),
    "rows_ragged": NN_(
        "{count} row has more or fewer cells than the header (row {rows})",
        "{count} rows have more or fewer cells than the header (rows {rows})",
    ),
    "rows_beyond": NN_(
        "{count} row after the first {kept} was left out", "{count} rows after the first {kept} were left out"
    ),
    "rows_cut": N_("only the first {kept} rows are used"),
    "slides_without_text": NN_(
        "{count} slide holds no text (slide {slides})", "{count} slides hold no text (slides {slides})"
    ),
    "blocks_broken": NN_(
        "{count} paragraph, table or shape cannot be read and was left out",
        "{count} paragraphs, tables or shapes cannot be read and were left out",
    ),
    "comments": NN_("{count} comment was left out", "{count} comments were left out"),
    "page_code": NN_(
        "{count} component or line of code that a program makes words of was left out",
        "{count} components or lines of code that a program makes words of were left out",
    ),
    "addresses_not_read": NN_(
        "the address of {count} link was left out", "the addresses of {count} links were left out"
    ),
    "values_empty": NN_("{count} empty value was left out", "{count} empty values were left out"),
    "contents_lines": NN_(
        "{count} line of a table of contents was left out; it repeats a heading",
        "{count} lines of a table of contents were left out; they repeat the headings",
    ),
    "deletions": NN_("{count} tracked deletion was left out", "{count} tracked deletions were left out"),
    "diagrams_not_read": NN_("{count} diagram was left out", "{count} diagrams were left out"),
    "equations": NN_(
        "{count} equation cannot be read as text and was left out",
        "{count} equations cannot be read as text and were left out",
    ),
    "fields_not_read": NN_(
        "{count} field without a saved result was left out", "{count} fields without a saved result were left out"
    ),
    "headers_unused": NN_(
        "{count} header or footer that no page shows was left out",
        "{count} headers or footers that no page shows were left out",
    ),
    "hidden_text": NN_("{count} stretch of hidden text was left out", "{count} stretches of hidden text were left out"),
    "list_numbers": NN_(
        "{count} automatic number of a list was left out", "{count} automatic numbers of lists were left out"
    ),
    "masters_not_read": NN_(
        "the words of {count} slide master or layout were left out",
        "the words of {count} slide masters and layouts were left out",
    ),
    "parts_broken": NN_(
        "{count} part inside the file is missing or broken; whatever could be read of it went in",
        "{count} parts inside the file are missing or broken; whatever could be read of them went in",
    ),
    "shapes_hidden": NN_("{count} hidden shape was left out", "{count} hidden shapes were left out"),
    "slides_hidden": NN_(
        "{count} hidden slide was left out (slide {slides})", "{count} hidden slides were left out (slides {slides})"
    ),
    "slides_unreadable": NN_(
        "{count} slide cannot be read and was left out (slide {slides})",
        "{count} slides cannot be read and were left out (slides {slides})",
    ),
    "symbols": NN_("{count} symbol of an unknown font was left out", "{count} symbols of unknown fonts were left out"),
    "sheets_empty": NN_("{count} sheet is empty: {sheets}", "{count} sheets are empty: {sheets}"),
    "sheets_hidden": NN_(
        "{count} hidden sheet was left out: {sheets}", "{count} hidden sheets were left out: {sheets}"
    ),
    "sheets_unreadable": NN_(
        "{count} sheet cannot be read, or not to its end: {sheets}",
        "{count} sheets cannot be read, or not to their end: {sheets}",
    ),
    "rows_hidden": NN_("{count} hidden row was left out", "{count} hidden rows were left out"),
    "rows_filtered": NN_(
        "{count} row that a filter hides was left out", "{count} rows that a filter hides were left out"
    ),
    "columns_hidden": NN_("{count} hidden column was left out", "{count} hidden columns were left out"),
    "values_not_shown": NN_(
        "{count} value that its number format hides was left out",
        "{count} values that their number format hides were left out",
    ),
    "cells_unreadable": NN_("{count} cell cannot be read", "{count} cells cannot be read"),
    "formulas_without_value": NN_(
        "{count} formula was saved without its value and stands as a formula: {cells}",
        "{count} formulas were saved without their value and stand as formulas: {cells}",
    ),
    "page_heads_not_read": NN_(
        "{count} head or foot of printed pages was left out", "{count} heads and feet of printed pages were left out"
    ),
    "charts_not_read": NN_("{count} chart was left out", "{count} charts were left out"),
    "pictures_not_read": NN_("{count} picture was left out", "{count} pictures were left out"),
    "running_heads": NN_(
        "{count} line that repeats at the edges of pages was left out",
        "{count} lines that repeat at the edges of pages were left out",
    ),
    "page_frame": NN_(
        "{count} part around the main text (navigation, header, footer and the like) was left out",
        "{count} parts around the main text (navigation, header, footer and the like) were left out",
    ),
    "embedded_not_read": NN_(
        "{count} embedded frame, film or sound was left out", "{count} embedded frames, films or sounds were left out"
    ),
    "front_matter": NN_(
        "{count} setting of the page in its front matter was left out: {keys}",
        "{count} settings of the page in its front matter were left out: {keys}",
    ),
    "files_not_read": NN_("{count} file inside this one was left out", "{count} files inside this one were left out"),
    "workbook_unreadable": N_("its list of sheets cannot be read: sheets go by the names of their files"),
    "texts_unreadable": N_("its texts cannot be read: cells that hold one are empty"),
    "formats_unreadable": N_("its number formats cannot be read: numbers and dates stand as they are stored"),
    "pages_without_text": NN_(
        "{count} page holds no text (page {pages})", "{count} pages hold no text (pages {pages})"
    ),
    "pages_to_recognise": NN_(
        "{count} page is a picture; recognising its text takes about {minutes} min (page {pages})",
        "{count} pages are pictures; recognising their text takes about {minutes} min (pages {pages})",
    ),
    "pages_recognised": NN_(
        "{count} page is a picture whose text was recognised, on average {confidence}% sure (page {pages})",
        "{count} pages are pictures whose text was recognised, on average {confidence}% sure (pages {pages})",
    ),
    "pages_not_recognised": NN_(
        "{count} page is a picture whose text could not be recognised in time (page {pages})",
        "{count} pages are pictures whose text could not be recognised in time (pages {pages})",
    ),
    "pages_garbled": NN_(
        "the fonts of {count} page do not say which characters they draw (page {pages})",
        "the fonts of {count} pages do not say which characters they draw (pages {pages})",
    ),
    "outline_unreadable": N_("its outline cannot be read: sections go by pages"),
    "end_missing": N_("its end is missing: pages may be missing too"),
    "form_not_read": N_("its form needs the program that it was made with, and was not read"),
    "pages_unreadable": NN_(
        "{count} page cannot be read and was left out (page {pages})",
        "{count} pages cannot be read and were left out (pages {pages})",
    ),
    "attachments_unread": NN_(
        "{count} attachment or part of a mail cannot be read and was left out ({names})",
        "{count} attachments or parts of mails cannot be read and were left out ({names})",
    ),
    "chapters_unreadable": NN_(
        "{count} chapter cannot be read and was left out ({names})",
        "{count} chapters cannot be read and were left out ({names})",
    ),
    "mails_cut": NN_(
        "{count} mail after the first {kept} was left out", "{count} mails after the first {kept} were left out"
    ),
    "mails_unreadable": NN_(
        "{count} mail cannot be read and was left out ({names})",
        "{count} mails cannot be read and were left out ({names})",
    ),
    "outputs_not_read": NN_(
        "{count} output of code holds no text and was left out",
        "{count} outputs of code hold no text and were left out",
    ),
    "objects_not_read": NN_("{count} embedded object was left out", "{count} embedded objects were left out"),
}
"""A sentence for every code; where there is a ``count`` in two forms, for one and for more."""

PARTS: Mapping[str, tuple[str, str]] = {
    "attachments": NN_("1 attachment", "{n} attachments"),
    "blocks of code": NN_("1 block of code", "{n} blocks of code"),
    "boxes": NN_("1 text box", "{n} text boxes"),
    "cells": NN_("1 cell", "{n} cells"),
    "chapters": NN_("1 chapter", "{n} chapters"),
    "charts": NN_("1 chart", "{n} charts"),
    "check boxes": NN_("1 check box", "{n} check boxes"),
    "comments": NN_("1 comment", "{n} comments"),
    "cues": NN_("1 subtitle", "{n} subtitles"),
    "diagrams": NN_("1 diagram", "{n} diagrams"),
    "endnotes": NN_("1 endnote", "{n} endnotes"),
    "equations": NN_("1 equation", "{n} equations"),
    "fields": NN_("1 filled field of a form", "{n} filled fields of a form"),
    "files": NN_("1 file inside it", "{n} files inside it"),
    "footnotes": NN_("1 footnote", "{n} footnotes"),
    "headers and footers": NN_("1 header or footer", "{n} headers and footers"),
    "headings": NN_("1 heading", "{n} headings"),
    "insertions": NN_("1 tracked insertion", "{n} tracked insertions"),
    "lines": NN_("1 line", "{n} lines"),
    "list items": NN_("1 list item", "{n} list items"),
    "mails": NN_("1 mail", "{n} mails"),
    "notes": NN_("the notes of 1 slide", "the notes of {n} slides"),
    "outputs": NN_("1 output", "{n} outputs"),
    "pages": NN_("1 page", "{n} pages"),
    "paragraphs": NN_("1 paragraph", "{n} paragraphs"),
    "pictures": NN_("1 picture", "{n} pictures"),
    "recognised pages": NN_("1 page by recognition", "{n} pages by recognition"),
    "records": NN_("1 record", "{n} records"),
    "rows": NN_("1 row", "{n} rows"),
    "sections": NN_("1 section", "{n} sections"),
    "sheets": NN_("1 sheet", "{n} sheets"),
    "slides": NN_("1 slide", "{n} slides"),
    "tables": NN_("1 table", "{n} tables"),
    "text boxes": NN_("1 text box", "{n} text boxes"),
}
"""Names of what loaders count in ``Contents.read``."""

HIDDEN = frozenset(
    {"columns_hidden", "hidden_text", "rows_filtered", "rows_hidden", "shapes_hidden", "sheets_hidden", "slides_hidden"}
    | {"values_not_shown"}
)
"""Codes of what goes in where hidden content is asked for."""


class Speaks(Protocol):
    """The words of one language; see ``components.common.i18n.Words``."""

    def __call__(self, message: str, /, **params: object) -> str: ...

    def count(self, one: str, many: str, number: int, /, **params: object) -> str: ...


class English:
    """The words as they stand in the code, for the command line."""

    def __call__(self, message: str, /, **params: object) -> str:
        text = message.rpartition(CONTEXT_END)[2]
        return text.format(**params) if params else text

    def count(self, one: str, many: str, number: int, /, **params: object) -> str:
        return (one if number == 1 else many).format(n=number, **params)


def counts_left_out(fault: Fault) -> bool:
    """Return whether it counts what a folder or an archive holds other than files to ingest, and is no failure."""
    return fault.code == SourceError.link.code and "count" in fault.params


def note_text(note: SourceNote, words: Speaks) -> str:
    """A note of a loader in words; one of another version is shown by its code and what it says."""
    sentence = NOTES.get(note.code)
    if sentence is None or not _named_in(sentence) <= note.params.keys():
        return " · ".join((note.code, *note.params.values()))
    if isinstance(sentence, str):
        return words(sentence, **note.params)
    count = note.params["count"]
    return words.count(*sentence, int(count) if count.isdecimal() else 0, **note.params)


def read_text(account: Account, words: Speaks) -> str:
    """Describe what was read: ``Read: 12 paragraphs, 2 tables``; empty if no parts were counted."""
    parts = [
        words.count(*PARTS[kind], count) if kind in PARTS else f"{count} {kind}"
        for kind, count in account.read.items()
        if count
    ]
    return words(N_("Read: {parts}"), parts=words(N_(", ")).join(parts)) if parts else ""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of an account."""

    text: str
    missing: bool = False
    """Whether it says that something is missing, or how sure the reading is."""


def account_lines(account: Account | None, words: Speaks) -> tuple[Line, ...]:
    """The whole account: what was read, then all that is noted, or that nothing is."""
    if account is None:
        return (Line(words(N_("What was read of it, and what was left out, was not recorded."))),)
    lines = [Line(text) for text in (read_text(account, words),) if text]
    lines += [Line(note_text(note, words), missing=note.code not in EXPECTED) for note in account.notes]
    if not account.left_out:
        lines.append(Line(words(N_("Nothing is known to be left out."))))
    if account.hidden:
        lines.append(Line(words(N_("Hidden content was read too, where there is any."))))
    return tuple(lines)


def _named_in(sentence: str | tuple[str, str]) -> set[str]:
    """Return the names of the parameters of a sentence."""
    text = sentence if isinstance(sentence, str) else f"{sentence[1]} {{count}}"
    return {name for _, name, _, _ in Formatter().parse(text) if name}
