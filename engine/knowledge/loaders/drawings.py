"""Charts, SmartArt and alternative texts of pictures, which Word documents and presentations share (DrawingML)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.number_format import shown
from engine.knowledge.loaders.office import RELATION, Package, Relation

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
DRAWN = {f"{_CHART}chart": "charts", f"{_DIAGRAM}relIds": "diagrams"}
"""Elements that stand for what is drawn from another part."""
_NUMBERS = (f"{_CHART}numCache", f"{_CHART}numLit")
_FILE_NAME = re.compile(r".*\.(png|jpe?g|gif|bmp|tiff?|[ew]mf|svg|webp)|https?:\S*|img[_ -]?\d+", re.IGNORECASE)


def picture_text(properties: Any) -> str:
    """The alternative text of a picture, in place of it; empty where a program filled in the name of a file."""
    said = " ".join((properties.get("descr") or properties.get("title") or properties.get("alt") or "").split())
    return "" if not said or _FILE_NAME.fullmatch(said) else f"[Picture: {without_control(said)}]"


def plain_text(element: Any) -> str:
    """The words of all paragraphs below an element, on one line."""
    lines = ("".join(text.text or "" for text in line.iter(f"{DRAWING}t")) for line in element.iter(f"{DRAWING}p"))
    return without_control(" ".join(" ".join(lines).split()))


def drawn_text(package: Package, links: Mapping[str, Relation], element: Any) -> str:
    """The words of a chart or a diagram, which its part is read for once; counted as read or as left out."""
    kind = DRAWN[element.tag]
    link = links.get(element.get(f"{RELATION}{'id' if kind == 'charts' else 'dm'}") or "")
    if link is not None and link.target in package.drawn:
        return ""
    root = None if link is None else package.xml(link.target)
    text = "" if root is None else chart_text(root) if kind == "charts" else diagram_text(root)
    if text:
        package.read[kind] += 1
    else:
        package.lost[f"{kind}_not_read"] += 1
    if link is not None:
        package.drawn.add(link.target)
    return text


def chart_text(root: Any) -> str:
    """A chart's titles and, for each category, the value of each series, as the file keeps them for drawing."""
    titles = [_title(root.find(f"{_CHART}chart/{_CHART}title"))]
    titles += [_title(axis.find(f"{_CHART}title")) for axis in root.iter(f"{_CHART}plotArea") for axis in axis]
    rows: list[list[str]] = []
    for plot in root.iterfind(f"{_CHART}chart/{_CHART}plotArea/*"):
        series = plot.findall(f"{_CHART}ser")
        if series:
            rows.append(["", *(_joined(one.find(f"{_CHART}tx")) for one in series)])
            rows.extend(_rows(series))
    lines = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(filter(None, [" · ".join(dict.fromkeys(filter(None, titles))), *lines]))


def _title(title: Any) -> str:
    if title is None:
        return ""
    return plain_text(title) or _joined(title)


def _joined(element: Any) -> str:
    return " ".join(_points(element).values())


def _rows(series: list[Any]) -> Iterator[list[str]]:
    names = [_points(one.find(f"{_CHART}cat"), one.find(f"{_CHART}xVal")) for one in series]
    values = [_points(one.find(f"{_CHART}val"), one.find(f"{_CHART}yVal")) for one in series]
    sizes = [_points(one.find(f"{_CHART}bubbleSize")) for one in series]
    shared = all(name == names[0] for name in names)
    for group in [range(len(series))] if shared else [[place] for place in range(len(series))]:
        places = sorted({place for one in group for place in (*names[one], *values[one])})
        for place in places:
            shown = [", ".join(filter(None, (of.get(place, "") for of in (values[one], sizes[one])))) for one in group]
            before = [""] * group[0]
            yield [names[group[0]].get(place, str(place + 1)), *before, *shown]


def _points(*elements: Any) -> dict[int, str]:
    """Place and words of the points that a chart keeps; the levels of a category from the outermost."""
    found: dict[int, str] = {}
    for element in elements:
        if element is None:
            continue
        levels = element.findall(f".//{_CHART}lvl") or [element]
        inner, *outer = [_level(level) for level in levels]
        begins = [(sorted(level), level) for level in reversed(outer)]
        for place in inner:
            # An outer category stands at the first place of those that it holds.
            above = [level[keys[max(bisect_right(keys, place) - 1, 0)]] for keys, level in begins if keys]
            found[place] = " ".join(filter(None, (*above, inner[place])))
    return found


def _level(element: Any) -> dict[int, str]:
    points: dict[int, str] = {}
    for number, point in enumerate(element.iter(f"{_CHART}pt", f"{_CHART}v")):
        if point.tag == f"{_CHART}pt":
            place = point.get("idx") or ""
            words = without_control(" ".join((point.findtext(f"{_CHART}v") or "").split()))
            kept = point.getparent()
            if kept.tag in _NUMBERS:
                words = _number(words, point.get("formatCode") or kept.findtext(f"{_CHART}formatCode") or "")
            points[int(place) if place.isascii() and place.isdigit() and len(place) < 8 else number] = words
        elif point.getparent().tag != f"{_CHART}pt":  # a name written into the chart itself
            points[number] = without_control(point.text or "").strip()
    return points


def _number(words: str, code: str) -> str:
    """A number as the format of its cell shows it; ``#N/A`` and the like as they are."""
    try:
        return shown(float(words), code or "General")
    except (ValueError, OverflowError):
        return words


def diagram_text(root: Any) -> str:
    """The words of SmartArt, one a line, deeper ones indented."""
    points = {point.get("modelId"): point for point in root.iter(f"{_DIAGRAM}pt")}
    children: dict[str | None, list[tuple[int, str]]] = {}
    for link in root.iter(f"{_DIAGRAM}cxn"):
        order = link.get("srcOrd") or ""
        if link.get("type", "parOf") == "parOf":
            place = int(order) if order.isdigit() and len(order) < 8 else 0
            children.setdefault(link.get("srcId"), []).append((place, link.get("destId") or ""))
    lines: list[str] = []
    top = next((key for key, point in points.items() if point.get("type") == "doc"), None)
    pending = [(0, key) for _, key in sorted(children.get(top, ()), reverse=True)]
    while pending:
        depth, key = pending.pop()
        point = points.pop(key, None)  # each once, even where they form a circle
        if point is not None:
            text = plain_text(point)
            lines += [f"{'  ' * depth}- {text}"] if text else []
            pending += [(depth + bool(text), below) for _, below in sorted(children.get(key, ()), reverse=True)]
    rest = [plain_text(point) for point in points.values() if point.get("type", "node") in ("node", "asst")]
    return "\n".join([*lines, *(f"- {text}" for text in rest if text)])
