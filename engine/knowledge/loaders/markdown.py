"""Plain text and Markdown."""

from __future__ import annotations

import re

from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, of_text
from engine.knowledge.loaders.directives import Line
from engine.knowledge.loaders.front_matter import front_matter
from engine.knowledge.loaders.readable import MOST_READ, Read, readable

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@of_text
def load_text(_name: str, text: str, _hidden: bool) -> Contents:
    return Contents("", (Section((), text),))


@of_text
def load_markdown(_name: str, text: str, hidden: bool) -> Contents:
    """Sections by heading, without markup; the first level-one heading at the top is the title, or front matter's.

    A heading without text of its own or below it becomes its own text, so that no line is lost. Front matter may say
    ``kind: temporal``, ``graph`` or ``vector``. Sections know the lines of the file that they come from.
    """
    front = front_matter(text.split("\n"))
    made = readable(front.lines, hidden) if len(text) <= MOST_READ else Read(front.lines)
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
    return Contents(title, sections, front.kind, (*front.notes, *counted(made.lost)), read=dict(+made.parts))


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
