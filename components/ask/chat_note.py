"""Where the question of a run came from, where that was a chat of another program."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, box, draw, fold, node
from components.common.phrases import duration_text
from components.labels.runs import MESSAGE_ROLES
from engine.model.config import BUILTIN
from engine.model.values import Chat, Message, ModelCall, RunRecord


def chat_note(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw what was said in the chat and how the question was made of it; nothing for other runs."""
    if record.chat is None:
        return
    chat = record.chat
    said = node("p", "", node("strong", "", words("From a chat")), " ", chat_line(record, words))
    kids: list[Node] = []
    if chat.history:
        kids.append(fold("chat", words("The chat before it"), *_messages(chat.history, words)))
    for place, call in enumerate(chat.calls):
        kids.append(
            fold(f"call{place}", _call_line(call, words), *_messages(call.messages, words), _reply(call, words))
        )
    draw((box("plain", "", said, *kids),), words, key=key)


def chat_line(record: RunRecord, words: Words) -> str:
    """Which model was asked, what, and who wrote the question."""
    chat = record.chat
    assert chat is not None
    asked = {"asked": chat.asked, "model": chat.model}
    if not chat.condensed_by or chat.asked == record.question:
        return words("with the model “{model}”; the question is asked as it was sent.", **asked)
    if chat.condensed_by != BUILTIN:
        return words(
            "with the model “{model}”: “{asked}”. {writer} wrote the question from it and the messages before it.",
            writer=chat.condensed_by,
            **asked,
        )
    if chat.stood_in:
        return words(
            "with the model “{model}”: “{asked}”. {writer} could not write the question; rules took what it leaves out "
            "from the messages before it.",
            writer=_asked_of(chat),
            **asked,
        )
    return words(
        "with the model “{model}”: “{asked}”. Rules took what it leaves out from the messages before it.", **asked
    )


def _asked_of(chat: Chat) -> str:
    return chat.calls[0].model


def _call_line(call: ModelCall, words: Words) -> str:
    line = words(
        "What {model} was asked, and its reply ({time})", model=call.model, time=duration_text(call.duration_ms)
    )
    return f"{line} ✗ {call.error}" if call.error else line


def _messages(messages: tuple[Message, ...], words: Words) -> list[Node]:
    return [_text(words(MESSAGE_ROLES[item.role]), item.content) for item in messages]


def _reply(call: ModelCall, words: Words) -> Node:
    return _text(words("Raw reply"), call.reply or words("(empty)"))


def _text(label: str, text: str) -> Node:
    return node("div", "", node("p", "small muted", label), node("p", "own-text", text))
