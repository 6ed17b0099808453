"""Parts of an unfinished answer that can be sent: only text that stays.

A chat program cannot take back what it has shown. So nothing is sent of an answer that has cited nothing yet, for a
second try may replace it; nothing of one that an evaluator may have rewritten; and no marker before it is complete. The
tokens of a run hold no marker that points nowhere.
"""

from __future__ import annotations

from engine.builtin.markers import settled
from engine.model.events import AnswerBegun, ContextAssembled, Event, TokenStreamed
from engine.model.values import Passage
from plugins.chat.citations import numbered


class AnswerStream:
    """The pieces of one answer that can be sent, as its events come in."""

    def __init__(self, *, replaceable: bool) -> None:
        """``replaceable``: whether the workflow writes several answers; nothing is sent of any then."""
        self.sent = ""
        self._replaceable = replaceable
        self._passages: tuple[Passage, ...] = ()
        self._raw = ""

    def feed(self, event: Event) -> str:
        """Return the text that can be sent now."""
        match event:
            case ContextAssembled():
                self._passages = event.context.passages
            case AnswerBegun():
                self._raw = ""
            case TokenStreamed() if not self._replaceable:
                self._raw += event.text
                return self._grown()
        return ""

    def rest(self, answer: str) -> str | None:
        """Return the rest of the whole ``answer``, its markers numbered; None if other words were sent."""
        return answer.removeprefix(self.sent) if answer.startswith(self.sent) else None

    def _grown(self) -> str:
        found = numbered(self._raw[: settled(self._raw)], range(1, len(self._passages) + 1))
        text = found.text.rstrip()
        if not found.places or not text.startswith(self.sent):
            return ""
        piece, self.sent = text[len(self.sent) :], text
        return piece
