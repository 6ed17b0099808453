"""Names of collections in a store: aliases, renaming, taking another's place, deleting."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from engine.errors import StoreError, UnknownCollection
from engine.knowledge.milvus_store import MilvusStore
from engine.model.values import PassageId
from engine.roles import CollectionInfo, Summaries
from tests.contracts.stores import Case, axes, passage
from tests.support.errors import Expected, raises


def filled(case: Case, name: str = "", text: str = "first") -> str:
    """A collection of two sources, one with a summary."""
    name = case.create(name)
    kept = Summaries((passage("a.md", 0, f"summary {text}"),), axes(1))
    passages = [passage("a.md", 1, text), passage("a.md", 2, text), passage("b.md", 1, text)]
    case.run(case.store.insert(name, passages, axes(3), kept))
    return name


def whole(case: Case, store: MilvusStore, name: str, text: str = "first") -> CollectionInfo:
    """The collection under a name, which has everything that :func:`_filled` put in."""
    info: CollectionInfo = case.run(store.describe(name))
    assert (info.passages, info.sources, info.summaries, info.embedding_model) == (3, 2, 1, "model:a")
    assert [(item.source, item.passages) for item in case.run(store.sources(name))] == [("a.md", 2), ("b.md", 1)]
    hits = case.run(store.search(name, axes(3)[2], 5))
    assert (hits[0].passage.source, {hit.passage.text for hit in hits}) == ("b.md", {text})
    (summary,) = case.run(store.search_summaries(name, axes(1)[0], 3))
    assert summary.passage.text == f"summary {text}"
    return info


def test_a_renamed_collection_is_the_same_under_its_new_name_alone(case: Case) -> None:
    old = filled(case)
    before = case.run(case.store.describe(old))
    new = f"{old}_new"
    assert case.run(case.store.rename(old, new)) == replace(before, name=new)
    whole(case, case.store, new)
    with pytest.raises(UnknownCollection):
        case.run(case.store.describe(old))
    names = [info.name for info in case.run(case.store.collections())]
    assert new in names
    assert old not in names
    case.run(case.store.insert(new, [passage("c.md", 1)], axes(4)[3:]))
    assert case.run(case.store.describe(new)).sources == 3
    # The old name is free for another collection, which has nothing of the first.
    case.create(old)
    assert case.run(case.store.describe(old)).sources == 0


def test_a_renamed_collection_can_keep_its_old_name_as_an_alias(case: Case) -> None:
    old = filled(case)
    new = f"{old}_new"
    assert case.run(case.store.rename(old, new, keep_old=True)).aliases == (old,)
    assert whole(case, case.store, old).name == new


def test_an_alias_is_good_wherever_a_name_is(case: Case) -> None:
    name = filled(case)
    alias = f"{name}_too"
    assert case.run(case.store.set_alias(alias, name)).aliases == (alias,)
    assert whole(case, case.store, alias) == case.run(case.store.describe(name))
    listed = {info.name: info for info in case.run(case.store.collections())}
    assert listed[name].aliases == (alias,)
    assert alias not in listed
    case.run(case.store.insert(alias, [passage("c.md", 1)], axes(4)[3:]))
    assert [item.id for item in case.run(case.store.passages(alias, "c.md"))] == ["c.md#1"]
    assert [item.id for item in case.run(case.store.get(alias, [PassageId("c.md#1")]))] == ["c.md#1"]
    assert set(case.run(case.store.vectors(alias, [PassageId("c.md#1")]))) == {"c.md#1"}
    assert case.run(case.store.set_query_prefix(alias, "q: ")).query_prefix == "q: "
    assert case.run(case.store.delete_source(alias, "c.md")) == 1
    assert case.run(case.store.describe(name)).query_prefix == "q: "


def test_an_alias_can_lead_elsewhere_and_be_removed(case: Case) -> None:
    first, second = filled(case), filled(case, f"{case.name}_b", "other")
    alias = f"{case.name}_too"
    for target, text in ((first, "first"), (second, "other"), (second, "other")):
        case.run(case.store.set_alias(alias, target))
        assert whole(case, case.store, alias, text).name == target
    case.run(case.store.drop_alias(alias))
    with pytest.raises(UnknownCollection):
        case.run(case.store.describe(alias))
    for name in (alias, first, "no such name"):
        with raises(StoreError.unknown_alias):
            case.run(case.store.drop_alias(name))


def test_names_and_aliases_are_never_given_twice(case: Case) -> None:
    first, second = filled(case), case.create(f"{case.name}_b")
    alias = f"{case.name}_too"
    case.run(case.store.set_alias(alias, first))
    refused: list[tuple[Expected, Coroutine[Any, Any, Any]]] = [
        (StoreError.collection_exists, case.store.set_alias(second, first)),
        (StoreError.collection_exists, case.store.rename(first, second)),
        (StoreError.alias_taken, case.store.rename(second, alias)),
        (StoreError.collection_exists, case.store.create(CollectionInfo(alias, "m", 4, "", "", ""))),
        (StoreError.invalid_collection_name, case.store.set_alias("workbench_x", first)),
        (StoreError.invalid_collection_name, case.store.rename(first, "no such name")),
        (UnknownCollection, case.store.set_alias(f"{alias}_b", f"{first}_gone")),
        (UnknownCollection, case.store.rename(f"{first}_gone", f"{first}_c")),
        (StoreError.alias_taken, case.store.drop(alias)),
    ]
    for error, call in refused:
        with raises(error):
            case.run(call)
    whole(case, case.store, alias)
    assert case.run(case.store.describe(second)).sources == 0


def test_a_deleted_collection_takes_its_summaries_and_aliases_along(case: Case) -> None:
    name = filled(case)
    case.run(case.store.set_alias(f"{name}_too", name))
    case.run(case.store.drop(name))
    for gone in (name, f"{name}_too"):
        with pytest.raises(UnknownCollection):
            case.run(case.store.describe(gone))
    case.create(name)
    assert case.run(case.store.describe(name)).aliases == ()
    assert case.run(case.store.search_summaries(name, axes(1)[0], 3)) == []
    assert not [found for found in case.client().list_collections() if found.endswith(f"summaries_{name}")]


def test_a_collection_of_another_program_keeps_its_name(case: Case) -> None:
    case.create()
    name = f"{case.name}_theirs"
    case.client().create_collection(name, dimension=4)
    for call in (
        case.store.rename(name, f"{name}_b"),
        case.store.drop(name),
        case.store.take_place(name, case.name, "x"),
    ):
        with raises(StoreError.foreign_collection):
            case.run(call)
    assert case.run(case.store.describe(name)).name == name


def test_a_copy_takes_the_name_and_the_aliases_of_a_collection(case: Case) -> None:
    name, copy = filled(case), filled(case, f"{case.name}_copy", "copy")
    case.run(case.store.set_alias(f"{name}_too", name))
    info = case.run(case.store.take_place(name, copy, f"{name}_before"))
    assert (info.name, info.aliases) == (name, (f"{name}_too",))
    whole(case, case.store, name, "copy")
    whole(case, case.store, f"{name}_too", "copy")
    whole(case, case.store, f"{name}_before")
    with pytest.raises(UnknownCollection):
        case.run(case.store.describe(copy))


def test_what_a_collection_holds_can_be_described(case: Case) -> None:
    name = filled(case)
    description = '说明 "x"\nsecond line'
    assert case.run(case.store.set_description(name, description)).description == description
    assert case.run(case.store.rename(name, f"{name}_b")).description == description
