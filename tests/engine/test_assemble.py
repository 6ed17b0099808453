"""What the generator is given, and what its markers point to: SC-07."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.config import RunConfig
from engine.model.decide import gated, passed_ids
from engine.model.surroundings import texts_around
from engine.model.values import Around, Context, Passage, PassageId, Round, Surrounding, Verdict
from engine.retrieval.assemble import assemble
from engine.retrieval.citations import StreamedCitations, resolve
from engine.retrieval.streaming_citations import AttachingCitations
from tests.engine.strategies import configs, rounds


def _round(index: int, *graded: tuple[str, float, bool, float]) -> Round:
    passages = [
        Passage(PassageId(name), f"{name}.md", name * 4, similarity, similarity) for name, similarity, _, _ in graded
    ]
    verdicts = {PassageId(name): Verdict(relevant, confidence, "x") for name, _, relevant, confidence in graded}
    return Round(index=index, query="q", candidates=gated(passages, RunConfig()), verdicts=verdicts)


FIRST = _round(0, ("a", 0.9, True, 0.7), ("b", 0.8, False, 0.9))
SECOND = _round(1, ("c", 0.7, True, 0.9), ("a", 0.5, True, 0.7))


def ids(context_rounds: tuple[Round, ...], config: RunConfig, budget: int = 1000) -> list[str]:
    return [item.id for item in assemble(context_rounds, config, budget, len).passages]


def test_the_union_is_ordered_by_probability_then_best_similarity() -> None:
    """SC-07"""
    context = assemble((FIRST, SECOND), RunConfig(), 1000, len)
    assert [item.id for item in context.passages] == ["c", "a"]
    assert context.passages[1].similarity == 0.9, "the round that found it most similar"


def test_the_strict_reading_takes_the_last_round_only() -> None:
    """SC-07"""
    only_first_passed = (FIRST, _round(1, ("c", 0.7, False, 0.9)))
    assert ids(only_first_passed, RunConfig(context="last_round")) == []
    assert ids(only_first_passed, RunConfig()) == ["a"]


def test_the_token_budget_cuts_from_the_end_and_says_what_it_cut() -> None:
    """SC-07"""
    context = assemble((FIRST, SECOND), RunConfig(), 5, len)
    assert ([item.id for item in context.passages], context.cut) == (["c"], ("a",))
    assert ids((FIRST,), RunConfig(), budget=1) == ["a"], "the best passage is always given"


def test_a_shorter_passage_does_not_overtake_a_better_one_that_was_cut() -> None:
    """SC-07"""
    best, long, short = (
        Passage(PassageId(name), "a.md", text, similarity, similarity)
        for name, text, similarity in (("best", "xxxx", 0.9), ("long", "x" * 50, 0.8), ("short", "x", 0.7))
    )
    verdicts = {item.id: Verdict(True, 0.9, "x") for item in (best, long, short)}
    judged = Round(0, "q", gated((best, long, short), RunConfig()), verdicts=verdicts)
    context = assemble((judged,), RunConfig(), 10, len)
    assert ([item.id for item in context.passages], context.cut) == (["best"], ("long", "short"))


def test_unverified_passages_are_used_only_when_asked_for_and_are_marked() -> None:
    """SC-07"""
    failed = _round(0, ("a", 0.9, False, 0.9), ("b", 0.8, False, 0.6))
    assert not assemble((failed,), RunConfig(), 1000, len).passages
    context = assemble((failed,), RunConfig(answer_unverified=True), 1000, len)
    assert ([item.id for item in context.passages], context.verified) == (["b", "a"], False)
    assert assemble((FIRST,), RunConfig(answer_unverified=True), 1000, len).verified


@given(st.data())
def test_only_passed_passages_reach_a_verified_context(data: st.DataObject) -> None:
    """SC-07"""
    config = replace(data.draw(configs), answer_unverified=False)
    recorded = data.draw(rounds(config))
    passed = {passage_id for item in recorded for passage_id in passed_ids(item, config)}
    given_ids = [item.id for item in assemble(recorded, config, 10_000, len).passages]
    assert set(given_ids) <= passed
    assert len(given_ids) == len(set(given_ids))


def test_markers_are_bound_to_passages_and_invented_ones_are_removed_and_reported() -> None:
    """SC-07"""
    passages = [item.passage for item in FIRST.candidates]
    resolved = resolve("One [1]. Two【2】. Both [1, 2]. None [3], [0]. Year [2024]", passages)
    assert resolved.text == "One [1]. Two[2]. Both [1][2]. None. Year [2024]"
    assert [item.marker for item in resolved.citations] == [1, 2]
    assert resolved.removed == ("[3]", "[0]")


@given(st.text(), st.integers(0, 3))
def test_no_text_can_cite_a_passage_that_was_not_given(text: str, count: int) -> None:
    """SC-07"""
    passages = [item.passage for item in (*FIRST.candidates, *SECOND.candidates)][:count]
    for citation in resolve(text, passages).citations:
        assert passages[citation.marker - 1].id == citation.passage_id


@pytest.mark.parametrize(
    ("section", "title", "place"),
    [("Storage", "Insulin", "Storage"), ("", "Insulin", "Insulin"), ("", "photo.png", ""), ("", "", "")],
)
def test_a_citation_of_a_document_without_headings_names_its_title(section: str, title: str, place: str) -> None:
    passage = Passage(PassageId("p1"), "photo.png", "Keep it cool.", 0.9, 0.9, section=section, title=title)
    (citation,) = resolve("Keep it cool [1].", (passage,)).citations
    attaching = AttachingCitations((passage,))
    attaching.feed("Keep it cool [1].")
    attaching.finish()
    assert citation.section == place
    assert attaching.answer.citations == (citation,)


def _passage(ordinal: int, similarity: float, section: str = "A", source: str = "s.md") -> Passage:
    text = f"Sentence {ordinal} of {source} ends here. Shared sentence {ordinal}."
    return Passage(
        PassageId(f"{source}#{ordinal}"), source, text, similarity, similarity, section=section, ordinal=ordinal
    )


def _around(ordinal: int, section: str = "A", text: str = "", source: str = "s.md") -> Surrounding:
    name = PassageId(f"{source}#{ordinal}")
    return Surrounding(name, source, text or f"Sentence {ordinal} of {source}.", section, "", ordinal)


def _judged(*passages: Passage) -> tuple[Round, ...]:
    verdicts = {item.id: Verdict(True, 0.9, "x") for item in passages}
    return (Round(0, "q", gated(passages, RunConfig()), verdicts=verdicts),)


def _brought(context: Context) -> dict[str, list[int]]:
    return {name: [int(item.rpartition("#")[2]) for item in names] for name, names in context.around.items()}


READ = [_around(place, "A" if place < 8 else "B") for place in (1, 2, 4, 6, 8, 9)]
PASSED = _judged(_passage(5, 0.9), _passage(7, 0.8), _passage(3, 0.7))


def test_neighbours_come_with_the_best_passage_that_they_stand_next_to_and_once() -> None:
    """BE-04"""
    context = assemble(PASSED, RunConfig(expand="neighbours"), 1000, len, surroundings=READ)
    assert [item.ordinal for item in context.passages] == [5, 7, 3]
    assert _brought(context) == {"s.md#5": [4, 6], "s.md#7": [8], "s.md#3": [2]}
    assert not assemble(PASSED, RunConfig(), 1000, len, surroundings=READ).around
    elsewhere = [replace(item, source="other.md") for item in READ]
    assert not assemble(PASSED, RunConfig(expand="neighbours"), 1000, len, surroundings=elsewhere).around


def test_a_section_comes_in_order_and_ends_where_the_next_one_begins() -> None:
    """BE-04"""
    context = assemble(PASSED, RunConfig(expand="section"), 1000, len, surroundings=READ)
    assert _brought(context) == {"s.md#5": [1, 2, 4, 6]}, "8 and 9 stand in another section"
    far = [_around(5 + place) for place in range(1, 12)]
    alone = assemble(_judged(_passage(5, 0.9)), RunConfig(expand="section"), 10_000, len, surroundings=far)
    assert _brought(alone) == {"s.md#5": list(range(6, 14))}


def test_surroundings_take_the_room_that_passages_leave_nearest_first_and_what_did_not_fit_is_named() -> None:
    """BE-04"""
    passages = sum(len(item.passage.text) for item in PASSED[0].candidates)
    sizes = {item.ordinal: len(item.text) for item in READ}
    room = sizes[4] + sizes[6]
    context = assemble(PASSED, RunConfig(expand="section"), passages + room, len, surroundings=READ)
    assert (_brought(context), context.tokens) == ({"s.md#5": [4, 6]}, passages + room)
    assert context.around_cut == ("s.md#2", "s.md#1")
    cut = assemble(PASSED, RunConfig(expand="section"), passages - 1, len, surroundings=READ)
    assert (cut.cut, cut.around) == (("s.md#3",), {}), "nothing takes the place of a passage that was cut"
    assert set(cut.around_cut) == {"s.md#4", "s.md#6", "s.md#2", "s.md#1"}


def test_sentences_that_chunks_share_are_given_once() -> None:
    """BE-04"""
    before = _around(4, text="It begins. Sentence 5 of s.md ends here. ")
    after = _around(6, text="Shared sentence 5. It continues.")
    rounds = _judged(_passage(5, 0.9))
    context = assemble(rounds, RunConfig(expand="neighbours"), 1000, len, surroundings=(before, after))
    around = texts_around(context, rounds, (before, after))[PassageId("s.md#5")]
    assert [item.text for item in around.every] == ["It begins.", "It continues."]


def test_a_citation_names_the_surroundings_that_its_sentence_stands_in() -> None:
    """BE-04"""
    passage, around = (
        _passage(5, 0.9),
        Around((_around(4, text="Keep the pen cold."),), (_around(6, text="Eat well."),)),
    )
    streamed = StreamedCitations((passage,), {passage.id: around})
    streamed.feed("Keep the pen cold [1]. Sentence 5 of s.md ends here [1]. Eat well [1].")
    streamed.finish()
    assert [item.around for item in streamed.answer.citations] == [("s.md#4", "s.md#6")]
    assert resolve("Sentence 5 ends here [1].", (passage,)).citations[0].around == ()
