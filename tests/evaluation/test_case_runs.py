"""How the cases of a batch are dealt out (TM-15, TM-19)."""

from __future__ import annotations

from itertools import chain

from engine.evaluation.case_runs import CASES_A_BLOCK, blocks_of
from engine.evaluation.cases import Case

CASES = [Case(f"c{place}", f"Why {place}?") for place in range(100)]
IN_HAND = 6


def test_blocks_hold_every_case_once_and_grow_smaller_so_that_no_last_one_is_waited_for() -> None:
    dealt = [block.work["cases"] for block in blocks_of(CASES, CASES_A_BLOCK, lambda: IN_HAND)]
    assert list(chain(*dealt)) == [[case.id, case.question] for case in CASES]
    sizes = [len(cases) for cases in dealt]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == CASES_A_BLOCK and sizes[-IN_HAND:] == [1] * IN_HAND


def test_threads_are_dealt_one_case_at_a_time() -> None:
    assert [block.work["cases"] for block in blocks_of(CASES, 1, lambda: 2)] == [
        [[case.id, case.question]] for case in CASES
    ]
