"""Cues and shares of the built-in router of source kinds: QL-03."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.builtin.query_intents import INTENTS, about_weak_points, intents_in, with_intents, without_intents
from engine.builtin.source_router import LEAST_SHARE, everywhere, honouring, routed
from engine.model.language import language_of
from engine.model.values import SOURCE_KINDS, Routing, SourceKind
from engine.roles import RoutingRequest


def routing(question: str, query: str | None = None, kinds: tuple[SourceKind, ...] = SOURCE_KINDS) -> Routing:
    return routed(RoutingRequest(question, query or question, kinds))


@pytest.mark.parametrize(
    "question", ["图论", "什么是等价关系？", "graphs", "What is a tree?", "history of insulin", "胰岛素的历史"]
)
def test_a_plain_question_searches_every_kind_and_the_knowledge_base_most(question: str) -> None:
    """QL-03"""
    found = routing(question)
    assert (dict(found.shares), found.code, found.wide) == (
        {"vector": 0.6, "graph": 0.2, "temporal": 0.2},
        "plain",
        False,
    )
    assert found.query == question


@pytest.mark.parametrize(
    "question",
    [
        "欧拉回路和哈密顿回路有什么区别？",
        "对比排列与组合",
        "血糖与胰岛素之间的关系",
        "What is the difference between Euler and Hamilton?",
        "type 1 versus type 2",
        "How is HbA1c related to blood sugar?",
        "Compare sets and relations",
    ],
)
def test_relations_between_things_give_the_graph_as_much(question: str) -> None:
    """QL-03"""
    found = routing(question)
    assert (dict(found.shares), found.code) == ({"vector": 3 / 7, "graph": 3 / 7, "temporal": 1 / 7}, "relations")
    assert routing(question, kinds=("vector",)).missing == ("graph",)


@pytest.mark.parametrize(
    "question",
    [
        "我在图论上有哪些薄弱点？",
        "我以前做错过哪些逻辑题？",
        "What are my weak points in logic?",
        "my study log on sets",
    ],
)
def test_a_question_about_weak_points_gets_half_of_the_history(question: str) -> None:
    """QL-03: words of the question as asked are searched, not taken for a wish."""
    found = routing(question)
    assert (dict(found.shares), found.code) == ({"vector": 0.375, "graph": 0.125, "temporal": 0.5}, "history")
    assert (found.query, found.history_query) == (question, question)
    assert found.query_for("temporal") == question


@given(
    st.dictionaries(st.sampled_from(SOURCE_KINDS), st.floats(0, 1)),
    st.lists(st.sampled_from(SOURCE_KINDS), min_size=1, unique=True),
)
def test_every_kind_there_is_gets_a_share_and_the_order_of_the_router_stays(
    shares: dict[SourceKind, float], kinds: list[SourceKind]
) -> None:
    """QL-03"""
    found = everywhere(shares, kinds)
    assert set(found) == set(kinds)
    assert sum(found.values()) == pytest.approx(1.0)
    assert all(share >= LEAST_SHARE - 1e-9 for share in found.values())
    for first in kinds:
        for second in kinds:
            if shares.get(first, 0.0) >= shares.get(second, 0.0):
                assert found[first] >= found[second] - 1e-9


def test_what_a_rewrite_asks_for_is_added_up() -> None:
    """QL-03"""
    found = routing("图论", with_intents("图论 顶点", INTENTS))
    assert dict(found.shares) == pytest.approx({"vector": 1 / 3, "graph": 1 / 6, "temporal": 0.5})
    assert (found.wide, found.code, found.query, found.history_query) == (
        True,
        "asked",
        "图论 顶点",
        "图论 顶点的薄弱点",
    )
    assert found.query_for("vector") == "图论 顶点"


def test_without_the_knowledge_base_what_there_is_is_searched() -> None:
    """QL-03"""
    assert dict(routing("图论", kinds=("graph", "temporal")).shares) == {"graph": 0.5, "temporal": 0.5}
    assert dict(routing("图论", kinds=()).shares) == {"vector": 1.0}
    assert dict(routing("图论的薄弱点", kinds=("temporal",)).shares) == {"temporal": 1.0}


def test_a_routing_that_overlooks_a_wish_gets_it_from_the_built_in_one() -> None:
    """QL-03"""
    request = RoutingRequest("logic", with_intents("logic", INTENTS), SOURCE_KINDS)
    found = honouring(Routing("logic", {"vector": 1.0}), request)
    assert set(found.shares) == set(SOURCE_KINDS)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert found.wide
    assert found.history_query == "logic weak points"
    request = RoutingRequest("logic", with_intents("logic", ["history"]), SOURCE_KINDS)
    assert set(honouring(Routing("logic", {"graph": 1.0}), request).shares) == {"graph", "temporal"}


def test_a_routing_that_honours_every_wish_keeps_its_shares() -> None:
    """QL-03"""
    request = RoutingRequest("logic", with_intents("logic", INTENTS), SOURCE_KINDS)
    own = Routing("logic", {"vector": 0.2, "temporal": 0.8}, wide=True)
    assert honouring(own, request).shares == own.shares


@pytest.mark.parametrize(
    ("text", "wishes"),
    [
        ("请检索用户的历史薄弱点数据", ("history",)),
        ("从多个数据源检索", ("several",)),
        ("扩展查询范围，并使用多工具", ("several", "wider")),
        ("include past mistakes and search different kinds of sources", ("history", "several")),
        ("broaden the search", ("wider",)),
        ("资源于生活", ()),
        ("history of the symbols", ()),
    ],
)
def test_wishes_are_found_in_other_words_too(text: str, wishes: tuple[str, ...]) -> None:
    """QL-03"""
    assert intents_in(text) == wishes


@pytest.mark.parametrize(
    ("question", "query", "left"),
    [
        ("离散数学", "离散数学中历史薄弱点数据，多数据源检索，扩展查询范围", "离散数学"),
        ("logic", "Please search several sources for logic, including my past mistakes", "logic"),
        (
            "insulin history",
            "insulin history discovery (include the history of my weak points)",
            "insulin history discovery",
        ),
        ("逻辑", "检索多个来源", "逻辑"),
        ("What are my weak points?", "my weak points (search several sources)", "my weak points"),
        ("a, b (c)", "a, b (c) (widen the scope of the search)", "a, b (c)"),
        ("logic", "logic", "logic"),
    ],
)
def test_what_is_left_without_wishes_is_the_subject(question: str, query: str, left: str) -> None:
    """QL-03"""
    assert without_intents(query, question) == left


def test_a_text_about_weak_points_needs_no_more_words_for_it() -> None:
    assert about_weak_points("我的薄弱点") == "我的薄弱点"
    assert about_weak_points("graphs") == "graphs weak points"


@given(st.sampled_from(["图论 顶点", "graphs edges", "什么是 tree？", "insulin"]), st.sets(st.sampled_from(INTENTS)))
def test_wishes_written_are_read_again_and_taken_off_again(text: str, wishes: set[str]) -> None:
    """QL-03, QL-04"""
    chosen = [wish for wish in INTENTS if wish in wishes]
    written = with_intents(text, chosen)
    assert list(intents_in(written)) == chosen
    assert without_intents(written, "x") == text
    assert language_of(written) == language_of(text)


@given(st.text(max_size=60), st.text(max_size=60), st.sets(st.sampled_from(SOURCE_KINDS), min_size=1))
def test_any_text_is_routed_to_kinds_there_are(question: str, query: str, kinds: set[SourceKind]) -> None:
    """QL-03"""
    found = routed(RoutingRequest(question, query, tuple(kinds)))
    assert set(found.shares) <= kinds
    assert sum(found.shares.values()) == pytest.approx(1)
