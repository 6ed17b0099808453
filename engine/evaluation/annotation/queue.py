"""Order of judging: alternately a random pair and the one with the greatest possible influence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from engine.evaluation.annotation.pairs import Item, Judgement
from engine.evaluation.values import Drawing
from engine.replay.masks import BoolArray, FloatArray


@dataclass(frozen=True, slots=True)
class Next:
    """The pair to judge, and how it came up."""

    item: Item
    drawn: Drawing
    also_random: tuple[Item, ...] = ()
    """Pairs that were judged because much hung on them, and that the draw has come to since: they stand for the others
    from now on."""


def next_item(
    items: Sequence[Item],
    said: Collection[Judgement],
    judge: str,
    *,
    influence: Mapping[str, float],
    seed: str,
    put_off: Sequence[str] = (),
) -> Next | None:
    """Return the next pair for ``judge``; None if all are judged. Pure: the same past gives the same pair.

    Every judge draws through all pairs in one order, a permutation by ``seed``: so those that a judge has drawn
    are a simple random sample. As many pairs are chosen by ``influence`` (by id, above 0) as are drawn; where nothing
    hangs on any, the draw continues. ``put_off`` come last, oldest first; they stay in the draw.
    """
    mine = {item.item_id: item for item in said if item.judge == judge}
    last = {name: place for place, name in enumerate(put_off)}
    left = [item for item in items if item.id not in mine]
    if not left:
        return None
    order = sorted(items, key=lambda item: (last.get(item.id, -1), _shuffled(seed, item.id)))
    passed: list[Item] = []
    drawn = next(item for item in order if item.id not in mine)
    for item in order:
        if item.id == drawn.id:
            break
        if not mine[item.id].at_random:
            passed.append(item)
    at_random = sum(item.at_random for item in mine.values())
    chosen = max(left, key=lambda item: (item.id not in last, influence.get(item.id, 0.0), _shuffled(seed, item.id)))
    if at_random > len(mine) - at_random and influence.get(chosen.id, 0.0) > 0 and chosen.id != drawn.id:
        return Next(chosen, "chosen")
    return Next(drawn, "random", tuple(passed))


def influence_of(mask: BoolArray, scores: FloatArray, n: int) -> float:
    """Return one pair's possible influence on the best setting, from 0 (none) to 1.

    ``mask`` [S]: settings under which the pair counts, ``scores`` [S] the share of right answers that each proves over
    ``n`` questions, NaN where none is to be right. A judgement moves the score of every setting of the mask by at most
    1 / n: it tells something only where the mask parts the settings, and the more, the closer the best of one side is
    to the best of the other. The value is 1 / (1 + n * gap).
    """
    known = ~np.isnan(scores)
    inside, outside = scores[mask & known], scores[~mask & known]
    if not len(inside) or not len(outside) or n <= 0:
        return 0.0
    return float(1.0 / (1.0 + n * abs(inside.max() - outside.max())))


def _shuffled(seed: str, item_id: str) -> str:
    return sha256(f"{seed}|{item_id}".encode("utf-8", "replace")).hexdigest()
