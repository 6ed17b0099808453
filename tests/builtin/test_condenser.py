"""The question of a follow-up by rules (CH-06)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.builtin.condenser import condensed, follows_up

EULER = "When does a connected graph have an Euler circuit?"
CASES = [
    (["How efficient is a heat pump?"], "And in winter?", "And in winter? (efficient, heat pump)"),
    ([EULER], "How do I find it?", "How do I find it? (connected graph, Euler circuit)"),
    ([EULER, "How do I find it?"], "Why?", "Why? (find, connected graph, Euler circuit)"),
    (["What is insulin?", "thanks"], "Who discovered it?", "Who discovered it? (insulin)"),
    (["What are the symptoms of diabetes?"], "In children?", "In children? (symptoms, diabetes)"),
    (["糖化血红蛋白应该控制在多少以下？"], "那老年人呢？", "那老年人呢？（糖化血红蛋白、控制）"),
    (["什么是欧拉回路？"], "它和哈密顿回路有什么区别？", "它和哈密顿回路有什么区别？（欧拉回路）"),
    (["二甲双胍的副作用有哪些？"], "请继续", "请继续（二甲双胍、副作用）"),
]
STANDING = [
    (["What is insulin?"], "What is a spanning tree?"),
    (["What is a graph?"], "Is it true that the power set of the empty set has one element?"),
    (["What is insulin?"], "thank you!"),
    (["二甲双胍的副作用有哪些？"], "什么是真值表？"),
    ([], "And in winter?"),
]
TEXTS = st.one_of(
    st.sampled_from([text for earlier, asked, _ in CASES for text in (*earlier, asked)]),
    st.text(min_size=1, max_size=60),
).filter(lambda text: bool(text.strip()))


@pytest.mark.parametrize(("earlier", "asked", "wanted"), CASES)
def test_a_follow_up_takes_what_it_leaves_out_from_the_question_before(
    earlier: list[str], asked: str, wanted: str
) -> None:
    assert follows_up(asked)
    assert condensed(earlier, asked, 2000) == wanted


@pytest.mark.parametrize(("earlier", "asked"), STANDING)
def test_any_other_message_stays_as_it_was_sent(earlier: list[str], asked: str) -> None:
    assert condensed(earlier, asked, 2000) == asked


@settings(max_examples=150)
@given(st.lists(TEXTS, max_size=4), TEXTS, st.integers(0, 60))
def test_a_question_is_never_blank_nor_too_long_and_begins_with_what_was_sent(
    earlier: list[str], asked: str, room: int
) -> None:
    longest = len(asked) + room
    question = condensed(earlier, asked, longest)
    assert question.startswith(asked.strip())
    assert len(question) <= longest
    assert condensed([], asked, longest) == asked.strip()
