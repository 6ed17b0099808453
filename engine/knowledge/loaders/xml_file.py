"""XML of any kind: records as those of JSON, texts line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.errors import SourceDamaged, SourceError
from engine.knowledge.loaders.contents import Allowance, Contents, Outline, counted, lowered, raised, struck
from engine.knowledge.loaders.records import contents_of
from engine.messages import N_

_DEEPEST = 60
_MARKS = {"sup": raised, "superscript": raised, "sub": lowered, "subscript": lowered, "s": struck, "del": struck}
_INSIDE = frozenset(
    "a abbr acronym b bold code em emph emphasis font hi i ins italic link literal ref span strong sub sup superscript"
    " subscript term tt u ulink underline uri xref".split()
)
"""Elements that may stand inside a word, in the markups of texts that are in use."""


def load_xml(name: str, data: bytes, _hidden: bool = False) -> Contents:
    """Sections of records, with attributes as fields; where words and elements are mixed, its words in their order."""
    from lxml import etree

    if b"<!ENTITY" in data.replace(b"\x00", b""):
        raise SourceError.xml_entities(name=name)
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_pis=True, collect_ids=False)
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError) as error:
        raise SourceDamaged.named(name=name, found=N_("it is no whole XML")) from error
    comments = sum(bool((item.text or "").strip()) for item in root.iter(etree.Comment))
    etree.strip_elements(root, etree.Comment, with_tail=False)
    left_out = counted({"comments": comments})
    if any(_mixed(element) for element in root.iter()):
        outline = Outline()
        outline.text("\n\n".join(Allowance(name, len(data)).lines(_texts(root))))
        return Contents("", outline.sections(), notes=left_out)
    title, sections, notes = contents_of(Allowance(name, len(data)), _value(root, name, 0))
    return Contents(title, sections, notes=(*left_out, *notes))


def _mixed(element: Any) -> bool:
    """Return whether words stand between its elements; a reference to an entity is one."""
    texts = (element.text, *(child.tail if isinstance(child.tag, str) else "&" for child in element))
    return len(element) > 0 and any(text and text.strip() for text in texts)


def _texts(root: Any) -> Iterator[str]:
    """The words of each element that holds any of its own, with those of the elements inside it."""
    pending = [root]
    while pending:
        element = pending.pop()
        if isinstance(element.tag, str) and len(element) and not _mixed(element):
            pending.extend(reversed(element))
        elif words := " ".join("".join(_flowed(element)).split()):
            yield words


def _flowed(root: Any) -> Iterator[str]:
    """The pieces of a line: what is not known to be inside a word stands apart from it."""
    pending: list[Any] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
            continue
        tag = _local(item.tag).lower() if isinstance(item.tag, str) else ""
        if tag in _MARKS and not len(item):
            inner = [_MARKS[tag](item.text or "")]
        else:
            inner = [item.text or "", *(part for child in item for part in (child, child.tail or ""))]
            inner = inner if tag in _INSIDE or not tag else [" ", *inner, " "]
        pending.extend(reversed(inner))


def _value(element: Any, name: str, depth: int) -> Any:
    """An element as JSON would say it: its text, or a map of attributes and children, a list where one comes again."""
    if depth > _DEEPEST:
        raise SourceDamaged.named(name=name, found=N_("it is nested too deeply"))
    text = (element.text or "").strip()
    made: dict[str, Any] = {}
    inner = [(_local(key), value) for key, value in element.attrib.items()]
    inner += [(_local(child.tag), _value(child, name, depth + 1)) for child in element]
    inner += [("text", text)] if text and inner else []
    for key, value in inner:
        known = made.get(key)
        made[key] = value if key not in made else [*known, value] if isinstance(known, list) else [known, value]
    return made or text


def _local(tag: Any) -> str:
    return str(tag).rpartition("}")[2]
