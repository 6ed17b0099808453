"""Every graph store keeps the contract of ``GraphStore`` (GH-03)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import GraphStoreError
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.model.values import Community, Entity, PassageId, Relationship
from engine.roles.graph import PassageGraph, ReadEntity, ReadRelationship
from tests.contracts.graph_stores import GraphCase, case_of
from tests.support.errors import raises
from tests.support.graphs import reading

CHAIN = (
    reading("p1", "Aspirin -TREATS-> Pain"),
    reading("p2", "Pain -SIGN_OF-> Injury"),
    reading("p3", "Injury -CAUSED_BY-> Fall"),
)


@pytest.fixture
def graphs(tmp_path: Path) -> Iterator[GraphCase]:
    yield from case_of(lambda _: SqliteGraphs(tmp_path / "graphs.db"))


def entity(case: GraphCase, name: str) -> Entity:
    (found,) = case.run(case.store.named(case.name, [name]))
    assert isinstance(found, Entity)
    return found


def relationships(case: GraphCase, *ids: str) -> tuple[Relationship, ...]:
    around = case.run(case.store.neighbourhood(case.name, ids, 0, 100))
    assert isinstance(around.relationships, tuple)
    return around.relationships


def whole(case: GraphCase) -> Any:
    """Everything that a graph holds, for comparing."""
    entities = case.run(case.store.most_central(case.name, 100))
    around = case.run(case.store.neighbourhood(case.name, [item.id for item in entities], 0, 100))
    return entities, around, case.run(case.store.names(case.name)), case.run(case.store.done(case.name))


def community(*entities: str, passages: tuple[str, ...] = ("p1",), id: str = "c1") -> Community:
    return Community(id, "Title", "A summary.", entities, tuple(map(PassageId, passages)))


def test_where_nobody_began_a_graph_there_is_none_and_nothing_in_it(graphs: GraphCase) -> None:
    store, name = graphs.store, graphs.name
    assert graphs.run(store.describe(name)) is None
    assert graphs.run(store.done(name)) == {}
    assert graphs.run(store.names(name)) == {}
    for nothing in (store.named(name, ["a"]), store.entities(name, ["a"]), store.most_central(name, 3)):
        assert graphs.run(nothing) == []
    assert graphs.run(store.of_passages(name, [PassageId("p1")])) == []
    assert graphs.run(store.communities(name)) == []
    assert graphs.run(store.neighbourhood(name, ["a"], 2, 9)).entities == ()
    assert graphs.run(store.drop(name)) is False
    graphs.run(store.forget(name, [PassageId("p1")]))
    graphs.run(store.rename(name, f"{name}_new"))
    for refused in (store.add(name, [reading("p1", "A")]), store.finish(name, (), "f", "now")):
        with raises(GraphStoreError.missing):
            graphs.run(refused)


def test_a_name_in_other_letters_widths_and_spaces_is_the_same_entity(graphs: GraphCase) -> None:
    graphs.built(
        reading("p1", "Knowledge  Graph"), reading("p2", "ＫＮＯＷＬＥＤＧＥ graph"), reading("p3", "Knowledge Graph")
    )
    found = entity(graphs, "knowledge\tGRAPH")
    assert (found.id, found.name) == ("knowledge graph", "Knowledge Graph")
    assert found.passages == ("p1", "p2", "p3")
    assert graphs.run(graphs.store.describe(graphs.name)).entities == 1


def test_an_entity_has_what_all_its_passages_say_of_it(graphs: GraphCase) -> None:
    graphs.built(
        PassageGraph(PassageId("p1"), "h", (ReadEntity("知识图谱", "TERM", "短", ("KG",)),)),
        PassageGraph(PassageId("p2"), "h", (ReadEntity("知识图谱", "concept model", "更长的描述", ("图谱", "ＫＧ")),)),
    )
    found = entity(graphs, "kg")
    assert (found.id, found.type, found.description) == ("知识图谱", "CONCEPT_MODEL", "更长的描述")
    assert found.aliases == ("KG", "图谱")
    assert graphs.run(graphs.store.names(graphs.name)) == {
        "知识图谱": ("知识图谱",),
        "kg": ("知识图谱",),
        "图谱": ("知识图谱",),
    }


def test_a_name_may_stand_for_several_entities(graphs: GraphCase) -> None:
    reads = [ReadEntity("Mercury (planet)", aliases=("Mercury",)), ReadEntity("Hg", aliases=("Mercury",))]
    graphs.built(PassageGraph(PassageId("p1"), "h", tuple(reads)))
    assert [item.id for item in graphs.run(graphs.store.named(graphs.name, ["MERCURY"]))] == ["hg", "mercury (planet)"]
    assert graphs.run(graphs.store.names(graphs.name))["mercury"] == ("hg", "mercury (planet)")


def test_a_relationship_exists_only_between_entities_that_its_passage_names(graphs: GraphCase) -> None:
    known = (ReadEntity("A", aliases=("Alpha",)), ReadEntity("B"))
    read = (
        ReadRelationship("alpha", "B", "likes"),
        ReadRelationship("A", "Nobody"),
        ReadRelationship("A", "a"),
        ReadRelationship("A", "B", "NEVER", weight=0.0),
        ReadRelationship("A", "B", "ODD", weight=float("nan")),
    )
    graphs.built(PassageGraph(PassageId("p1"), "h", known, read), reading("p2", "Nobody"))
    assert relationships(graphs, "a", "b", "nobody") == (Relationship("a", "b", "LIKES", "", (PassageId("p1"),), 1.0),)


def test_a_relationship_keeps_its_direction_and_sums_up_how_often_it_is_stated(graphs: GraphCase) -> None:
    graphs.built(reading("p1", "A -TREATS-> B"), reading("p2", "B -TREATS-> A"), reading("p3", "A -TREATS-> B"))
    forth, back = relationships(graphs, "a", "b")
    assert (forth.source, forth.target, forth.passages, forth.weight) == ("a", "b", ("p1", "p3"), 2.0)
    assert (back.source, back.target, back.passages, back.weight) == ("b", "a", ("p2",), 1.0)
    assert entity(graphs, "a").degree == 2


def test_a_passage_read_again_says_only_what_was_read_last(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    graphs.run(graphs.store.add(graphs.name, [reading("p1", "Ibuprofen -TREATS-> Pain", text_hash="h2")]))
    assert graphs.run(graphs.store.named(graphs.name, ["Aspirin"])) == []
    assert [item.source for item in relationships(graphs, "pain", "ibuprofen")] == ["ibuprofen"]
    assert graphs.run(graphs.store.done(graphs.name)) == {"p1": "h2", "p2": "h1", "p3": "h1"}
    before = whole(graphs)
    graphs.run(graphs.store.add(graphs.name, [reading("p1", "Ibuprofen -TREATS-> Pain", text_hash="h2")]))
    assert whole(graphs) == before


def test_the_order_of_reading_makes_no_difference(graphs: GraphCase) -> None:
    graphs.built(*CHAIN, reading("p0", "Aspirin -TREATS-> Pain"))
    forwards = whole(graphs)
    graphs.run(graphs.store.drop(graphs.name))
    graphs.built(reading("p0", "Aspirin -TREATS-> Pain"))
    for read in reversed(CHAIN):
        graphs.run(graphs.store.add(graphs.name, [read]))
    assert whole(graphs) == forwards


def test_what_a_forgotten_passage_alone_said_is_gone(graphs: GraphCase) -> None:
    graphs.built(*CHAIN, reading("p4", "Aspirin -TREATS-> Pain"))
    graphs.run(graphs.store.finish(graphs.name, [community("injury", "fall", passages=("p3", "p2"))], "f", "now"))
    graphs.run(graphs.store.forget(graphs.name, [PassageId("p1"), PassageId("p3"), PassageId("unknown")]))
    assert [item.id for item in graphs.run(graphs.store.most_central(graphs.name, 9))] == ["pain", "aspirin", "injury"]
    assert entity(graphs, "Aspirin").passages == ("p4",)
    assert entity(graphs, "Injury").degree == 1
    (left,) = graphs.run(graphs.store.communities(graphs.name))
    assert (left.entities, left.passages) == (("injury",), ("p2",))
    assert set(graphs.run(graphs.store.done(graphs.name))) == {"p2", "p4"}
    graphs.run(graphs.store.forget(graphs.name, [PassageId("p2")]))
    assert graphs.run(graphs.store.communities(graphs.name)) == []
    graphs.run(graphs.store.forget(graphs.name, [PassageId("p4")]))
    info = graphs.run(graphs.store.describe(graphs.name))
    assert (info.entities, info.relationships, info.communities, info.passages) == (0, 0, 0, 0)
    assert graphs.run(graphs.store.names(graphs.name)) == {}


def test_a_graph_that_was_begun_continues_and_another_extractor_starts_over(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    begun = graphs.run(graphs.store.begin(graphs.name, "builtin"))
    assert (begun.passages, begun.entities, begun.relationships, begun.finished) == (3, 4, 3, False)
    done = graphs.run(graphs.store.finish(graphs.name, [community("pain")], "print", "2026-01-02T03:04:05+00:00"))
    assert done == graphs.run(graphs.store.describe(graphs.name))
    assert (done.fingerprint, done.built_at, done.communities) == ("print", "2026-01-02T03:04:05+00:00", 1)
    again = graphs.run(graphs.store.begin(graphs.name, "builtin"))
    assert again == replace(done, fingerprint="", built_at="")
    other = graphs.run(graphs.store.begin(graphs.name, "ollama:qwen3"))
    assert (other.extractor, other.passages, other.entities, other.communities) == ("ollama:qwen3", 0, 0, 0)
    assert graphs.run(graphs.store.done(graphs.name)) == {}


def test_a_neighbourhood_goes_out_in_both_directions_nearest_first(graphs: GraphCase) -> None:
    graphs.built(*CHAIN, reading("p4", "Fall -AT-> Home"))
    around = graphs.run(graphs.store.neighbourhood(graphs.name, ["injury", "unknown"], 1, 10))
    assert around.hops == {"injury": 0, "fall": 1, "pain": 1}
    assert [item.id for item in around.entities] == ["injury", "fall", "pain"]
    assert [item.id for item in around.relationships] == ["injury|CAUSED_BY|fall", "pain|SIGN_OF|injury"]
    further = graphs.run(graphs.store.neighbourhood(graphs.name, ["injury"], 2, 10))
    assert further.hops == {"injury": 0, "fall": 1, "pain": 1, "aspirin": 2, "home": 2}


def test_a_neighbourhood_has_no_more_entities_than_asked_for(graphs: GraphCase) -> None:
    graphs.built(reading("p1", *(f"Hub -HAS-> part {number}" for number in range(9)), "part 7 -IN-> box"))
    around = graphs.run(graphs.store.neighbourhood(graphs.name, ["hub"], 3, 4))
    assert [item.id for item in around.entities] == ["hub", "part 7", "part 0", "part 1"]
    assert {end for item in around.relationships for end in (item.source, item.target)} == set(around.hops)
    few = graphs.run(graphs.store.neighbourhood(graphs.name, ["part 0", "part 7", "hub"], 1, 2))
    assert [item.id for item in few.entities] == ["hub", "part 7"]


def test_heavy_relationships_come_first(graphs: GraphCase) -> None:
    graphs.built(reading("p1", "A -X-> B", "C -X-> A"), reading("p2", "C -X-> A"))
    assert [item.id for item in relationships(graphs, "a", "b", "c")] == ["c|X|a", "a|X|b"]


def test_entities_of_passages_are_those_they_speak_of_most_first(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    found = graphs.run(graphs.store.of_passages(graphs.name, [PassageId("p1"), PassageId("p2"), PassageId("no")]))
    assert [item.id for item in found] == ["pain", "injury", "aspirin"]
    assert graphs.run(graphs.store.of_passages(graphs.name, [])) == []


def test_entities_come_in_the_order_asked_for(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    asked = ["injury", "unknown", "aspirin", "injury"]
    assert [item.id for item in graphs.run(graphs.store.entities(graphs.name, asked))] == ["injury", "aspirin"]


def test_communities_replace_former_ones_and_name_only_what_there_is(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    graphs.run(graphs.store.finish(graphs.name, [community("fall", id="old")], "f", "now"))
    sets = [
        community("pain", "no such", id="b", passages=("p2", "p1", "gone")),
        community("aspirin", "fall", id="c"),
        community("nobody", id="empty"),
        community("injury", id="a"),
    ]
    graphs.run(graphs.store.finish(graphs.name, sets, "f", "now"))
    found = graphs.run(graphs.store.communities(graphs.name))
    assert [(item.id, item.entities) for item in found] == [
        ("c", ("aspirin", "fall")),
        ("a", ("injury",)),
        ("b", ("pain",)),
    ]
    assert found[2].passages == ("p2", "p1")
    assert {entity(graphs, name).community for name in ("Aspirin", "Fall")} == {"c"}


def test_graphs_of_two_collections_know_nothing_of_each_other(graphs: GraphCase) -> None:
    other = f"{graphs.name}_other"
    graphs.built(*CHAIN)
    graphs.built(reading("p1", "Pain -IS-> Sense"), name=other, extractor="other")
    before = whole(graphs)
    assert graphs.run(graphs.store.named(other, ["Aspirin"])) == []
    assert graphs.run(graphs.store.neighbourhood(other, ["pain"], 3, 9)).hops == {"pain": 0, "sense": 1}
    graphs.run(graphs.store.forget(other, [PassageId("p1")]))
    assert graphs.run(graphs.store.drop(other)) is True
    assert graphs.run(graphs.store.describe(other)) is None
    assert whole(graphs) == before


def test_a_renamed_graph_is_the_same_and_takes_the_place_of_one_left_behind(graphs: GraphCase) -> None:
    new = f"{graphs.name}_new"
    graphs.built(*CHAIN)
    graphs.built(reading("p9", "Left behind"), name=new)
    before = graphs.run(graphs.store.describe(graphs.name))
    graphs.run(graphs.store.rename(graphs.name, new))
    assert graphs.run(graphs.store.describe(graphs.name)) is None
    assert graphs.run(graphs.store.describe(new)) == replace(before, collection=new)
    assert graphs.run(graphs.store.named(new, ["Left behind"])) == []
    graphs.run(graphs.store.rename(new, new))
    assert graphs.run(graphs.store.describe(new)).entities == 4


@pytest.mark.parametrize(
    "name",
    [
        "'; DROP TABLE entities; --",
        '"}) DETACH DELETE n //',
        "`x`]->() RETURN 1",
        "$graph {a: 1} | 50% \\' \\\\",
        "<img src=x onerror=alert(1)>",
        "\ud800half a character\x00",
        "🙂 ไทย العربية",
    ],
)
def test_nothing_in_a_name_is_ever_a_command(graphs: GraphCase, name: str) -> None:
    graphs.built(
        PassageGraph(
            PassageId(name.replace("\ud800", "").replace("\x00", "")),
            "h",
            (ReadEntity(name, name, name, (f"alias {name}",)), ReadEntity("Pain")),
            (ReadRelationship(name, "Pain", name, name),),
        )
    )
    (found,) = graphs.run(graphs.store.named(graphs.name, [name]))
    (related,) = relationships(graphs, found.id, "pain")
    assert (related.source, related.target) == (found.id, "pain")
    assert len(graphs.run(graphs.store.named(graphs.name, [f"ALIAS {name}"]))) == 1
    assert graphs.run(graphs.store.describe(graphs.name)).entities == 2
    assert graphs.run(graphs.store.neighbourhood(graphs.name, [name], 1, 5)).hops.keys() <= {found.id, "pain"}


def test_what_is_no_name_is_left_out(graphs: GraphCase) -> None:
    names = ("", "  ", "\x00", "x" * 201, "kept")
    graphs.built(PassageGraph(PassageId("p1"), "h", tuple(ReadEntity(item, aliases=("", "y" * 300)) for item in names)))
    assert graphs.run(graphs.store.names(graphs.name)) == {"kept": ("kept",)}
    assert graphs.run(graphs.store.done(graphs.name)) == {"p1": "h"}


def test_a_graph_is_still_there_for_the_next_process(graphs: GraphCase) -> None:
    graphs.built(*CHAIN)
    again = graphs.again()
    try:
        assert graphs.run(again.describe(graphs.name)) == graphs.run(graphs.store.describe(graphs.name))
        assert graphs.run(again.most_central(graphs.name, 2)) == graphs.run(graphs.store.most_central(graphs.name, 2))
    finally:
        graphs.run(again.close())
