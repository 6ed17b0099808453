"""From pieces of recognised text to a text in reading order: pure, at any angle of the page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

Point = tuple[float, float]
_WIDE = re.compile(r"[\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef]")
_OVERLAP = 0.5
"""Of the lower piece's height, by which two pieces must share a line."""
_PARAGRAPH_GAP = 0.9
"""White space above a line, in line heights, from which it begins a paragraph."""
_UPRIGHT = 1.5


@dataclass(frozen=True, slots=True)
class TextBox:
    """One piece of text where it stands: corners from the top left clockwise, in pixels."""

    corners: tuple[Point, Point, Point, Point]
    text: str
    score: float
    """In [0, 1]: how surely it was recognised."""

    @property
    def upright(self) -> bool:
        """Whether it is much higher than wide: text of a page that lies on its side."""
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
    """How much text was recognised, and how surely: the higher, the more likely the page is the right way up.

    Text that stands on end does not count: single lines are turned before they are read, whole pages are not.
    """
    return sum(box.score**2 * len(box.text) for box in boxes if not box.upright)


def _angle(boxes: Sequence[TextBox]) -> float:
    """Of the lines of the page, in radians: the median over the longer pieces, whose edges say it best."""
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
