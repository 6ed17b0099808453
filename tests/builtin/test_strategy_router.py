"""The built-in beginning of the dual loop: routing, small talk, direct answers, first queries and fallbacks."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.direct import direct_answer
from engine.builtin.dual_rewriter import BuiltinDualRewriter, cleared, corrected
from engine.builtin.fallback import fallback_answer
from engine.builtin.strategy_router import choose
from engine.model.language import language_of, normalised_query
from engine.model.small_talk import small_talk, without_small_talk
from engine.model.values import STRATEGIES, Memory, RouteChoice, Strategy, TriedRoute
from engine.roles import DirectRequest, RewriteIssue, RewriteRequest, StrategyRequest
from engine.workflows.dual_loop.steps.documents import INITIAL_ISSUE
from tests.support.dual_fakes import memory
from tests.support.listening import Listening

LOCAL: tuple[Strategy, ...] = ("hierarchical_search", "direct_chunk_search")


def chosen(question: str, strategies: tuple[Strategy, ...] = LOCAL, *memories: Memory) -> RouteChoice:
    return choose(StrategyRequest(question, memories, strategies))


@pytest.mark.parametrize(
    "question",
    [
        "离散数学",
        "diabetes",
        "概述一下糖尿病的并发症",
        "一型和二型糖尿病有什么区别？",
        "糖尿病有哪些并发症？",
        "Give me an overview of graph theory",
        "What are the complications of diabetes?",
        "What is the difference between a walk and a path?",
        "tell me about sets",
    ],
)
def test_broad_questions_begin_with_summaries(question: str) -> None:
    """DL-02, DL-03"""
    assert chosen(question).route == "hierarchical_search"


def test_what_is_new_is_asked_of_the_web_and_not_of_memory() -> None:
    """DL-06, DL-07: a memory grows stale with the collection only, and news with every day."""
    latest = "What is the latest price of insulin?"
    assert chosen(latest, STRATEGIES, memory(latest)) == chosen(latest, STRATEGIES)
    assert chosen(latest, LOCAL, memory(latest)).code == "remembered", "without the web it is all there is"
    assert chosen("hello", STRATEGIES, memory("hello")).code == "smalltalk"


@pytest.mark.parametrize(
    "question",
    [
        "How many edges does a tree with n vertices have?",
        "树有多少条边？",
        "Who first solved the bridges of Königsberg?",
        "胰岛素怎样保存？",
        "What fasting glucose level means diabetes?",
        "如果漏打了一针该怎么办？",
    ],
)
def test_particular_questions_begin_with_passages(question: str) -> None:
    """DL-02, DL-03"""
    assert (chosen(question).route, chosen(question).code) == ("direct_chunk_search", "specific")


@pytest.mark.parametrize("question", ["What is the latest news on insulin prices?", "今天的汇率是多少？"])
def test_questions_for_news_begin_with_the_web_where_it_may_be_searched(question: str) -> None:
    """DL-07"""
    assert chosen(question, STRATEGIES).route == "web_search"
    assert chosen(question).route == "direct_chunk_search"


def test_a_broad_question_without_summaries_says_what_comes_instead() -> None:
    """DL-03"""
    choice = chosen("离散数学", ("direct_chunk_search",))
    assert choice.route == "direct_chunk_search"
    assert "hierarchical_search cannot be used here" in choice.reason


def test_a_memory_of_the_same_question_is_answered_from_and_the_other_way_is_said() -> None:
    """DL-02, DL-06"""
    question = "How is unopened insulin stored?"
    choice = chosen(question, LOCAL, memory(question))
    assert (choice.route, choice.code, choice.without_memory) == ("direct", "remembered", "direct_chunk_search")
    other = chosen("How is opened insulin stored?", LOCAL, memory(question, similarity=0.95))
    assert other.route == "direct_chunk_search"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hi!", "greeting"),
        ("你好", "greeting"),
        ("早上好！", "greeting"),
        ("thank you very much", "thanks"),
        ("好的，明白了，谢谢！", "thanks"),
        ("Who are you?", "about"),
        ("你能做什么？", "about"),
        ("再见", "farewell"),
        ("hello, who are you?", "about"),
        ("Thanks, but what is insulin?", None),
        ("你好，请问糖尿病有哪些症状？", None),
        ("早、中、晚餐如何安排？", None),
        ("", None),
        ("???", None),
        ("hello " * 60, None),
    ],
)
def test_small_talk_is_a_message_that_says_nothing_else(text: str, kind: str | None) -> None:
    """DL-02"""
    assert small_talk(text) == kind


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("你好，一型糖尿病的症状是什么？谢谢！", "一型糖尿病的症状是什么？"),
        ("Hi there! What does insulin do? Thanks a lot.", "What does insulin do?"),
        ("早、中、晚餐如何安排？", "早、中、晚餐如何安排？"),
        ("Hello!", "Hello!"),
    ],
)
def test_what_is_searched_has_no_greeting_around_it(said: str, asked: str) -> None:
    """DL-05"""
    assert without_small_talk(said) == asked


@given(st.text(max_size=80))
def test_reading_any_text_for_small_talk_keeps_a_query(text: str) -> None:
    assert bool(without_small_talk(text)) == bool(text.strip())
    assert chosen(text).route in ("direct", *LOCAL)


def test_small_talk_is_answered_in_its_language_with_what_the_tool_is_for() -> None:
    """DL-02"""
    assert "sources of this collection" in direct_answer(DirectRequest("Hello!", (), "en"))
    assert "知识库" in direct_answer(DirectRequest("你好", (), "zh"))


def test_a_remembered_answer_without_sources_says_that_too() -> None:
    """DL-06"""
    known = memory("胰岛素怎样保存？", "冷藏【1】。", sources=())
    text = direct_answer(DirectRequest(known.question, (known,), "zh"))
    assert text.startswith("以下来自记忆")
    assert text.endswith("没有记录来源。")
    assert "【1】" not in text


def test_of_several_memories_that_of_the_same_question_is_answered_from() -> None:
    """DL-06"""
    near = memory("How is opened insulin stored?", "Warm.", id="near")
    same = memory("How is unopened insulin stored?", "Cold.")
    assert "Cold." in direct_answer(DirectRequest(same.question, (near, same), "en"))


def request(question: str, *issues: RewriteIssue) -> RewriteRequest:
    return RewriteRequest(question, question, (), (), issues)


def test_a_plain_question_is_searched_as_it_was_asked() -> None:
    """DL-05"""
    proposal = cleared(request("How many edges has a tree?", INITIAL_ISSUE))
    assert (proposal.query, proposal.strategy) == ("How many edges has a tree?", "initial")
    assert proposal.reason == "The question is searched as it was asked."


def test_everyday_expressions_are_searched_under_the_words_of_textbooks_too() -> None:
    """DL-05"""
    proposal = cleared(request("得了糖尿病，将来会不会瞎？谢谢！", INITIAL_ISSUE))
    assert proposal.query.startswith("得了糖尿病，将来会不会瞎？")
    assert "失明" in proposal.query
    assert "谢谢" not in proposal.query


def test_a_correction_puts_what_the_answer_left_out_first() -> None:
    """DL-05"""
    issue = RewriteIssue("kind_missing", "Say at which temperature.")
    proposal = corrected(request("At which temperature is unopened insulin stored?", issue))
    assert proposal.query.startswith("temperature")
    assert "insulin" in proposal.query
    assert proposal.strategy == "emphasise"


def test_a_correction_never_repeats_what_was_tried() -> None:
    """DL-05, SC-06"""
    asked = request("At which temperature is insulin stored?", RewriteIssue("off", "Say at which temperature."))
    first = corrected(asked)
    again = corrected(RewriteRequest(asked.question, first.query, (), (), asked.issues))
    assert normalised_query(again.query) != normalised_query(first.query)


def test_the_built_in_rewriter_does_as_its_issues_say() -> None:
    """DL-05, SC-10"""
    trace = Listening()
    rewriter = BuiltinDualRewriter()
    initial = asyncio.run(rewriter.rewrite(request("What is a tree?", INITIAL_ISSUE), trace))
    corrective = asyncio.run(rewriter.rewrite(request("What is a tree?", RewriteIssue("off", "Say more.")), trace))
    assert (initial.strategy, initial.query) == ("initial", "What is a tree?")
    assert normalised_query(corrective.query) != normalised_query("What is a tree?")
    assert [(call.role, call.built_in) for call in trace.calls] == [("rewriter", True)] * 2


def test_a_fallback_says_what_was_searched_what_failed_and_what_could_not_be_used() -> None:
    """DL-03"""
    tried = (
        TriedRoute("hierarchical_search", 0, "failed", "WB202"),
        TriedRoute("direct_chunk_search", 0, "searched"),
        TriedRoute("web_search", 0, "skipped", "web_off"),
    )
    english = fallback_answer("Who was it?", (), tried, "strategies_exhausted", rejected=True)
    assert "I searched all passages directly." in english
    assert "The search of the summaries" in english
    assert "Not available here: the web." in english
    assert "kept in the record" in english
    chinese = fallback_answer("是谁？", (), tried, "deadline", rejected=False)
    assert chinese.startswith("在找到答案之前")
    assert language_of(chinese) == "zh"
    assert chinese.endswith("调高时间预算。")
