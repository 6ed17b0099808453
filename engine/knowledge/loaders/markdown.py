"""Plain text and Markdown."""

from __future__ import annotations

import re

from engine.knowledge.loaders.contents import LONGEST_HEADING, Contents, Section, note
from engine.knowledge.loaders.encoding import Decoded, read_text
from engine.values import SOURCE_KINDS, SourceKind, SourceNote, kind_named

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_FRONT_MATTER = 100
_KINDS = "|".join(SOURCE_KINDS)
_KIND = re.compile(
    rf"kind:[ \t]*(?:([\"']?)({_KINDS})\1|\[[ \t]*([\"']?)({_KINDS})\3[ \t]*\])[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE
)
"""Whatever the case, alone in a YAML list, and with a comment after it."""
_KIND_OF_BLOCK = re.compile(r"kind:[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE)
_BLOCK_ITEM = re.compile(rf"[ \t]*-[ \t]+([\"']?)({_KINDS})\1[ \t]*(?:(?<=[ \t])#.*)?", re.IGNORECASE)


def encoding_notes(decoded: Decoded) -> tuple[SourceNote, ...]:
    """What to tell of an encoding that was found out by statistics."""
    return (note("encoding", encoding=decoded.encoding),) if decoded.guessed else ()


def load_text(name: str, data: bytes) -> Contents:
    decoded = read_text(name, data)
    sections = (Section((), decoded.text),)
    return Contents("", sections, notes=encoding_notes(decoded), encoding=decoded.encoding)


def load_markdown(name: str, data: bytes) -> Contents:
    """Sections by heading; the first level-one heading at the top is the title.

    A heading without text of its own or below it becomes its own text, so that no line is lost. Front matter may say
    ``kind: temporal``, ``graph`` or ``vector``; that line is taken out, and so is front matter that says nothing else.
    """
    decoded = read_text(name, data)
    kind, body = _front_matter(decoded.text.split("\n"))
    title, path, levels, lines, fence = "", list[str](), list[int](), list[str](), ""
    sections: list[Section] = []

    def close(next_level: int) -> None:
        text = "\n".join(lines).strip("\n")
        lines.clear()
        if not text.strip() and levels and next_level <= levels[-1]:
            text = path[-1]
        if text.strip():
            sections.append(Section(tuple(path), text))

    for line in body:
        mark = _FENCE.match(line)
        if mark:
            fence = _after_fence(fence, mark.group(1), line)
        heading = None if fence or mark else _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line)
            continue
        level, words = len(heading.group(1)), _unclosed(heading.group(2))[:LONGEST_HEADING]
        close(level)
        while levels and levels[-1] >= level:
            levels.pop()
            path.pop()
        if level == 1 and not title and not sections:
            title = words
        elif words:
            levels.append(level)
            path.append(words)
    close(0)
    if title and not sections:
        sections.append(Section((), title))
    return Contents(title, tuple(sections), kind, encoding_notes(decoded), decoded.encoding)


def _unclosed(words: str) -> str:
    """The words of a heading without the number signs that may close it."""
    words = words.strip()
    bare = words.rstrip("#")
    return bare.rstrip() if bare != words and bare.endswith((" ", "\t")) else words


def _front_matter(lines: list[str]) -> tuple[SourceKind, list[str]]:
    """The kind that front matter names, and the lines without it; lines that say anything else stay as they are."""
    if lines[0].rstrip() != "---":
        return "vector", lines
    end = next((n for n, line in enumerate(lines[1:_LONGEST_FRONT_MATTER], 1) if line.rstrip() in ("---", "...")), 0)
    for number in range(end):
        named, used = _kind_at(lines[:end], number)
        if named:
            kept = lines[1:number] + lines[number + used : end]
            inside = [*lines[:1], *kept, *lines[end : end + 1]] if any(item.strip() for item in kept) else []
            return kind_named(named.lower()), inside + lines[end + 1 :]
    return "vector", lines


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
