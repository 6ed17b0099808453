"""The contract of ``Executor``, here of threads of this process; a plug-in has its own pass it (TM-15)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.distributed import Block, Executor, LocalExecutor
from tests.distributed.performers import Following, Ledger

AT_ONCE = 2
Make = Callable[[], Executor]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.db")


def one_after_the_other(make: Make) -> Iterator[Make]:
    """Makes executors and closes each before the next is made: the processors are for one at a time."""
    made: list[Executor] = []

    def new() -> Executor:
        for former in made:
            former.close()
        made.append(make())
        return made[-1]

    yield new
    for executor in made:
        executor.close()


@pytest.fixture
def make(ledger: Ledger) -> Iterator[Make]:
    """Makes executors of one kind for the same work."""
    yield from one_after_the_other(lambda: LocalExecutor(Following(str(ledger.path)), AT_ONCE))


def blocks(count: int, **work: object) -> list[Block]:
    return [Block(f"b{place}", {"value": place, **work}) for place in range(count)]


def test_every_block_is_done_once_and_says_what_came_of_it(make: Make, ledger: Ledger) -> None:
    given = [Block(f"b{place}", {"value": {"n": place}}, bytes([place, 255])) for place in range(30)]
    done = list(make().perform(iter(given)))
    assert sorted(item.key for item in done) == sorted(block.key for block in given)
    assert {item.key: (item.value, item.data, item.fault) for item in done} == {
        f"b{place}": ({"n": place}, bytes([255, place]), None) for place in range(30)
    }
    assert sorted(ledger.begun) == sorted(ledger.kept) == sorted(block.key for block in given)


def test_a_job_without_blocks_ends_at_once(make: Make, ledger: Ledger) -> None:
    assert list(make().perform(())) == []
    assert ledger.begun == []


def test_a_block_that_fails_says_why_and_harms_no_other(make: Make, ledger: Ledger) -> None:
    given = blocks(8)
    given[2] = Block("b2", {"fails": "ours"})
    given[5] = Block("b5", {"fails": "foreign"})
    faults = {item.key: item.fault.code for item in make().perform(given) if item.fault is not None}
    assert faults == {"b2": "WB101", "b5": "WB000"}
    assert sorted(ledger.kept) == ["b0", "b1", "b3", "b4", "b6", "b7"]


def test_a_slow_block_holds_up_no_other(make: Make, ledger: Ledger) -> None:
    given = [Block("slow", {"gate": "slow", "value": 0}), *blocks(10)]
    keys = []
    for item in make().perform(given):
        keys.append(item.key)
        if len(keys) == 10:
            ledger.open("slow")
    assert keys[-1] == "slow" and len(keys) == 11


def test_there_are_never_more_blocks_in_hand_than_it_says(make: Make) -> None:
    executor = make()
    taken = given = most = 0

    def source() -> Iterator[Block]:
        nonlocal given, most
        for block in blocks(40):
            given += 1
            most = max(most, given - taken)
            assert given - taken <= max(executor.at_once, 1)
            yield block

    for _ in executor.perform(source()):
        # What this one is doing with a result counts: it is taken when the next is asked for.
        taken += 1
        assert given - taken < max(executor.at_once, 1)
    assert most >= AT_ONCE


def test_stopped_from_another_thread_it_begins_no_more_and_what_was_kept_is_enough_to_continue(
    make: Make, ledger: Ledger
) -> None:
    executor = make()
    given = [*blocks(6), *(Block(f"gated{place}", {"gate": "never", "value": "g"}) for place in range(20))]
    ledger.when(lambda seen: len(seen.kept) == 6 and bool(seen.under_way()), executor.stop)
    list(executor.perform(given))
    kept = ledger.kept
    assert sorted(kept) == [f"b{place}" for place in range(6)]
    assert len(set(ledger.begun)) < len(given)
    assert list(executor.perform(blocks(3))) == [], "stopped for good"
    left = [block for block in given if block.key not in kept]
    again = make()
    ledger.open("never")
    assert {item.key for item in again.perform(left)} == {block.key for block in left}
    assert sorted(ledger.kept) == sorted(block.key for block in given)
    assert all(ledger.begun.count(key) == 1 for key in kept)


def test_a_block_that_is_done_again_changes_nothing(make: Make, ledger: Ledger) -> None:
    list(make().perform(blocks(5)))
    again = list(make().perform([Block(f"b{place}", {"value": "other"}) for place in range(5)]))
    assert len(again) == 5 and len(ledger.begun) == 10
    assert ledger.kept == {f"b{place}": str(place) for place in range(5)}


def test_who_leaves_early_stops_what_is_under_way(make: Make, ledger: Ledger) -> None:
    given = [Block("first", {"value": 1}), *(Block(f"g{place}", {"gate": "never"}) for place in range(9))]
    with closing(make().perform(given)) as iteration:  # type: ignore[type-var]
        assert next(iteration).key == "first"
    assert sorted(ledger.kept) == ["first"]
    assert ledger.under_way() == {}
