"""Search results as passages: no matter what an engine sends, only plain text and web addresses come out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from html import unescape
from typing import Any
from urllib.parse import SplitResult, urlsplit

from engine.model.values import PassageId
from engine.model.values.names import WEB_ID
from engine.roles import StoredPassage

_LONGEST_TITLE = 300
_LONGEST_TEXT = 2_000
_LONGEST_ADDRESS = 1_000
_READ = 20_000
"""Characters of one field that are looked at."""
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Controls, and characters that hide text or reorder what stands around them; tabs and line ends become spaces."""
_HIDDEN = re.compile(r"<(script|style|noscript|template)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_ADDRESS = re.compile(r"https?://[!-~\u00a1-\ud7ff\ue000-\uffef]+", re.I)


def passages_of(results: Iterable[Any], limit: int) -> list[StoredPassage]:
    """Make at most ``limit`` passages in the order given; what has no web address or words is left out, and so is what
    is there already: the same address, or the same text under another one."""
    found: list[StoredPassage] = []
    seen: set[str] = set()
    for result in results:
        passage = _passage(result)
        if passage is None:
            continue
        marks = {_same_address(passage.source), passage.text.casefold()}
        if not marks & seen:
            seen |= marks
            found.append(passage)
        if len(found) == limit:
            break
    return found


def plain_text(value: Any, longest: int) -> str:
    """One line of words: markup and what it hides taken out, controls gone, cut at ``longest`` characters."""
    text = str(value)[:_READ] if isinstance(value, str) else ""
    # Escaped markup is markup again once it is read, and a tag may be hidden inside another one.
    for _ in range(4):
        read = _TAG.sub(" ", _HIDDEN.sub(" ", unescape(text)))
        if read == text:
            break
        text = read
    words = " ".join(_UNSEEN.sub("", text).split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def web_address(value: Any) -> str:
    """The address if it is one of the web, without a user name that could pose as a host; else nothing."""
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > _LONGEST_ADDRESS or not _ADDRESS.fullmatch(text):
        return ""
    parts = _split(text)
    return text if parts is not None and parts.hostname and "@" not in parts.netloc else ""


def _passage(result: Any) -> StoredPassage | None:
    if not isinstance(result, dict):
        return None
    address = web_address(result.get("url"))
    title = plain_text(result.get("title"), _LONGEST_TITLE)
    text = plain_text(result.get("content"), _LONGEST_TEXT) or title
    if not address or not text:
        return None
    # By text too: a page whose snippet changed between two searches is another passage, to be judged again.
    name = hashlib.sha256(f"{_same_address(address)}\n{text}".encode()).hexdigest()[:24]
    return StoredPassage(PassageId(f"{WEB_ID}{name}"), address, text, title=title or address, meta={"origin": "web"})


def _same_address(address: str) -> str:
    """What two spellings of one address have in common."""
    parts = _split(address)
    if parts is None:
        return address
    host = (parts.hostname or "").removeprefix("www.")
    return f"{host}:{parts.port or ''}{parts.path.rstrip('/')}?{parts.query}"


def _split(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        # Read here, for a port that is none shows itself only when it is asked for.
        _ = parts.port
    except ValueError:
        return None
    return parts
