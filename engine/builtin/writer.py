"""The writer that needs no model: it quotes for a first answer, and changes what was criticised in a later one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from engine.builtin.generator import BuiltinGenerator, compose
from engine.builtin.report import spoken
from engine.builtin.revision import pieces, revise
from engine.model.values import Message
from engine.roles import SILENT, Trace
from engine.roles.conversation import request_of, revision_of

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {"system": "system", "human": "user", "ai": "assistant"}


class BuiltinWriter:
    """Extractive (contract: :class:`engine.roles.Writer`): every sentence that it adds stands in a passage.

    It reads request and revision as values from the conversation, not from its words. ``ValueError`` for a
    conversation that was not made by ``engine.llm.writer_prompts``.
    """

    def __init__(self) -> None:
        self._generator = BuiltinGenerator()

    @property
    def context_tokens(self) -> int:
        return self._generator.context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimate tokens as the built-in generator does."""
        return self._generator.count_tokens(text)

    async def write(self, messages: Sequence[BaseMessage], trace: Trace = SILENT) -> str:
        asked = tuple(Message(_ROLES[item.type], item.text) for item in messages)
        return await spoken(trace, asked, _pieces(messages))


def _pieces(messages: Sequence[BaseMessage]) -> Iterator[str]:
    request, revision = request_of(messages), revision_of(messages)
    if revision is None:
        yield from compose(request)
    else:
        yield from pieces(revise(request, revision))
