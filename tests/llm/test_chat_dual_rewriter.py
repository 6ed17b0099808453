"""The chat-model rewriter of the dual loop in its two modes: DL-05."""

from __future__ import annotations

import asyncio
import json

import pytest

from engine.errors import UnreadableReply
from engine.llm.dual_rewriter import ChatDualRewriter, dual_rewriter_messages
from engine.model.values import PassageId
from engine.roles import FailedPassage, RewriteIssue, RewriteProposal, RewriteRequest, TriedRewrite
from engine.workflows.dual_loop.steps.documents import INITIAL_ISSUE
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.ollama_stand_in import OllamaStandIn, Reply

QUESTION = "胰岛素怎样保存？"
INITIAL = RewriteRequest(QUESTION, QUESTION, (), (), (INITIAL_ISSUE,))
FAILED = FailedPassage(PassageId("p1"), "胰岛素打在皮下。", 0.5, "没有讲保存。")
CORRECTIVE = RewriteRequest(
    QUESTION,
    "胰岛素 冷藏",
    (FAILED,),
    (TriedRewrite(QUESTION, "胰岛素 冷藏", "太宽", ("胰岛素",)),),
    (RewriteIssue("kind_missing", "没有说出温度。"),),
)


def proposed(query: str) -> Reply:
    return Reply(json.dumps({"query": query, "reason": "好", "keywords": ["保存"], "strategy": "qualify"}))


def rewrite(server: OllamaStandIn, request: RewriteRequest, trace: RecordingTrace | None = None) -> RewriteProposal:
    rewriter = ChatDualRewriter(role_model(), settings_for(server))
    return asyncio.run(rewriter.rewrite(request, trace or RecordingTrace()))


def test_the_initial_mode_may_leave_the_question_as_it_is(server: OllamaStandIn) -> None:
    """DL-05"""
    server.script("chat", proposed(QUESTION))
    trace = RecordingTrace()
    assert rewrite(server, INITIAL, trace) == RewriteProposal(QUESTION, "好", ("保存",), "initial")
    rules, asked = trace.calls[0].messages
    assert "first search" in rules.content
    assert "<query>" not in asked.content
    assert "<issue>" not in asked.content


def test_the_corrective_mode_gets_what_the_answer_lacked(server: OllamaStandIn) -> None:
    """DL-05"""
    server.script("chat", proposed("胰岛素 保存 温度"))
    trace = RecordingTrace()
    assert rewrite(server, CORRECTIVE, trace).strategy == "qualify"
    rules, asked = trace.calls[0].messages
    assert "reviewer" in rules.content
    for problem in ("没有说出温度。", "胰岛素 冷藏", "胰岛素打在皮下。", "没有讲保存。", "refused"):
        assert problem in asked.content


def test_what_is_no_query_in_the_language_of_the_question_gets_one_more_try(server: OllamaStandIn) -> None:
    server.script("chat", proposed("how to store insulin"), proposed("胰岛素 冷藏"))
    assert rewrite(server, CORRECTIVE).query == "胰岛素 冷藏"
    assert "must be in Chinese" in server.requests[1].messages[-1]["content"]
    server.script("chat", Reply("Hm."), Reply("Hm."))
    with pytest.raises(UnreadableReply):
        rewrite(server, INITIAL)


def test_passages_share_a_budget_of_tokens() -> None:
    """SC-06"""
    assert "皮下" not in dual_rewriter_messages(CORRECTIVE, 1)[1].content
