"""The built-in writer: a revision changes what was criticised and nothing else. AE-06, AE-07."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from engine.builtin.answer_reading import statements
from engine.builtin.generator import compose
from engine.builtin.writer import BuiltinWriter, pieces, revise
from engine.llm.writer_prompts import first_messages
from engine.model.config import RunConfig
from engine.model.language import language_of
from engine.model.values import Evaluation, EvaluationDimension, Passage, RunId, RunRecord, Suggestion
from engine.model.wording import DIMENSION_OF, suggested
from engine.replay.answer_difference import answer_difference
from engine.roles import GenerationRequest
from engine.roles.conversation import Revision, newest_answer, request_of
from tests.builtin.test_evaluator import EDGES, KEEP, KEPT, LONG, RIGHT, STORE, SUGAR, TREE

LEAD = "Here is what the sources say:"


def revised(question: str, answer: str, passages: tuple[Passage, ...], *points: Suggestion) -> str:
    request = GenerationRequest(question, passages, language_of(question))
    return revise(request, Revision(answer, Evaluation(False, points)))


def kinds(before: str, after: str) -> list[str]:
    def record(answer: str) -> RunRecord:
        return RunRecord(RunId("r"), "q", RunConfig(), "2026-01-01", answer=answer)

    return [item.kind for item in answer_difference(record(before), record(after))]


@pytest.mark.parametrize(
    ("point", "before", "after"),
    [
        (suggested("off_point", "Cayley lived. [2]"), f"{LEAD} {RIGHT} Cayley lived. [2]", f"{LEAD} {RIGHT}"),
        (suggested("repeated", RIGHT), RIGHT, RIGHT),
        (suggested("uncited", RIGHT[:-4], marker="1"), RIGHT[:-4], RIGHT),
        (suggested("uncited", RIGHT[:-4]), RIGHT[:-4], RIGHT),
        (suggested("uncited", "Trees glow."), f"{RIGHT} Trees glow.", RIGHT),
        (
            suggested("unsupported", RIGHT.replace("1]", "2]"), marker="2", better="1"),
            RIGHT.replace("[1]", "[2]"),
            RIGHT,
        ),
        (suggested("dead_marker", markers="[7]"), RIGHT.replace("[1]", "[1][7]"), RIGHT),
        (suggested("dead_marker", markers="[7]"), RIGHT.replace("[1]", "[7]"), RIGHT),
        (suggested("terms_unsaid", terms="Steiner"), RIGHT, f"{RIGHT}\n\nNot in the passages: Steiner."),
        (
            suggested("part_unsaid", part="which fruit grows on it?"),
            RIGHT,
            f"{RIGHT}\n\nThe passages do not answer this directly: which fruit grows on it?",
        ),
        (
            suggested("kind_unsaid", kind="person"),
            RIGHT,
            f"{RIGHT}\n\nThe passages do not give the name of the person that was asked for.",
        ),
        (suggested("no_structure", sentences="6"), f"{RIGHT} Trees. [2]", f"- {RIGHT}\n- Trees. [2]"),
    ],
)
def test_what_was_criticised_is_changed_and_the_rest_stays_word_for_word(
    point: Suggestion, before: str, after: str
) -> None:
    """AE-07"""
    assert revised(EDGES, before, TREE, point) == after


def test_a_missing_part_is_answered_from_the_passage_that_has_it() -> None:
    """AE-07"""
    question = "How many edges does a tree have, and how many labelled trees did Cayley count?"
    part = "how many labelled trees did Cayley count?"
    text = revised(question, RIGHT, TREE, suggested("part_open", part=part, marker="2"))
    assert text.startswith(RIGHT)
    assert "Arthur Cayley counted labelled trees in 1889. [2]" in text
    assert set(kinds(RIGHT, text)) == {"same", "added"}


def test_a_kind_of_answer_that_was_missing_is_added() -> None:
    """AE-07"""
    text = revised("When were labelled trees counted?", RIGHT, TREE, suggested("kind_missing", kind="date", marker="2"))
    assert "1889. [2]" in text


def test_sources_that_differ_are_said_to() -> None:
    """AE-02, AE-07"""
    first, second = (
        "At a low take 20 grams of fast sugar straight away.",
        "Take 15 grams of fast sugar and measure again.",
    )
    point = suggested("contradiction", f"{second} [2]", other=first)
    text = revised("How many grams of fast sugar?", f"{first} [1] {second} [2]", SUGAR, point)
    assert text == f"{first} [1] {second} [2] The sources differ here: compare [1] [2]."


def test_chinese_answers_are_revised_in_chinese() -> None:
    """AE-07"""
    bare = KEPT.replace("[1]", "")
    assert revised(KEEP, bare, STORE, suggested("uncited", bare, marker="1")) == KEPT
    said = revised(KEEP, KEPT, STORE, suggested("part_unsaid", part="能带上飞机吗？"))
    assert said == f"{KEPT}\n\n资料中没有直接回答：能带上飞机吗？"


def test_what_only_the_reviewer_could_not_see_stays() -> None:
    """AE-04: the cut made a right citation look unsupported."""
    hidden = "A tree with one more edge has exactly one cycle among its edges and vertices. [1]"
    assert revised(EDGES, hidden, (LONG,), suggested("unsupported", hidden, marker="1")) == hidden


def test_an_answer_to_something_else_is_written_again() -> None:
    """AE-07"""
    request = GenerationRequest(EDGES, TREE, "en")
    assert revised(EDGES, "Penguins. [1]", TREE, suggested("off_topic", terms="edges")) == "".join(compose(request))


@pytest.mark.parametrize(
    ("dimension", "text", "quote", "expected"),
    [
        ("evidence_marking", "This has no source.", RIGHT[:-4], RIGHT),
        ("reasonableness", "This is beside the point.", "Cayley lived. [2]", RIGHT),
        (
            "reasonableness",
            "Say when Cayley counted labelled trees.",
            "",
            f"{RIGHT} Arthur Cayley counted labelled trees in 1889. [2]",
        ),
        ("reasonableness", "Improve the style.", "", RIGHT),
    ],
)
def test_a_model_s_own_words_are_heeded_as_far_as_they_can_be(
    dimension: EvaluationDimension, text: str, quote: str, expected: str
) -> None:
    """AE-07: a chat evaluator with a built-in writer."""
    before = RIGHT[:-4] if dimension == "evidence_marking" else RIGHT
    before += " Cayley lived. [2]" if quote.startswith("Cayley") else ""
    assert revised(EDGES, before, TREE, Suggestion(dimension, text, quote=quote)) == expected


@given(
    st.sampled_from(
        [RIGHT, f"{LEAD} {RIGHT} Arthur Cayley counted. [2]\n\nNot in the passages: fruit.", "- A [1]\n- B [2]"]
    ),
    st.lists(
        st.builds(
            suggested,
            code=st.sampled_from(sorted(set(DIMENSION_OF) - {"no_answer", "off_topic"})),
            quote=st.sampled_from(["", RIGHT, "Arthur Cayley counted. [2]", "- A [1]", "elsewhere"]),
            other=st.just(RIGHT[:-4]),
            marker=st.sampled_from(["1", "2", "9", "x"]),
            part=st.sampled_from(["", "what is it?"]),
            kind=st.sampled_from(["date", "person", ""]),
            terms=st.sampled_from(["", "edges", "edges, fruit"]),
            markers=st.just("[9]"),
            sentences=st.just("7"),
        ),
        max_size=5,
    ),
)
def test_no_suggestions_leave_a_blank_answer_and_streamed_pieces_make_up_the_whole(
    before: str, points: list[Suggestion]
) -> None:
    """AE-07"""
    text = revised(EDGES, before, TREE, *points)
    assert text.strip()
    assert any(item.part == "claim" for item in statements(text))
    assert "".join(pieces(text)) == text


def test_a_conversation_without_a_request_or_an_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="asks for no answer"):
        request_of([HumanMessage("Why?")])
    with pytest.raises(ValueError, match="no answer"):
        newest_answer([HumanMessage("Why?")])
    with pytest.raises(ValueError, match="asks for no answer"):
        asyncio.run(BuiltinWriter().write([HumanMessage("Why?")]))


def test_a_first_answer_is_the_built_in_generator_s() -> None:
    """AE-07: question and passages alone."""
    request = GenerationRequest(EDGES, TREE, "en")
    assert asyncio.run(BuiltinWriter().write(first_messages(request))) == "".join(compose(request))
