"""Chats of other programs: what a run that began in one was asked there."""

from __future__ import annotations

from dataclasses import dataclass

from engine.model.config import BUILTIN
from engine.model.values.calls import Message, ModelCall


@dataclass(frozen=True, slots=True)
class Chat:
    """Messages of a chat program, and how the run's question was derived from them."""

    asked: str
    """The last message of whoever chats, as it was sent."""
    model: str = ""
    """The model that was asked: the name of saved settings, or the default."""
    history: tuple[Message, ...] = ()
    """The messages before it that were read, oldest first."""
    condensed_by: str = ""
    """``builtin`` or the chat model that wrote the question; empty where it was asked as it was sent."""
    calls: tuple[ModelCall, ...] = ()
    """Calls of the chat model that wrote the question, before the run: they are not among those of the run."""

    @property
    def stood_in(self) -> bool:
        """True if rules wrote the question because the chat model could not."""
        return self.condensed_by == BUILTIN and bool(self.calls)
