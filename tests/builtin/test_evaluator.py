"""The built-in evaluator: neither blind to what is wrong nor nagging about what is right. AE-02, AE-03, AE-04."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.common.i18n import words_for
from components.common.phrases import suggestion_said
from engine.builtin.answer_reading import statements
from engine.builtin.evaluator import judge
from engine.builtin.generator import compose
from engine.knowledge.samples import sample_sources
from engine.model.language import language_of
from engine.model.values import Evaluation, Passage, PassageId, Suggestion
from engine.model.wording import DIMENSION_OF, SUGGESTIONS, suggested
from engine.roles import EvaluationRequest, GenerationRequest
from engine.workflows.answer_evaluation.policy import excerpts


def passage(text: str, similarity: float = 0.6, section: str = "") -> Passage:
    return Passage(PassageId(text[:12]), "s.md", text, similarity, 0.9, section=section)


TREE = (
    passage("A tree is a connected graph without cycles. A tree with n vertices has exactly n − 1 edges."),
    passage("Arthur Cayley counted labelled trees in 1889. There are 125 of them on 5 vertices.", 0.45),
)
EDGES = "How many edges does a tree with n vertices have?"
RIGHT = "A tree with n vertices has exactly n − 1 edges. [1]"
STORE = (
    passage("没开封的胰岛素放在冰箱冷藏室，2–8 ℃，绝不能结冰。正在用的笔芯在30 ℃以下可放约28天。"),
    passage("低血糖时先吃15克快糖，过15分钟再测一次血糖。", 0.4),
)
KEEP = "没开封的胰岛素应该怎样保存？"
KEPT = "没开封的胰岛素放在冰箱冷藏室，2–8 ℃，绝不能结冰。[1]"


def said(
    question: str, answer: str, passages: Sequence[Passage], *, top_k: int = 5, removed: tuple[str, ...] = ()
) -> Evaluation:
    """Judged as the loop would: by excerpts."""
    seen = excerpts(passages, top_k)
    shown = tuple(replace(item, text=excerpt.text) for item, excerpt in zip(passages, seen, strict=False))
    request = EvaluationRequest(
        question,
        answer,
        shown,
        language_of(question),
        unseen=len(passages) - len(shown),
        removed_markers=removed,
    )
    return judge(request, [item.similarity for item in shown])


def codes(evaluation: Evaluation) -> list[str]:
    return [item.code for item in evaluation.suggestions]


@pytest.mark.parametrize(
    ("question", "answer", "passages"),
    [
        (EDGES, RIGHT, TREE),
        (EDGES, f"Here is what the sources say: {RIGHT}", TREE),
        (EDGES, "It has exactly n − 1 edges, as a tree with n vertices always has [1].", TREE),
        (EDGES, f"A tree is a connected graph without cycles. It has exactly n − 1 edges. [1]\n\n{RIGHT}", TREE),
        (KEEP, KEPT, STORE),
        (KEEP, f"资料中是这样说的：{KEPT}", STORE),
        (KEEP, f"{KEPT}\n\n资料中没有提到旅行时怎样携带。", STORE),
    ],
)
def test_a_right_answer_passes(question: str, answer: str, passages: tuple[Passage, ...]) -> None:
    """AE-02"""
    assert codes(said(question, answer, passages)) == []


@pytest.mark.parametrize(
    ("question", "answer", "passages", "code", "about"),
    [
        (EDGES, "Hello!", TREE, "no_answer", {}),
        (EDGES, "Insulin is kept in a refrigerator. [1]", TREE, "off_topic", {"terms": "edges, tree, vertices"}),
        (EDGES, f"{RIGHT} Arthur Cayley lived in London. [1]", TREE, "off_point", {}),
        (EDGES, RIGHT.replace(" [1]", ""), TREE, "uncited", {"marker": "1"}),
        (EDGES, RIGHT.replace("[1]", "[2]"), TREE, "unsupported", {"marker": "2", "better": "1"}),
        (EDGES, f"{RIGHT} The edges of a tree glow green at night. [1]", TREE, "unsupported", {"marker": "1"}),
        (EDGES, f"{RIGHT} A tree with ten vertices is worth 400 edges.", TREE, "invented", {}),
        (EDGES, RIGHT.replace("[1]", "[1][7]"), TREE, "dead_marker", {"markers": "[7]"}),
        ("Who counted labelled trees, and when?", "Labelled trees were counted. [2]", TREE, "kind_missing", {}),
        (
            "How many edges does a tree have, and which fruit grows on it?",
            RIGHT,
            TREE,
            "part_unsaid",
            {"part": "which fruit grows on it?"},
        ),
        (
            "How many edges does a tree have, and how many labelled trees did Cayley count?",
            RIGHT,
            TREE,
            "part_open",
            {"marker": "2"},
        ),
        ("How many edges does a Steiner tree have?", RIGHT, TREE, "terms_unsaid", {"terms": "Steiner"}),
        (KEEP, "这个问题很好。", STORE, "off_topic", {}),
        (KEEP, KEPT.replace("[1]", ""), STORE, "uncited", {"marker": "1"}),
        (KEEP, KEPT.replace("[1]", "[2]"), STORE, "unsupported", {"better": "1"}),
        (KEEP, KEPT.replace("2–8", "12–18"), STORE, "unsupported", {"marker": "1"}),
        ("没开封的胰岛素是哪一年发明的？", KEPT, STORE, "kind_unsaid", {"kind": "date"}),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(
    question: str, answer: str, passages: tuple[Passage, ...], code: str, about: dict[str, str]
) -> None:
    """AE-02, AE-03"""
    evaluation = said(question, answer, passages)
    found = next((item for item in evaluation.suggestions if item.code == code), None)
    assert found is not None, codes(evaluation)
    assert about.items() <= dict(found.params).items()
    assert found.dimension == DIMENSION_OF[code]
    assert found.quote in answer


SUGAR = (
    passage("At a low take 20 grams of fast sugar straight away."),
    passage("Take 15 grams of fast sugar and measure again.", 0.5),
)


def test_figures_that_contradict_each_other_must_be_said_to() -> None:
    """AE-02"""
    both = "At a low take 20 grams of fast sugar straight away. [1] Take 15 grams of fast sugar and measure again. [2]"
    question = "How many grams of fast sugar should I take for a low?"
    (found,) = said(question, both, SUGAR).suggestions
    assert (found.code, found.params["other"]) == (
        "contradiction",
        "At a low take 20 grams of fast sugar straight away.",
    )
    assert said(question, f"{both} The sources differ here: compare [1] [2].", SUGAR).passed


@pytest.mark.parametrize(
    "text",
    [
        "The rapid kind lasts 3 hours. [1] The slow kind lasts 24 hours. [1]",
        "State Route 168 runs east. [1] State Route 41 runs north. [1]",
        "2020年有3人提出。[1] 2021年有5人提出。[1]",
        "他在第49届比赛上获胜。[1] 他在第33届比赛上落败。[1]",
    ],
)
def test_different_figures_of_different_things_contradict_nothing(text: str) -> None:
    """AE-02: no nagging."""
    assert "contradiction" not in codes(said(text, text, [passage(text)]))


def test_a_long_answer_in_one_block_needs_paragraphs() -> None:
    """AE-02: clear layered structure."""
    sentences = [f"A tree of kind {name} with n vertices has n − 1 edges like any other tree of graphs. [1]" for name in
                 "alder beech cedar dogwood elm fir ginkgo".split()]  # fmt: skip
    passages = [passage(" ".join(item.replace(" [1]", "") for item in sentences)[:490])]
    assert "no_structure" in codes(said(EDGES, " ".join(sentences), passages))
    assert "no_structure" not in codes(said(EDGES, "\n".join(f"- {item}" for item in sentences), passages))


LONG = passage("A tree with n vertices has exactly n − 1 edges. " + "Trees are drawn in many ways by many people. " * 11
               + "A tree with one more edge has exactly one cycle among its edges and vertices.")  # fmt: skip


def test_what_a_cut_hides_is_not_held_against_an_answer() -> None:
    """AE-04"""
    assert len(LONG.text) > 500
    hidden = "A tree with one more edge has exactly one cycle among its edges and vertices. [1]"
    assert said(EDGES, f"{RIGHT} {hidden}", [LONG]).passed


def test_a_changed_figure_and_a_foreign_sentence_are_seen_although_a_cut_hides_something() -> None:
    """AE-04"""
    years = passage("Cayley counted the labelled trees of graphs in 1889. " + "Trees are drawn in many ways. " * 17)
    wrong = said(
        "When were labelled trees counted?", "Cayley counted the labelled trees of graphs in 1989. [1]", [years]
    )
    assert codes(wrong) == ["unsupported"]
    foreign = said(EDGES, f"{RIGHT} Insulin lowers blood sugar within minutes. [1]", [LONG])
    assert {"not_shown", "off_point"} & set(codes(foreign))


def test_a_marker_of_a_passage_that_is_not_shown_is_no_dead_one() -> None:
    """AE-04"""
    assert said(EDGES, RIGHT.replace("[1]", "[1][2]"), TREE, top_k=1).passed


def test_markers_that_were_taken_out_are_named() -> None:
    """AE-02"""
    assert codes(said(EDGES, RIGHT, TREE, removed=("[9]",))) == ["dead_marker"]


def test_a_passage_in_another_language_is_believed() -> None:
    """AE-02: words of two languages cannot be compared."""
    assert said(
        "胰岛素怎样保存？", "胰岛素保存在冰箱里。[1]", [passage("Unopened insulin is kept in a refrigerator.")]
    ).passed


@pytest.mark.parametrize(
    ("question", "answer", "passes"),
    [
        ("你好", "你好！有什么可以帮您？", True),
        ("Thank you", "You are welcome.", True),
        ("hello", "", False),
        ("How many edges does a tree have?", "The passages do not say.", False),
        ("How many edges does a tree have?", "A tree with n vertices has n − 1 edges.", True),
        ("How many edges does a tree have?", "Insulin is kept in a refrigerator.", False),
    ],
)
def test_an_answer_without_passages_is_judged_by_the_question_alone(question: str, answer: str, passes: bool) -> None:
    """DL-04: direct answers."""
    assert judge(EvaluationRequest(question, answer, (), language_of(question), "relevance"), []).passed == passes


def test_every_suggestion_has_words_in_both_languages() -> None:
    """AE-03: rendered per language."""
    zh = words_for("zh")
    assert DIMENSION_OF.keys() <= SUGGESTIONS.keys()
    made = suggested("kind_missing", kind="date", marker="2")
    assert made.text == "Give the date that the question asks for; passage [2] has one."
    assert suggestion_said(made, zh) == "请给出问题所问的时间，片段 [2] 里有。"
    assert suggestion_said(Suggestion("reasonableness", "Say when."), zh) == "Say when."
    assert suggestion_said(Suggestion("reasonableness", "old", code="part_open"), zh)


@given(st.text(max_size=120), st.text(max_size=200), st.lists(st.text(max_size=80), max_size=3))
def test_any_text_is_judged_and_passed_means_that_there_is_nothing_to_suggest(
    question: str, answer: str, texts: list[str]
) -> None:
    """AE-03"""
    for aim in ("answer", "relevance"):
        passages = tuple(passage(text, 0.5) for text in texts)
        request = EvaluationRequest(question, answer, passages, language_of(question), aim)
        evaluation = judge(request, [0.5] * len(passages))
        assert evaluation.passed == (not evaluation.suggestions)
        assert all(item.quote in answer for item in evaluation.suggestions)
        assert aim == "answer" or {item.dimension for item in evaluation.suggestions} <= {"reasonableness"}


@given(st.text(max_size=300))
def test_statements_stand_in_the_answer_word_for_word_and_in_order(answer: str) -> None:
    at = 0
    for item in statements(answer):
        at = answer.index(item.text, at) + len(item.text)
    assert not re.search(r"[^\W\d_]", answer[at:])


ASKED = {
    "en": ("How many rows does a truth table with five variables need?", "What are the main symptoms of diabetes?"),
    "zh": ("没开封的胰岛素应该怎样保存？", "原命题与它的逆否命题等价吗？"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_first_answers_from_the_samples_lose_their_pass_when_they_are_spoilt(language: str) -> None:
    """AE-02: not blind, on the texts that ship."""
    for question in ASKED[language]:
        request = GenerationRequest(question, _near(question), language)  # type: ignore[arg-type]
        answer = "".join(compose(request))
        unmarked = re.sub(r"\s*\[\d\]", "", answer)
        assert "uncited" in codes(said(question, unmarked, request.passages))
        assert "dead_marker" in codes(said(question, answer.replace("[1]", "[8]"), request.passages))
        other = next(item for item in ASKED[language] if item != question)
        assert not said(other, answer, request.passages).passed


def _near(question: str) -> tuple[Passage, ...]:
    """The two sample passages that share most with a question."""
    texts = [item.text for source in sample_sources() for item in source.passages]
    same = [text for text in texts if language_of(text) == language_of(question)]
    wanted = set(re.findall(r"[a-z]{4,}|[\u4e00-\u9fff]", question.casefold()))
    best = sorted(same, key=lambda text: -sum(word in text.casefold() for word in wanted))[:2]
    return tuple(passage(text) for text in best)


def test_a_figure_at_the_head_of_a_sentence_is_no_number_of_a_list() -> None:
    read = statements("2.5 million people live there. [1]\n2) 3.7 litres are enough.\n3、第三点很重要。")
    assert [item.plain for item in read] == [
        "2.5 million people live there.",
        "3.7 litres are enough.",
        "第三点很重要。",
    ]
