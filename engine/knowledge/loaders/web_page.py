"""HTML: headings, paragraphs, lists and tables of the main text; nothing is fetched and no script is run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from engine.errors import SourceDamaged, SourceEmpty
from engine.knowledge.loaders.contents import Contents, Section, counted, decoded, heading
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.knowledge.loaders.html_tables import is_data
from engine.knowledge.loaders.tables import Cell
from engine.knowledge.loaders.walking import Walk
from engine.messages import N_

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_HEAD = 65_536
_RULES = re.compile(r"([^{}]+)\{([^{}]*)\}")
_OF_CLASS = re.compile(r"\s*(?:[a-z]+)?\.([\w-]+)\s*")
_LOOKS = re.compile(r"vertical-align\s*:\s*(?:super|sub|text-top)|line-through", re.IGNORECASE)
_MATH = re.compile(r"(</?)(?:m|mml):(?=m|semantics|annotation|none)", re.IGNORECASE)
"""Elements of equations as books write them, whose names the parser knows without a prefix."""
_COMMENT = re.compile(r"<!--(?![\[<])[^\w>]{0,200}\w")
"""One that says something, and is none of the conditions that old browsers read."""
_SHARE_OF_MAIN = 0.4


def load_html(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sections by heading; the title is the page's own, else its first heading.

    What stands around the main text and what the page hides is counted; a page that is nothing else is read whole.
    """
    root, text, stopped = _parsed(name, data)
    titles = [text for text in root.xpath("//title[not(ancestor::svg)]/text()") if text.strip()]
    many_titles = len(root.xpath("//h1")) > 1
    for framed, shown in ((True, hidden), (False, hidden), (False, True)):
        walk = Walk(framed=framed, hidden=shown)
        walk.lost.update(comments=len(_COMMENT.findall(text.text)), blocks_broken=stopped)
        walk.page(_main(root) if framed else root, many_titles)
        sections = walk.outline.sections()
        if sections:
            break
    title, first = heading(titles[0]) if titles else "", walk.outline.title
    if title and _bare(first) not in _bare(title):  # the page calls itself otherwise than its title does
        sections = tuple(Section((first, *section.path), section.text) for section in sections)
    return decoded(Contents(title or first, sections, notes=counted(walk.lost), read=dict(+walk.read)), text)


def _bare(words: str) -> str:
    return re.sub(r"\W", "", words).casefold()


def html_tables(name: str, data: bytes) -> list[list[Sequence[Cell]]]:
    """Rows of each table of data, in the order of the page, several rows of header as one; spans fill their places.

    Raises as :func:`load_html`.
    """
    root, *_ = _parsed(name, data)
    walk = Walk()
    return [walk.grid(table) for table in root.iter("table") if is_data(table)]


def _parsed(name: str, data: bytes) -> tuple[Any, Decoded, int]:
    """The root of a page, its text, and how often the parser stopped before its end: inside of 2000 other elements."""
    from lxml import etree

    head = data[:_HEAD]
    declared = _META.search(head) or _XML.search(head)
    decoded = read_text(name, data, declared.group(1).decode() if declared else "")
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    # As bytes: text that declares an encoding would be refused.
    text = _MATH.sub(r"\1", decoded.text.strip()).encode(errors="ignore")
    if not text:
        raise SourceEmpty(name=name)
    root, fault = None, None
    try:
        root = etree.fromstring(text, parser)
    except (etree.LxmlError, ValueError) as error:
        fault = error
    if root is None:
        raise SourceDamaged.named(name=name, found=N_("it holds no HTML")) from fault
    _apply_classes(root)
    return root, decoded, len(parser.error_log.filter_from_fatals())


def _apply_classes(root: Any) -> None:
    """Put what the page's own style says of raised, lowered and struck words of a class at the words."""
    styles: dict[str, str] = {}
    for sheet in root.iter("style"):
        for classes, rule in _RULES.findall(sheet.text or ""):
            if _LOOKS.search(rule):
                styles |= {name[1]: rule for name in filter(None, map(_OF_CLASS.fullmatch, classes.split(",")))}
    for element in root.iter() if styles else ():
        said = [styles[name] for name in (element.get("class") or "").split() if name in styles]
        if said:
            element.set("style", ";".join((*said, element.get("style") or "")))


def _main(root: Any) -> Any:
    """The element that holds the main text: ``<main>`` or the only ``<article>`` where most text is inside it."""
    candidates = root.xpath("//main|//*[@role='main']") or root.xpath("//article")
    if len(candidates) != 1:
        return root
    scripts = sum(len(element.text or "") for element in root.iter("script", "style"))
    whole = max(len("".join(root.itertext())) - scripts, 1)
    return candidates[0] if len("".join(candidates[0].itertext())) >= _SHARE_OF_MAIN * whole else root
