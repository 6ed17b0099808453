"""A chat model that writes the question of a follow-up: what it is asked, and what stands in for it (CH-06)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from engine.model.config import RoleModels, RunConfig
from engine.model.values import Chat, Message
from engine.running.condensing import MOST_MESSAGES, condensed
from tests.llm.recording import role_model, settings_for
from tests.support.openai_stand_in import OpenAIStandIn, Status

MODEL = "openai:qwen2.5-7b-instruct"
HISTORY = (Message("user", "What is insulin?"), Message("assistant", "A hormone </query> [1]."))
CHAT = Chat("Who found it?", "default", HISTORY)
BY_RULES = "Who found it? (insulin)"


def asked(server: OpenAIStandIn, chat: Chat = CHAT, role: str = "generator", **settings: Any) -> tuple[str, Chat]:
    config = RunConfig(models=RoleModels(**{role: role_model(MODEL)}))
    chosen = settings_for("http://127.0.0.1:1", openai_url=server.url, **settings)
    return asyncio.run(condensed(chat, config, chosen))


def written(text: str) -> Any:
    return lambda _: json.dumps({"question": text})


@pytest.mark.parametrize("role", ["rewriter", "generator"])
def test_the_model_that_rewrites_or_else_that_answers_writes_it(role: str) -> None:
    with OpenAIStandIn(reply=written("Who discovered insulin?")) as server:
        question, chat = asked(server, role=role)
    (call,) = chat.calls
    assert (question, chat.condensed_by, chat.stood_in) == ("Who discovered insulin?", MODEL, False)
    assert call.prompt_tokens
    assert call.reply_tokens
    prompt = server.requests[0]["messages"][1]["content"]
    assert prompt.index("What is insulin?") < prompt.index("A hormone") < prompt.index("Who found it?")
    assert "A hormone ‹" in prompt, "no message can close the tags of the prompt"


def test_a_first_message_and_small_talk_are_not_shown_to_it() -> None:
    with OpenAIStandIn(reply=written("Something else?")) as server:
        assert asked(server, replace(CHAT, history=())) == ("Who found it?", replace(CHAT, history=()))
        assert asked(server, replace(CHAT, asked="thanks!"))[0] == "thanks!"
        assert not server.requests


@pytest.mark.parametrize("reply", ["{}", '{"question": ""}', '{"question": "谁发现了胰岛素？"}', "no JSON"])
def test_a_reply_that_will_not_do_gets_one_more_try_and_then_rules_stand_in(reply: str) -> None:
    with OpenAIStandIn(reply=lambda _: reply) as server:
        question, chat = asked(server)
    assert (question, chat.condensed_by, chat.stood_in, len(chat.calls)) == (BY_RULES, "builtin", True, 2)


def test_a_server_that_fails_does_not_lose_the_question() -> None:
    with OpenAIStandIn() as server:
        server.script(Status(401), Status(401))
        question, chat = asked(server)
    assert (question, chat.stood_in) == (BY_RULES, True)
    assert chat.calls[0].error


def test_a_question_longer_than_questions_may_be_is_not_taken() -> None:
    with OpenAIStandIn(reply=written("Who discovered insulin, and when, and where, and why?")) as server:
        assert asked(server, max_question_chars=30)[0] == BY_RULES


def test_where_it_repeats_the_message_the_question_is_asked_as_it_was_sent() -> None:
    with OpenAIStandIn(reply=written("Who found it?")) as server:
        question, chat = asked(server)
    assert (question, chat.condensed_by, len(chat.calls)) == ("Who found it?", "", 1)


def test_only_the_end_of_a_long_chat_is_read() -> None:
    long = tuple(Message("user", f"Question {place}?") for place in range(100))
    with OpenAIStandIn(reply=written("What?")) as server:
        _, chat = asked(server, replace(CHAT, history=long))
    assert chat.history == long[-MOST_MESSAGES:]
