"""Headers written in one line, as the variables of OpenTelemetry have them."""

from __future__ import annotations

import re
from urllib.parse import unquote

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def headers_in(text: str) -> dict[str, str]:
    """Headers by name out of ``name=value,name=value``, whose values are written as in URLs.

    Raises ``ValueError`` for anything that is no header.
    """
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        value = unquote(value)
        if not equals or not _NAME.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise ValueError("no header")
        found[name] = value
    return found
