"""Questions from entries of references: options with their properties, items of lists, cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from engine.drafting.chinese import together
from engine.drafting.values import Found
from engine.roles import StoredPassage

_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_RULE = re.compile(r"^\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-*:?\s*\|?\s*$")
_CELL_BAR = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"^`?(?:--?)?[A-Za-z_$@][\w.$@/-]*(?:\[\])?`?$")
_IDENTIFIER = re.compile(r"[a-z0-9]{2}[A-Z][a-z]|[._$@/-]\w|^--?\w|_|`")
_A_TYPE = re.compile(r"^[A-Z][A-Za-z]+$")
"""The name of a product or of a type, whose purpose its entry seldom tells: WebAssembly, PostCSS."""
_PROPERTY = re.compile(r"^\s*[-*]\s+\**(?P<name>[A-Za-z \u4e00-\u9fff]{2,16})\**\s*[:：]\s*(?P<value>\S.*)$")
_DEFAULT_NAMES = frozenset("default|defaults|default value|默认|默认值|缺省值".split("|"))
_ITEM = re.compile(r"^\s*[-*]\s+`(?P<name>[^`]{2,40})`\s*(?:-(?!>)|–|—|:|：|\()\s*(?P<what>.{8,})$")
_REPLACED = re.compile(r"^\s*[-*]\s+`(?P<name>[^`]{2,50})`\s*(?:->|→|=>)\s*`(?P<by>[^`]{2,60})`(?!\s*/)")
_MOVES = re.compile(
    r"migrat|chang|renam|replac|deprecat|remov|mov|upgrad|breaking|迁移|升级|变更|替换|弃用|重命名", re.IGNORECASE
)
"""Pages on which an arrow leads from a name that is gone to its successor."""
_ITEM_DEFAULT = re.compile(
    r"(?:\((?:the )?default(?: value)?(?: is|:| =)?\s*|[Dd]efaults? to\s+|默认值?(?:为|是|：|:)\s*)"
    r"(?P<value>`[^`]+`|\d[\d.]*(?:\s?[a-zA-Z%]+)?)"
)
_TELLING = re.compile(r"[A-Za-z\u4e00-\u9fff]{2,}")
_NO_VALUE = frozenset(
    "|-|–|—|n/a|none|无|否|是|yes|no|true|false|required|optional|必须|可选|必需|/|undefined|null".split("|")
)
_DESCRIBES = frozenset(
    "description|descriptions|desc|meaning|purpose|notes|note|usage|描述|说明|含义|作用|用途|职责|备注|解释".split("|")
)
_PASSED_OVER = frozenset(
    "required|requirement|example|examples|type|valid values|link|deprecated|status|id|#|no.|number|method|"
    "必选项|必需|必须|是否必须|可选|类型|有效值|示例|例子|可选项|有效值范围|序号|编号|状态|请求方法|名称|name|"
    "示例值|样例|sample|when|why|how|请求 uri|请求 body|request body".split("|")
)
_A_VALUE = re.compile(r"^[A-Z][a-z]+[A-Z]|[/:?]|^\d|\d{2,}")
"""Heads that are values themselves, as TypeScript over the templates of a generator."""
_A_CLAUSE = re.compile(r"[。；！？;]|[，,].*[，,]|\. ")
_METHODS = frozenset("GET PUT POST PATCH DELETE HEAD OPTIONS".split())
_VALUES = _NO_VALUE | frozenset("high medium low on off all any both default auto".split())
"""Items that are values of something and no names."""
_LONGEST_GOLD = 60


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table below its head."""

    head: tuple[str, ...]
    cells: tuple[str, ...]


def rows_of(text: str, head: tuple[str, ...] = ()) -> tuple[list[Row], tuple[str, ...]]:
    """Rows of the tables in a text, and the head of the last one, where the text ends in it.

    ``head`` is that of a table which the text before has begun.
    """
    rows: list[Row] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _RULE.match(line):
            continue
        found = _ROW.match(line)
        if found is None:
            head = () if line.strip() else head
            continue
        cells = tuple(cell.strip().replace("\\|", "|") for cell in _CELL_BAR.split(found.group(1)))
        if number + 1 < len(lines) and _RULE.match(lines[number + 1]):
            head = cells
        elif head and len(cells) == len(head):
            rows.append(Row(head, cells))
    return rows, head


def with_heads(passages: Sequence[StoredPassage]) -> list[StoredPassage]:
    """Passages with the head of the table that the passage before has begun, where a long one was cut in two."""
    made: list[StoredPassage] = []
    for _, group in groupby(passages, key=lambda item: (item.source, item.section)):
        head: tuple[str, ...] = ()
        for passage in sorted(group, key=lambda item: item.ordinal):
            lines = passage.text.lstrip().split("\n")
            goes_on = head and _ROW.match(lines[0]) and not (len(lines) > 1 and _RULE.match(lines[1]))
            begun = f"| {' | '.join(head)} |\n|{' --- |' * len(head)}\n" if goes_on else ""
            made.append(replace(passage, text=f"{begun}{passage.text}") if begun else passage)
            # A row that is too long for one passage is cut too, and the table goes on behind it.
            head = rows_of(passage.text, head)[1] or head
    return made


def without_tables(text: str) -> str:
    """The text without rows of tables, which are no sentences."""
    return "\n".join(line for line in text.split("\n") if not _ROW.match(line))


