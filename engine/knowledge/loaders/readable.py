"""Markdown as a reader sees it: the words without the signs, code as code, each line with its number in the file."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from engine.knowledge.loaders.directives import Line, without_directives
from engine.knowledge.loaders.tags import Elements, closed_names, is_placeholder
from engine.knowledge.loaders.walking import KEPT, Walk

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

MOST_READ = 2_000_000
"""Characters of a file whose markup is read; what is longer is a dump rather than a document, and stays as it is."""
_LONGEST_LINE = 20_000
"""Likewise of a line."""

_ATTRIBUTES = re.compile(
    r"[ \t]?\{:?[ \t]*[#.][\w:.-]+(?:[ \t]+(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"\n]*\"|[\w-]+)))*[ \t]*\}"
    r"|[ \t]?\{:?[ \t]*[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]+[\w-]+=(?:\"[^\"\n]*\"|'[^'\n]*'))*[ \t]*\}"
)
_ADDRESS = re.compile(r"[/.#:@]")
_FOOTNOTE = re.compile(r"^ {0,3}\[\^([\w-]+)\]:[ \t]*|\[\^([\w-]+)\]")
_TEX = re.compile(r"\$\$(?!\$)(?:[^$\n]|\n(?!\n)){1,2000}\$\$|\$(?![\s$])(?:[^$\n\\`]|\\.){1,300}(?<!\s)\$(?![\w$])")
_WIKI = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\W\d][^\[\]|,\n]*)\]\]")
_SHORTCODE = re.compile(r"\{\{[<%][^\n}]*[>%]\}\}|\{%[^\n}]*%\}|\{[*!][^\n}]*[*!]\}")
_TEXT_IN_BRACES = re.compile(r"\{\{[ \t]*(['\"])([^'\"{}\n]*)\1[ \t]*\}\}")
_STRESS = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_QUOTED = re.compile(r"[ \t]*>[ \t]?")
_LANGUAGE = re.compile(r"[\w+#.-]*")
_CODE_NOTE = re.compile(r"[ \t]?(?://|#|<!--|/\*)[ \t]*(?:\[!code [^\]\n]*\]|highlight-(?:next-line|start|end)).*$")
_DRAWN = re.compile(r"</?(?:font|span|u|b|i|a|em|strong)\b[^<>\n]{0,300}>", re.IGNORECASE)
_COLOURED = re.compile(r"<(?:font|span)\s+(?:color|style)=", re.IGNORECASE)
"""Output of a terminal that was coloured for a web page."""
_SIGNS = re.compile(r"([!#-%'-/:;=?@\[-`{-~])")
"""What Markdown may take for markup, but for the signs of HTML."""
_MARKUP = re.compile(r"[\\`*_~\[\]<>&!${}\n]")
"""A line without any of these says what is written there."""
_PARTS = {
    "paragraph_open": "paragraphs",
    "list_item_open": "list items",
    "table_open": "tables",
    "fence": "blocks of code",
    "code_block": "blocks of code",
}
_EMPHASIS = frozenset(("em_open", "em_close", "strong_open", "strong_close"))
_BARS = re.compile(r"[ \t]*\|")


@dataclass(slots=True)
class Read:
    """Visible text of Markdown, the number of parts by kind, and what was left out."""

    lines: list[Line]
    parts: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)


def readable(lines: Sequence[Line], hidden: bool = False) -> Read:
    """The lines without markup: links as their words, images as their descriptions, HTML read, tables and code kept.

    A line without markup stays as it is, to the last space. ``hidden``: read what HTML hides, too.
    """
    if max(map(len, (line.text for line in lines)), default=0) > _LONGEST_LINE:
        return Read(list(lines))
    lost = Counter[str]()
    given = without_directives(lines, lost)
    return _Reader([line.text for line in given], hidden, lost).read(given)


def markdown_tables(text: str) -> list[list[list[str]]]:
    """The cells of each table between bars, in the order of the text; none of a text that is too long to be read."""
    lines = text.split("\n")
    if len(text) > MOST_READ or max(map(len, lines)) > _LONGEST_LINE or "|" not in text:
        return []
    reader = _Reader(lines, False, Counter())
    tables: list[list[list[str]]] = []
    for place, token in enumerate(reader.tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([said.replace("`", "").strip() for _, said in reader.cells(place)])
    return tables


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "math", _math)
    return parser


def _math(state: StateInline, silent: bool) -> bool:
    """Keep an equation in TeX as it is: what looks like emphasis in it multiplies, and its backslashes are its own."""
    found = _TEX.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("math", "", 0).content = found.group()
    state.pos = found.end()
    return True


def _joined(given: Sequence[Line], made: dict[int, str | None], headings: Set[int]) -> Iterator[Line]:
    """The lines as they became; where some are gone, at most one blank one is left."""
    blank = gone = True
    for place, line in enumerate(given):
        text = made.get(place, "") if place in made else _bare(line.text)
        if text is None or (not text and place not in made and ((gone and blank) or not line.number)):
            gone = True
            if not blank:
                yield Line("", line.number)
            blank = True
            continue
        yield from (Line(part, line.number, place not in headings) for part in text.split("\n"))
        blank = not text.strip()
        gone = gone and blank


def _bare(line: str) -> str:
    # Of a line that belongs to no text only quotation marks can be left.
    return "" if line.strip() and not line.strip("> \t") else line


class _Reader:
    """Reads one document; knows its lines, and which tags it closes somewhere."""

    def __init__(self, source: Sequence[str], hidden: bool, lost: Counter[str]) -> None:
        self._source, self._hidden = source, hidden
        whole = "\n".join(source)
        self._closed = closed_names(whole)
        self._environment: dict[str, dict[str, dict[str, list[int]]]] = {}
        self.tokens = _parser().parse(whole, self._environment)
        self._made: dict[int, str | None] = {}
        self._headings: set[int] = set()
        self._parts, self._lost = Counter[str](), lost
        self._parts["footnotes"] = sum(bool(_FOOTNOTE.match(line)) and "]:" in line for line in source)

    def read(self, given: Sequence[Line]) -> Read:
        place = 0
        while place < len(self.tokens):
            token = self.tokens[place]
            self._parts[_PARTS.get(token.type, "")] += 1
            if token.type == "html_block" and token.map is not None:
                place = self._html(place)
                continue
            if token.map is not None and token.type == "inline":
                self._made.update(self._prose(place))
            elif token.map is not None and token.type == "fence":
                self._made.update(_code(token, self._source))
            elif token.map is not None and token.type == "hr":
                self._made[token.map[0]] = None
            place += 1
        for name, reference in self._environment.get("references", {}).items():
            # A line such as "[Dose]: 5 mg" has the form of a reference, and no address in it; "[^1]: …" is a footnote.
            lines = range(*reference.get("map", (0, 0)))
            if name.startswith("^"):
                self._made.update((line, _footnotes(self._source[line])) for line in lines)
            elif _ADDRESS.search(str(reference.get("href", ""))):
                self._lost["comments"] += name.startswith("//") and bool(reference.get("title"))
                self._made.update(dict.fromkeys(lines, None))
        del self._parts[""]
        return Read(list(_joined(given, self._made, self._headings)), self._parts, self._lost)

    def _prose(self, place: int) -> Iterator[tuple[int, str | None]]:
        token, before = self.tokens[place], self.tokens[place - 1]
        assert token.map is not None
        first, end = token.map
        if before.type in ("th_open", "td_open"):
            if self.tokens[place - 2].type == "tr_open":
                yield first, self._row(place, self._source[first])
            return
        said = self.words(token.children or [])
        if before.type == "heading_open":
            self._headings.add(first)
            words = said.replace("`", "").replace("\n", " ").strip().rstrip("*").strip()
            same = words == token.content and before.markup.startswith("#")
            yield first, self._source[first] if same else f"{'#' * int(before.tag[1:])} {words}".rstrip()
            yield from ((line, None) for line in range(first + 1, end + (not before.markup.startswith("#"))))
            return
        was, now = token.content.split("\n"), said.split("\n")
        if len(was) != len(now):
            lead = _lead(self._source[first], was[0])
            joined = "\n".join(part.rstrip() for part in now if part.strip())
            yield first, f"{lead}{joined}" if joined else None
            yield from ((line, None) for line in range(first + 1, end))
            return
        for line, (old, new) in enumerate(zip(was, now, strict=True), first):
            if line >= end:
                return
            lead = _lead(self._source[line], old)
            kept = (
                self._source[line] if old == new and not _QUOTED.match(self._source[line]) else f"{lead}{new}".rstrip()
            )
            yield line, kept if new.strip() else None

    def _row(self, place: int, line: str) -> str:
        cells, same = list[str](), True
        for token, said in self.cells(place):
            same = same and said == token.content
            cells.append(said.strip().replace("|", "\\|"))
        return line if same and _BARS.match(line) else f"| {' | '.join(cells)} |"

    def cells(self, place: int) -> Iterator[tuple[Token, str]]:
        """The cells of a row from here, with their words."""
        for number in range(place, len(self.tokens)):
            token = self.tokens[number]
            if token.type == "tr_close":
                return
            if token.type == "inline":
                yield token, self.words(token.children or [], in_cell=True)

    def words(self, children: Sequence[Token], *, in_cell: bool = False) -> str:
        """The words of a paragraph, its HTML read by the walk that reads pages."""
        said: list[str] = []
        for number, token in enumerate(children):
            if (
                token.type == "text"
                and number
                and children[number - 1].type == "link_open"
                and token.content.startswith("^")
            ):
                said.append(f"[Footnote {token.content[1:]}]")  # one that is an address
                continue
            emphasis = token.type in _EMPHASIS
            said.append(_times(token, said, children[number + 1 :]) if emphasis else self._word(token))
        tags = [token.type == "html_inline" and not is_placeholder(token.content, self._closed) for token in children]
        if not any(tags):
            return "".join(said)
        elements = Elements(self._closed)
        for token, tag, words in zip(children, tags, said, strict=True):
            if not tag:
                elements.words(words.replace(" ", KEPT) if token.type == "code_inline" else words)
            elif token.content[:3].lower() == "<br":
                elements.words(" ")
            else:
                elements.feed(token.content)
        return "\n".join(text for _, text in self._walked(elements, str, in_cell))

    def _walked(self, elements: Elements, said: Callable[[str], str], in_cell: bool = False) -> list[tuple[int, str]]:
        self._lost.update(comments=elements.comments, page_code=elements.components)
        walk = Walk(hidden=self._hidden, numbered=True, said=said)
        if in_cell:
            return [(0, walk.cell_text(elements.whole()))]
        walk.block(elements.whole())
        if said is str:  # a paragraph is counted already
            walk.read["paragraphs"] = 0
        self._parts.update(walk.read)
        self._lost.update(walk.lost)
        return walk.lines

    def _word(self, token: Token) -> str:
        match token.type:
            case "text" | "text_special":
                return _plain(token.content)
            case "math":
                return token.content
            case "code_inline":
                return f"{token.markup}{token.content}{token.markup}"
            case "softbreak" | "hardbreak":
                return "\n"
            case "image":
                described = self.words(token.children or [])
                self._parts["pictures"] += bool(described)
                self._lost["pictures_not_read"] += not described
                return described
            case "html_inline":
                return token.content
            case "s_open" | "s_close":
                # What is struck out must not read as if it held.
                return "~~"
            case _:
                return ""

    def _html(self, place: int) -> int:
        """Read a block of HTML, and what follows up to its end where that belongs to it; gives the next token."""
        token = self.tokens[place]
        assert token.map is not None
        first, end = token.map
        elements = Elements(self._closed, first)
        elements.feed(token.content)
        place += 1
        waits = elements.waits()
        last = self._last_closing(waits, token.level, place) if waits else place
        while place < last and elements.waits():
            end, place = self._follow(elements, place, end)
        for line in range(first, end):
            self._made[line] = None
        at = first
        for number, text in self._walked(elements, self._inline):
            at = max(at, min(number, end - 1))
            before = self._made[at]
            self._made[at] = text if before is None else f"{before}\n{text}"
        return place

    def _last_closing(self, names: frozenset[str], level: int, place: int) -> int:
        """Behind the last block of HTML at this level that ends one of these elements."""
        last = place
        for number in range(place, len(self.tokens)):
            token = self.tokens[number]
            if token.level < level:
                break
            if token.type in ("html_block", "inline") and names & closed_names(token.content):
                last = number + 1
        return last

    def _follow(self, elements: Elements, place: int, end: int) -> tuple[int, int]:
        """Add the block that begins here to what is open; gives the line and the token behind it."""
        token = self.tokens[place]
        after = place + 1
        while token.nesting == 1 and not (
            self.tokens[after - 1].level == token.level and self.tokens[after - 1].nesting < 0
        ):
            after += 1
        below = token.map[1] if token.map else end
        start = token.map[0] if token.map else end
        if elements.waits() == {"pre"}:
            elements.feed("".join(f"{line}\n" for line in self._source[end:below]))
            return below, after
        elements.words("\n" * max(0, start - end))
        if token.type == "html_block":
            elements.feed(token.content)
            return below, after
        made = [self._spelled(item) for item in self.tokens[place:after]]
        elements.feed(_parser().renderer.render(made, _parser().options, self._environment).replace("\n", " "))
        elements.words("\n" * (below - start))
        return below, after

    def _spelled(self, token: Token) -> Token:
        """A token whose words are read already, and safe to be read again."""
        if token.type != "inline":
            return token
        from markdown_it.token import Token

        words = _SIGNS.sub(r"\\\1", self.words(token.children or []))
        return token.copy(children=[Token("text", "", 0, content=words)])

    def _inline(self, text: str) -> str:
        return self.words(_parser().parseInline(text)[0].children or []) if _MARKUP.search(text) else text


def _lead(line: str, content: str) -> str:
    """Return the prefix of a line: indent and list marker, without quotation marks."""
    at = line.find(content.strip()) if content.strip() else -1
    lead = line[:at] if at > 0 else ""
    return _QUOTED.sub("", lead) if ">" in lead else lead


def _times(token: Token, before: Sequence[str], after: Sequence[Token]) -> str:
    """The asterisks of emphasis that stands between digits: there they multiply."""
    following = next((item.content for item in after if item.content), "")
    return token.markup if before and before[-1][-1:].isdigit() and following[:1].isdigit() else ""


def _plain(text: str) -> str:
    # Emphasis next to Chinese punctuation is none by the rules of CommonMark, and is meant all the same.
    text = _STRESS.sub(r"\1", text) if "**" in text else text
    if "[" in text:
        text = _WIKI.sub(r"\1", _footnotes(text))
    return _ATTRIBUTES.sub("", _SHORTCODE.sub("", _TEXT_IN_BRACES.sub(r"\2", text))) if "{" in text else text


def _footnotes(text: str) -> str:
    """The marks of footnotes, in the text and before the notes, as in Word documents."""
    return _FOOTNOTE.sub(lambda found: f"[Footnote {found[1]}] " if found[1] else f"[Footnote {found[2]}]", text)


def _code(token: Token, source: Sequence[str]) -> Iterator[tuple[int, str | None]]:
    """A block of code between plain fences: its language stays, what a web page would mark in it goes."""
    assert token.map is not None
    first, end = token.map
    language = _LANGUAGE.match(token.info.strip())
    yield first, f"{token.markup}{language.group() if language and '=' not in token.info.split(' ')[0] else ''}"
    inside = token.content.split("\n")[:-1]
    drawn = _COLOURED.search(token.content) is not None
    for line, text in enumerate(inside, first + 1):
        plain = html.unescape(_DRAWN.sub("", text)) if drawn else _CODE_NOTE.sub("", text)
        plain = _TEXT_IN_BRACES.sub(r"\2", plain) if token.info.split(" ")[0].endswith("-vue") else plain
        yield line, plain.rstrip() if drawn else plain
    last = first + 1 + len(inside)
    if last < end:
        yield last, token.markup
        yield from ((line, None) for line in range(last + 1, end))
