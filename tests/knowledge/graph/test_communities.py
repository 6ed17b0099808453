"""Entities that belong together are found by their relationships, the same ones every time (GH-03)."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from engine.knowledge.graph.communities import LARGEST, communities_of, community_id
from engine.model.values import Entity, PassageId, Relationship


def cliques(*sizes: int) -> tuple[list[Entity], list[Relationship]]:
    """Groups in which everything is related, one relationship from each group to the next."""
    groups = [[f"g{group} e{number:03}" for number in range(size)] for group, size in enumerate(sizes)]
    ends = [pair for group in groups for pair in combinations(group, 2)]
    ends += [(one[-1], other[0]) for one, other in pairwise(groups)]
    return graph_of(ends)


def graph_of(ends: Sequence[tuple[str, str]]) -> tuple[list[Entity], list[Relationship]]:
    relationships = [
        Relationship(one, other, "RELATED_TO", passages=(PassageId(f"p{number:04}"),))
        for number, (one, other) in enumerate(ends)
    ]
    names = sorted({name for pair in ends for name in pair})
    named = {
        name: tuple(item.passages[0] for item in relationships if name in (item.source, item.target)) for name in names
    }
    return [Entity(name, name, "TERM", passages=named[name], degree=len(named[name])) for name in names], relationships


def test_groups_that_hang_together_are_communities_largest_first() -> None:
    found = communities_of(*cliques(4, 6, 5))
    assert [{id_[:2] for id_ in item.entities} for item in found] == [{"g1"}, {"g2"}, {"g0"}]
    assert [len(item.entities) for item in found] == [6, 5, 4]


def test_the_order_of_what_is_given_makes_no_difference() -> None:
    entities, relationships = cliques(7, 5, 9, 6)
    first = communities_of(entities, relationships)
    shuffled = random.Random(3)
    for _ in range(5):
        shuffled.shuffle(entities)
        shuffled.shuffle(relationships)
        assert communities_of(entities, relationships) == first


def test_another_process_with_other_hashes_finds_the_same() -> None:
    code = (
        "from tests.knowledge.graph.test_communities import cliques, communities_of\n"
        "print([item.entities for item in communities_of(*cliques(70, 12, 9))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "77"}, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == str([item.entities for item in communities_of(*cliques(70, 12, 9))])


def test_the_most_central_comes_first_and_the_most_telling_passage() -> None:
    entities, relationships = graph_of(list(combinations(("a", "b", "c", "hub"), 2)))
    stated_twice = [*relationships[:-1], replace(relationships[-1], weight=1.5)]
    (found,) = communities_of(entities, stated_twice)
    assert found.entities == ("c", "hub", "a", "b")
    assert found.passages[0] == "p0000"
    assert found.id == community_id(("b", "a", "hub", "c"))
    heavier = [*relationships, Relationship("c", "b", "ALSO", passages=(PassageId("p0005"),), weight=0.2)]
    (found,) = communities_of(entities, heavier)
    assert found.entities == ("b", "c", "a", "hub")
    assert found.passages[0] == "p0005"


def test_a_community_too_large_to_sum_up_is_divided_where_it_can_be() -> None:
    # A ring of many small groups: at the usual resolution Louvain joins neighbouring ones.
    entities, relationships = cliques(*[4] * 120)
    found = communities_of(entities, relationships)
    assert max(len(item.entities) for item in found) <= LARGEST
    assert sum(len(item.entities) for item in found) == 480


def test_a_wheel_around_one_hub_stays_whole() -> None:
    (found,) = communities_of(*graph_of([("hub", f"spoke {number}") for number in range(LARGEST + 20)]))
    assert (found.entities[0], len(found.entities)) == ("hub", LARGEST + 21)


def test_what_is_related_to_nothing_belongs_to_no_community() -> None:
    entities, relationships = cliques(3)
    found = communities_of([*entities, Entity("alone", "alone", "TERM")], relationships)
    assert ["alone" in item.entities for item in found] == [False]
    assert communities_of([Entity("alone", "alone", "TERM")], []) == []
    assert communities_of([], relationships) == []
