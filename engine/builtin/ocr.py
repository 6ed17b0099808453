"""The built-in reader of images: text recognition on this machine, without a model server."""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec

from engine.builtin.apart import TIME_LIMIT_S, read_apart
from engine.errors import AttachmentError
from engine.model.values import ModelCall
from engine.roles import SILENT, ImageType, Trace

_PACKAGES = ("rapidocr", "onnxruntime")


class OcrReader:
    """Recognises the text in an image (contract: :class:`engine.roles.ImageReader`), Chinese and English.

    It says what is written, and nothing of what is pictured; the question does not matter to it. Each image is read
    in a process apart, within ``time_limit_s``. Raises ``AttachmentError`` where its package is not installed,
    ``AttachmentError.reading_timed_out``, ``AttachmentError.reading_failed`` and ``AttachmentDamaged``.
    """

    def __init__(self, time_limit_s: float = TIME_LIMIT_S) -> None:
        self._time_limit_s = time_limit_s

    @property
    def name(self) -> str:
        return "ocr"

    @staticmethod
    def available() -> bool:
        """Return whether its packages are installed; imports nothing."""
        return all(find_spec(package) is not None for package in _PACKAGES)

    async def read(self, image: bytes, media_type: ImageType, question: str = "", trace: Trace = SILENT) -> str:
        if not self.available():
            raise AttachmentError.reader_missing()
        start_ms, began = trace.now_ms(), time.perf_counter()
        limit_s = min(self._time_limit_s, trace.time_left_s())
        text = str((await asyncio.to_thread(read_apart, "page", "image", image, limit_s))[0])
        trace.call(
            ModelCall(
                role="vision",
                node="",
                round=0,
                model=self.name,
                messages=(),
                reply=text,
                start_ms=start_ms,
                duration_ms=(time.perf_counter() - began) * 1000.0,
                built_in=True,
            )
        )
        return text.strip()
