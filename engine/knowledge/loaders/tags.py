"""HTML inside Markdown as elements: no parser of its own, for Markdown is read in this process.

Comments and scripts are gone; so are components, which no reader sees; placeholders (``<name>``) stay as words.
"""

from __future__ import annotations

import re
from typing import Any

from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.walking import APART, BLOCKS, HIDES, LOWERED, RAISED, STRUCK

_LONGEST_TAG = 4000
"""Characters within which a tag must end; a lone ``<`` is a sign like any other."""
_DEEPEST = 200
_NAME = re.compile(r"</?([A-Za-z][\w.:-]*)")
_CLOSING = re.compile(r"</([a-z][\w.:-]*)>")
_ENDS = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^{}]*\}|>")
_ATTRIBUTE = re.compile(r"""([^\s=/>{}"']+)(?:\s*=\s*("[^"]*"|'[^']*'|\{\{?[^{}]*\}?\}|[^\s"'>{}]+))?""")
_USED = frozenset(
    "alt rowspan colspan style hidden start value type checked reversed encoding role alttext open close".split()
)
_UNREAD = frozenset("script style".split())
_KNOWN = frozenset(
    "a abbr address article aside audio b bdi bdo big blockquote body br button canvas caption center cite code col"
    " colgroup data dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form h1 h2"
    " h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta"
    " meter nav noscript object ol optgroup option output p param picture pre progress q rb rp rt rtc ruby s samp"
    " script search section select small source span strike strong style sub summary sup svg table tbody td template"
    " textarea tfoot th thead time title tr track tt u ul var video wbr math semantics annotation annotation-xml mi mn"
    " mo ms mtext mspace mrow mfrac msqrt mroot mstyle mpadded mphantom mfenced msub msup msubsup munder mover"
    " munderover mmultiscripts mprescripts none mtable mtr mtd".split()
)
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr mspace mprescripts none".split()
)
_CELLS, _GROUPS = frozenset({"td", "th"}), frozenset({"thead", "tbody", "tfoot"})
_ENDED_BY = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(_CELLS, (_CELLS, frozenset({"table", "tr"}))),
    "tr": (frozenset({"tr"}), frozenset({"table"}) | _GROUPS),
    **dict.fromkeys(_GROUPS, (_GROUPS, frozenset({"table"}))),
    "option": (frozenset({"option"}), frozenset({"select"})),
}
"""Of each element those that end where it begins, and those inside of which that holds."""
_TOGETHER = BLOCKS | {"col", "colgroup", "rb", "rt", "rp", "wbr", *RAISED, *LOWERED, *STRUCK}
"""Elements that need no space after a neighbour: they begin a line, or belong to a word."""
_KEPT_OPEN = frozenset({"table", "pre", "template", "noscript", *STRUCK})
"""What such an element is, everything up to its end is."""


def closed_names(text: str) -> frozenset[str]:
    """Names of all tags that a text closes somewhere, in small letters."""
    return frozenset(_CLOSING.findall(text.lower())) if "</" in text else frozenset()


def is_placeholder(tag: str, closed: frozenset[str]) -> bool:
    """Whether a tag is a word in angle brackets: no HTML, nothing more in it, and closed nowhere."""
    found = _NAME.match(tag)
    if found is None or tag.startswith("</"):
        return False
    name = found.group(1)
    return tag == f"<{name}>" and name.islower() and "." not in name and name not in _KNOWN | closed


