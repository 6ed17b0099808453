"""Charts of a report as SVG inside the page: the timeline, and the decision map where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from html import unescape

from components.common.i18n import Words
from components.common.markup import Node, node
from components.common.outcomes import end_mark, outcome_text
from components.common.phrases import node_text
from components.common.spans import Span, spans
from components.labels import SPAN_NAMES
from components.picture.drawing import fit
from engine.model.values import AnswerNote, Outcome, RunRecord

_WIDTH, _LEFT, _RIGHT, _TOP = 920.0, 96.0, 16.0, 12.0
_VISIT, _CALL, _GAP = 18.0, 8.0, 12.0
_TICKS = 6
_CELL_W, _CELL_H = 46.0, 26.0


@dataclass(frozen=True, slots=True)
class ReportMap:
    """A decision map as a report draws it: how the run would have ended at every pair of settings."""

    x_label: str
    y_label: str
    x_values: tuple[str, ...]
    y_values: tuple[str, ...]
    cells: tuple[tuple[Outcome | None, ...], ...]
    """By row of ``y_values``; None where the record cannot tell."""
    point: tuple[int, int] | None = None
    """Column and row of the run's own settings."""
    refused: frozenset[tuple[int, int]] = frozenset()
    """Columns and rows of answers that would rest on passages that the grader refused."""
    unsupported: frozenset[tuple[int, int]] = frozenset()
    """Columns and rows where the recorded answer would stand, and is not supported."""

    def end(self, column: int, row: int) -> End:
        place = (column, row)
        return End(self.cells[row][column], place in self.refused, place in self.unsupported)


@dataclass(frozen=True, slots=True)
class End:
    """All that a cell says."""

    outcome: Outcome | None
    refused: bool
    unsupported: bool

    @property
    def amber(self) -> bool:
        return self.refused or self.unsupported


def timeline_svg(record: RunRecord, words: Words) -> Node | None:
    """Visits of nodes with their calls below, one lane a node; None where nothing was timed."""
    drawn = spans(record, words)
    if not drawn:
        return None
    end = max(span.start_ms + span.duration_ms for span in drawn) or 1.0
    lanes: dict[str, float] = {}
    bottom = _TOP
    for name in dict.fromkeys(span.node for span in drawn):
        lanes[name] = bottom
        rows = max(span.row for span in drawn if span.node == name)
        bottom += _VISIT + rows * (_CALL + 2) + _GAP
    labels = [
        node("text", "ink", fit((node_text(name, record.workflow, words),), _LEFT - 8, 13), x="0", y=f"{top + 13:g}")
        for name, top in lanes.items()
    ]
    bars = [_bar(span, lanes[span.node], end) for span in drawn]
    axis = _axis(end, bottom, words)
    return node(
        "svg",
        "chart",
        *axis,
        *labels,
        *bars,
        viewBox=f"0 0 {_WIDTH:g} {bottom + 36:g}",
        role="img",
        aria_label=words("Timeline"),
    )


def timeline_legend(record: RunRecord, words: Words) -> Node:
    """Legend of the bar colours."""
    kinds = dict.fromkeys(span.kind for span in spans(record, words))
    items = (node("li", "", node("i", f"swatch {kind}"), words(SPAN_NAMES[kind])) for kind in kinds)
    return node("ul", "legend", *items)


def _bar(span: Span, top: float, end: float) -> Node:
    scale = (_WIDTH - _LEFT - _RIGHT) / end
    y = top if span.row == 0 else top + _VISIT + 2 + (span.row - 1) * (_CALL + 2)
    # The label was made safe for another drawing; here it is escaped once, at the end.
    detail = "\n".join(unescape(part) for part in f"{span.label}<br>{span.detail}".split("<br>"))
    return node(
        "rect",
        f"span {span.kind}",
        node("title", "", detail),
        x=f"{_LEFT + span.start_ms * scale:.2f}",
        y=f"{y:g}",
        width=f"{max(1.5, span.duration_ms * scale):.2f}",
        height=f"{_VISIT if span.row == 0 else _CALL:g}",
        rx="2",
    )


