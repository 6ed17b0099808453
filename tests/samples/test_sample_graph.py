"""The graph of the samples: every relationship supported by what it quotes, and put in without losing anything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import GraphStoreError
from engine.knowledge import sample_graph as sample_graphs
from engine.knowledge.graph.names import normalised, type_name
from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.knowledge.sample_graph import (
    SAMPLE_EXTRACTOR,
    SampleGraphFile,
    ensure_sample_graph,
    sample_graph,
    sample_graph_files,
)
from engine.knowledge.samples import sample_sources
from engine.model.values import SAMPLE_COLLECTION, PassageId
from engine.roles import CollectionInfo
from engine.samples import multi_hop_questions, sample_questions

Run = Callable[[Coroutine[Any, Any, Any]], Any]
TEXTS = {passage.id: passage.text for source in sample_sources() for passage in source.passages}
LONGEST_QUOTE = 120
BY_FILE = pytest.mark.parametrize("file", sample_graph_files(), ids=lambda file: file.topic)


@dataclass
class Collection:
    """What a passage store says of the sample collection."""

    passages: int = len(TEXTS)
    fingerprint: str = "as shipped"

    async def describe(self, collection: str) -> CollectionInfo:
        info = CollectionInfo(collection, "m", 4, "", "", "")
        return replace(info, passages=self.passages, fingerprint=self.fingerprint)


@pytest.fixture
def graphs(tmp_path: Path, run: Run) -> Iterator[SqliteGraphs]:
    opened = SqliteGraphs(tmp_path / "graphs.db")
    yield opened
    run(opened.close())


def _names(file: SampleGraphFile) -> dict[str, tuple[str, ...]]:
    return {item.entity.name: (item.entity.name, *item.entity.aliases) for item in file.entities}


def _named(names: tuple[str, ...], passage: PassageId) -> bool:
    text = normalised(TEXTS[passage])
    # A plural is found by its singular and the other way round, as a search of names finds it.
    return any(normalised(name).removesuffix("s") in text for name in names)


def _around(entity: str) -> set[PassageId]:
    """Passages of an entity and of those that it is related to."""
    ties = [
        item for file in sample_graph_files() for item in file.relationships if entity in (item.source, item.target)
    ]
    meant = {entity} | {end for item in ties for end in (item.source, item.target)}
    entities = (item for file in sample_graph_files() for item in file.entities if item.entity.name in meant)
    return {passage for item in entities for passage in item.passages}


def test_each_language_has_a_graph_worth_searching() -> None:
    """GH-03: entities, relationships and communities with summaries, in both languages."""
    assert [file.topic for file in sample_graph_files()] == ["dc.en", "dc.zh", "dm.en", "dm.zh"]
    for language in (".en", ".zh"):
        files = [file for file in sample_graph_files() if file.topic.endswith(language)]
        assert sum(len(file.entities) for file in files) >= 100
        assert sum(len(file.relationships) for file in files) >= 150
        assert sum(len(file.communities) for file in files) >= 10


@BY_FILE
def test_every_entity_stands_by_name_or_alias_in_each_of_its_passages(file: SampleGraphFile) -> None:
    """GH-03."""
    names = _names(file)
    for item in file.entities:
        assert item.passages, item.entity.name
        assert item.entity.description
        assert type_name(item.entity.type, "") == item.entity.type
        for passage in item.passages:
            assert _named(names[item.entity.name], passage), (item.entity.name, passage)


@BY_FILE
def test_every_relationship_points_at_passages_that_name_both_ends_and_say_what_is_quoted(
    file: SampleGraphFile,
) -> None:
    """GH-03: a relationship is supported by what it names."""
    passages = {item.entity.name: set(item.passages) for item in file.entities}
    for tie in file.relationships:
        assert tie.quotes, tie
        assert type_name(tie.type, "") == tie.type
        assert tie.source != tie.target
        for passage, quote in tie.quotes.items():
            assert passage in passages[tie.source] & passages[tie.target], (tie, passage)
            assert quote in TEXTS[passage], (tie, passage)
            assert 4 <= len(quote) <= LONGEST_QUOTE


@BY_FILE
def test_no_name_stands_for_two_entities_and_nothing_is_said_twice(file: SampleGraphFile) -> None:
    names = [normalised(name) for all_names in _names(file).values() for name in all_names]
    assert sorted(set(names)) == sorted(names)
    ties = [(item.source, item.type, item.target) for item in file.relationships]
    assert len(set(ties)) == len(ties)


@BY_FILE
def test_every_entity_is_related_to_another_and_belongs_to_one_community(file: SampleGraphFile) -> None:
    """GH-03."""
    entities = {item.entity.name for item in file.entities}
    related = {end for tie in file.relationships for end in (tie.source, tie.target)}
    assert related == entities
    members = [name for community in file.communities for name in community.entities]
    assert sorted(members) == sorted(entities)


def test_the_languages_share_no_entity_so_that_no_search_comes_to_the_other_one() -> None:
    by_language = {"en": set[str](), "zh": set[str]()}
    for file in sample_graph_files():
        by_language[file.topic[-2:]] |= {normalised(item.entity.name) for item in file.entities}
        for item in file.entities:
            assert all(f".{file.topic[-2:]}." in passage for passage in item.passages), item
    assert not by_language["en"] & by_language["zh"]


def test_each_community_has_a_summary_and_the_passages_that_tell_of_it() -> None:
    """GH-02, GH-03: global mode searches summaries, then their passages."""
    for community in sample_graph().communities:
        assert len(community.entities) >= 3
        assert len(community.summary) >= 30
        assert community.passages, community.id


def test_the_first_start_puts_the_graph_in_and_the_next_one_writes_nothing(graphs: SqliteGraphs, run: Run) -> None:
    """GH-03: the graph of the samples is there without building anything."""
    assert run(ensure_sample_graph(graphs, Collection()))
    info = run(graphs.describe(SAMPLE_COLLECTION))
    assert (info.extractor, info.finished, info.fingerprint) == (SAMPLE_EXTRACTOR, True, "as shipped")
    assert info.passages == len(TEXTS)
    assert info.entities == sum(len(file.entities) for file in sample_graph_files())
    assert info.relationships == sum(len(file.relationships) for file in sample_graph_files())
    assert info.communities == sum(len(file.communities) for file in sample_graph_files())
    found = run(graphs.neighbourhood(SAMPLE_COLLECTION, ["leonard thompson"], 2, 40))
    assert found.hops["john macleod"] == 2
    assert not run(ensure_sample_graph(graphs, Collection()))


def test_what_changed_is_read_again_what_is_gone_goes_and_an_interrupted_start_is_finished(
    graphs: SqliteGraphs, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = sample_graph()
    changed = replace(now.passages[0], text_hash="of an earlier version", entities=())
    gone = replace(now.passages[0], passage=PassageId("gone.en.md#1"))
    earlier = replace(now, passages=(changed, *now.passages[1:], gone), communities=now.communities[1:])
    monkeypatch.setattr(sample_graphs, "sample_graph", lambda: earlier)
    monkeypatch.setattr(sample_graphs, "noted", lambda: None)
    run(ensure_sample_graph(graphs, Collection()))
    run(graphs.begin(SAMPLE_COLLECTION, SAMPLE_EXTRACTOR))
    monkeypatch.undo()
    assert run(ensure_sample_graph(graphs, Collection()))
    assert run(graphs.done(SAMPLE_COLLECTION)) == {item.passage: item.text_hash for item in now.passages}
    assert set(run(graphs.communities(SAMPLE_COLLECTION))) == set(now.communities)
    assert run(graphs.describe(SAMPLE_COLLECTION)).finished


def test_a_graph_that_a_person_built_stays_and_sources_of_their_own_make_the_shipped_one_stale(
    graphs: SqliteGraphs, run: Run
) -> None:
    """GH-03: nothing that was paid for is lost, and a graph never passes for one of passages it has not read."""
    more = Collection(passages=len(TEXTS) + 1, fingerprint="with mine")
    run(ensure_sample_graph(graphs, more))
    assert run(graphs.describe(SAMPLE_COLLECTION)).fingerprint not in ("", "with mine")
    run(graphs.begin(SAMPLE_COLLECTION, "ollama:qwen3"))
    assert not run(ensure_sample_graph(graphs, more))
    assert run(graphs.describe(SAMPLE_COLLECTION)).extractor == "ollama:qwen3"


def test_a_damaged_file_of_graphs_is_an_error_that_the_caller_can_name(tmp_path: Path, run: Run) -> None:
    (tmp_path / "graphs.db").write_bytes(b"no database at all" * 400)
    damaged = SqliteGraphs(tmp_path / "graphs.db")
    with pytest.raises(GraphStoreError):
        run(ensure_sample_graph(damaged, Collection()))
    run(damaged.close())


def test_multi_hop_questions_need_two_passages_that_an_entity_joins_which_they_do_not_name() -> None:
    """GH-02: what the modes are measured on."""
    questions = multi_hop_questions()
    for language in ("en", "zh"):
        assert sum(item.language == language for item in questions) >= 8
    assert not {item.id for item in questions} & {item.id for item in sample_questions()}
    for item in questions:
        assert item.more is not None
        assert len(set(item.expected)) == 2
        assert all(f".{item.language}." in passage for passage in item.expected), item.id
        assert set(item.expected) <= _around(item.more["bridge"]), item.id
        assert normalised(item.more["bridge"]) not in normalised(item.question), item.id


def test_questions_of_many_hops_stay_out_of_what_measures_and_tunes_single_ones() -> None:
    assert all(item.kind != "multi_hop" for item in sample_questions())
    assert len({item.question for item in multi_hop_questions()}) == len(multi_hop_questions())
