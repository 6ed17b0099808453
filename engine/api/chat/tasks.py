"""Tasks that a chat program sets a model beside the chat: titles, tags, suggestions.

Open WebUI sends them to the model of the chat, unless its administrator names another one for them. They ask for no
answer from a collection, so they make no run: they are answered at once, by rules, in the JSON that they ask for.
"""

from __future__ import annotations

import json
import re

from engine.api.chat.bodies import ChatMessage
from engine.errors import ChatRefused

_TASK = re.compile(r"\s*#{1,4}\s*Task:", re.IGNORECASE)
_KEY = re.compile(r"\{\s*[\"“](title|tags|follow_ups|queries|prompt|text)[\"”]\s*:", re.IGNORECASE)
_TURN = re.compile(r"^(USER|ASSISTANT|SYSTEM|TOOL): ?", re.MULTILINE)
_LONGEST_TITLE = 60


def task_reply(messages: list[ChatMessage]) -> str | None:
    """What a task is answered with; None where the messages are a chat.

    Raises ``ChatRefused`` for a question into which the program has put documents of its own.
    """
    asked = messages[-1]
    if asked.role != "user" or not _TASK.match(asked.text):
        return None
    key = _KEY.search(asked.text)
    history = _history(asked.text)
    if key is None or history is None:
        if "<context>" in asked.text or "<source" in asked.text:
            raise ChatRefused.brings_documents()
        return None
    return json.dumps(_reply(key.group(1).lower(), history), ensure_ascii=False)


def _history(text: str) -> str | None:
    """What stands between the first two tags; not sought by a pattern, which would begin again at every first tag."""
    rest = text.partition("<chat_history>")[2]
    history, end, _ = rest.partition("</chat_history>")
    return history if end else None


def _reply(key: str, history: str) -> dict[str, str | list[str]]:
    match key:
        case "title":
            return {"title": _title(history)}
        case "prompt":
            return {"prompt": _asked(history)[-1]}
        case "text":
            return {"text": ""}
        case _:
            return {key: []}


def _title(history: str) -> str:
    """The first question of the chat, cut at a word."""
    first = " ".join(_asked(history)[0].split())
    if len(first) <= _LONGEST_TITLE:
        return first
    cut = first[:_LONGEST_TITLE]
    return (cut.rpartition(" ")[0] or cut) + "…"


def _asked(history: str) -> list[str]:
    """What the user said, oldest first; at least one text, which may be empty."""
    parts = _TURN.split(history.strip())
    said = [text.strip() for role, text in zip(parts[1::2], parts[2::2], strict=True) if role == "USER"]
    return said or [history.strip()]
