"""Limit and end of reading a server's reply; ``counted.py`` watches both while it arrives.

A model server is a foreign program, and what it sends has no end of its own. Limits of time alone do not
help: one line of a gigabyte takes a fast server seconds, and all that waits behind it minutes.
"""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

_LINES: Final = (b"\n",)
EVENTS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")
"""What ends a piece of an event stream."""
_AROUND = 64_000
"""Bytes that a reply of any length may take."""
REFUSAL: Final = 64_000
"""Bytes of an answer with the status of an error."""
_PER_TOKEN = 2_000
"""Bytes of a stream for one token, with all that servers write around it."""
_CHARACTERS = 64
"""Of one token on average: the longest tokens of vocabularies are runs of one sign."""
_PER_NUMBER = 32
"""Bytes of a number in JSON, its comma and its blanks included."""
_WIDEST = 16_384
"""Numbers of a vector whose width is not known."""
_PIECE = re.compile(
    r"(?P<unspaced>[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af])"
    r"|(?P<latin>[A-Za-z]+)"
    r"|(?P<letters>[^\W\d_A-Za-z\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]+)"
    r"|(?P<sign>\d|[^\w\s]|_|\n)"
)
_LATIN_LETTERS = 5
_OTHER_LETTERS = 2
MESSAGE_TOKENS = 8
"""What a chat template adds around one message."""


class TooLarge(Exception):
    """A server sent more than a reply can be."""


@dataclass(frozen=True, slots=True)
class Most:
    """Bytes of a body, and of a piece of it, which is read as one."""

    total: int
    piece: int
    ends: tuple[bytes, ...] = _LINES


WHOLE: Final = Most(4_000_000, 4_000_000)
"""An answer of a list, a rank, or a state."""
LINES: Final = Most(2**63, _AROUND)
"""Lines of which there may be any number, as of a download."""


def of_reply(tokens: int, ends: tuple[bytes, ...] = _LINES) -> Most:
    """For a streamed reply of so many tokens."""
    return Most(_AROUND + _PER_TOKEN * tokens, _AROUND + _CHARACTERS * tokens, ends)


def of_vectors(n: int, width: int) -> Most:
    """For so many vectors, of a width that is 0 where it is not known."""
    total = _AROUND + _PER_NUMBER * n * (width or _WIDEST)
    return Most(total, total)


def characters_of(tokens: int) -> int:
    """The longest text, and the longest thinking, that so many tokens can be."""
    return _AROUND // 4 + _CHARACTERS * tokens


def pieces_of(tokens: int) -> int:
    """The most pieces that so many tokens come in."""
    return 1000 + 4 * tokens


_END = re.compile(rb"[\r\n]data: ?\[DONE\]")
_LONGEST_END = 16


class StreamEnd:
    """Whether an answer has had the sign that ends a stream in OpenAI's protocol; no line of a reply begins with it."""

    def __init__(self) -> None:
        self.seen = False
        self.started = False
        self.left = False
        """Whether no more of the answer is wanted."""
        self._line = b"\n"

    def look(self, part: bytes) -> None:
        """See the next bytes of the answer."""
        self.seen = self.seen or _END.search(self._line + part) is not None
        self._line = (self._line + part)[-_LONGEST_END:]

    def leave(self) -> bool:
        """End the answer with what has come of it; False where none is watched."""
        self.left = True
        return self.started


_watched: ContextVar[StreamEnd | None] = ContextVar("stream_end", default=None)


def watched_end() -> StreamEnd:
    """Watch the answer that is asked for next in this context for the end of its stream."""
    end = StreamEnd()
    _watched.set(end)
    return end


def watched() -> StreamEnd | None:
    """Return the watcher of answers in this context."""
    return _watched.get()


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, meant to err high: one for a Han character, a digit, a sign, or up to five Latin letters.

    The tokenizers of current chat models give fewer for Chinese (about 0.7 a character) and for English (about 1.3 a
    word), so a prompt that fits by this count fits the model.
    """
    total = 0
    for piece in _PIECE.finditer(text):
        length = piece.end() - piece.start()
        if piece.lastgroup == "latin":
            total += -(-length // _LATIN_LETTERS)
        elif piece.lastgroup == "letters":
            total += -(-length // _OTHER_LETTERS)
        else:
            total += 1
    return total
