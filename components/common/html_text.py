"""Trees of :class:`Node` as HTML text for files: a closed list of tags and attributes, and every string escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from components.common.markup import Node

_TAGS = frozenset(
    "main header footer section h1 h2 h3 h4 p div span strong em small i a ol ul li table "
    "thead tbody tr th td details summary pre code ins del mark bdi svg g title rect line path text".split()
)
_ATTRIBUTES = frozenset(
    "class id lang dir title role start scope colspan open href tabindex aria-hidden aria-label "
    "data-fill data-tick viewBox width height x y x1 x2 y1 y2 rx text-anchor".split()
)
_FRAGMENT = re.compile(r"#[a-z][a-z0-9-]*")
_SHARE = re.compile(r"\d{1,3}(?:\.\d{1,3})?%")
_SHARES = {"data-fill": "--fill", "data-tick": "--tick"}
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Controls that a file cannot hold or that reorder the text around them."""


def html_of(item: Node | str) -> str:
    """The tree as text; raises ``ValueError`` for a tag or attribute outside the lists, or a link that leaves the file.

    Control characters and those that change the direction of writing are shown by their code: ``⟨U+202E⟩``.
    """
    if isinstance(item, str):
        return safe_text(item)
    if item.tag not in _TAGS:
        raise ValueError(f"no such element in a report: {item.tag}")
    inside = "".join(html_of(kid) for kid in item.kids)
    return f"<{item.tag}{''.join(_attributes(item))}>{inside}</{item.tag}>"


def safe_text(text: str) -> str:
    """Foreign text for an element or a quoted attribute: escaped, and without anything that cannot be seen."""
    return escape(
        _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text.replace("\r\n", "\n").replace("\r", "\n"))
    )


def _attributes(item: Node) -> Iterable[str]:
    style = []
    for name, value in item.attrs.items():
        if name not in _ATTRIBUTES:
            raise ValueError(f"no such attribute in a report: {name}")
        if name == "href" and not _FRAGMENT.fullmatch(value):
            raise ValueError("a report links to nothing outside it")
        if name in _SHARES:
            if not _SHARE.fullmatch(value):
                raise ValueError(f"{name} is a share in per cent")
            style.append(f"{_SHARES[name]}:{value}")
        else:
            yield f' {name}="{safe_text(value)}"'
    if style:
        yield f' style="{";".join(style)}"'