def _axis(end: float, bottom: float, words: Words) -> list[Node]:
    unit, divisor = ("ms", 1.0) if end < 1000 else ("s", 1000.0)
    scale = (_WIDTH - _LEFT - _RIGHT) / end
    made = []
    for value in _ticks(end):
        x = f"{_LEFT + value * scale:.2f}"
        made.append(node("line", "grid", x1=x, x2=x, y1=f"{_TOP - 6:g}", y2=f"{bottom:g}"))
        made.append(node("text", "tick", f"{value / divisor:g}", x=x, y=f"{bottom + 14:g}", text_anchor="middle"))
    title = words("since the start, {unit}", unit=unit)
    middle = f"{(_LEFT + _WIDTH - _RIGHT) / 2:g}"
    return [*made, node("text", "tick", title, x=middle, y=f"{bottom + 31:g}", text_anchor="middle")]


def _ticks(end: float) -> list[float]:
    """Round numbers from 0 to ``end``, at most about ``_TICKS``."""
    step = 10.0 ** (len(str(int(end))) - 1)
    for factor in (0.1, 0.2, 0.5, 1.0, 2.0):
        if end / (step * factor) <= _TICKS:
            step *= factor
            break
    return [place * step for place in range(int(end / step) + 1)]


def map_svg(drawn: ReportMap, words: Words) -> Node:
    """The map as a grid of cells, the run's own settings outlined; what the record cannot tell stays pale."""
    left, bottom = 64.0, _TOP + len(drawn.y_values) * _CELL_H
    width = left + len(drawn.x_values) * _CELL_W + 8
    cells = [
        _cell(drawn, column, row, left, words)
        for row in range(len(drawn.y_values))
        for column in range(len(drawn.x_values))
    ]
    columns = [
        node("text", "tick", text, x=f"{left + (place + 0.5) * _CELL_W:g}", y=f"{bottom + 15:g}", text_anchor="middle")
        for place, text in enumerate(drawn.x_values)
    ]
    rows = [
        node("text", "tick", text, x=f"{left - 8:g}", y=f"{_row_y(drawn, place) + 17:g}", text_anchor="end")
        for place, text in enumerate(drawn.y_values)
    ]
    title = node("text", "tick", drawn.x_label, x=f"{(left + width) / 2:g}", y=f"{bottom + 33:g}", text_anchor="middle")
    return node(
        "svg",
        "chart map",
        *cells,
        *columns,
        *rows,
        title,
        viewBox=f"0 0 {width:g} {bottom + 40:g}",
        width=f"{width:g}",
        role="img",
        aria_label=words("What-if map"),
    )


def map_legend(drawn: ReportMap, words: Words) -> Node:
    places = ((column, row) for row, cells in enumerate(drawn.cells) for column in range(len(cells)))
    ends = dict.fromkeys(drawn.end(column, row) for column, row in places)
    return node(
        "ul",
        "legend",
        *(
            node(
                "li",
                "",
                node("i", f"swatch {_look(item)}"),
                f"{_sign(item)} {_said(item, words)}",
            )
            for item in ends
        ),
    )


def _cell(drawn: ReportMap, column: int, row: int, left: float, words: Words) -> Node:
    end = drawn.end(column, row)
    own = " own" if drawn.point == (column, row) else ""
    where = f"{drawn.x_label} {drawn.x_values[column]} · {drawn.y_label} {drawn.y_values[row]}"
    x, y = left + column * _CELL_W, _row_y(drawn, row)
    box = node(
        "rect",
        f"cell {_look(end)}{own}",
        x=f"{x + 1:g}",
        y=f"{y + 1:g}",
        width=f"{_CELL_W - 2:g}",
        height=f"{_CELL_H - 2:g}",
        rx="3",
    )
    sign = node("text", "sign", _sign(end), x=f"{x + _CELL_W / 2:g}", y=f"{y + 18:g}", text_anchor="middle")
    return node("g", "", node("title", "", f"{where}: {_said(end, words)}"), box, sign)


def _sign(end: End) -> str:
    """So that no colour stands alone."""
    if end.amber:
        return "!"
    return end_mark(end.outcome).glyph if end.outcome else "?"


def _row_y(drawn: ReportMap, row: int) -> float:
    """The smallest value is at the bottom."""
    return _TOP + (len(drawn.y_values) - 1 - row) * _CELL_H


def _look(end: End) -> str:
    if end.amber:
        return "at-answered-unverified"
    return f"at-{end.outcome.replace('_', '-')}" if end.outcome else "at-unknown"


def _said(end: End, words: Words) -> str:
    note: AnswerNote = "unsupported" if end.unsupported else ""
    said = outcome_text(end.outcome, words, note) if end.outcome else words("unknown")
    return words(", ").join((said, words("from passages that were refused"))) if end.refused else said
