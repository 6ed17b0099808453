"""Markdown extensions of documentation tools: admonitions, includes, imports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

FENCE = re.compile(r"([ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?)(`{3,}(?!.*`)|~{3,})")
"""An opening fence at any depth; what is inside is code and no directive."""

_KIND = (
    r"note|tip|hint|info|important|warning|caution|danger|error|abstract|summary|success|check|question|failure|bug|"
    r"example|quote|details|tldr|todo|attention|seealso"
)
_KIND_ZH = r"提示|注意|警告|信息|说明|技术细节|小贴士|重要|危险|详情|备注|贴士|示例|例子|注"
_SAYS_NOTHING = re.compile(rf"(?:{_KIND}|{_KIND_ZH})s?[:：!]?", re.IGNORECASE)
"""A title that only repeats which kind of box it heads."""
_COLONS = re.compile(r"[ \t]*:{3,}[ \t]*(?:\{?[\w-]+\}?)?(?:\[([^\]\n]*)\])?[ \t]*(?:\{[^}\n]*\})?[ \t]*(.*?)[ \t]*$")
_SLASHES = re.compile(r"[ \t]*/{3,}(?:[ \t]+[\w-]+[ \t]*(?:\|[ \t]*(.*?))?)?[ \t]*$")
_INDENTED = re.compile(r"([ \t]*)(?:(?:!!!|\?\?\?\+?)[ \t]+[\w -]+?|={3}[!+]?)(?:[ \t]+\"(.*)\")?[ \t]*$")
_ALERT = re.compile(r"[ \t]*>[ \t]*\[!\w+\][+-]?[ \t]*(.*?)[ \t]*$")
_INCLUDE = re.compile(
    r"[ \t]*(?:\{[*!][^\n]*[*!]\}|-{1,2}8<-{1,2}.*|<<<[ \t]*[@./{].*|@\[[\w -]+\]\([^)\n]*\)|\[\[_?toc_?\]\]|\[toc\]"
    r"|\{%[^\n]*%\}|\{\{[<%][^\n]*[>%]\}\})[ \t]*$",
    re.IGNORECASE,
)
_INCLUDED = re.compile(r"(?:\{[*!]|-8<-|<<<|@\[).*?(?:@/|/)?(?:\.{1,2}/)*([\w@][\w@./+-]*\.\w+)")
"""The path in an include of another file, without what leads up to it."""
_IMPORT = re.compile(
    r"(?:import[ \t]+(?:[\w*{][^\n]*[ \t]from[ \t]+)?[\"'][^\"'\n]+[\"']"
    r"|export[ \t]+(?:default[ \t]+(?:(?:async[ \t]+)?function\b|class\b|[({\[]|[\w$.]+(?:\(.*)?;?[ \t]*$).*"
    r"|(?:const|let)[ \t]+[\w${\[][^\n]*=.*|function\b[ \t*]*[\w$]*[ \t]*\(.*));?[ \t]*$"
)
_INDENT = 4
_LONGEST = 1000
"""Characters of a line that can be a mark of a tool."""


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    number: int
    """Of the line in the file, from 1; 0 for one that was put in."""
    plain: bool = False
    """Known to be no heading, even where it begins with a number sign."""


_COMPONENT = re.compile(r"[ \t]*<[A-Z][\w.]*[ \t]*")
"""The first line of a component's tag whose properties stand below it, as in MDX."""
_LONGEST_COMPONENT = 60


def without_directives(lines: Sequence[Line], lost: Counter[str]) -> list[Line]:
    """The lines without marks of documentation tools: titles of boxes stay, and their text loses its indent.

    What says something to a reader of the page by way of a program is counted in ``lost``.
    """
    made: list[Line] = []
    fence, dedents, tag = "", list[int](), 0
    for place, line in enumerate(lines):
        text = line.text
        if tag:
            tag -= 1
            continue
        if text.strip():
            while dedents and _indent(text) < dedents[-1]:
                dedents.pop()
        text = _dedented(text, len(dedents) * _INDENT if dedents else 0)
        mark = FENCE.match(text)
        if fence:
            made.append(Line(text, line.number))
            stripped = text.strip().lstrip("> \t")
            if stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark.group(2)
            made.append(Line(text, line.number))
            continue
        tag = _component(lines, place)
        if tag:
            lost["page_code"] += 1
            made.append(Line("", line.number))
            continue
        lost["page_code"] += bool(_IMPORT.fullmatch(text[:_LONGEST])) and not text.lstrip().startswith("import")
        boxed = _INDENTED.match(text[:_LONGEST])
        if boxed:
            dedents.append(len(dedents) * _INDENT + _INDENT)
        made.extend(
            Line(piece, line.number if piece.strip("> ") or piece == line.text else 0) for piece in _shown_as(text)
        )
    return made


def _component(lines: Sequence[Line], place: int) -> int:
    """Count the lines of a component's tag below its first one; 0 if none begins."""
    if not _COMPONENT.fullmatch(lines[place].text):
        return 0
    for below, line in enumerate(lines[place + 1 : place + _LONGEST_COMPONENT], 1):
        text = line.text.strip()
        if not text or text.startswith(("<", "#")):
            return 0
        if text.endswith(">") and not text.endswith("=>"):
            return below
    return 0


def _shown_as(text: str) -> Iterator[str]:
    """Return how a reader sees a line: itself, the title of a box as a paragraph, or a gap."""
    if len(text) > _LONGEST:
        yield text
        return
    for form in (_COLONS, _SLASHES, _INDENTED, _ALERT):
        found = form.fullmatch(text)
        if found and (form is not _INDENTED or "=" not in text[:8] or found.group(2)):
            title = next((part for part in reversed(found.groups()) if part and part.strip()), "").strip().strip('"')
            # An alert is a quotation, which must not end before its text.
            gap = ">" if form is _ALERT else ""
            yield gap
            if title and not _SAYS_NOTHING.fullmatch(title):
                yield f"{gap} {title}".lstrip()
                yield gap
            return
    if _INCLUDE.fullmatch(text):
        named = _INCLUDED.search(text)
        yield f"`{named.group(1)}`" if named else ""
        return
    yield "" if _IMPORT.fullmatch(text) else text


def _indent(text: str) -> int:
    return len(text.expandtabs(_INDENT)) - len(text.expandtabs(_INDENT).lstrip())


def _dedented(text: str, most: int) -> str:
    plain = text.expandtabs(_INDENT) if text.startswith("\t") else text
    return plain[min(most, _indent(text)) :] if most else text
