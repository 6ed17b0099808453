"""The knowledge graph of the samples: written by hand, every relationship with the words that say so (GH-03).

One file for each topic and language, ``graph-*.jsonl``, of three kinds of lines: an entity and the passages that name
it, a relationship with the passages that tell it, quoted, and a community with what it is called and about.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Protocol

from engine.knowledge.graph.names import normalised
from engine.knowledge.samples import SAMPLES_CREATED_AT, sample_sources
from engine.knowledge.stored_samples import graph_digest, noted
from engine.model.values import SAMPLE_COLLECTION, Community, PassageId
from engine.roles import CollectionInfo, StoredPassage
from engine.roles.graph import GraphInfo, GraphStore, PassageGraph, ReadEntity, ReadRelationship

SAMPLE_EXTRACTOR = "samples"
"""What a graph says that was written by hand."""
_NOT_ALL_READ = "with sources of somebody else"
"""Fingerprint of a graph that knows only a part of its collection: no collection has it, so the graph is stale."""


class Described(Protocol):
    """Passage store interface for describing the graph's origin."""

    async def describe(self, collection: str) -> CollectionInfo: ...


@dataclass(frozen=True, slots=True)
class SampleRelationship:
    source: str
    type: str
    target: str
    quotes: Mapping[PassageId, str]
    """Word for word what each passage says of it."""


@dataclass(frozen=True, slots=True)
class SampleEntity:
    entity: ReadEntity
    passages: tuple[PassageId, ...]
    """Where its name or one of its aliases stands and means it."""


@dataclass(frozen=True, slots=True)
class SampleCommunity:
    title: str
    summary: str
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleGraphFile:
    """One file as it was written."""

    topic: str
    """Such as ``dc.en``."""
    entities: tuple[SampleEntity, ...]
    relationships: tuple[SampleRelationship, ...]
    communities: tuple[SampleCommunity, ...]


@dataclass(frozen=True, slots=True)
class SampleGraph:
    """Contents of a sample graph: every sample passage once, also those without names."""

    passages: tuple[PassageGraph, ...]
    communities: tuple[Community, ...]


@lru_cache(maxsize=1)
def sample_graph_files() -> tuple[SampleGraphFile, ...]:
    """Every shipped file, by name."""
    entries = sorted(files("engine.samples").iterdir(), key=lambda item: item.name)
    return tuple(
        _read(entry.name.removeprefix("graph-").removesuffix(".jsonl"), entry.read_text(encoding="utf-8"))
        for entry in entries
        if entry.name.startswith("graph-") and entry.name.endswith(".jsonl")
    )


@lru_cache(maxsize=1)
def sample_graph() -> SampleGraph:
    """The whole graph, both languages; they share no entity, so that no search comes to the other one."""
    shipped = sample_graph_files()
    named: defaultdict[PassageId, list[ReadEntity]] = defaultdict(list)
    related: defaultdict[PassageId, list[ReadRelationship]] = defaultdict(list)
    for file in shipped:
        for item in file.entities:
            for passage in item.passages:
                named[passage].append(item.entity)
        for relationship in file.relationships:
            for passage in relationship.quotes:
                related[passage].append(ReadRelationship(relationship.source, relationship.target, relationship.type))
    graphs = tuple(
        _graph_of(passage, tuple(named[passage.id]), tuple(related[passage.id]))
        for source in sample_sources()
        for passage in source.passages
    )
    communities = (
        _community(f"{file.topic}-{number}", community, file, graphs)
        for file in shipped
        for number, community in enumerate(file.communities, 1)
    )
    return SampleGraph(graphs, tuple(communities))


