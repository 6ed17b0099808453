"""Titles that chat programs ask for in words of their own (CH-07): answered by rules, with the first question."""

from __future__ import annotations

import json

import pytest

from plugins.chat.bodies import ChatMessage
from plugins.chat.tasks import task_reply

FIRST = "How is insulin stored?"


def said(text: str, role: str = "user") -> ChatMessage:
    return ChatMessage(role=role, content=text)  # type: ignore[arg-type]


CHAT = [said(FIRST), said("Cool [1].", "assistant")]
ASKED = [
    # Programs that ask at the end of the chat.
    [
        *CHAT,
        said(
            "Please generate a four to five word title summarizing our conversation without any lead-in, punctuation, "
            "quotation marks, periods, symbols, bold text, or additional text. Remove enclosing quotation marks."
        ),
    ],
    [*CHAT, said("Generate a concise 3-7 word title for this conversation, omitting punctuation.")],
    [
        *CHAT,
        said(
            "使用四到五个字直接返回这句话的简要主题，不要解释、不要标点、不要语气词、不要多余文本，不要加粗，"
            "如果没有主题，请直接返回“闲聊”"
        ),
    ],
    # In which the chat stands in the message.
    [
        said("Provide a concise, 5-word-or-less title for the conversation. Only return the title itself.", "system"),
        said(f'||>User:\n"{FIRST}"\n||>Response:\n"Cool [1]."\n\n||>Title:'),
    ],
    [
        said("你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题，不要使用标点符号", "system"),
        said(f"user: {FIRST}\nassistant: Cool [1]."),
    ],
    [
        said(
            "Based on the chat history, give this conversation a name. Keep it short - 10 characters max, no quotes. "
            f"Just provide the name, nothing else.\n\nHere's the conversation:\n```\n{FIRST}\n```"
        )
    ],
    [said(f"Summarize in a maximum of 10-word Title. Give the title only. Here is the message: '{FIRST}'")],
    # Whose instructions ask, of a first message.
    [said("You are a title generator. You output ONLY a thread title, a single line.", "system"), said(FIRST)],
]


@pytest.mark.parametrize("messages", ASKED, ids=lambda messages: messages[-1].text[:30])
def test_a_title_is_the_first_question_and_needs_no_run(messages: list[ChatMessage]) -> None:
    assert task_reply(messages) == FIRST


def test_a_title_is_cut_and_comes_as_json_where_that_is_asked_for() -> None:
    asked = 'Generate a short title for this conversation as JSON: {"title": "…"}'
    title = json.loads(task_reply([said(FIRST * 9), said(asked)]) or "")["title"]
    assert len(title) <= 61 and title.startswith(FIRST)


@pytest.mark.parametrize(
    "asked",
    [
        "What is the title of the document on insulin?",
        "Give me a short name for this disease.",
        "Who wrote the title story?",
        "Write a short title for the chapter on insulin.",
        "总结一下胰岛素这一章的标题",
        "How do I name a chat in the settings?",
    ],
)
def test_a_question_about_titles_is_a_question(asked: str) -> None:
    assert task_reply([*CHAT, said(asked)]) is None


def test_instructions_of_a_chat_that_continues_change_no_question() -> None:
    instruction = said("Generate a short title for the conversation when I say so.", "system")
    assert task_reply([instruction, *CHAT, said("And in winter?")]) is None
