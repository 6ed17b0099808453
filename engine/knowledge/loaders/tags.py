"""HTML inside Markdown as the words that a reader sees of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

_LONGEST_TAG = 4000
"""Characters within which a tag must end; a lone ``<`` is a sign like any other."""
_NAME = re.compile(r"</?([A-Za-z][\w.:-]*)")
_CLOSING = re.compile(r"</([a-z][\w.:-]*)>")
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_ENDS = re.compile(r"\"[^\"]*\"|'[^']*'|\{[^{}]*\}|>")
_HIDDEN = ("script", "style", "template", "svg", "iframe")
_KNOWN = frozenset(
    "a abbr address article aside audio b bdi bdo blockquote body br button canvas caption center cite code col"
    " colgroup data dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2"
    " h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark menu meta"
    " meter nav noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script"
    " section select small source span strike strong style sub summary sup svg table tbody td template textarea"
    " tfoot th thead time title tr track tt u ul var video wbr".split()
)
_STRUCK = ("del", "s", "strike")
_AS_TEXT = {"br": " ", "li": "- ", "td": " | ", "th": " | "}


def without_tags(text: str, *, entities: bool = True) -> str:
    """A stretch of HTML as its words, line by line: comments, scripts and styles gone, images as their description.

    Every line break stays where it was, so that the lines can be told. A tag that is no HTML, says nothing more and is
    closed nowhere (``<name>``) is a placeholder, and stays.
    """
    made = "".join(_pieces(text))
    return html.unescape(made) if entities else made


def closed_names(text: str) -> frozenset[str]:
    """Names of all tags that a text closes somewhere, in small letters."""
    return frozenset(_CLOSING.findall(text.lower())) if "</" in text else frozenset()


def tag_words(tag: str, closed: frozenset[str] = frozenset()) -> str:
    """What a reader sees of one tag; ``closed`` are the tags that the text closes somewhere."""
    found = _NAME.match(tag)
    if found is None:
        return ""
    name = found.group(1).lower()
    if name == "img":
        described = _ALT.search(tag)
        return html.unescape(described.group(1) or described.group(2) or "") if described else ""
    if name in _STRUCK:
        return "~~"
    if name == "sup":
        # 10 to the ninth must not read as 109.
        return "" if tag.startswith("</") else "^"
    if tag.startswith("</"):
        return ""
    plain = tag == f"<{found.group(1)}>" and found.group(1).islower() and "." not in name
    return tag if plain and name not in _KNOWN | closed else _AS_TEXT.get(name, "")


def _pieces(text: str) -> Iterator[str]:
    place, size, folded, closed = 0, len(text), text.lower(), closed_names(text)
    last_comment = text.rfind("-->")
    while place < size:
        start = text.find("<", place)
        if start < 0:
            yield text[place:]
            return
        yield text[place:start]
        if text.startswith("<!--", start):
            # One that is never closed hides nothing.
            place = text.find("-->", start) + 3 if start < last_comment else start + 4
            yield "\n" * text.count("\n", start, place)
            continue
        end = _end(text, start)
        if end < 0:
            yield "<"
            place = start + 1
            continue
        tag = text[start:end]
        found = _NAME.match(tag)
        name = found.group(1).lower() if found else ""
        hides = name in _HIDDEN and name in closed and not tag.startswith("</") and not tag.endswith("/>")
        close = folded.find(f"</{name}>", end) if hides else -1
        if close >= 0:
            end = close + len(name) + 3
            yield "\n" * text.count("\n", start, end)
        else:
            closed -= {name} if hides else set()  # it is closed nowhere from here on
            yield tag_words(tag, closed) + "\n" * tag.count("\n")
        place = end


def _end(text: str, start: int) -> int:
    """Find the end of the tag that begins here; -1 where none does."""
    if not (_NAME.match(text, start) or text.startswith(("<!", "<?"), start)):
        return -1
    for found in _ENDS.finditer(text, start + 1, start + _LONGEST_TAG):
        if found.group() == ">":
            return found.end()
    return -1