def of_row(row: Row, subject: str, language: str) -> Iterator[Found]:
    """Questions about one row: what a cell of it says; ``subject`` is what the table belongs to."""
    label = _plain(row.cells[0])
    if (
        not _TELLING.search(label)
        or len(label) > 50
        or len(row.cells) < 2
        or label in _METHODS
        or _A_CLAUSE.search(label)
    ):
        return
    quote = " | ".join(f"{name}: {cell}" for name, cell in zip(row.head, row.cells, strict=True) if cell)
    for name, cell in zip(row.head[1:], row.cells[1:], strict=True):
        head, value = _plain(name), _plain(cell)
        if not head or _A_VALUE.search(name) or head.lower() in _PASSED_OVER or value.lower() in _NO_VALUE:
            continue
        if head.lower() in _DESCRIBES:
            if len(value) >= 12:
                yield Found("cell", _what_for(label, subject, language), quote=quote)
        elif head.lower() in _DEFAULT_NAMES:
            yield Found("cell", _default_of(label, subject, language), _gold(value), quote)
        elif len(value) <= _LONGEST_GOLD and _TELLING.search(head):
            yield Found("cell", _cell_of(head, label, subject, language), _gold(value), quote)


def of_properties(text: str, section: str, language: str) -> Iterator[Found]:
    """What the entry of an option says of it, where the heading is its name: "Default: `dist`", what it does."""
    name = _plain(section)
    if not is_name(section):
        return
    told = False
    for line in text.split("\n"):
        if found := _PROPERTY.match(line):
            value = _first(found.group("value"))
            if found.group("name").strip().lower() in _DEFAULT_NAMES and value.lower() not in _NO_VALUE | {"[]", "{}"}:
                yield Found("figure", _default_of(name, "", language), _gold(value), line.strip())
        elif len(line.split()) >= 6 or len(line) >= 24:
            told = told or not line.lstrip().startswith(("```", "|", "-", "*", ">", "#"))
    if told:
        asked = _what_for(name, "", language)
        yield Found("entry", asked, quote=section)


def of_items(text: str, section: str, title: str, language: str) -> Iterator[Found]:
    """What a list says of the names that its items begin with."""
    subject = _plain(section) if is_name(section) else title
    moves = _MOVES.search(f"{title} {section}") is not None
    for line in text.split("\n"):
        if moves and (replaced := _REPLACED.match(line)):
            name, asked = replaced.group("name"), "{} 由什么取代？" if language == "zh" else "What replaces {}?"
            yield Found("entry", asked.format(name), _gold(replaced.group("by")), line.strip())
        found = _ITEM.match(line)
        if found is None or not is_name(f"`{found.group('name')}`") or found.group("name").lower() in _VALUES:
            continue
        name, what = found.group("name"), found.group("what")
        if value := _ITEM_DEFAULT.search(what):
            yield Found(
                "figure", _default_of(name, subject, language), _gold(_plain(value.group("value"))), line.strip()
            )
        if len(what.split()) >= 4 or len(what) >= 14:
            yield Found("entry", _what_for(name, subject, language), quote=line.strip())


def is_name(text: str) -> bool:
    """Whether a heading is the name of an option, a function or the like, and not words."""
    bare = text.strip()
    return _NAME.match(bare) is not None and _IDENTIFIER.search(bare) is not None and not _A_TYPE.match(bare)


def _what_for(label: str, subject: str, language: str) -> str:
    if language == "zh":
        return _in_chinese(label, subject, "有什么作用")
    return _in_english(label, subject, "what is {} for")


def _default_of(label: str, subject: str, language: str) -> str:
    if language == "zh":
        return _in_chinese(label, subject, "的默认值是什么")
    return _in_english(label, subject, "what is the default of {}")


def _cell_of(head: str, label: str, subject: str, language: str) -> str:
    if language == "zh":
        return _in_chinese(label, subject, f"的{' ' if head[0].isascii() else ''}{head} 是什么")
    lowered = head if re.search(r"[A-Z]{2,}", head) else head.lower()
    return _in_english(label, subject, f"what is the {lowered} of {{}}")


def _in_english(label: str, subject: str, asks: str) -> str:
    """The question with what it is about: "host in server.ws", or the title of a page before it."""
    if not subject or subject in label:
        asked = asks.format(label)
    elif is_name(subject):
        asked = asks.format(f"{label} in {subject}")
    else:
        return f"In {subject}: {asks.format(label)}?"
    return f"{asked[0].upper()}{asked[1:]}?"


def _in_chinese(label: str, subject: str, asks: str) -> str:
    within = f"{subject} 中的 " if subject and subject not in label else ""
    return together(f"{within}{label} {asks}？")


def _gold(value: str) -> tuple[str, ...]:
    plain = value.strip(" .,;'\"")
    return (plain,) if plain and len(plain) <= _LONGEST_GOLD else ()


def _first(value: str) -> str:
    """The value before what is said about it: "`4096` (4 KiB)"."""
    return found.group(1).strip() if (found := _CODE.match(value)) else _plain(re.sub(r"\s*[(（].*$", "", value))


def _plain(text: str) -> str:
    return " ".join(_CODE.sub(r"\1", text).replace("**", "").split()).strip(" ,;，；")
