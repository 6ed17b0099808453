"""Tasks that a chat program sets a model in addition to the chat: titles, tags, suggestions.

Open WebUI sends them to the model of the chat, unless its administrator names another one for them; other programs ask
for a title in words of their own. They ask for no answer from a collection, so they make no run: they are answered at
once, by rules, in the form that they ask for.
"""

from __future__ import annotations

import json
import re

from plugins.chat.bodies import ChatMessage
from plugins.chat.errors import BRINGS_DOCUMENTS

_TASK = re.compile(r"\s*#{1,4}\s*Task:", re.IGNORECASE)
_KEY = re.compile(r"\{\s*[\"“](title|tags|follow_ups|queries|prompt|text)[\"”]\s*:", re.IGNORECASE)
_TURN = re.compile(r"^(USER|ASSISTANT|SYSTEM|TOOL): ?", re.MULTILINE)
_LONGEST_TITLE = 60
_LONGEST_ASKED = 20_000
_WANTS_TITLE = re.compile(
    r"\b(?:generat\w*|write|create|provide|give|suggest|summari[sz]\w*|output|come up with|extract|make)\b"
    r"[^.?!\n]{0,120}\b(?:title|name)\b"
    r"|\btitle (?:generator|writer)\b|\bconversation titles?\b|\bthread titling\b"
    r"|\bname (?:this|the) (?:conversation|chat)\b"
    r"|(?:总结|概括|生成|起|取|拟)[^。？！\n]{0,30}(?:标题|主题|题目)|(?:返回|给出)[^。？！\n]{0,20}(?:简要主题|标题)",
    re.IGNORECASE,
)
_OF_A_CHAT = re.compile(
    r"\b(?:conversations?|chats?|threads?|sessions?|discussion|chat history|messages?|request)\b|会话|对话|聊天|这句话",
    re.IGNORECASE,
)
_AS_A_TITLE = re.compile(
    r"\b(?:concise|short|brief|only|just|single|few|max(?:imum)?)\b|\b[\w-]*(?:words?|characters?)\b"
    r"|简短|简要|直接|不要|个字|字以内|只",
    re.IGNORECASE,
)
"""How programs ask for a title: of a chat, and short."""
_ASKER = re.compile(
    r"^[^\w\n]{0,6}(?:user|human|用户)\W{0,4}?[:：]\s*[\"“'*]*([^\n]*?)[\"”'*]*\s*$", re.IGNORECASE | re.MULTILINE
)
_QUOTED = re.compile(r"```\w*\s+([^\n]+)|[:：]\s*[\"“'‘]([^\n]+?)[\"”'’]\s*\Z|<(\w+)>\s*([^<\n]+)")


def task_reply(messages: list[ChatMessage]) -> str | None:
    """Return the reply to a task; None if the messages are a chat.

    Raises ``WorkbenchError`` for a question into which the program has put documents of its own.
    """
    asked = messages[-1]
    if asked.role != "user":
        return None
    if not _TASK.match(asked.text):
        return _plain_title(messages)
    key = _KEY.search(asked.text)
    history = _history(asked.text)
    if key is None or history is None:
        if "<context>" in asked.text or "<source" in asked.text:
            raise BRINGS_DOCUMENTS()
        return None
    return json.dumps(_reply(key.group(1).lower(), history), ensure_ascii=False)


def _history(text: str) -> str | None:
    """Return the text between the first two tags, without a pattern, which would restart at every first tag."""
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


def _plain_title(messages: list[ChatMessage]) -> str | None:
    """The title that another chat program asks for, in the last message or in its instructions; else None."""
    asked = messages[-1].text[:_LONGEST_ASKED]
    instructions = " ".join(item.text for item in messages if item.role in ("system", "developer"))[:_LONGEST_ASKED]
    earlier = [item.text for item in messages[:-1] if item.role == "user" and item.text]
    if _wants_title(asked):
        first = _embedded(asked) or next(iter(earlier), "")
    elif not earlier and _wants_title(instructions):
        first = _embedded(asked) or asked
    else:
        return None
    if not first.strip():
        return None
    title = _cut(first)
    in_json = re.search(r"\{\s*[\"“]title[\"”]\s*:", f"{instructions}\n{asked}")
    return json.dumps({"title": title}, ensure_ascii=False) if in_json else title


def _wants_title(text: str) -> bool:
    return all(sign.search(text) for sign in (_WANTS_TITLE, _OF_A_CHAT, _AS_A_TITLE))


def _embedded(text: str) -> str:
    """Return the user's first chat message embedded in a message; empty if there is none."""
    if said := _ASKER.search(text):
        # The words may stand on the next line.
        return said.group(1) or text[said.end() :].strip().partition("\n")[0].strip("\"“”' ")
    quoted = _QUOTED.search(text)
    return next(filter(None, (quoted.group(1), quoted.group(2), quoted.group(4))), "") if quoted else ""


def _title(history: str) -> str:
    """The first question of the chat, cut at a word."""
    return _cut(_asked(history)[0])


def _cut(text: str) -> str:
    first = " ".join(text.split())
    if len(first) <= _LONGEST_TITLE:
        return first
    cut = first[:_LONGEST_TITLE]
    return (cut.rpartition(" ")[0] or cut) + "…"


def _asked(history: str) -> list[str]:
    """List the user's texts, oldest first; at least one, which may be empty."""
    parts = _TURN.split(history.strip())
    said = [text.strip() for role, text in zip(parts[1::2], parts[2::2], strict=True) if role == "USER"]
    return said or [history.strip()]
