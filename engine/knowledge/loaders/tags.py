"""HTML inside Markdown as elements: written again in the plainest form for the parser, for it runs in this process.

Comments and scripts are gone; so are components, which no reader sees; placeholders (``<name>``) stay as words.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from engine.knowledge.loaders.encoding import without_control
from engine.knowledge.loaders.walking import APART, BLOCKS, HIDES, LOWERED, RAISED, STRUCK

_NAMED = r"(?P<ends>/?)(?P<name>[A-Za-z][\w.:-]*)|[!?]"
_INSIDE = r"(?:\"[^\"]{0,4000}\"|'[^']{0,4000}'|\{[^{}]{0,4000}\}|[^>]){0,4000}+"
_TAG = re.compile(rf"<(?:!--|(?:{_NAMED})(?P<inside>{_INSIDE})>)")
"""A tag must end within so many signs and short strings; a lone ``<`` is a sign like any other."""
_DEEPEST = 200
"""Of elements inside others; deeper ones are read as the words in them."""
_PLACEHOLDER = re.compile(r"<([a-z][\w:-]*)>")
_CLOSING = re.compile(r"</([a-z][\w.:-]*)>")
_ATTRIBUTE = re.compile(r"""([^\s=/>{}"']+)(?:\s*=\s*("[^"]*"|'[^']*'|\{\{?[^{}]*\}?\}|[^\s"'>{}]+))?""")
_STATED = re.compile(r"\b(?:title|label|text|caption|summary|content|value|description)\s*=")
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
_READ = _KNOWN - _UNREAD
_VOID = frozenset(
    "area base br col embed hr img input link meta param source track wbr mspace mprescripts none".split()
)
_CELLS, _GROUPS = frozenset({"td", "th"}), frozenset({"thead", "tbody", "tfoot"})
_ROWS = _GROUPS | {"tr"}
_ENDED_BY = {
    "p": BLOCKS,
    "li": frozenset({"li"}),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **dict.fromkeys(_GROUPS, _GROUPS),
    "tr": _ROWS,
    "option": frozenset({"option"}),
}
"""Elements whose end is often left out, with those that tell where it is."""
_END_THEMSELVES = _CELLS | _ENDED_BY.keys()
_TOGETHER = BLOCKS | {"col", "colgroup", "rb", "rt", "rp", "wbr", *RAISED, *LOWERED, *STRUCK}
"""Elements that need no space after a neighbour: they begin a line, or belong to a word."""
_KEPT_OPEN = frozenset({"table", "pre", "template", "noscript", *STRUCK})
"""What such an element is, everything up to its end is."""


def closed_names(text: str) -> frozenset[str]:
    """Names of all tags that a text closes somewhere, in small letters."""
    return frozenset(_CLOSING.findall(text.lower())) if "</" in text else frozenset()


def is_placeholder(tag: str, closed: frozenset[str]) -> bool:
    """Return whether a tag is a word in angle brackets: no HTML, nothing more in it, and closed nowhere."""
    found = _PLACEHOLDER.fullmatch(tag)
    return found is not None and found[1].islower() and found[1] not in _KNOWN and found[1] not in closed


class Elements:
    """Grows a tree of elements from stretches of HTML; each element knows its line (``line``), from 0.

    The parser, written in C, is given known names, attributes that are used, and escaped words alone.
    """

    def __init__(self, closed: frozenset[str], line: int = 0) -> None:
        """``closed``: names that the document closes somewhere."""
        self._written = [f'<body line="{line}">']
        self._open: list[tuple[str, bool]] = []
        """Names of the elements that no tag has ended, and whether they make something else of what follows."""
        self.comments = 0
        """Comments that say something, which are left out; so are components that a program makes words of."""
        self.components = 0
        self._closed = closed
        self._line = line
        self._ended = False
        """Whether the last thing was the end of an element, with nothing between."""

    def waits(self) -> frozenset[str]:
        """Names of open elements that make something else of what follows."""
        return frozenset(name for name, waits in self._open if waits)

    def feed(self, text: str) -> None:
        """Add HTML; entities stay as they are written."""
        place, last_comment = 0, text.rfind("-->")
        for found in _TAG.finditer(text):
            start, end = found.span()
            if start < place:
                continue  # in a comment or a script
            self.words(text[place:start])
            name = (found["name"] or "").lower()
            if text.startswith("<!--", start):
                # One that is never closed hides nothing.
                end = text.find("-->", start) + 3 if start < last_comment else end
                self.comments += any(map(str.isalnum, text[start:end]))
            elif name in _UNREAD and not found["ends"]:
                close = re.compile(f"</{name}", re.IGNORECASE).search(text, end)
                after = _TAG.match(text, close.start()) if close else None
                end = after.end() if after else end
            elif self._tag(found, name):
                place = end
                continue
            self.words("\n" * text.count("\n", start, end))
            place = end
        self.words(text[place:])

    def words(self, text: str) -> None:
        if text:
            self._ended = False
            self._line += text.count("\n")
            self._written.append(escape(without_control(text), quote=False))

    def whole(self) -> Any:
        """The root of the tree."""
        from lxml import etree

        parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
        return etree.fromstring("".join(self._written).encode(errors="ignore"), parser).find("body")

    def _tag(self, found: re.Match[str], name: str) -> bool:
        """Begin or end an element; False for what is no tag of HTML."""
        if name in BLOCKS and name != "pre" and "pre" in self.waits():
            name = "div"  # which the parser does not take for the end of the text before it
        if found["ends"]:
            self._end(name, frozenset() if name in _ROWS or name == "table" else _CELLS)
            self._ended = name not in _TOGETHER
            return False
        if self._ended and name not in _TOGETHER:
            self.words(APART)
        if name in _READ:
            self._line += found.group().count("\n")
            self._begin(name, found["inside"])
        elif is_placeholder(found.group(), self._closed):
            self.words(found.group())
        else:
            self.components += name not in _KNOWN | _UNREAD and bool(_STATED.search(found.group()))
            return False
        return True

    def _begin(self, name: str, written: str) -> None:
        for cell in _CELLS if name in _CELLS | _ROWS else ():
            self._end(cell, frozenset({"table"}))
        while self._open and name in _ENDED_BY.get(self._open[-1][0], ()):
            self._written.append(f"</{self._open.pop()[0]}>")
        if len(self._open) > _DEEPEST:
            return
        used = {"line": str(self._line)}
        for key, value in _ATTRIBUTE.findall(written):
            if key.lower() in _USED:
                # Between braces, as in ``style={{display: 'none'}}``, quotes are those of the values.
                plain = value.strip("{}").replace("'", "") if value.startswith("{") else value
                used[key.lower()] = without_control(plain.strip("\"'"))
        stated = "".join(f' {key}="{escape(value)}"' for key, value in used.items())
        self._written.append(f"<{name}{stated}>")
        if name in _VOID or written.endswith("/"):
            self._written.append(f"</{name}>")
            return
        hides = "hidden" in used or HIDES.search(used.get("style", "")) is not None
        self._open.append((name, hides or name in _KEPT_OPEN))

    def _end(self, name: str, stops: frozenset[str]) -> None:
        """End the innermost element of this name, and what is open in it, unless one of ``stops`` holds it apart."""
        for depth in reversed(range(len(self._open))):
            tag = self._open[depth][0]
            if tag == name:
                inner = [tag for tag, _ in self._open[depth + 1 :] if tag not in _END_THEMSELVES]
                self._written += [f"</{tag}>" for tag in (*reversed(inner), name)]
                del self._open[depth:]
                return
            if tag in stops:
                return
