"""Turn the bytes of a file, no matter what its name says, or typed text into an :class:`Attachment`."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from engine.attachments.admission import KINDS_SHOWN, fitted
from engine.builtin.apart import read_apart
from engine.builtin.image_header import MOST_PIXELS, ImageHeader, image_header
from engine.errors import AttachmentDamaged, AttachmentError, SourceEmpty, SourceEncoding, SourceMislabelled
from engine.model.values import Attachment
from engine.roles import SILENT, ImageReader, Trace

LARGEST_MB = 20.0
MOST_SIDE_SHOWN = 640
"""Pixels: next to what was read of it, on a screen with two of them for one."""
_MILLION = 1_000_000


async def read_attachment(
    name: str, data: bytes, reader: ImageReader, question: str = "", trace: Trace = SILENT
) -> Attachment:
    """Read an image with the reader, or a table as it is in the file, and cut it to the limits.

    The text of an image may be empty: its reader found nothing, and a person may still say what it shows. Raises
    ``AttachmentError``, ``SourceError`` for workbooks that are never opened, and ``ModelError`` for a vision model.
    """
    name = PurePath(name.replace("\\", "/")).name or "attachment"
    header = checked(name, data)
    digest = hashlib.sha256(data).hexdigest()
    if header is None:
        found = await asyncio.to_thread(_read_table, name, data)
        return _table(name, found, digest)
    try:
        text = await reader.read(data, header.media_type, question, trace)
    except AttachmentDamaged:
        # A reader is given an image without its name.
        raise AttachmentDamaged(name=name) from None
    return fitted(Attachment("image", name, text=text, read_by=reader.name, digest=digest))


def checked(name: str, data: bytes) -> ImageHeader | None:
    """The header of an image that may be decoded; None for what may be a table. Nothing is unpacked.

    Raises ``AttachmentDamaged``, and ``AttachmentError`` for what is empty or too large: an image of more than
    ``MOST_PIXELS`` pixels, however few bytes it has.
    """
    if len(data) > LARGEST_MB * _MILLION:
        raise AttachmentError.too_large(name=name, size_mb=f"{len(data) / _MILLION:.1f}", limit_mb=LARGEST_MB)
    if not data:
        raise AttachmentError.empty(name=name)
    header = image_header(data)
    if header is None:
        return None
    if header.pixels == 0:
        raise AttachmentDamaged(name=name)
    if header.pixels > MOST_PIXELS:
        raise AttachmentError.image_too_large(
            name=name, width=header.width, height=header.height, limit_mpx=MOST_PIXELS // _MILLION
        )
    return header


def thumbnail(name: str, data: bytes) -> bytes:
    """A small JPEG of an image, shown next to the text read from it; empty for a table. Raises as :func:`checked`.

    Made in the process that reads attachments, so that no foreign bytes are decoded in the app; blocks.
    """
    return base64.b64decode(read_apart("jpeg", name, data, side=MOST_SIDE_SHOWN)) if checked(name, data) else b""


def file_bytes(path: str) -> bytes:
    """The bytes of a file, one more than allowed where it has more; raises ``AttachmentError.missing``."""
    try:
        with open(path, "rb") as file:
            return file.read(int(LARGEST_MB * _MILLION) + 1)
    except OSError as error:
        raise AttachmentError.missing(name=path, why=f"{error.strerror or type(error).__name__}.") from error


def _read_table(name: str, data: bytes) -> Any:
    try:
        return read_apart("engine.attachments.table_rows:table_values", name, data)
    except SourceEmpty as error:
        raise AttachmentError.no_table(table=name) from error
    except (SourceEncoding, SourceMislabelled) as error:
        raise AttachmentError.unsupported(name=name, kinds=KINDS_SHOWN) from error


def _table(name: str, parsed: Mapping[str, Any], digest: str) -> Attachment:
    caption = str(parsed["caption"])
    made = Attachment(
        kind="table",
        # A line above the header often says the unit of the numbers below it.
        name=f"{name} · {caption}" if caption else name,
        rows=tuple(tuple(row) for row in parsed["rows"]),
        header=bool(parsed["headed"]),
        read_by=str(parsed["form"]),
        digest=digest,
        cut="tables" if parsed["others"] else "",
    )
    return fitted(made)
