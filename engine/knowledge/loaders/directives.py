"""What documentation tools write between the lines of Markdown: admonitions, includes, imports, front matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

FENCE = re.compile(r"([ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?)(`{3,}(?!.*`)|~{3,})")
"""An opening fence at any depth; what is inside is code and no directive."""

_LONGEST_FRONT_MATTER = 100
_FRONT = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*?))?[ \t]*$")
_FRONT_REST = re.compile(r"[ \t]+\S.*|-[ \t].*|[ \t]*(?:#.*)?")
_TOLD = frozenset(
    "description summary subtitle author authors date updated lastmod last_update tags keywords version".split()
)
"""Keys of front matter that tell a reader something; the others steer a program."""

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


def front_matter_end(lines: Sequence[str]) -> int:
    """The index of the line that closes front matter; 0 where there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    near = enumerate(lines[1:_LONGEST_FRONT_MATTER], 1)
    return next((number for number, line in near if line.rstrip() in ("---", "...")), 0)


def front_matter(lines: Sequence[Line]) -> tuple[str, list[Line]]:
    """The title that front matter gives, and all lines behind it, after what of it tells a reader something.

    Lines between dashes that are no keys and values are left alone.
    """
    end = front_matter_end([line.text for line in lines[:_LONGEST_FRONT_MATTER]])
    inside = lines[1:end]
    keys = [(line, _FRONT.fullmatch(line.text[: _LONGEST + 1])) for line in inside]
    if (
        max((len(line.text) for line in inside), default=0) > _LONGEST
        or not any(key for _, key in keys)
        or not all(key or _FRONT_REST.fullmatch(line.text) for line, key in keys)
    ):
        return "", list(lines)
    title, told = "", list[Line]()
    for line, key in keys:
        value = _unquoted(key.group(2) or "") if key else ""
        if key and value and key.group(1).lower() == "title":
            title = value
        elif key and value and key.group(1).lower() in _TOLD:
            told.append(Line(f"{key.group(1)}: {value}", line.number))
    return title, [*told, *([Line("", 0)] if told else []), *lines[end + 1 :]]


def without_directives(lines: Sequence[Line]) -> list[Line]:
    """The lines without marks of documentation tools: titles of boxes stay, and their text loses its indent."""
    made: list[Line] = []
    fence, dedents = "", list[int]()
    for line in lines:
        text = line.text
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
        boxed = _INDENTED.match(text[:_LONGEST])
        if boxed:
            dedents.append(len(dedents) * _INDENT + _INDENT)
        made.extend(Line(piece, line.number if piece.strip("> ") or piece == line.text else 0) for piece in _told(text))
    return made


def _told(text: str) -> Iterator[str]:
    """What a line is to a reader: itself, the title of a box as a paragraph, or a gap."""
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
    yield "" if _INCLUDE.fullmatch(text) or _IMPORT.fullmatch(text) else text


def _indent(text: str) -> int:
    return len(text.expandtabs(_INDENT)) - len(text.expandtabs(_INDENT).lstrip())


def _dedented(text: str, most: int) -> str:
    plain = text.expandtabs(_INDENT) if text.startswith("\t") else text
    return plain[min(most, _indent(text)) :] if most else text


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
