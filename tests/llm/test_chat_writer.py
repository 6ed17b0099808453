"""The chat-model writer: it sends the conversation's text and nothing else. AE-06, AE-07."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage

from engine.errors import ModelError, ModelInterrupted, PromptTooLong
from engine.llm.sizes import MESSAGE_TOKENS, estimate_tokens
from engine.llm.writer import ChatWriter, fitting
from engine.llm.writer_prompts import first_messages, opening_messages, revision_message
from engine.model.values import Evaluation, Message, Passage, PassageId, Suggestion
from engine.roles import GenerationRequest
from engine.roles.conversation import Revision
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.errors import raises
from tests.support.ollama_stand_in import DiesMidStream, OllamaStandIn, Reply

REQUEST = GenerationRequest("Why?", (Passage(PassageId("p"), "p.md", "Because it rains.", 0.5, 0.9),), "en")
FAILED = Evaluation(False, (Suggestion("evidence_marking", "Give a source for it.", quote="It rains."),))


def conversation(*answers: str, request: GenerationRequest = REQUEST) -> list[BaseMessage]:
    messages = list(first_messages(request))
    for answer in answers:
        messages += [AIMessage(answer), revision_message(Revision(answer, FAILED))]
    return messages


def write(server: OllamaStandIn, messages: list[BaseMessage], trace: RecordingTrace, **model: int) -> str:
    return asyncio.run(ChatWriter(role_model(**model), settings_for(server)).write(messages, trace))  # type: ignore[arg-type]


def test_the_messages_are_sent_as_they_stand_and_the_answer_is_streamed(server: OllamaStandIn) -> None:
    """AE-06"""
    server.script("chat", Reply("Because it rains [1]."))
    trace = RecordingTrace()
    messages = conversation("It rains.")
    assert write(server, messages, trace) == trace.text == "Because it rains [1]."
    sent = server.requests[0].messages
    assert [(item["role"], item["content"]) for item in sent] == [
        (role, message.text) for role, message in zip(("system", "user", "assistant", "user"), messages, strict=True)
    ]


def test_the_opening_messages_hold_rules_and_question_and_the_first_ones_the_passages_too() -> None:
    """AE-06"""
    system, asked = opening_messages("为什么下雨？")
    assert "Chinese" in system.text
    assert "为什么下雨？" in asked.text
    assert '<passage number="1">\nBecause it rains.' in first_messages(REQUEST)[1].text


def test_a_revision_names_answer_points_and_sentences_and_is_one_message() -> None:
    """AE-07"""
    text = revision_message(Revision("It rains. __SUGGESTIONS__", FAILED)).text
    assert "<answer>\nIt rains. __SUGGESTIONS__\n</answer>" in text
    assert "1. (evidence marking) Give a source for it." in text
    assert "<sentence>\nIt rains.\n</sentence>" in text


def test_a_call_that_fails_before_anything_was_streamed_is_repeated_once(server: OllamaStandIn) -> None:
    server.script("chat", DiesMidStream(0), Reply("Because [1]."), DiesMidStream(12))
    trace = RecordingTrace()
    assert write(server, conversation(), trace) == "Because [1]."
    assert trace.errors == ["WB404", ""]
    with pytest.raises(ModelInterrupted):
        write(server, conversation(), RecordingTrace())


def test_a_model_that_says_nothing_twice_is_an_error(server: OllamaStandIn) -> None:
    server.script("chat", Reply(""), Reply("  "))
    with raises(ModelError.empty_reply):
        write(server, conversation(), RecordingTrace())


def test_a_conversation_that_grew_too_long_loses_its_oldest_revisions_first(server: OllamaStandIn) -> None:
    """AE-06, AE-07: question, passages, last answer and suggestions are always sent."""
    server.script("chat", Reply("Because [1]."), Reply("Because [1]."))
    answers = ["first " * 600, "second " * 600, "third " * 600]
    write(server, conversation(*answers), RecordingTrace(), num_ctx=4096)
    prompt = "\n".join(item["content"] for item in server.requests[0].messages)
    assert "third" in prompt and "Because it rains." in prompt and "Give a source" in prompt
    assert "first first" not in prompt


def test_passages_that_fit_the_budget_leave_room_for_any_revision(server: OllamaStandIn) -> None:
    """AE-07: an answer of the longest length and its review still fit."""
    server.script("chat", Reply("Because [1]."))
    writer = ChatWriter(role_model(), settings_for(server))
    text = "word " * (writer.context_tokens - 10)
    request = GenerationRequest("Why?", (Passage(PassageId("p"), "p.md", text, 0.5, 0.9),), "en")
    longest = "word " * (8192 // 6)
    assert asyncio.run(writer.write(conversation(longest, longest, request=request))) == "Because [1]."


def test_what_cannot_fit_is_refused_before_it_is_sent(server: OllamaStandIn) -> None:
    request = GenerationRequest("Why?", (Passage(PassageId("p"), "p.md", "word " * 9000, 0.5, 0.9),), "en")
    with pytest.raises(PromptTooLong):
        write(server, conversation(request=request), RecordingTrace())
    assert not server.requests


turns = st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=6)


@given(turns, st.integers(0, 400))
def test_what_is_sent_begins_with_rules_and_request_and_ends_with_the_newest_review(
    made: list[tuple[str, str]], room: int
) -> None:
    """AE-06"""
    messages = [Message("system", "rules"), Message("user", "request")]
    for answer, review in made:
        messages += [Message("assistant", answer), Message("user", review)]
    sent = fitting(messages, room)
    assert sent[0] == messages[0]
    assert sent[1].content.startswith("request")
    assert sent[-1].content.endswith(messages[-1].content)
    whole = sum(estimate_tokens(item.content) + MESSAGE_TOKENS for item in messages)
    assert list(sent) == messages or whole > room
    assert [item.role for item in sent] in (
        ["system", "user"],
        ["system", *["user", "assistant"] * (len(sent) // 2 - 1), "user"],
    )


def test_nothing_in_answer_or_review_is_taken_for_a_place_to_fill_in() -> None:
    """AE-06, AE-07: both are a model's words, and each could name the places of the prompt."""
    asked = Evaluation(False, (Suggestion("reasonableness", "Drop __ANSWER__ from it."),))
    text = revision_message(Revision("Rain, see __SUGGESTIONS__ [1].", asked)).text
    assert text.count("Rain, see __SUGGESTIONS__ [1].") == 1
    assert text.count("Drop __ANSWER__ from it.") == 1
