"""Lines that a layout broke, joined again: Chinese without a space, hyphenated words whole."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—"
_BETWEEN_WIDE = re.compile(rf"(?<=[{_WIDE}])[ \t\r\f\v]*\n[ \t\r\f\v\n]*(?=[{_WIDE}])")
_SPACE = re.compile(r"[ \t\r\f\v\n\u00a0]+")
_WIDE_CHAR = re.compile(rf"[{_WIDE}]")
_LONGEST_WORD = 60
_HYPHENATED = re.compile(r"(?:[^\W\d_]+-)*[^\W\d_]{2,}[-\u00ad\u2010]$")


def joined_lines(text: str) -> str:
    """One line of a text whose line breaks mean nothing; white space becomes single."""
    return _SPACE.sub(" ", _BETWEEN_WIDE.sub("", text) if "\n" in text else text)


def joined(lines: Sequence[str], hyphenated: Container[str] = ()) -> str:
    """A paragraph of the lines it was laid out in; ``hyphenated`` are words that keep their hyphen."""
    text = ""
    for raw in lines:
        line = raw.strip()
        broken = _HYPHENATED.search(text[-_LONGEST_WORD:])
        if not text or not line:
            text += line
        elif broken and line[0].islower():
            # Only before a small letter is it one word: "Jean-|Paul" and "COVID-|19" keep their hyphen.
            whole = broken.group() + line.split()[0].rstrip(".,;:!?)”")
            text = (text if whole.lower() in hyphenated else text[:-1]) + line
        elif text.endswith("-") or (_WIDE_CHAR.match(text[-1]) and _WIDE_CHAR.match(line[0])):
            text += line
        else:
            text += f" {line}"
    return text
