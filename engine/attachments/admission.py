"""Limits of attachments to a question: pure, the same for files, pages and requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.errors import AttachmentError
from engine.flow import workflow
from engine.model.config import RunConfig
from engine.model.values import Attachment

MOST_ATTACHMENTS = 6
MOST_ROWS = 200
MOST_COLUMNS = 40
LONGEST_CELL = 300
"""Characters; with rows and columns it bounds what one table can ask of a context."""
LONGEST_TEXT = 8000
"""Characters that were read in one image: some four pages."""
LONGEST_NAME = 200
KINDS_SHOWN = ("PNG", "JPEG", "WebP", "CSV", "XLSX", "Markdown", "HTML")


def admitted(attachments: Sequence[Attachment], config: RunConfig) -> tuple[Attachment, ...]:
    """The attachments as a run takes them, each :func:`fitted`.

    Raises ``AttachmentError`` for a workflow that would leave them out, for too many, and for one that says nothing.
    """
    admissible(len(attachments), config)
    taken = tuple(fitted(item) for item in attachments)
    for item in taken:
        if not (item.text or item.rows):
            raise AttachmentError.empty(name=item.name)
    return taken


def admissible(count: int, config: RunConfig) -> None:
    """Check the count of attachments before anything is read; raises as :func:`admitted` does."""
    if count and not workflow(config.workflow).takes_attachments:
        raise AttachmentError.not_looked_at(workflow=config.workflow)
    if count > MOST_ATTACHMENTS:
        raise AttachmentError.too_many(count=count, most=MOST_ATTACHMENTS)


def fitted(attachment: Attachment) -> Attachment:
    """The attachment within the limits: one width for all rows, no control characters, and what was cut noted."""
    name = line(attachment.name)[:LONGEST_NAME].strip() or attachment.kind
    if attachment.kind == "image":
        text = clean(attachment.text).strip()
        cut = "text" if len(text) > LONGEST_TEXT else attachment.cut
        return replace(attachment, name=name, text=text[:LONGEST_TEXT].strip(), rows=(), cut=cut)
    rows, cut = rectangle(attachment.rows)
    header = attachment.header and len(rows) > 1
    return replace(attachment, name=name, text="", rows=rows, header=header, cut=cut or attachment.cut)


def rectangle(rows: Sequence[Sequence[str]]) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Rows of one width within the limits, and what was cut for it: ``rows``, ``columns``, ``size`` (both), ``text``.

    Empty where nothing was cut. Rows and columns that say nothing at all are left out.
    """
    cleaned = [[line(cell) for cell in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    width = max((len(row) for row in cleaned), default=0)
    filled = [place for place in range(width) if any(place < len(row) and row[place] for row in cleaned)]
    kept = filled[:MOST_COLUMNS]
    long = any(len(cell) > LONGEST_CELL for row in cleaned[:MOST_ROWS] for cell in row)
    high, wide = len(cleaned) > MOST_ROWS, len(filled) > MOST_COLUMNS
    cut = "size" if high and wide else "rows" if high else "columns" if wide else "text" if long else ""
    return tuple(
        tuple(row[place][:LONGEST_CELL] if place < len(row) else "" for place in kept) for row in cleaned[:MOST_ROWS]
    ), cut


def line(text: str) -> str:
    """A cell or a name: one line, white space single."""
    return " ".join(clean(text).split())


def clean(text: str) -> str:
    """Text without control characters, marks that turn its direction, and halves of characters."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "".join(sign for sign in whole if sign in "\n\t" or not _hidden(sign))


def _hidden(sign: str) -> bool:
    code = ord(sign)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069


_CUT = {
    "rows": f"only the first {MOST_ROWS} rows are taken",
    "columns": f"only the first {MOST_COLUMNS} columns are taken",
    "size": f"only the first {MOST_ROWS} rows and {MOST_COLUMNS} columns are taken",
    "text": "cells that were too long are cut off",
    "tables": "further tables or sheets of the file are left out",
}


def attachment_line(attachment: Attachment) -> str:
    """One line for a terminal: what it is called and what was read of it."""
    if attachment.kind == "image":
        return f"{attachment.name} ({attachment.read_by or 'typed'}): {line(attachment.text)[:160]}"
    rows, columns = len(attachment.rows), len(attachment.rows[0]) if attachment.rows else 0
    cut = f"; {_CUT[attachment.cut]}" if attachment.cut in _CUT else ""
    return f"{attachment.name} ({attachment.read_by or 'typed'}): {rows} × {columns} cells{cut}"
