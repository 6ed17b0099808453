"""Files in a folder or archive that are no documents: left out of an ingestion, and counted by reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Literal

from engine.errors import SourceError
from engine.knowledge.loaders.kinds import KINDS, is_text

Reason = Literal["hidden", "made", "secret", "picture", "no_text"]

_HIDDEN = re.compile(r"\.|~\$|__MACOSX$|Thumbs\.db$|desktop\.ini$")
"""Begins the name of what a system or a program keeps for itself; ``~$``: next to a document open in Office."""
_MADE_FOLDERS = frozenset("node_modules bower_components __pycache__ site-packages".split())
FILLED = frozenset(("pyvenv.cfg", "CACHEDIR.TAG"))
"""Files that say of their folder that a program fills it."""
_MADE = re.compile(
    r"package-lock\.json|pnpm-lock\.yaml|.*\.(lock|map|pyc|class|o|obj)|.*\.min\.(js|css)", re.IGNORECASE
)
_SECRET = re.compile(
    r"id_(rsa|dsa|ecdsa|ed25519)|(credentials?|secrets?|passwords?)(\.(json|ya?ml|toml|ini|cfg|properties))?"
    r"|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|env|htpasswd)",
    re.IGNORECASE,
)
_PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY")
_PICTURES = frozenset(".png .jpg .jpeg .webp .gif .bmp .tif .tiff .heic .svg .ico".split())
_MOST_NAMED = 8


def by_name(name: str) -> Reason | None:
    """Explain from its name why a file, or a folder ending in ``/``, is left out; None if it is not."""
    *folders, last = name.split("/")
    if any(_HIDDEN.match(part) for part in (*folders, last)):
        return "hidden"
    if not _MADE_FOLDERS.isdisjoint(folders) or _MADE.fullmatch(last):
        return "made"
    if _SECRET.fullmatch(last):
        return "secret"
    return "picture" if PurePosixPath(last.lower()).suffix in _PICTURES else None


def by_content(head: bytes) -> Reason | None:
    """Explain from its first bytes why a file of unknown kind is left out; None for text."""
    if _PRIVATE_KEY.search(head):
        return "secret"
    return None if is_text(head) else "no_text"


class LeftOut:
    """Counts what one folder or archive holds and an ingestion leaves out."""

    def __init__(self, name: str) -> None:
        """``name`` of the folder or archive."""
        self._name = name
        self._names: dict[Reason, list[str]] = {}

    def add(self, reason: Reason, name: str) -> None:
        self._names.setdefault(reason, []).append(name)

    def said(self) -> list[tuple[str, SourceError]]:
        """One error for each reason."""
        return [
            (self._name, _MESSAGES[reason](self._name, *self._named(reason)))
            for reason in _MESSAGES
            if reason in self._names
        ]

    def _named(self, reason: Reason) -> tuple[int, str]:
        """Their number, and the first names, or for pictures and the like how many there are of each suffix."""
        names = self._names[reason]
        kinds = Counter(PurePosixPath(name).suffix.lower() or PurePosixPath(name).name for name in names)
        many = [f"{count} {kind}" for kind, count in kinds.most_common()]
        shown = many if reason in ("picture", "no_text") else sorted(names)
        rest = ["…"] if len(shown) > _MOST_NAMED else []
        return len(names), ", ".join(shown[:_MOST_NAMED] + rest)


_MESSAGES: dict[Reason, Callable[[str, int, str], SourceError]] = {
    "hidden": lambda name, count, files: SourceError.hidden_files(name=name, count=count, files=files),
    "made": lambda name, count, files: SourceError.made_by_programs(name=name, count=count, files=files),
    "secret": lambda name, count, files: SourceError.secret(name=name, count=count, files=files),
    "picture": lambda name, count, files: SourceError.picture(name=name, count=count, files=files),
    "no_text": lambda name, count, files: SourceError.no_text(name=name, count=count, files=files, kinds=KINDS),
}
