"""Charts, SmartArt and alternative texts of pictures, which Word documents and presentations share (DrawingML)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.number_format import shown
from engine.knowledge.loaders.numbering import whole_number
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
    """A chart's titles and, as the file keeps them for drawing, each series: ``- name: category = value; …``."""
    titles = (plain_text(title) or " ".join(_points(title).values()) for title in root.iter(f"{_CHART}title"))
    lines = [" · ".join(dict.fromkeys(filter(None, titles)))]
    for series in root.iter(f"{_CHART}ser"):
        parts = {child.tag.removeprefix(_CHART): _points(child) for child in series.iterchildren(f"{_CHART}*")}
        names, values = (parts.get(one) or parts.get(other) or {} for one, other in (("cat", "xVal"), ("val", "yVal")))
        sizes = parts.get("bubbleSize", {})
        pairs = (
            f"{names.get(place, place + 1)} = {', '.join(filter(None, (value, sizes.get(place))))}"
            for place, value in sorted(values.items())
        )
        lines.append(f"- {': '.join(filter(None, [' '.join(parts.get('tx', {}).values()), '; '.join(pairs)]))}")
    return "\n".join(filter(None, lines))


def _points(element: Any) -> dict[int, str]:
    """Words of the points that a chart keeps, by their place; those of a category behind its outer ones."""
    found: dict[int, str] = {}
    for level in element.findall(f".//{_CHART}lvl") or [element]:  # the innermost first
        words, above = dict(_level(level)), ""
        for place in sorted(found or words):
            # An outer category stands at the first place of those that it holds.
            above = words.get(place, above)
            found[place] = " ".join(filter(None, (above, found.get(place))))
    return found


def _level(element: Any) -> Iterator[tuple[int, str]]:
    for point in element.iter(f"{_CHART}pt"):
        words = without_control(" ".join((point.findtext(f"{_CHART}v") or "").split()))
        kept = point.getparent()
        if kept.tag in _NUMBERS:
            words = _number(words, point.get("formatCode") or kept.findtext(f"{_CHART}formatCode") or "")
        yield whole_number(point.get("idx")), words
    name = element.findtext(f"{_CHART}v")  # written into the chart itself
    if name:
        yield 0, without_control(name).strip()


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
        if link.get("type", "parOf") == "parOf":
            below = (whole_number(link.get("srcOrd")), link.get("destId") or "")
            children.setdefault(link.get("srcId"), []).append(below)
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
