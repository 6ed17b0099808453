"""Stream an answer from a chat model, and ask again where no word was shown yet, or where it is no answer."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Callable, Sequence

from engine.errors import EmptyReply, ModelError, WordlessReply
from engine.llm.chat import ChatModel
from engine.llm.prompts import again
from engine.llm.role import TRIES, ChatRole, twice
from engine.llm.tokens import estimate_tokens
from engine.model.config import RoleModel
from engine.model.values import Message
from engine.roles import Trace
from engine.running.answer_note import denies, wordless
from engine.settings import Settings

_MARKER = re.compile(r"[\[【［](?:\d{1,3}|[Tt]\d{1,2}\s*[:：])")
WORDLESS_AGAIN = (
    "Your reply holds nothing but numbers of passages or the question. Write the answer itself, in whole sentences in "
    "the language of the question, with the number of its passage in square brackets behind each statement."
)
UNCITED_AGAIN = (
    "Your answer names no passage. Write it again, and put behind each statement the number of the passage that it "
    "comes from in square brackets, such as [1]. Leave out what no passage says."
)
_QUESTION_TOKENS = 1000
_FENCE_TOKENS = 400
"""Tags, numbers and chat template around some twenty passages."""
_LEFT = 0.9
"""Part of the time left that a second try may take: the first answer must still be told within it."""

Fault = Callable[[str], str]
"""What is wrong with a text as an answer: ``wordless``, ``uncited``, or empty where it will do."""


def fault_of_cited(text: str, question: str = "") -> str:
    """Name what an answer from passages lacks: words of its own, or markers unless it says that it cannot tell."""
    if wordless(text, question):
        return "wordless"
    return "" if _MARKER.search(text) or denies(text) else "uncited"


def fault_of_plain(text: str) -> str:
    """Name what an answer without passages lacks: words."""
    return "wordless" if wordless(text) else ""


class AnsweringRole(ChatRole):
    """A role that answers from passages, for which it leaves room in the model's context."""

    role = "generator"
    think = None
    reply_tokens = 2048

    def __init__(self, model: RoleModel, settings: Settings, *, chat: ChatModel | None = None) -> None:
        super().__init__(model, settings, chat=chat)
        question = min(_QUESTION_TOKENS, model.num_ctx // 8)
        reserve = self.reserve(self._reply_tokens) + question + _FENCE_TOKENS
        self._context_tokens = max(0, model.num_ctx - reserve)

    @abstractmethod
    def reserve(self, reply_tokens: int) -> int:
        """Tokens that rules and replies take, where a reply takes ``reply_tokens``."""

    @property
    def context_tokens(self) -> int:
        """``num_ctx`` less what rules, question, tags and replies take."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimated, erring high."""
        return estimate_tokens(text)


async def streamed(
    chat: ChatModel,
    messages: Sequence[Message],
    trace: Trace,
    fault_of: Fault | None = fault_of_plain,
    before: str = "",
) -> str:
    """The whole answer, its pieces given to ``trace.token``; ``trace.restart`` where another one replaces them.

    A call that failed before its first piece is made once more; after it, a second answer behind half of a first one
    would be read as one text. A reply without words gets one more try and is then ``WordlessReply``, one without a
    marker gets one and is then taken as it is; without ``fault_of`` any text will do. ``before`` is streamed in front
    of the first piece, and is no part of the answer. Raises ``EmptyReply`` where the model says nothing twice.
    """
    heard = False

    def hear(piece: str) -> None:
        nonlocal heard
        trace.token(piece if heard else before + piece)
        heard = True

    async def say(attempt: int) -> str | None:
        last = attempt == TRIES
        said = await chat.say(messages, trace, hear, attempt=attempt, fault_of=None if last else fault_of)
        # One that was cut would be as long, and be cut again.
        fault = fault_of(said.text) if fault_of and said.text and not said.truncated else ""
        if fault_of is None or not fault or last:
            return _worded(said.text, fault, chat) or None
        return await _again(chat, messages, said.text, trace, fault_of)

    text = await twice(say, final=lambda: heard)
    if text is None:
        raise EmptyReply(model=chat.name)
    return text


async def _again(chat: ChatModel, messages: Sequence[Message], first: str, trace: Trace, fault_of: Fault) -> str:
    """The second try after a first text that will not do; a first text with words stands where this brings none."""
    fault = fault_of(first)
    asked = (*messages, *again(first, WORDLESS_AGAIN if fault == "wordless" else UNCITED_AGAIN))
    trace.restart()
    text = ""
    try:
        async with asyncio.timeout(trace.time_left_s() * _LEFT if fault == "uncited" else None):
            text = (await chat.say(asked, trace, trace.token, attempt=TRIES, warmer=True)).text
    except (ModelError, TimeoutError):
        if fault == "wordless":
            raise
    if fault == "wordless":
        if not text:
            raise EmptyReply(model=chat.name)
        return _worded(text, fault_of(text), chat)
    if text and fault_of(text) != "wordless":
        return text
    trace.restart()
    trace.token(first)
    return first


def _worded(text: str, fault: str, chat: ChatModel) -> str:
    if fault == "wordless":
        raise WordlessReply(model=chat.name)
    return text
