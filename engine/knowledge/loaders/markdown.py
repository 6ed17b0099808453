"""Plain text and Markdown."""

from __future__ import annotations

import re

from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, note
from engine.knowledge.loaders.directives import Line
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.knowledge.loaders.front_matter import front_matter, front_matter_end
from engine.knowledge.loaders.readable import MOST_READ, Read, readable
from engine.model.values import SOURCE_KINDS, SourceKind, SourceNote, kind_named

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_KINDS = "|".join(SOURCE_KINDS)
_KIND = re.compile(
    rf"kind:[ \t]*(?:([\"']?)({_KINDS})\1|\[[ \t]*([\"']?)({_KINDS})\3[ \t]*\])[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE
)
"""Regardless of the case, alone in a YAML list, and with a comment after it."""
_KIND_OF_BLOCK = re.compile(r"kind:[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE)
_BLOCK_ITEM = re.compile(rf"[ \t]*-[ \t]+([\"']?)({_KINDS})\1[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE)


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
    given = decoded.text.split("\n")
    front = front_matter_end(given)
    kind, body = _kind_and_body(given)
    named, body, steering = front_matter(body)
    made = readable(body, hidden) if len(decoded.text) <= MOST_READ else Read(body)
    outline, lines, fence, first = Outline(), list[Line](), "", True
    for line in made.lines:
        mark = _FENCE.match(line.text)
        if mark:
            fence = _after_fence(fence, mark.group(1), line.text)
        heading = None if fence or mark else _HEADING.fullmatch(line.text)
        if heading is None:
            lines.append(line)
            first = first and (not line.text.strip() or line.number <= front + bool(front))
            continue
        level, words = len(heading.group(1)), _unclosed(heading.group(2))
        outline.text("\n".join(item.text for item in lines), [item.number for item in lines])
        lines.clear()
        # A title in front matter that says something else stays the title, and this one a heading.
        outline.heading(level, words, line.number, level == 1 and first and named in ("", words))
        first = first and bool(outline.title)
    outline.text("\n".join(item.text for item in lines), [item.number for item in lines])
    title = outline.title or named
    sections = outline.sections() or ((Section((), title, (0,)),) if title else ())
    notes = (*encoding_notes(decoded), *steering, *counted(made.lost))
    return Contents(title, sections, kind, notes, decoded.encoding, dict(+made.parts))


def _unclosed(words: str) -> str:
    """The words of a heading without the number signs that may close it."""
    words = words.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if bare != words and bare.endswith((" ", "\t")) else words


def _kind_and_body(lines: list[str]) -> tuple[SourceKind, list[Line]]:
    """The kind that front matter names, and the lines without it, and without front matter that says nothing else."""
    numbered = [Line(text, number) for number, text in enumerate(lines, 1)]
    end = front_matter_end(lines)
    for number in range(end):
        named, used = _kind_at(lines[:end], number)
        if named:
            kept = numbered[1:number] + numbered[number + used : end]
            inside = [numbered[0], *kept, numbered[end]] if any(item.text.strip() for item in kept) else []
            return kind_named(named.lower()), inside + numbered[end + 1 :]
    return "vector", numbered


def _kind_at(lines: list[str], number: int) -> tuple[str, int]:
    """The kind that the line names, alone or as the only item of the block list below it, and the lines it takes."""
    found = _KIND.fullmatch(lines[number])
    if found:
        return found.group(2) or found.group(4), 1
    if number + 1 < len(lines) and _KIND_OF_BLOCK.fullmatch(lines[number]):
        item = _BLOCK_ITEM.fullmatch(lines[number + 1])
        alone = number + 2 >= len(lines) or not lines[number + 2].lstrip(" \t").startswith("- ")
        if item and alone:
            return item.group(2), 2
    return "", 0


def _after_fence(fence: str, mark: str, line: str) -> str:
    """The fence that is open after a line that starts with a fence mark; empty where none is."""
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0])
    return "" if closes else fence
