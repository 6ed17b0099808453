"""The chat-model rewriter of the quality-control loop: given the issues, at its own temperature (QL-04)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from engine.builtin.query_intents import intents_in
from engine.errors import UnreadableReply
from engine.llm.quality_rewriter import ChatQualityRewriter, quality_rewriter_messages
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.model.values import Candidate, PassageId, Round
from engine.roles import FailedPassage, NearPassage, RewriteIssue, RewriteProposal, RewriteRequest
from engine.workflows.quality_loop.policy import rewrite_issues
from tests.llm.recording import RecordingTrace, role_model, settings_for
from tests.support.loop_fakes import passage, verdict
from tests.support.ollama_stand_in import OllamaStandIn, Reply

ISSUES = (RewriteIssue("low_coverage", "Too little history."), RewriteIssue("too_few", "Too few came close."))
NEAR = tuple(NearPassage(PassageId(f"n{place}"), f"图论研究顶点和边 {place}。", 0.2) for place in range(3))
REQUEST = RewriteRequest("图论", "图论", (), (), ISSUES, NEAR)


def rewritten(query: str) -> Reply:
    reply = {"query": query, "reason": "太宽", "keywords": ["顶点"], "strategy": "qualify"}
    return Reply(json.dumps(reply, ensure_ascii=False))


def rewrite(server: OllamaStandIn, model: RoleModel | None = None) -> RewriteProposal:
    rewriter = ChatQualityRewriter(model or role_model(), settings_for(server))
    return asyncio.run(rewriter.rewrite(REQUEST, RecordingTrace()))


def test_it_gets_the_issues_and_the_nearest_passages(server: OllamaStandIn) -> None:
    """QL-04"""
    server.script("chat", rewritten("图论 顶点（结合我的历史薄弱点记录；扩大检索范围）"))
    proposal = rewrite(server)
    assert proposal.query == "图论 顶点（结合我的历史薄弱点记录；扩大检索范围）"
    assert proposal.strategy == "history+wider+sharper"
    prompt = server.requests[0].prompt
    for issue in ISSUES:
        assert issue.text in prompt
    assert "顶点和边 2" in prompt
    assert "结合我的历史薄弱点记录" in prompt


def test_a_wish_that_the_model_left_out_is_put_behind_its_query(server: OllamaStandIn) -> None:
    """QL-04: every issue is answered."""
    server.script("chat", rewritten("图论 顶点 边，请扩大查询范围"))
    proposal = rewrite(server)
    assert proposal.query.startswith("图论 顶点 边，请扩大查询范围")
    assert intents_in(proposal.query) == ("history", "wider")


def test_the_temperature_is_the_role_s_own_and_warm_by_default(server: OllamaStandIn) -> None:
    """QL-04: temperature 0.3."""
    models = RoleModels(rewriter=RoleModel("ollama:qwen3:8b"))
    config = RunConfig(workflow="quality_loop", models=models)
    server.script("chat", rewritten("图论 顶点"), rewritten("图论 边"))
    rewrite(server, config.models.rewriter)
    rewrite(server, replace(config.models.rewriter, temperature=0.9))
    assert [request.options["temperature"] for request in server.requests] == [0.3, 0.9]


@pytest.mark.parametrize(("asked", "again"), [(0.3, 0.3), (0.9, 0.9), (0.0, 0.5)])
def test_a_second_try_is_made_at_the_temperature_asked_for(server: OllamaStandIn, asked: float, again: float) -> None:
    """QL-04; at 0, where a model would say the same again, a second try is warmer."""
    server.script("chat", Reply("I would search for graphs."), rewritten("图论 顶点"))
    rewrite(server, replace(role_model(), temperature=asked))
    assert [request.options["temperature"] for request in server.requests] == [asked, again]


def test_a_small_cheap_model_of_any_provider_can_be_chosen() -> None:
    """QL-04"""
    models = RoleModels(rewriter=RoleModel("openai:gpt-3.5-turbo"))
    assert RunConfig(workflow="quality_loop", models=models).models.rewriter.temperature == 0.3


def test_an_unusable_reply_gets_one_more_try(server: OllamaStandIn) -> None:
    """QL-04"""
    server.script("chat", Reply("Hm."), rewritten("图论 顶点"))
    assert rewrite(server).query.startswith("图论 顶点")
    server.script("chat", Reply("Hm."), Reply("Hm."))
    with pytest.raises(UnreadableReply):
        rewrite(server)


def test_no_figure_of_score_threshold_or_budget_reaches_the_prompt() -> None:
    """QL-04, SC-06"""
    config = RunConfig(workflow="quality_loop", similarity_threshold=0.37, budget_s=17, top_k=13)
    candidates = (Candidate(passage("p1", 0.9123), 1, "kept", 0.0, kind="vector"),)
    current = Round(0, "图论", candidates, verdicts={PassageId("p1"): verdict(0.2345)})
    request = replace(REQUEST, issues=rewrite_issues(current, config))
    text = "".join(message.content for message in quality_rewriter_messages(request, 2000))
    for figure in ("0.37", "17", "13", "0.9123", "0.2345", "0.5", "0.6", "10"):
        assert figure not in text.replace("nearest", "")


def test_nearest_passages_give_way_to_failed_ones_where_room_is_short() -> None:
    failed = (FailedPassage(PassageId("n0"), "顶点" * 40, 0.4, "off topic"),)
    request = replace(REQUEST, failed=failed)
    text = quality_rewriter_messages(request, 150)[1].content
    assert "off topic" in text
    assert text.count("Near the query") < 3
    assert quality_rewriter_messages(request, 4000)[1].content.count("Near the query") == 2
