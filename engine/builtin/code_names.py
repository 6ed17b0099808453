"""Names from code in a question (``max_age``, ``--keep-last``, ``server.port``) and whether a text has them exactly."""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(
    r"`(?P<quoted>[^`\n]+)`"
    r"|(?P<bare>(?<![\w-])(?:--[a-z][\w-]*|-[A-Za-z](?![\w-]))"
    r"|(?<![\w/])[@/][\w{}.-]+(?:/[\w{}.-]+)*"
    r"|[A-Za-z_]\w+(?:(?:\.|::)[A-Za-z_]\w+)+"
    r"|\w*[A-Za-z]\w*_\w+|_\w+"
    r"|(?<![A-Za-z])[a-z]{2,}[A-Z]\w*|[A-Za-z]\w*(?=\(\)))",
    re.ASCII,
)
"""Words with capitals inside alone (FastAPI, TrustedHostMiddleware) are left out: most are names of products."""
_AROUND = re.compile(r"\(.*\)$|^[\"'<\[.]+|[\"'>\].:=,;]+$")
_NUMBER = re.compile(r"v?[\d.]+", re.ASCII)
_MOST_WORDS = 3
"""Words between back-ticks up to which they are names, and no line of code."""


def names_in(question: str) -> tuple[str, ...]:
    """The distinct names from code in a question, case-folded and without calls and quotes."""
    found: list[str] = []
    for match in _NAME.finditer(question):
        quoted = match.group("quoted")
        words = quoted.split() if quoted else [match.group()]
        found += [_AROUND.sub("", word).casefold() for word in words if len(words) <= _MOST_WORDS]
    return tuple(dict.fromkeys(name for name in found if name and not _NUMBER.fullmatch(name)))


def has_name(text: str, name: str) -> bool:
    """Return whether a case-folded text has a name exactly: ``max_age`` is not in ``max_age_ms``."""
    return name in text and _exactly(name).search(text) is not None


@lru_cache(maxsize=1_000)
def _exactly(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}s?(?![\w-])", re.ASCII)
