"""Text recognition with RapidOCR (PP-OCR models for Chinese and English, which its wheel brings); runs apart."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from engine.builtin.ocr_lines import TextBox, page_text, sureness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SURE = 0.85
"""Mean score of a page that is surely the right way up: wrongly turned ones stay below 0.8."""
_LEAST_SCORE = 0.5
"""Of a piece that is kept; what lies below is mostly not text at all."""
_MOST_THREADS = 4


def recognised(pixels: NDArray[np.uint8]) -> str:
    """The text in reading order; empty where there is none. A page on its side or its head is turned first."""
    import numpy as np

    best = _boxes(pixels)
    lies = sum(box.upright for box in best) * 2 > len(best) > 0
    if lies or not (_sure(best) if best else _blank(pixels)):
        for quarter in (1, 3, 2) if lies else (2, 1, 3):
            turned = _boxes(np.ascontiguousarray(np.rot90(pixels, quarter)))
            best = max(best, turned, key=sureness)
            if best is turned and _sure(turned):
                break
    return page_text([box for box in best if box.score >= _LEAST_SCORE])


def _sure(boxes: list[TextBox]) -> bool:
    signs = sum(len(box.text) for box in boxes if not box.upright)
    return sureness(boxes) >= _SURE**2 * signs > 0


def _blank(pixels: NDArray[np.uint8]) -> bool:
    """Whether there is nothing like writing: what stands on its head may be read as nothing at all."""
    return _engine()(pixels, use_det=True, use_cls=False, use_rec=False).boxes is None


def _boxes(pixels: NDArray[np.uint8]) -> list[TextBox]:
    # Without the classifier that turns single lines: it would read a page on its head from the bottom up.
    found = _engine()(pixels, use_det=True, use_cls=False, use_rec=True)
    if found.boxes is None:
        return []
    return [
        TextBox(tuple((float(x), float(y)) for x, y in corners), str(text), float(score))  # type: ignore[arg-type]
        for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
    ]


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    # All but one core: threads that wait for each other on a busy machine take many times as long as one alone.
    threads = max(1, min(_MOST_THREADS, (os.cpu_count() or 1) - 1))
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": 0.0,
            "EngineConfig.onnxruntime.intra_op_num_threads": threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
