"""Attachments read in a process of their own: what breaks, hangs or fills the memory there hurts nothing else."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any, Literal

from engine.attachments.admission import KINDS_SHOWN
from engine.attachments.image_header import image_header
from engine.errors import (
    AttachmentDamaged,
    AttachmentEmpty,
    AttachmentUnsupported,
    ReadingFailed,
    ReadingTimedOut,
    SourceDamaged,
    SourceEmpty,
    SourceEncoding,
    SourceMislabelled,
    SourceTimedOut,
    SourceTooDemanding,
    SourceUnreadable,
)
from engine.knowledge.loaders.tables import cell_texts
from engine.model.subprocesses import Subprocesses

Kind = Literal["table", "rows", "page", "jpeg"]
TIME_LIMIT_S = 60.0
"""For one attachment; a full page takes 1 to 3 s of two cores."""

READERS = Subprocesses(
    "engine.attachments.apart:read",
    # Text recognition uses all cores, and its runtime keeps much address space without using it.
    most=1,
    most_memory=4_000_000_000,
    kept_memory=1_200_000_000,
    # The process holds some 400 MB once it has recognised text, and takes a second or two to load.
    idle_s=120.0,
)


def read_apart(kind: Kind, name: str, data: bytes, seconds: float = TIME_LIMIT_S, **arguments: int) -> Any:
    """What :func:`read` finds; blocks, and waits for the process before ``seconds`` begin.

    Raises ``AttachmentError``, and ``SourceBomb`` or ``SourceEncrypted`` for workbooks that are never opened.
    """
    try:
        return READERS.call(name, data, seconds, kind=kind, **arguments)
    except SourceTimedOut as error:
        raise ReadingTimedOut(seconds=seconds) from error
    except (SourceTooDemanding, SourceUnreadable) as error:
        raise ReadingFailed() from error
    except SourceEmpty as error:
        raise AttachmentEmpty.table(table=name) from error
    except SourceDamaged as error:
        raise AttachmentDamaged(name=name) from error
    except (SourceEncoding, SourceMislabelled) as error:
        raise AttachmentUnsupported(name=name, kinds=KINDS_SHOWN) from error


def read(name: str, data: bytes, kind: Kind, page: int = 0, side: int = 0) -> Any:
    """``table``: its rows, as :class:`TableRead` has them; ``jpeg``: an image as base64, at most ``side`` pixels wide.

    ``page``: the text recognised on that page of a PDF, from 1, or in an image, and how surely. ``rows``: texts of
    the first sheet of a workbook, hidden ones too, and whether there are others. Runs apart.
    """
    match kind:
        case "page":
            from engine.attachments.pictures import page_pixels, pixels
            from engine.builtin.ocr_text import recognised

            return recognised(page_pixels(name, data, page) if image_header(data) is None else pixels(name, data))
        case "table":
            from engine.attachments.table_rows import table_of

            return asdict(table_of(name, data))
        case "rows":
            from engine.knowledge.loaders.workbook import MOST_ROWS, first_sheet

            rows, others = first_sheet(name, data, MOST_ROWS)
            return [cell_texts(row) for row in rows], others
        case "jpeg":
            from engine.attachments.pictures import jpeg

            return base64.b64encode(jpeg(name, data, side)).decode()
