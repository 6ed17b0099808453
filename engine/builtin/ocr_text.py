"""Text recognition with RapidOCR (PP-OCR models for Chinese and English, which its wheel brings); runs apart."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Point = tuple[float, float]
_WIDE = re.compile(r"[\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")
_OVERLAP = 0.5
"""Of the lower piece's height, by which two pieces must share a line."""
_PARAGRAPH_GAP = 0.9
"""White space above a line, in line heights, from which it begins a paragraph."""
_UPRIGHT = 1.5
_SURE = 0.85
"""Mean score of a page that is surely the right way up: wrongly turned ones stay below 0.8."""
_LEAST_SCORE = 0.5
"""Of a piece that is kept; a piece with less is mostly not text at all."""
_MOST_THREADS = 4


@dataclass(frozen=True, slots=True)
class TextBox:
    """One piece of text where it stands: corners from the top left clockwise, in pixels."""

    corners: tuple[Point, Point, Point, Point]
    text: str
    score: float
    """In [0, 1]: how surely it was recognised."""

    @property
    def upright(self) -> bool:
        """True if it is much higher than wide: text of a page turned on its side."""
        (x0, y0), (x1, y1), _, (x3, y3) = self.corners
        return len(self.text) > 1 and math.hypot(x3 - x0, y3 - y0) > _UPRIGHT * math.hypot(x1 - x0, y1 - y0)


@dataclass(frozen=True, slots=True)
class _Level:
    """A box as it stands once the page is turned straight."""

    left: float
    right: float
    middle: float
    height: float
    text: str


def page_text(boxes: Sequence[TextBox]) -> str:
    """Lines from the top down, each from left to right, a blank line where the page leaves one.

    Pieces of one line are joined with a space unless both sides are Chinese and touch. Columns are read across, as a
    table is.
    """
    angle = _angle(boxes)
    lines: list[list[_Level]] = []
    for level in sorted((_level(box, angle) for box in boxes if box.text.strip()), key=lambda item: item.middle):
        if lines and _shares_line(lines[-1], level):
            lines[-1].append(level)
        else:
            lines.append([level])
    text, below = "", None
    for line in lines:
        height = median(item.height for item in line)
        top = median(item.middle for item in line) - height / 2
        if below is not None:
            text += "\n\n" if top - below > _PARAGRAPH_GAP * height else "\n"
        text += _joined(sorted(line, key=lambda item: item.left))
        below = top + height
    return text


def sureness(boxes: Sequence[TextBox]) -> float:
    """Score the recognised text by amount and confidence; a higher score means a more likely page orientation.

    Text that stands on end does not count: single lines are turned before they are read, whole pages are not.
    """
    return sum(box.score**2 * len(box.text) for box in boxes if not box.upright)


def _angle(boxes: Sequence[TextBox]) -> float:
    """The angle of the lines of the page, in radians: the median over the longer pieces, whose edges say it best."""
    tops = [(box.corners[0], box.corners[1]) for box in boxes if not box.upright]
    lengths = [math.dist(start, end) for start, end in tops]
    if not lengths:
        return 0.0
    least = median(lengths)
    long = [top for top, length in zip(tops, lengths, strict=True) if length >= least]
    return median(math.atan2(end[1] - start[1], end[0] - start[0]) for start, end in long)


def _level(box: TextBox, angle: float) -> _Level:
    cosine, sine = math.cos(angle), math.sin(angle)
    turned = [(x * cosine + y * sine, y * cosine - x * sine) for x, y in box.corners]
    across, down = [x for x, _ in turned], [y for _, y in turned]
    # Means of edges: the box itself may still lie a little askew.
    top, bottom = (down[0] + down[1]) / 2, (down[2] + down[3]) / 2
    return _Level(min(across), max(across), (top + bottom) / 2, max(1.0, bottom - top), box.text.strip())


def _shares_line(line: Sequence[_Level], level: _Level) -> bool:
    last = min(line, key=lambda item: abs(item.right - level.left))
    shared = min(last.middle + last.height / 2, level.middle + level.height / 2) - max(
        last.middle - last.height / 2, level.middle - level.height / 2
    )
    apart = level.left >= last.right - 0.5 * last.height or level.right <= last.left + 0.5 * last.height
    return apart and shared >= _OVERLAP * min(last.height, level.height)


def _joined(line: Sequence[_Level]) -> str:
    text = line[0].text
    for former, item in pairwise(line):
        touching = item.left - former.right < former.height / 2
        wide = _WIDE.match(text[-1]) and _WIDE.match(item.text[0])
        text += item.text if touching and wide else f" {item.text}"
    return text


def recognised(pixels: NDArray[np.uint8]) -> tuple[str, float]:
    """The text in reading order and how surely it was recognised, in [0, 1]; empty where there is none.

    A page on its side or its head is turned first.
    """
    import numpy as np

    best = _boxes(pixels)
    sideways = sum(box.upright for box in best) * 2 > len(best) > 0
    if sideways or not (_sure(best) if best else _blank(pixels)):
        for quarter in (1, 3, 2) if sideways else (2, 1, 3):
            turned = _boxes(np.ascontiguousarray(np.rot90(pixels, quarter)))
            best = max(best, turned, key=sureness)
            if best is turned and _sure(turned):
                break
    kept = [box for box in best if box.score >= _LEAST_SCORE]
    signs = sum(len(box.text) for box in kept)
    return page_text(kept), sum(box.score * len(box.text) for box in kept) / max(signs, 1)


def _sure(boxes: list[TextBox]) -> bool:
    signs = sum(len(box.text) for box in boxes if not box.upright)
    return sureness(boxes) >= _SURE**2 * signs > 0


def _blank(pixels: NDArray[np.uint8]) -> bool:
    """Return whether there is nothing like writing: what stands on its head may be read as nothing at all."""
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
