"""A chart of values before and after, as one SVG file: a row for each question, a column for each measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_LABEL, _COLUMN, _GAP, _ROW, _HEAD, _FOOT = 190, 300, 40, 24, 64, 30
_BEFORE, _BETTER, _WORSE, _GRID = "#8a8f98", "#1a7f5a", "#b3401f", "#d9dce1"


@dataclass(frozen=True, slots=True)
class Measure:
    """One column: what it shows, and the lines to draw through it."""

    title: str
    marks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """One question: a value before and after for every measure, each in [0, 1]."""

    label: str
    values: tuple[tuple[float, float], ...]


def chart(title: str, measures: Sequence[Measure], pairs: Sequence[Pair]) -> str:
    """The SVG text."""
    width = _LABEL + len(measures) * (_COLUMN + _GAP)
    height = _HEAD + len(pairs) * _ROW + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title, quote=True)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for column, measure in enumerate(measures):
        parts += _frame(column, measure, len(pairs))
    for row, pair in enumerate(pairs):
        parts += _line(row, pair)
    parts.append(
        f'<text x="12" y="{height - 10}" fill="#555555">grey: before; green: after, no worse; red: after, worse</text>'
    )
    return "\n".join([*parts, "</svg>\n"])


def _frame(column: int, measure: Measure, rows: int) -> list[str]:
    left, bottom = _left(column), _HEAD + rows * _ROW
    parts = [f'<text x="{left}" y="44" font-weight="bold">{escape(measure.title)}</text>']
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = left + value * _COLUMN
        parts.append(f'<line x1="{at}" x2="{at}" y1="{_HEAD - 4}" y2="{bottom}" stroke="{_GRID}"/>')
        parts.append(
            f'<text x="{at}" y="{_HEAD - 8}" text-anchor="middle" fill="#555555" font-size="10">{value:g}</text>'
        )
    for value in measure.marks:
        at = left + value * _COLUMN
        parts.append(
            f'<line x1="{at}" x2="{at}" y1="{_HEAD - 4}" y2="{bottom}" stroke="#333333" stroke-dasharray="4 3"/>'
        )
    return parts


def _line(row: int, pair: Pair) -> list[str]:
    middle = _HEAD + row * _ROW + _ROW / 2
    parts = [f'<text x="{_LABEL - 12}" y="{middle + 4}" text-anchor="end">{escape(pair.label)}</text>']
    for column, (before, after) in enumerate(pair.values):
        first, second = (_left(column) + value * _COLUMN for value in (before, after))
        colour = _BETTER if after >= before else _WORSE
        parts.append(
            f'<line x1="{first:.1f}" x2="{second:.1f}" y1="{middle}" y2="{middle}" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(f'<circle cx="{first:.1f}" cy="{middle}" r="4" fill="{_BEFORE}"/>')
        parts.append(f'<circle cx="{second:.1f}" cy="{middle}" r="5" fill="{colour}"/>')
    return parts


def _left(column: int) -> float:
    return _LABEL + column * (_COLUMN + _GAP)
