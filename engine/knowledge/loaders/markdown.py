"""Plain text and Markdown."""

from __future__ import annotations

import re

from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, note
from engine.knowledge.loaders.directives import Line
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.knowledge.loaders.front_matter import front_matter
from engine.knowledge.loaders.readable import MOST_READ, Read, readable
from engine.model.values import SourceNote

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def encoding_notes(decoded: Decoded) -> tuple[SourceNote, ...]:
    """What to tell of an encoding that was found out by statistics."""
    return (note("encoding", encoding=decoded.encoding),) if decoded.guessed else ()


def load_text(name: str, data: bytes, _hidden: bool = False) -> Contents:
    decoded = read_text(name, data)
    sections = (Section((), decoded.text),)
    return Contents("", sections, notes=encoding_notes(decoded), encoding=decoded.encoding)


def load_markdown(name: str, data: bytes, hidden: bool = False) -> Contents:
    """Sections by heading, without markup; the first level-one heading at the top is the title, or front matter's.

    A heading without text of its own or below it becomes its own text, so that no line is lost. Front matter may say
    ``kind: temporal``, ``graph`` or ``vector``. Sections know the lines of the file that they come from.
    """
    decoded = read_text(name, data)
    front = front_matter(decoded.text.split("\n"))
    made = readable(front.lines, hidden) if len(decoded.text) <= MOST_READ else Read(front.lines)
    outline, lines, fence, first = Outline(), list[Line](), "", True
    for line in made.lines:
        mark = _FENCE.match(line.text)
        if mark:
            fence = _after_fence(fence, mark.group(1), line.text)
        heading = None if fence or mark else _HEADING.fullmatch(line.text)
        if heading is None:
            lines.append(line)
            first = first and (not line.text.strip() or line.number <= front.end)
            continue
        level, words = len(heading.group(1)), _unclosed(heading.group(2))
        outline.text("\n".join(item.text for item in lines), [item.number for item in lines])
        lines.clear()
        # A title in front matter that says something else stays the title, and this one a heading.
        outline.heading(level, words, line.number, level == 1 and first and front.title in ("", words))
        first = first and bool(outline.title)
    outline.text("\n".join(item.text for item in lines), [item.number for item in lines])
    title = outline.title or front.title
    sections = outline.sections() or ((Section((), title, (0,)),) if title else ())
    notes = (*encoding_notes(decoded), *front.notes, *counted(made.lost))
    return Contents(title, sections, front.kind, notes, decoded.encoding, dict(+made.parts))


def _unclosed(words: str) -> str:
    """The words of a heading without the number signs that may close it."""
    words = words.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if bare != words and bare.endswith((" ", "\t")) else words


def _after_fence(fence: str, mark: str, line: str) -> str:
    """The fence that is open after a line that starts with a fence mark; empty where none is."""
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0])
    return "" if closes else fence
