"""Stream an answer from a chat model, and ask again where no word was shown yet, or where it is no answer."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

from engine.builtin.answer_note import denies, wordless
from engine.builtin.answer_support import graph_texts, unsupported_sentences
from engine.builtin.markers import markers_in
from engine.errors import ModelError
from engine.llm.chat import ChatModel
from engine.llm.prompts import again, defused
from engine.llm.role import TRIES, ChatRole, tries
from engine.llm.sizes import estimate_tokens
from engine.model.config import RoleModel
from engine.model.values import Attachment, Message
from engine.retrieval.citations import resolve
from engine.roles import GenerationRequest, Given, TableGiven, Trace
from engine.settings import Settings

WORDLESS_AGAIN = (
    "Your reply holds nothing but numbers of passages or the question. Write the answer itself, in whole sentences in "
    "the language of the question, with the number of its passage in square brackets behind each statement."
)
UNCITED_AGAIN = (
    "Your answer names no passage. Write it again, and put behind each statement the number of the passage that it "
    "comes from in square brackets, such as [1]. Leave out what no passage says."
)
UNSUPPORTED_AGAIN = (
    "Your answer says what the passages that it cites do not say:\n{sentences}\n"
    "Write the whole answer again, from the passages alone. Leave out every figure and name that no passage has; where "
    "the passages do not answer the question, say so."
)
_MOST_NAMED = 5
_LONGEST_NAMED = 300
"""Sentences, and characters of each, that a second try is given."""
_QUESTION_TOKENS = 1000
_FENCE_TOKENS = 800
"""Tags, numbers, headings and chat template around some twenty passages; in a small context around fewer."""
_LEFT = 0.9
"""Part of the time left that a second try may take: the first answer must still be sent within it."""

Fault = Callable[[str], str]
"""What is wrong with a text as an answer: ``wordless``, ``unsupported``, ``uncited``, or empty where it will do."""
Mend = Callable[[str], str]
"""What a model is sent about a text that will not do."""


def fault_of_cited(text: str, question: str = "", given: Given | None = None) -> str:
    """Name what an answer from passages lacks: words, support, or markers unless it says that it cannot tell."""
    if wordless(text, question):
        return "wordless"
    if given is not None and doubted(text, question, given):
        return "unsupported"
    return "" if any(markers_in(text)) or denies(text) else "uncited"


def mend_of_cited(text: str, question: str = "", given: Given | None = None) -> str:
    """Say what to mend of an answer from passages, by name where sentences of it are not supported."""
    fault = fault_of_cited(text, question, given)
    if fault == "unsupported" and given is not None:
        return UNSUPPORTED_AGAIN.replace("{sentences}", "\n".join(doubted(text, question, given)))
    return WORDLESS_AGAIN if fault == "wordless" else UNCITED_AGAIN


def doubted(text: str, question: str, given: Given) -> list[str]:
    """Lines that name the sentences which are not supported, and what is missing of each."""
    found = unsupported_sentences(question, resolve(text, given.passages).text, given)
    return [
        f'- "{defused(item.sentence)[:_LONGEST_NAMED]}" (not there: {", ".join(item.missing)[:_LONGEST_NAMED]})'
        for item in found[:_MOST_NAMED]
    ]


def mend_of_plain(text: str) -> str:
    """Say what to mend of an answer without passages."""
    return WORDLESS_AGAIN


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
        reserve = self.reserve(self._reply_tokens) + question + min(_FENCE_TOKENS, model.num_ctx // 10)
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
    *,
    before: str = "",
    mend: Mend = mend_of_plain,
    prompt: str = "",
) -> str:
    """The whole answer, its pieces given to ``trace.token``; ``trace.restart`` where another one replaces them.

    A call that failed before its first piece is made once more; after it, a second answer behind half of a first one
    would be read as one text. A reply without words gets one more try and is then ``ModelError``; one that is not
    supported or has no marker gets one, with ``mend`` saying what is wrong, and is then taken as it is; without
    ``fault_of`` any text will do. ``before`` is streamed in front of the first piece, and is no part of the answer.
    Raises ``ModelError.empty_reply`` where the model says nothing twice.
    """
    heard = thought = False

    def hear(piece: str) -> None:
        nonlocal heard
        trace.token(piece if heard else before + piece)
        heard = True

    def take_back() -> None:
        nonlocal heard
        trace.restart()
        heard = False

    for attempt in tries(final=lambda: heard):
        judge = None if attempt.last else fault_of
        with attempt:
            said = await chat.say(
                messages, trace, hear, attempt=attempt.number, fault_of=judge, take_back=take_back, prompt=prompt
            )
            thought = bool(said.thinking)
            # One that was cut would be as long, and be cut again.
            fault = fault_of(said.text) if fault_of and said.text and not said.truncated else ""
            if fault_of is not None and fault and not attempt.last:
                asked = (*messages, *again(said.text, mend(said.text)))
                return await _again(chat, asked, said.text, trace, fault_of, prompt=prompt)
            if text := _worded(said.text, fault, chat):
                return text
    raise ModelError.empty_after_thinking(model=chat.name) if thought else ModelError.empty_reply(model=chat.name)


async def streamed_from(chat: ChatModel, messages: Sequence[Message], trace: Trace, request: GenerationRequest) -> str:
    """The whole answer to a request, held against what the request gives."""
    tables = tuple(Attachment("table", item.name, rows=numbered_rows(item)) for item in request.tables)
    given = Given(request.read, tables, graph_texts(request.graph))
    fault_of = partial(fault_of_cited, question=request.question, given=given)
    return await streamed(
        chat, messages, trace, fault_of, mend=partial(mend_of_cited, question=request.question, given=given)
    )


def numbered_rows(table: TableGiven) -> tuple[tuple[str, ...], ...]:
    """The rows of a table at their own numbers; those that were left out are empty."""
    rows = dict(table.rows) | ({1: table.header} if table.header else {})
    return tuple(rows.get(number, ()) for number in range(1, max(rows, default=0) + 1))


async def _again(
    chat: ChatModel, asked: Sequence[Message], first: str, trace: Trace, fault_of: Fault, *, prompt: str
) -> str:
    """The second try after a first text that will not do; a first text with words stands where this brings none."""
    fault = fault_of(first)
    trace.restart()
    text = ""
    try:
        async with asyncio.timeout(trace.time_left_s() * _LEFT if fault != "wordless" else None):
            said = await chat.say(
                asked, trace, trace.token, attempt=TRIES, warmer=True, take_back=trace.restart, prompt=prompt
            )
            text = said.text
    except (ModelError, TimeoutError):
        if fault == "wordless":
            raise
    if fault == "wordless":
        if not text:
            raise ModelError.empty_reply(model=chat.name)
        return _worded(text, fault_of(text), chat)
    if text and fault_of(text) != "wordless":
        return text
    trace.restart()
    trace.token(first)
    return first


def _worded(text: str, fault: str, chat: ChatModel) -> str:
    if fault == "wordless":
        raise ModelError.wordless_reply(model=chat.name)
    return text
