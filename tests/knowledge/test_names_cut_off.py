"""Changes of names that a crash cuts off, at each of their steps in turn: the next start finishes them."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import StoreError
from engine.knowledge.milvus_store import MilvusStore
from tests.contracts.stores import Case, axes, passage
from tests.contracts.test_store_names import filled, whole

_CHANGES = (
    "upsert",
    "delete",
    "rename_collection",
    "create_alias",
    "alter_alias",
    "drop_alias",
    "drop_collection",
    "load_collection",
)
"""Calls of the client that change a store, or come between two that do."""


Act = Callable[[MilvusStore], Coroutine[Any, Any, Any]]


class _Died(Exception):
    """The process is gone."""


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as running:
        yield running


def _case(runner: asyncio.Runner, folder: Path) -> Case:
    return Case(MilvusStore(str(folder), timeout_s=30), "docs", runner.run)


def _dies_at(client: Any, step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the client work for so many changing calls and then no more; returns a count of those that worked."""
    calls = 0

    def wrapped(honest: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            if calls >= step:
                raise _Died
            calls += 1
            return honest(*args, **kwargs)

        return call

    for change in _CHANGES:
        monkeypatch.setattr(client, change, wrapped(getattr(client, change)))
    return lambda: calls


def _each_crash(
    runner: asyncio.Runner, folder: Path, prepare: Callable[[Case], None], change: Act
) -> Iterator[tuple[int, Case]]:
    """What the next process finds when ``change`` is cut off after none, one, two… of its steps."""
    made = _case(runner, folder / "made.db")
    runner.run(made.store.open())
    prepare(made)
    runner.run(made.store.close())
    for step in range(100):
        place = folder / f"step{step}.db"
        shutil.copytree(folder / "made.db", place)
        dying = _case(runner, place)
        runner.run(dying.store.open())
        with pytest.MonkeyPatch.context() as patched:
            done = _dies_at(dying.client(), step, patched)
            try:
                runner.run(change(dying.store))
            except StoreError:
                assert done() == step
            else:
                assert step > 4, "nothing was cut off"
                runner.run(dying.store.close())
                return
        runner.run(dying.store.close())
        after = _case(runner, place)
        runner.run(after.store.open())
        yield step, after
        runner.run(after.store.close())
    pytest.fail("the change has no end")


def _names(case: Case) -> list[str]:
    return [info.name for info in case.run(case.store.collections())]


def _with_alias(case: Case) -> None:
    filled(case)
    case.run(case.store.set_alias("docs_too", "docs"))


def test_a_renaming_that_is_cut_off_anywhere_is_finished_by_the_next_start(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    for step, case in _each_crash(
        runner, tmp_path, _with_alias, lambda store: store.rename("docs", "papers", keep_old=True)
    ):
        names = _names(case)
        # Cut off before it was noted, it has not begun; afterwards it goes through.
        assert names == (["docs"] if step < 2 else ["papers"])
        aliases = ("docs_too",) if step < 2 else ("docs", "docs_too")
        assert whole(case, case.store, names[0]).aliases == aliases


def test_a_deletion_that_is_cut_off_anywhere_is_finished_by_the_next_start(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    for step, case in _each_crash(runner, tmp_path, _with_alias, lambda store: store.drop("docs")):
        begun = step >= 1
        assert _names(case) == ([] if begun else ["docs"])
        if not begun:
            whole(case, case.store, "docs_too")


def test_a_switch_that_is_cut_off_anywhere_is_finished_by_the_next_start_and_mixes_nothing(
    runner: asyncio.Runner, tmp_path: Path
) -> None:
    """The copy that takes the place has fewer passages and no summaries."""

    def prepare(case: Case) -> None:
        _with_alias(case)
        copy = replace(case, name="docs_copy")
        copy.create()
        copy.insert(passage("a.md", 1), passage("b.md", 1))

    for step, case in _each_crash(
        runner, tmp_path, prepare, lambda store: store.take_place("docs", "docs_copy", "docs_before")
    ):
        old, new = ("docs_before", "docs") if step >= 2 else ("docs", "docs_copy")
        assert _names(case) == sorted([old, new])
        whole(case, case.store, old)
        info = case.run(case.store.describe(new))
        assert (info.passages, info.sources, info.summaries) == (2, 2, 0), step
        assert case.run(case.store.search_summaries(new, axes(1)[0], 5)) == []
        assert case.run(case.store.describe("docs_too")).name == "docs"


def test_an_unfinished_deletion_does_not_reach_a_collection_made_since(runner: asyncio.Runner, tmp_path: Path) -> None:
    case = _case(runner, tmp_path / "made.db")
    runner.run(case.store.open())
    filled(case)
    with pytest.MonkeyPatch.context() as patched:
        # The note, the summaries and the collection itself go; then the process dies.
        _dies_at(case.client(), 3, patched)
        with pytest.raises(StoreError):
            case.run(case.store.drop("docs"))
    filled(case, text="new")
    runner.run(case.store.close())
    after = _case(runner, tmp_path / "made.db")
    whole(after, after.store, "docs", "new")
    runner.run(after.store.close())