class Elements:
    """Grows a tree of elements from stretches of HTML; each element knows its line (``line``), from 0."""

    def __init__(self, closed: frozenset[str], line: int = 0) -> None:
        """``closed``: names that the document closes somewhere."""
        from lxml import etree

        self._make = etree.SubElement
        self._root = etree.Element("div", line=str(line))
        self._open: list[Any] = [self._root]
        self._words: list[str] = []
        self.comments = 0
        """Comments that say something, which are left out."""
        self._before: Any = None
        """The element that ended last where the next words stand."""
        self._closed = closed
        self._line = line
        self._ended = False
        """Whether the last thing was the end of an element, with nothing between."""

    def waits(self) -> frozenset[str]:
        """Names of open elements that make something else of what follows."""
        return frozenset(
            item.tag
            for item in self._open[1:]
            if item.tag in _KEPT_OPEN or item.get("hidden") is not None or HIDES.search(item.get("style") or "")
        )

    def feed(self, text: str) -> None:
        """Add HTML; entities stay as they are written."""
        place, size, folded = 0, len(text), text.lower()
        last_comment = text.rfind("-->")
        while place < size:
            start = text.find("<", place)
            if start < 0:
                self.words(text[place:])
                return
            self.words(text[place:start])
            if text.startswith("<!--", start):
                # One that is never closed hides nothing.
                place = text.find("-->", start) + 3 if start < last_comment else start + 4
                self.comments += any(map(str.isalnum, text[start:place]))
                self.words("\n" * text.count("\n", start, place))
                continue
            end = _end(text, start)
            if end < 0:
                self.words("<")
                place = start + 1
                continue
            found = _NAME.match(text, start)
            name = found.group(1).lower() if found else ""
            close = folded.find(f"</{name}", end) if name in _UNREAD and text[start + 1] != "/" else -1
            if close >= 0:
                end = max(end, _end(text, close))
                self.words("\n" * text.count("\n", start, end))
            else:
                self.tag(text[start:end])
            place = end

    def words(self, text: str) -> None:
        if not text:
            return
        self._ended = False
        self._line += text.count("\n")
        self._words.append(without_control(text))

    def whole(self) -> Any:
        """The root of the tree."""
        self._settle()
        return self._root

    def _settle(self) -> None:
        """Put the words since the last tag where they belong."""
        text, before = "".join(self._words), self._before
        self._words.clear()
        if text and before is not None:
            before.tail = (before.tail or "") + text
        elif text:
            self._open[-1].text = (self._open[-1].text or "") + text

    def _close(self, depth: int) -> None:
        self._before = self._open[depth]
        del self._open[depth:]

    def tag(self, tag: str) -> None:
        """Begin or end an element."""
        found = _NAME.match(tag)
        name = found.group(1).lower() if found else ""
        ends = tag.startswith("</")
        if self._ended and not ends and name not in _TOGETHER:
            self.words(APART)
        if is_placeholder(tag, self._closed):
            self.words(tag)
        elif ends:
            self._end(name)
            self._ended = name not in _TOGETHER
        elif found and name in _KNOWN - _UNREAD:
            self._line += tag.count("\n")
            self._begin(name, tag[found.end() : -1])
        else:
            self.words("\n" * tag.count("\n"))

    def _begin(self, name: str, written: str) -> None:
        self._settle()
        ended, inside = _ENDED_BY.get(name, (frozenset[str](), frozenset[str]()))
        if name in BLOCKS:
            ended, inside = (ended, inside) if ended else (frozenset({"p"}), _CELLS | {"table", "li", "button"})
        for depth in range(len(self._open) - 1, 0, -1):
            if self._open[depth].tag in ended:
                self._close(depth)
                break
            if self._open[depth].tag in inside:
                break
        if len(self._open) > _DEEPEST:
            return
        used = {"line": str(self._line)}
        for key, value in _ATTRIBUTE.findall(written):
            if key.lower() in _USED:
                used[key.lower()] = without_control(value.strip("{}").strip("\"'").replace("'", ""))
        made = self._make(self._open[-1], name, used)
        if name not in _VOID and not written.endswith("/"):
            self._open.append(made)
            made = None
        self._before = made

    def _end(self, name: str) -> None:
        self._settle()
        for depth in range(len(self._open) - 1, 0, -1):
            tag = self._open[depth].tag
            if tag == name:
                self._close(depth)
                return
            if tag in _CELLS and name not in ("tr", "table", *_GROUPS):
                return


def _end(text: str, start: int) -> int:
    """Find the end of the tag that begins here; -1 where none does."""
    if not (_NAME.match(text, start) or text.startswith(("<!", "<?"), start)):
        return -1
    for found in _ENDS.finditer(text, start + 1, start + _LONGEST_TAG):
        if found.group() == ">":
            return found.end()
    return -1
