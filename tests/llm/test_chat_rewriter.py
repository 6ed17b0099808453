"""The chat-model rewriter: what it sends, what it accepts, and when it gives up."""

from __future__ import annotations

import asyncio
import json

import pytest

from engine.errors import ModelError, ModelRefused, UnreadableReply
from engine.llm.rewriter import ChatRewriter
from engine.model.values import PassageId
from engine.roles import FailedPassage, RewriteProposal, RewriteRequest
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.errors import raises
from tests.support.ollama_stand_in import DiesMidStream, NotFound, OllamaStandIn, Reply, ServerError

REQUEST = RewriteRequest("胰岛素怎样保存？", "胰岛素怎样保存？", (), ())


def rewritten(query: str) -> Reply:
    return Reply(json.dumps({"query": query, "reason": "太宽", "keywords": ["保存"], "strategy": "qualify"}))


def rewrite(server: OllamaStandIn, trace: RecordingTrace) -> RewriteProposal:
    rewriter = ChatRewriter(role_model(), settings_for(server))
    return asyncio.run(rewriter.rewrite(REQUEST, trace))


def test_a_proposal_is_read_and_the_call_recorded(server: OllamaStandIn) -> None:
    """SC-06, SC-10."""
    server.script("chat", rewritten("未开封胰岛素 冷藏 温度"))
    trace = RecordingTrace()
    proposal = rewrite(server, trace)
    assert proposal == RewriteProposal("未开封胰岛素 冷藏 温度", "太宽", ("保存",), "qualify")
    (call,) = trace.calls
    assert (call.role, call.error) == ("rewriter", "")
    assert call.parsed is not None and call.parsed["query"] == proposal.query
    assert server.requests[0].body["think"] is False


@pytest.mark.parametrize("bad", [Reply("Search for storage."), rewritten(""), rewritten("how to store insulin")])
def test_what_is_no_query_in_the_language_of_the_question_gets_one_more_try(server: OllamaStandIn, bad: Reply) -> None:
    server.script("chat", bad, rewritten("胰岛素 冷藏"))
    trace = RecordingTrace()
    assert rewrite(server, trace).query == "胰岛素 冷藏"
    assert [call.attempt for call in trace.calls] == [1, 2]
    assert "must be in Chinese" in server.requests[1].messages[-1]["content"]


def test_two_unusable_replies_are_an_error(server: OllamaStandIn) -> None:
    server.script("chat", rewritten("in English"), Reply("Hm."))
    with pytest.raises(UnreadableReply, match="could not be read"):
        rewrite(server, RecordingTrace())
    assert len(server.requests) == 2


def test_a_query_that_stays_in_another_language_is_taken_as_it_is(server: OllamaStandIn) -> None:
    """SC-06: its JSON is valid, and nothing must say that it could not be read."""
    for first in (Reply("Hm."), rewritten("how to store insulin")):
        server.script("chat", first, rewritten("storing insulin"))
        assert rewrite(server, RecordingTrace()).query == "storing insulin"


def test_a_server_that_fails_once_is_asked_again_and_one_that_refuses_is_not(server: OllamaStandIn) -> None:
    server.script("chat", DiesMidStream(1), rewritten("胰岛素 冷藏"))
    trace = RecordingTrace()
    assert rewrite(server, trace).query == "胰岛素 冷藏"
    assert trace.errors == ["WB404", ""]
    server.script("chat", ServerError(500), ServerError(500))
    with pytest.raises(ModelRefused):
        rewrite(server, RecordingTrace())
    server.script("chat", NotFound())
    with raises(ModelError.not_pulled):
        rewrite(server, RecordingTrace())
    assert len(server.requests) == 5


def test_failed_passages_are_cut_to_the_context_rather_than_refused(server: OllamaStandIn) -> None:
    server.script("chat", rewritten("胰岛素 冷藏"))
    failed = tuple(FailedPassage(PassageId(f"p{n}"), "胰岛素" * 300, 0.4, "off topic") for n in range(10))
    rewriter = ChatRewriter(role_model(num_ctx=4096), settings_for(server))
    asyncio.run(rewriter.rewrite(RewriteRequest(REQUEST.question, REQUEST.question, failed, ())))
    assert 1 <= server.requests[0].prompt.count("off topic") < 10
