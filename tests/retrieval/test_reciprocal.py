"""Hits by vectors and hits by words made one list: nothing lost, nothing doubled, every place named."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from engine.model.values import Passage, PassageId
from engine.retrieval.reciprocal import RANK_CONSTANT, TEXT_WEIGHT, by_both_queries, by_reciprocal_rank

IDS = st.lists(st.sampled_from([f"p{n}" for n in range(12)]), unique=True, max_size=12)


def passages(ids: Sequence[str], *, scored: bool = False) -> list[Passage]:
    return [
        Passage(
            id=PassageId(item),
            source="a.md",
            text=item,
            similarity=int(item[1:]) / 20,
            raw_score=0.5,
            text_score=9.0 - place if scored else None,
        )
        for place, item in enumerate(ids)
    ]


def fused(by_vector: Sequence[str], by_words: Sequence[str], limit: int = 99) -> tuple[Passage, ...]:
    return by_reciprocal_rank(passages(by_vector), passages(by_words, scored=True), limit)


@given(IDS, IDS)
def test_every_passage_of_either_list_is_there_once_with_its_places(by_vector: list[str], by_words: list[str]) -> None:
    found = fused(by_vector, by_words)
    assert sorted(item.id for item in found) == sorted({*by_vector, *by_words})
    for item in found:
        assert item.vector_rank == (by_vector.index(item.id) + 1 if item.id in by_vector else None)
        assert item.text_rank == (by_words.index(item.id) + 1 if item.id in by_words else None)
        assert (item.text_score is None) == (item.text_rank is None)
        assert item.similarity == int(item.id[1:]) / 20


@given(IDS, IDS, st.integers(0, 12))
def test_a_shorter_list_is_the_beginning_of_a_longer_one(by_vector: list[str], by_words: list[str], limit: int) -> None:
    assert fused(by_vector, by_words, limit) == fused(by_vector, by_words)[:limit]


@given(IDS, IDS)
def test_a_passage_ahead_in_both_lists_is_ahead(by_vector: list[str], by_words: list[str]) -> None:
    order = [item.id for item in fused(by_vector, by_words)]
    both = [item for item in by_vector if item in by_words]
    for first in both:
        for second in both:
            if by_vector.index(first) < by_vector.index(second) and by_words.index(first) < by_words.index(second):
                assert order.index(PassageId(first)) < order.index(PassageId(second))


@given(IDS)
def test_without_hits_by_words_the_order_is_that_of_the_vectors(by_vector: list[str]) -> None:
    assert [item.id for item in fused(by_vector, [])] == by_vector
    assert [item.id for item in fused([], by_vector)] == by_vector


def test_equal_places_go_by_similarity_and_then_by_id() -> None:
    one, other = passages(["p3"]), passages(["p7"])
    assert TEXT_WEIGHT < 1  # so that the first of the vectors is ahead of the first of the words
    assert [item.id for item in by_reciprocal_rank(one, other, 9)] == ["p3", "p7"]
    doubled = by_reciprocal_rank([*passages(["p1", "p2"]), *passages(["p1"])], [], 9)
    assert [item.id for item in doubled] == ["p1", "p2"]


def test_a_hit_by_words_alone_is_worth_less_than_the_same_place_among_the_vectors() -> None:
    found = fused(["p1", "p2", "p3", "p4", "p5"], ["p9"])
    assert [item.id for item in found].index(PassageId("p9")) == 1
    assert TEXT_WEIGHT / (RANK_CONSTANT + 1) > 1 / (RANK_CONSTANT + 2)


@given(IDS, IDS)
def test_two_queries_make_one_list_in_which_the_main_language_comes_first(
    asked: list[str], translated: list[str]
) -> None:
    both = by_both_queries(passages(asked), passages(translated, scored=True), 99)
    assert sorted(item.id for item, _ in both) == sorted({*asked, *translated})
    for item, ranks in both:
        lists = {"asked": asked, "translated": translated}
        assert ranks == {kind: own.index(item.id) + 1 for kind, own in lists.items() if item.id in own}
        # What both found is measured by the translation, which alone has scores here.
        assert (item.text_score is not None) == (item.id in translated)
    if asked and translated:
        assert both[0][0].id == translated[0] or asked[0] in translated
        assert by_both_queries(passages(asked), passages(translated), 1, "asked")[0][0].id in {asked[0], *translated}
