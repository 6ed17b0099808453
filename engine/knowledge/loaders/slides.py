"""PowerPoint presentations: a section for each slide, with its tables, charts and speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.errors import SourceDamaged, SourceError, SourceTooManyPages
from engine.knowledge.loaders.contents import Contents, Section, document_title, heading, note, numbers
from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.office import checked_package
from engine.knowledge.loaders.tables import table_text
from engine.messages import N_

MOST_SLIDES = 2000


def load_slides(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """One section a slide, called ``Slide 3 · title``; raises ``SourceDamaged`` for what PowerPoint would repair."""
    package = checked_package(name, data, ".pptx")
    import pptx

    try:
        deck = pptx.Presentation(package)
        slides = list(deck.slides)
        if len(slides) > MOST_SLIDES:
            raise SourceTooManyPages(name=name, pages=len(slides), limit=MOST_SLIDES)
        title = document_title(without_control(deck.core_properties.title or ""))
        sections, empty = [], []
        for number, slide in enumerate(slides, 1):
            section = _section(number, slide)
            if section.text:
                sections.append(section)
            else:
                empty.append(number)
            if number == 1 and not title:
                title = heading(_title(slide))
    except (SourceError, MemoryError):
        raise
    except Exception as error:  # the parser has no errors of its own
        raise SourceDamaged.named(name=name, found=N_("its slides are missing or broken")) from error
    notes = (note("slides_without_text", count=len(empty), slides=numbers(empty)),) if empty and sections else ()
    return Contents(title, tuple(sections), notes=notes)


def _section(number: int, slide: Any) -> Section:
    title = heading(_title(slide))
    parts = [part for shape in slide.shapes if not _is_title(slide, shape) for part in _texts(shape)]
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        spoken = without_control(frame.text).strip() if frame is not None else ""
        parts += [f"Notes: {spoken}"] if spoken else []
    text = "\n\n".join(part for part in parts if part.strip())
    return Section((f"Slide {number} · {title}" if title else f"Slide {number}",), text or title)


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return without_control(shape.text_frame.text) if shape is not None else ""


def _is_title(slide: Any, shape: Any) -> bool:
    title = slide.shapes.title
    return title is not None and shape.shape_id == title.shape_id


def _texts(shape: Any) -> Iterator[str]:
    pending = [shape]
    while pending:
        item = pending.pop()
        if hasattr(item, "shapes"):
            pending.extend(reversed(list(item.shapes)))
        elif getattr(item, "has_table", False):
            rows = [[without_control(cell.text_frame.text) for cell in row.cells] for row in item.table.rows]
            yield table_text(rows, bool(item.table.first_row))
        elif getattr(item, "has_chart", False):
            yield _chart(item.chart)
        elif getattr(item, "has_text_frame", False):
            yield "\n".join(_lines(item.text_frame))


def _lines(frame: Any) -> Iterator[str]:
    for paragraph in frame.paragraphs:
        text = without_control(paragraph.text.replace("\v", "\n")).strip()
        if text:
            yield f"{'  ' * (paragraph.level - 1)}- {text}" if paragraph.level else text


def _chart(chart: Any) -> str:
    """A chart's title and, for each category, the value of each series."""
    title = chart.chart_title.text_frame.text.strip() if chart.has_title and chart.chart_title.has_text_frame else ""
    rows: list[list[str]] = []
    for plot in chart.plots:
        series = list(plot.series)
        rows.append(["", *(str(one.name or "") for one in series)])
        values = [list(one.values) for one in series]
        for place, category in enumerate(plot.categories):
            shown = [one[place] if place < len(one) else None for one in values]
            rows.append([str(category), *("" if value is None else f"{value:.10g}" for value in shown)])
    lines = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(part for part in (title, lines) if part)
