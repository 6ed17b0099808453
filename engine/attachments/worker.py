"""The process that reads attachments: ``python -m engine.attachments.worker``, told what to read on its input."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import Any

from engine.errors import SourceError, SourceTooDemanding, SourceUnreadable
from engine.knowledge.loaders.contents import Contents, Section
from engine.knowledge.loaders.frames import packed, packed_error
from engine.knowledge.loaders.worker import serve

MOST_MEMORY = 4_000_000_000
"""Bytes of address space, of which the runtime of the text recognition keeps much without using it."""
MOST_KEPT_MEMORY = 1_200_000_000


def answer(kind: str, name: str, data: bytes) -> dict[str, Any]:
    """What an attachment holds, as one text, or the error that it deserves."""
    try:
        return {"contents": packed(Contents("", (Section((), read(kind, name, data)),)))}
    except SourceError as error:
        return {"error": packed_error(error)}
    except ImportError as error:
        return {"error": packed_error(SourceUnreadable(name=name, why=f"no module {error.name}"))}
    except (MemoryError, RecursionError):
        return {"error": packed_error(SourceTooDemanding(name=name))}


def read(kind: str, name: str, data: bytes) -> str:
    """``table``: its rows as JSON; ``ocr``: the text in an image; ``jpeg`` and ``thumbnail``: the image as base64."""
    match kind:
        case "table":
            from engine.attachments.table_rows import table_of

            return json.dumps(asdict(table_of(name, data)))
        case "ocr":
            from engine.attachments.pictures import pixels
            from engine.builtin.ocr_text import recognised

            return recognised(pixels(name, data))
        case "thumbnail":
            from engine.attachments.pictures import MOST_SIDE_SHOWN, jpeg

            return base64.b64encode(jpeg(name, data, MOST_SIDE_SHOWN)).decode()
        case _:
            from engine.attachments.pictures import jpeg

            return base64.b64encode(jpeg(name, data)).decode()


if __name__ == "__main__":
    serve(answer, MOST_MEMORY, MOST_KEPT_MEMORY)
