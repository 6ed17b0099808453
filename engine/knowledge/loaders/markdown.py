"""Plain text and Markdown, with what of its front matter (YAML, TOML) tells a reader something as lines."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from engine.knowledge.loaders.contents import Contents, Outline, Section, counted, note, of_text
from engine.knowledge.loaders.directives import Line
from engine.knowledge.loaders.flattened import value_lines, value_text
from engine.knowledge.loaders.readable import MOST_READ, Read, readable
from engine.model.values import SOURCE_KINDS, SourceKind, SourceNote, kind_named

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MOST_LINES = 100
_LONGEST_LINE = 1000
_MOST_SHOWN = 1000
"""Lines that one front matter becomes: names for values that repeat could stand for a text without end."""
_ENDS = {"---": ("---", "..."), "+++": ("+++",)}
_NULLS = ("null", "Null", "NULL", "~")
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*[:=](?:[ \t]+(.*?))?[ \t]*$")
_STEERS = re.compile(
    r"_.*|layout|template|type|kind|slug|url|uri|path|permalink|(?:custom_?)?edit_?(?:url|link|page)|alias(?:es)?|redirect.*"
    r"|id|uid|uuid|key|order|weight|position|sort.*|rank|level|depth|parent|grand_parent|has_children|collapse.*|expand.*"
    r"|nav.*|menus?|side.*|aside|navbar|footer|header|breadcrumbs?|outline|toc.*|prev(?:ious)?|next|pagination.*|page.*"
    r"|draft|publish(?:ed)?|unlisted|hid(?:e|den).*|show.*|display.*|search.*|sitemap|robots|no_?index|canonical.*|seo"
    r"|head|meta|css|style.*|class.*|js|scripts?|plugins?|theme|color|icon.*|images?|img|cover.*|banner.*|logo|thumbnail.*"
    r"|actions|background|badge|comments?|math|katex|mermaid|highlight|demo|component.*|full_?width|wide"
    r"|lang|locale|i18n|encoding|output|render.*|build|cascade|params|resources|jupyter|kernelspec|date_?format|tests?",
    re.IGNORECASE,
)
"""Keys of front matter that steer a program; the others tell a reader something."""


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
        heading = None if fence or mark or line.plain else _HEADING.fullmatch(line.text)
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


def _end(lines: Sequence[str]) -> int:
    """The index of the line that closes front matter; 0 where there is none."""
    ends = _ENDS.get(lines[0].rstrip(), ()) if lines else ()
    near = enumerate(lines[1:_MOST_LINES], 1)
    return next((number for number, line in near if line.rstrip() in ends), 0)


@dataclass(frozen=True, slots=True)
class Front:
    """Front matter of a file, and its lines after the part of use to a reader."""

    lines: list[Line]
    end: int = 0
    """How many lines it has; 0 where there is none."""
    title: str = ""
    kind: SourceKind = "vector"
    notes: tuple[SourceNote, ...] = ()


def front_matter(texts: Sequence[str]) -> Front:
    """Read the lines of a file; ``kind`` may be a list of one.

    Lines between dashes that are no keys and values are left alone; keys that steer a program are counted.
    """
    lines = [Line(text, number) for number, text in enumerate(texts, 1)]
    end = _end(texts)
    inside = lines[1:end]
    if not inside or max(len(line.text) for line in inside) > _LONGEST_LINE:
        return Front(lines, end + bool(end))
    try:
        pairs = list((_toml if lines[0].text.startswith("+") else _yaml)(inside))
    except (ValueError, RecursionError):
        pairs = _by_line(inside)
    if not pairs:
        return Front(lines, end + 1)
    title, kind, shown, steering = "", kind_named(""), list[Line](), list[str]()
    for key, value, number in pairs:
        if key.lower() == "title" and isinstance(value, str) and value.strip() and not title:
            title = " ".join(value.split())
        elif key.lower() == "kind" and (named := _kind(value)):
            kind = named
        elif _STEERS.fullmatch(key):
            steering.append(key)
        else:
            try:
                flat = islice(value_lines(value, key), _MOST_SHOWN)
                shown.extend(Line(" ".join(line.split()), number) for line in flat)
            except RecursionError:
                shown.extend(Line(line.text, line.number) for line in inside if line.number == number)
    notes = (note("front_matter", count=len(steering), keys=", ".join(steering)[:200]),) if steering else ()
    after = [*shown[:_MOST_SHOWN], *([Line("", 0)] if shown else []), *lines[end + 1 :]]
    return Front(after, end + 1, title, kind, notes)


def _kind(value: Any) -> SourceKind | None:
    named = value[0] if isinstance(value, list) and len(value) == 1 else value
    return next((kind for kind in SOURCE_KINDS if isinstance(named, str) and named.lower() == kind), None)


def _yaml(inside: Sequence[Line]) -> Iterator[tuple[str, Any, int]]:
    """Keys, values and the line of each key; values stay as written, for ``no`` and ``1.10`` mean themselves."""
    import yaml

    loader = yaml.BaseLoader("\n".join(line.text for line in inside))
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            return
        for key, value in root.value:
            number = inside[min(key.start_mark.line, len(inside) - 1)].number
            said = loader.construct_object(value, deep=True)
            yield value_text(loader.construct_object(key, deep=True)), "" if said in _NULLS else said, number
    except yaml.YAMLError as error:
        raise ValueError from error
    finally:
        loader.dispose()


def _toml(inside: Sequence[Line]) -> Iterator[tuple[str, Any, int]]:
    """Likewise; where the key stands is looked for, since the parser does not say."""
    values = tomllib.loads("\n".join(line.text for line in inside), parse_float=str)
    for key, value in values.items():
        written = re.compile(rf"\s*\[*\s*[\"']?{re.escape(key)}\b")
        yield key, value, next((line.number for line in inside if written.match(line.text)), inside[0].number)


def _by_line(inside: Sequence[Line]) -> list[tuple[str, Any, int]]:
    """Keys and values of front matter that breaks the rules of its language, such as a colon in a title."""
    pairs: list[tuple[str, Any, int]] = []
    for line in inside:
        key = _KEY.fullmatch(line.text if pairs else line.text.lstrip())
        if key:
            pairs.append((key.group(1), _unquoted(key.group(2) or ""), line.number))
        elif pairs and line.text.strip():
            name, value, number = pairs[-1]
            pairs[-1] = name, f"{value} {line.text.strip()}".strip(), number
        elif line.text.strip():
            return []
    return pairs


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
