"""Keeping a model's thinking apart from its reply, for whole replies and for streams."""

from __future__ import annotations

from collections.abc import Callable

_OPEN = "<think>"
_CLOSE = "</think>"


def split_thinking(reply: str) -> tuple[str, str]:
    """The reply without its thinking, and the thinking.

    Thinking stands before the answer. Some chat templates write the opening tag into the prompt, so a closing tag
    alone also ends it; an opening tag that is never closed means that the answer was never begun.
    """
    head = reply.lstrip()
    if head.startswith(_OPEN):
        thinking, closed, rest = head[len(_OPEN) :].partition(_CLOSE)
        return (rest.lstrip(), thinking.strip()) if closed else ("", thinking.strip())
    before, closed, rest = reply.rpartition(_CLOSE)
    return (rest.lstrip(), before.strip()) if closed else (reply, "")


class ThinkingFilter:
    """Passes a streamed reply on piece by piece, without the thinking at its start and the blanks before it.

    What was passed on is exactly :attr:`text`. A closing tag without an opening one cannot be recognised in time and
    stays in the text.
    """

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._held = ""
        self._state: str = "undecided"
        self.text = ""
        self.thinking = ""

    def feed(self, piece: str) -> None:
        if self._state == "answer":
            self._say(piece)
            return
        self._held += piece
        if self._state == "undecided":
            self._decide()
        if self._state == "thinking":
            self._find_end()
        if self._state == "blanks":
            self._skip_blanks()

    def finish(self) -> None:
        """The stream has ended: what was held back as a possible tag is text; unclosed thinking stays thinking."""
        if self._state == "thinking":
            self.thinking = self._held.strip()
        elif self._state == "undecided" and self._held.strip():
            self._say(self._held.lstrip())
        self._held = ""
        self._state = "answer"

    def _decide(self) -> None:
        head = self._held.lstrip()
        if head.startswith(_OPEN):
            self._state, self._held = "thinking", head[len(_OPEN) :]
        elif not _OPEN.startswith(head):
            self._state = "blanks"

    def _find_end(self) -> None:
        thinking, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held, self.thinking = "blanks", rest, thinking.strip()

    def _skip_blanks(self) -> None:
        if rest := self._held.lstrip():
            self._state, self._held = "answer", ""
            self._say(rest)

    def _say(self, text: str) -> None:
        if text:
            self.text += text
            self._hear(text)
