"""The one question that a run is asked where a chat program sends a whole chat."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from engine.builtin import condenser
from engine.errors import ModelError
from engine.model.config import BUILTIN, RoleModel, RunConfig
from engine.model.small_talk import small_talk
from engine.model.values import Chat, Message, ModelCall
from engine.roles import SilentTrace
from engine.settings import Settings

MOST_MESSAGES = 12
"""Messages before the last one that are read: what is further back is seldom meant."""
_LONGEST_MESSAGE = 1500
_LONGEST_S = 60.0


async def condensed(chat: Chat, config: RunConfig, settings: Settings) -> tuple[str, Chat]:
    """The question of a chat, and the chat with how it came about; ``chat.history`` holds all that was sent.

    With a chat model as rewriter, else as generator, that model writes the question of a message that has others
    before it; without one, or where it fails, rules do. A question that would be too long stays as it was sent.
    """
    asked, longest = chat.asked.strip(), settings.max_question_chars
    chat = replace(chat, history=_read(chat.history))
    earlier = [item.content for item in chat.history if item.role == "user"]
    if not asked or not earlier or small_talk(asked) or len(asked) > longest:
        return asked, chat
    if (model := _writer(config)) is not None:
        heard = _Heard(min(config.budget_s, _LONGEST_S))
        written = await _by_model(chat, model, settings, heard)
        chat = replace(chat, calls=tuple(heard.calls))
        if written and len(written) <= longest:
            same = written == asked
            return written, replace(chat, condensed_by="" if same else model.model)
    question = condenser.condensed(earlier, asked, longest)
    return question, replace(chat, condensed_by=BUILTIN if question != asked or chat.calls else "")


def _writer(config: RunConfig) -> RoleModel | None:
    found = (config.models.rewriter, config.models.generator)
    return next((model for model in found if model.chats), None)


async def _by_model(chat: Chat, model: RoleModel, settings: Settings, heard: _Heard) -> str:
    from engine.llm.condenser import ChatCondenser, CondenseRequest

    try:
        return await ChatCondenser(model, settings).condense(CondenseRequest(chat.asked, chat.history), heard)
    except ModelError:
        # The calls say what went wrong; the question is not lost for it.
        return ""


def _read(history: Sequence[Message]) -> tuple[Message, ...]:
    said = [item for item in history if item.content.strip()][-MOST_MESSAGES:]
    return tuple(replace(item, content=item.content.strip()[:_LONGEST_MESSAGE]) for item in said)


class _Heard(SilentTrace):
    """Keeps the calls, and bounds them by the time that is left."""

    def __init__(self, limit_s: float) -> None:
        self.calls: list[ModelCall] = []
        self._began = time.perf_counter()
        self._limit_s = limit_s

    def call(self, call: ModelCall) -> None:
        self.calls.append(call)

    def now_ms(self) -> float:
        return (time.perf_counter() - self._began) * 1000.0

    def time_left_s(self) -> float:
        return max(0.0, self._limit_s - (time.perf_counter() - self._began))
