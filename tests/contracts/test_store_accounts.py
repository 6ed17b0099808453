"""The contract of ``PassageStore`` for what was read of a source, for Milvus Lite and a Milvus server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import Account, SourceNote
from engine.roles import NO_SUMMARIES, StoredPassage
from tests.contracts.stores import Case, axes, passage

WHOLE = Account({"paragraphs": 3}, (SourceNote("encoding", {"encoding": "gb18030"}),))
PART = Account({"sheets": 2}, (SourceNote("sheets_hidden", {"count": "1", "sheets": '密 "x"'}),), hidden=True)


def insert(case: Case, accounts: dict[str, Account], *passages: StoredPassage) -> None:
    case.run(case.store.insert(case.name, list(passages), axes(len(passages)), NO_SUMMARIES, accounts))


def kept(case: Case, name: str = "") -> dict[str, Account | None]:
    return {item.source: item.account for item in case.run(case.store.sources(name or case.name))}


def test_an_account_stays_with_its_source_and_the_collection_counts_what_is_not_whole(case: Case) -> None:
    """BE-02"""
    case.create()
    insert(case, {}, passage("a.md", 1), passage("b.xlsx", 1), passage("c.md", 1))
    before = case.run(case.store.describe(case.name))
    assert (before.incomplete, before.unaccounted) == (0, 3)
    insert(case, {"a.md": WHOLE, "b.xlsx": PART}, passage("a.md", 1), passage("b.xlsx", 1), passage("c.md", 1))
    assert kept(case) == {"a.md": WHOLE, "b.xlsx": PART, "c.md": None}
    # A guess at an encoding leaves nothing out.
    assert case.run(case.store.describe(case.name)) == replace(before, incomplete=1, unaccounted=1)

    async def reopened() -> dict[str, Account | None]:
        store = MilvusStore(case.store.uri, timeout_s=30)
        try:
            return {item.source: item.account for item in await store.sources(case.name)}
        finally:
            await store.close()

    case.run(case.store.close())
    assert case.run(reopened()) == {"a.md": WHOLE, "b.xlsx": PART, "c.md": None}


def test_another_version_of_a_source_brings_its_own_account_and_none_outlives_its_source(case: Case) -> None:
    case.create()
    insert(case, {"a.md": PART}, passage("a.md", 1))
    insert(case, {"a.md": WHOLE}, passage("a.md", 1, "new"))
    assert kept(case) == {"a.md": WHOLE}
    insert(case, {}, passage("a.md", 1, "of unknown origin"))
    assert kept(case) == {"a.md": None}
    insert(case, {"a.md": PART}, passage("a.md", 1))
    case.run(case.store.delete_source(case.name, "a.md"))
    insert(case, {}, passage("a.md", 1))
    assert kept(case) == {"a.md": None}


def test_an_account_can_be_recorded_later_and_goes_along_with_a_renamed_collection(case: Case) -> None:
    case.create()
    insert(case, {}, passage("a.md", 1))
    before = case.run(case.store.describe(case.name))
    case.run(case.store.record_accounts(case.name, {"a.md": PART, "gone.md": WHOLE}))
    assert kept(case) == {"a.md": PART}
    after = case.run(case.store.describe(case.name))
    assert after == replace(before, incomplete=1, unaccounted=0)
    renamed = f"{case.name}_2"
    case.run(case.store.rename(case.name, renamed))
    assert kept(case, renamed) == {"a.md": PART}
    case.run(case.store.rename(renamed, case.name))


@pytest.mark.parametrize("found", [None, "words", [], {}, {"read": 3}, {"read": {}, "notes": [3], "hidden": False}])
def test_what_is_no_account_counts_as_not_recorded(found: object) -> None:
    assert Account.of(found) is None


def test_an_account_comes_back_as_it_was_written() -> None:
    assert Account.of(PART.to_dict()) == PART
