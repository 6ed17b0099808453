"""A question that was read out of a passage, before it is a draft."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A question that a passage answers."""

    question: str
    gold: tuple[str, ...] = ()
    """What a right answer says, where it is short enough to be compared word by word."""
    quote: str = ""
    """The sentence that answers."""
