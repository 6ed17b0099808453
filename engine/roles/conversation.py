"""Values behind a writer's conversation: the request and the revisions (AE-06).

A chat model is sent the text of the messages alone; a writer without a model reads these values from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.model.values import Evaluation
from engine.roles import GenerationRequest

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

REQUEST = "request"
REVISION = "revision"
"""Keys of ``additional_kwargs`` in human messages."""


@dataclass(frozen=True, slots=True)
class Revision:
    """Starting point of a revision."""

    answer: str
    evaluation: Evaluation


def request_of(messages: Sequence[BaseMessage]) -> GenerationRequest:
    """The request of a conversation; ``ValueError`` where no message holds one."""
    for message in messages:
        found = message.additional_kwargs.get(REQUEST)
        if isinstance(found, GenerationRequest):
            return found
    raise ValueError("this conversation asks for no answer")


def revision_of(messages: Sequence[BaseMessage]) -> Revision | None:
    """The revision that the newest message asks for; None where it asks for a first answer."""
    found = messages[-1].additional_kwargs.get(REVISION) if messages else None
    return found if isinstance(found, Revision) else None


def newest_answer(messages: Sequence[BaseMessage]) -> str:
    """The text of the newest message where the assistant wrote it; ``ValueError`` where it did not."""
    if not messages or messages[-1].type != "ai":
        raise ValueError("the newest message is no answer")
    return messages[-1].text
