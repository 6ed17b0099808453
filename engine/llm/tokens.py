"""How many tokens a text has, estimated: the models' own tokenizers are not at hand."""

from __future__ import annotations

import re

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


def estimate_tokens(text: str) -> int:
    """Tokens of ``text``, meant to err high: one for a Han character, a digit, a sign, or five Latin letters begun.

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
