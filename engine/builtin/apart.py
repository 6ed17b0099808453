"""Pictures and tables read in a process apart: what breaks, hangs or fills the memory there hurts nothing else."""

from __future__ import annotations

import base64
from pkgutil import resolve_name
from typing import Any

from engine.builtin.image_header import image_header
from engine.errors import AttachmentDamaged, AttachmentError, SourceDamaged, SourceError
from engine.model.subprocesses import Subprocesses

TIME_LIMIT_S = 60.0
"""For one attachment; a full page takes 1 to 3 s of two cores."""

READERS = Subprocesses(
    "engine.builtin.apart:read",
    # Text recognition uses all cores, and its runtime keeps much address space without using it.
    most=1,
    most_memory=4_000_000_000,
    kept_memory=1_200_000_000,
    # The process holds some 400 MB once it has recognised text, and takes a second or two to load.
    idle_s=120.0,
)


def read_apart(kind: str, name: str, data: bytes, seconds: float = TIME_LIMIT_S, **arguments: int) -> Any:
    """Run :func:`read` in another process; block, and wait for the process before ``seconds`` begin.

    Raises ``AttachmentError``, ``AttachmentDamaged``, and what else it meets in a table.
    """
    try:
        return READERS.call(name, data, seconds, kind=kind, **arguments)
    except SourceDamaged as error:
        raise AttachmentDamaged(name=name) from error
    except SourceError as error:
        if error.code == SourceError.timed_out.code:
            raise AttachmentError.reading_timed_out(seconds=seconds) from error
        if error.code in (SourceError.too_demanding.code, SourceError.unreadable.code):
            raise AttachmentError.reading_failed() from error
        raise


def read(name: str, data: bytes, kind: str, page: int = 0, side: int = 0) -> Any:
    """``jpeg``: an image as base64, at most ``side`` pixels wide. Runs apart.

    ``page``: the text recognised on that page of a PDF, from 1, or in an image, and how surely. Any other ``kind`` is
    ``MODULE:FUNCTION``, which is given name and bytes.
    """
    match kind:
        case "page":
            from engine.builtin.ocr_text import recognised
            from engine.builtin.pictures import page_pixels, pixels

            return recognised(page_pixels(name, data, page) if image_header(data) is None else pixels(name, data))
        case "jpeg":
            from engine.builtin.pictures import jpeg

            return base64.b64encode(jpeg(name, data, side)).decode()
        case _:
            return resolve_name(kind)(name, data)
