"""What the box of a grading node says of its rounds where there is no room for all of them."""

from __future__ import annotations

import pytest

from components.common.i18n import words_for
from components.picture.facts import lines_of_passing


@pytest.mark.parametrize(
    ("rates", "whole", "short"),
    [
        (["3/5"], "3/5 passed", "3/5 passed"),
        (["1/5", "2/5"], "1/5, then 2/5 passed", "last 2/5 passed"),
        (["1/5", "2/5", "1/5"], "1/5, 2/5, then 1/5 passed", "best 2/5, last 1/5 passed"),
        (["2/4", "0/0", "2/5"], "2/4, 0/0, then 2/5 passed", "best 2/4, last 2/5 passed"),
    ],
)
def test_the_best_round_is_named_where_the_last_one_is_worse(rates: list[str], whole: str, short: str) -> None:
    made = lines_of_passing(rates, words_for("en"))
    assert (made[0], made[-1]) == (whole, short)
