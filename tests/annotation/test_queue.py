"""Which pair is judged next: half drawn at random, half chosen, and the drawn ones a fair sample."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.annotation.pairs import Item, Judgement, coverage, share_of_yes
from engine.evaluation.annotation.queue import Next, influence_of, next_item
from engine.model.values import RunId

ITEMS = tuple(Item(f"i{n}", "answer", f"c{n}", f"Question {n}?", f"Answer {n}", RunId("r")) for n in range(12))


def judged_all(influence: dict[str, float], seed: str = "s", most: int = 99) -> tuple[list[Next], list[Judgement]]:
    """One judge who judges until nothing is left, and says yes to all."""
    said: dict[str, Judgement] = {}
    shown: list[Next] = []
    while len(shown) < most and (found := next_item(ITEMS, list(said.values()), "Ada", influence=influence, seed=seed)):
        shown.append(found)
        said[found.item.id] = Judgement(found.item.id, "Ada", "yes", found.drawn == "random")
        for item in found.also_random:
            said[item.id] = Judgement(item.id, "Ada", "yes", True)
    return shown, list(said.values())


@given(
    st.dictionaries(st.sampled_from([item.id for item in ITEMS]), st.floats(0, 1)),
    st.text(max_size=5),
    st.integers(1, 12),
)
def test_every_pair_comes_once_and_the_drawn_ones_are_the_first_of_one_order(
    influence: dict[str, float], seed: str, most: int
) -> None:
    shown, said = judged_all(influence, seed, most)
    assert len(shown) == most and len({found.item.id for found in shown}) == most
    order = [found.item.id for found in judged_all({}, seed)[0]]
    drawn = {item.item_id for item in said if item.at_random}
    # Whatever was chosen between, those that count as random are exactly the first of the seed's order.
    assert drawn == set(order[: len(drawn)])


def test_half_are_chosen_by_what_hangs_on_them_and_half_are_drawn() -> None:
    influence = {item.id: (n + 1) / 100 for n, item in enumerate(ITEMS)}
    shown, _ = judged_all(influence, most=6)
    assert [found.drawn for found in shown[:2]] == ["random", "chosen"]
    assert Counter(found.drawn for found in shown)["chosen"] in (2, 3)
    first = next(found for found in shown if found.drawn == "chosen")
    assert influence[first.item.id] == max(influence[item.id] for item in ITEMS if item.id != shown[0].item.id)


def test_where_nothing_hangs_on_any_all_are_drawn() -> None:
    shown, _ = judged_all(dict.fromkeys((item.id for item in ITEMS), 0.0))
    assert {found.drawn for found in shown} == {"random"} and len(shown) == len(ITEMS)


def test_what_is_put_off_comes_last_and_other_judges_do_not_count() -> None:
    first = next_item(ITEMS, (), "Ada", influence={}, seed="s")
    assert first is not None
    other = Judgement(first.item.id, "Bo", "no", True)
    again = next_item(ITEMS, [other], "Ada", influence={}, seed="s", put_off=[first.item.id])
    assert again is not None and again.item != first.item
    rest = [Judgement(item.id, "Ada", "yes", True) for item in ITEMS if item != first.item]
    last = next_item(ITEMS, rest, "Ada", influence={}, seed="s", put_off=[first.item.id])
    assert last is not None and last.item == first.item


@given(st.lists(st.booleans(), min_size=2, max_size=8), st.data())
def test_no_influence_means_that_one_judgement_cannot_change_which_is_best(
    mask: list[bool], data: st.DataObject
) -> None:
    n = 10
    scores = np.array(data.draw(st.lists(st.integers(0, n), min_size=len(mask), max_size=len(mask)))) / n
    where = np.array(mask)
    found = influence_of(where, scores, n)
    moved = [scores + step * where / n for step in (-1, 1)]
    changes = any(set(np.flatnonzero(now == now.max())) != set(np.flatnonzero(scores == scores.max())) for now in moved)
    if changes and not where.all():
        assert found >= 1 / (1 + 1) - 1e-9
    if where.all() or not where.any():
        assert found == 0


def test_settings_of_which_nothing_is_known_count_nowhere() -> None:
    mask = np.array([True, False])
    assert influence_of(mask, np.array([0.5, np.nan]), 10) == 0
    assert influence_of(mask, np.array([0.5, 0.5]), 10) == 1
    assert abs(influence_of(mask, np.array([0.5, 0.4]), 10) - 0.5) < 1e-9


def test_the_meter_counts_each_pair_once_and_the_share_those_drawn_alone() -> None:
    said = [
        Judgement("i1", "Ada", "yes", True),
        Judgement("i1", "Bo", "no", False),
        Judgement("i2", "Ada", "yes", False),
        Judgement("i3", "Bo", "yes", True),
        Judgement("elsewhere", "Ada", "yes", True),
    ]
    found = coverage(ITEMS, said, "Ada")
    assert (found.total, found.judged, found.at_random, found.mine) == (12, 3, 2, 2)
    share = share_of_yes(ITEMS, said)
    assert share is not None and (share.value, share.n) == (0.5, 2)
    assert share_of_yes(ITEMS, said[2:3]) is None