async def ensure_sample_graph(graphs: GraphStore, passages: Described) -> bool:
    """Put the graph of the sample collection in, or bring it up to what is shipped; whether anything was written.

    A graph that a person built in its place stays. Raises ``UnknownCollection`` where there is no sample collection,
    ``GraphStoreError`` where there is no store of graphs.
    """
    info = await graphs.describe(SAMPLE_COLLECTION)
    if info is not None and info.extractor != SAMPLE_EXTRACTOR:
        return False
    done = await graphs.done(SAMPLE_COLLECTION)
    if info is not None and info.finished and (known := await asyncio.to_thread(noted)):
        digest = graph_digest(done, await graphs.communities(SAMPLE_COLLECTION))
        if digest == known.graph:
            return False
    shipped = await asyncio.to_thread(sample_graph)
    changed = [item for item in shipped.passages if done.get(item.passage) != item.text_hash]
    gone = [passage for passage in done if passage not in {item.passage for item in shipped.passages}]
    if info is not None and not changed and not gone and await _complete(graphs, info, shipped):
        return False
    collection = await passages.describe(SAMPLE_COLLECTION)
    await graphs.begin(SAMPLE_COLLECTION, SAMPLE_EXTRACTOR)
    await graphs.forget(SAMPLE_COLLECTION, gone)
    await graphs.add(SAMPLE_COLLECTION, changed)
    whole = collection.passages == len(shipped.passages)
    fingerprint = collection.fingerprint if whole else _NOT_ALL_READ
    await graphs.finish(SAMPLE_COLLECTION, shipped.communities, fingerprint, SAMPLES_CREATED_AT)
    return True


async def _complete(graphs: GraphStore, info: GraphInfo, shipped: SampleGraph) -> bool:
    if not info.finished:
        return False
    return set(await graphs.communities(SAMPLE_COLLECTION)) == set(shipped.communities)


def _graph_of(
    passage: StoredPassage, entities: tuple[ReadEntity, ...], relationships: tuple[ReadRelationship, ...]
) -> PassageGraph:
    # What is written of a passage may change as well as the passage, so both name what was put in.
    content = repr((passage.text, entities, relationships))
    return PassageGraph(passage.id, hashlib.sha256(content.encode()).hexdigest()[:32], entities, relationships)


def _community(
    id_: str, community: SampleCommunity, file: SampleGraphFile, graphs: Sequence[PassageGraph]
) -> Community:
    members = set(community.entities)
    degrees = Counter(end for item in file.relationships for end in (item.source, item.target))
    shares = [(*_share(graph, members), graph.passage) for graph in graphs]
    telling = sorted((-related, -named, passage) for related, named, passage in shares if related)
    return Community(
        id=f"{SAMPLE_EXTRACTOR}:{id_}",
        title=community.title,
        summary=community.summary,
        entities=tuple(normalised(name) for name in sorted(members, key=lambda name: (-degrees[name], name))),
        passages=tuple(passage for _, _, passage in telling),
        summarised_by=SAMPLE_EXTRACTOR,
    )


def _share(graph: PassageGraph, members: set[str]) -> tuple[int, int]:
    """Relationships between members that a passage tells, and members that it names."""
    related = sum({one.source, one.target} <= members for one in graph.relationships)
    return related, sum(entity.name in members for entity in graph.entities)


def _read(topic: str, text: str) -> SampleGraphFile:
    lines: list[Mapping[str, Any]] = [json.loads(line) for line in text.split("\n") if line.strip()]
    return SampleGraphFile(
        topic,
        entities=tuple(_entities(lines)),
        relationships=tuple(
            SampleRelationship(line["source"], line["type"], line["target"], line["quotes"])
            for line in lines
            if "source" in line
        ),
        communities=tuple(
            SampleCommunity(line["community"], line["summary"], tuple(line["entities"]))
            for line in lines
            if "community" in line
        ),
    )


def _entities(lines: Sequence[Mapping[str, Any]]) -> Iterator[SampleEntity]:
    for line in lines:
        if "entity" in line:
            yield SampleEntity(
                ReadEntity(line["entity"], line["type"], line["description"], tuple(line.get("aliases", ()))),
                tuple(line["passages"]),
            )
