"""The contract of ``PassageStore`` for searches within kinds and sections, for Milvus Lite and a Milvus server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.model.values import SOURCE_KINDS, PassageId, SourceKind
from engine.roles import StoredPassage, Within
from tests.contracts.stores import DIM, Case, axes, passage

HOSTILE = ("a'b", 'a"b', "a\\", '" or source != "', "a\nb", '"] or ("" == "', "中文😀", "%")


def of_kind(source: str, kind: Any, section: str = "") -> StoredPassage:
    return passage(source, 1, section=section, meta={} if kind is None else {"kind": kind})


def found(case: Case, within: Within, name: str = "", dim: int = DIM) -> list[str]:
    hits = case.run(case.store.search(name or case.name, axes(1, dim)[0], 50, within))
    return sorted(hit.passage.id for hit in hits)


KINDS: Sequence[tuple[tuple[SourceKind, ...], list[str]]] = (
    (("temporal",), ["log#1"]),
    (("graph",), ["notes#1"]),
    (("vector",), ["book#1", "odd#1", "old#1"]),
    (("graph", "temporal"), ["log#1", "notes#1"]),
    (("vector", "temporal"), ["book#1", "log#1", "odd#1", "old#1"]),
    (("graph", "vector"), ["book#1", "notes#1", "odd#1", "old#1"]),
    (SOURCE_KINDS, ["book#1", "log#1", "notes#1", "odd#1", "old#1"]),
    ((), ["book#1", "log#1", "notes#1", "odd#1", "old#1"]),
)


def test_a_search_within_kinds_finds_their_passages_and_takes_one_without_a_kind_for_vector(case: Case) -> None:
    """QL-03: a passage's kind is that of its source; what was ingested before there were kinds is ``vector``."""
    case.create()
    assert case.run(case.store.describe(case.name)).kinds == ()
    case.insert(
        of_kind("log", "temporal"),
        of_kind("notes", "graph"),
        of_kind("book", "vector"),
        of_kind("old", None),
        of_kind("odd", "something else"),
    )
    assert {kinds: found(case, Within(kinds=kinds)) for kinds, _ in KINDS} == dict(KINDS)
    (hit,) = case.run(case.store.search(case.name, axes(1)[0], 1, Within(kinds=("graph",))))
    assert hit.passage.kind == "graph"
    assert case.run(case.store.describe(case.name)).kinds == SOURCE_KINDS
    case.run(case.store.delete_source(case.name, "notes"))
    assert case.run(case.store.describe(case.name)).kinds == ("vector", "temporal")
    assert {item.source: item.kind for item in case.run(case.store.sources(case.name))} == {
        "log": "temporal",
        "book": "vector",
        "old": "vector",
        "odd": "vector",
    }


def test_a_restricted_search_ranks_like_a_full_one(case: Case) -> None:
    """QL-03"""
    case.create()
    kinds = ("temporal", "vector", "graph", "temporal", "vector", "temporal")
    case.insert(*(of_kind(f"s{n}", kind) for n, kind in enumerate(kinds)))
    query = np.arange(1, DIM + 1, dtype=np.float32)
    every = case.run(case.store.search(case.name, query, 50))
    hits = case.run(case.store.search(case.name, query, 2, Within(kinds=("temporal",))))
    assert hits == [hit for hit in every if hit.passage.kind == "temporal"][:2]
    assert [hit.passage.id for hit in hits] == ["s5#1", "s3#1"]


def test_a_search_within_sections_finds_these_sections_of_these_sources_alone(case: Case) -> None:
    """DL-03: passages inside the sections whose summaries came near."""
    case.create()
    case.insert(
        passage("a", 1, section="One"),
        passage("a", 2, section="Two"),
        passage("b", 1, section="One"),
        passage("b", 2, section="Two"),
        passage("c", 1),
        passage("c", 2, section="One", meta={"kind": "temporal"}),
    )
    assert found(case, Within(sections=(("a", "Two"), ("b", "One")))) == ["a#2", "b#1"]
    assert found(case, Within(sections=(("a", ""), ("a", "Two"), ("b", "Two")))) == ["a#1", "a#2", "b#2"]
    assert found(case, Within(sections=(("c", ""),), kinds=("temporal",))) == ["c#2"]
    assert found(case, Within(sections=(("c", ""),), kinds=("vector",))) == ["c#1"]
    assert found(case, Within(sections=(("nowhere", ""), ("a", "Three")))) == []


def test_many_sections_can_be_searched_at_once(case: Case) -> None:
    case.create()
    case.insert(passage("a", 1, section="One"))
    others = tuple((f"s{n}", "One") for n in range(200))
    assert found(case, Within(sections=(*others, ("a", "One")))) == ["a#1"]


def test_names_of_sources_and_sections_cannot_change_the_filter(case: Case) -> None:
    case.create()
    stored = [passage(name, 1, section=other) for name, other in zip(HOSTILE, reversed(HOSTILE), strict=True)]
    case.insert(*stored)
    for item in stored:
        assert found(case, Within(sections=((item.source, item.section),))) == [item.id]
        assert found(case, Within(sections=((item.source, ""),), kinds=("vector",))) == [item.id]
        assert found(case, Within(sections=((item.source, item.source),))) == []


def test_kinds_of_a_name_we_do_not_know_are_vector(case: Case) -> None:
    item = replace(passage("a", 1), meta={"kind": '" or "" == "'})
    case.create()
    case.insert(item)
    assert item.kind == "vector"
    assert found(case, Within(kinds=("vector",))) == ["a#1"]


@pytest.mark.parametrize("named", [True, False])
def test_everything_of_another_program_is_vector(case: Case, named: bool) -> None:
    """QL-03: a collection that lacks our fields keeps working."""
    case.create()
    name = f"{case.name}_theirs"
    case.client().create_collection(name, dimension=4)
    more = {"file": "f.txt", "heading": "One"} if named else {}
    case.client().insert(name, [{"id": 1, "vector": [1.0, 0.0, 0.0, 0.0], "content": "words", **more}])
    assert case.run(case.store.describe(name)).kinds == ("vector",)
    assert found(case, Within(kinds=("vector",)), name, 4) == ["1"]
    assert found(case, Within(kinds=("temporal", "graph")), name, 4) == []
    source, section = ("f.txt", "One") if named else (name, "")
    assert found(case, Within(sections=((source, section),)), name, 4) == ["1"]
    assert found(case, Within(sections=((source, ""), ("other", ""))), name, 4) == ["1"]
    assert found(case, Within(sections=(("other", ""), (source, "Two"))), name, 4) == []
    assert case.run(case.store.get(name, [PassageId("1")]))[0].kind == "vector"
