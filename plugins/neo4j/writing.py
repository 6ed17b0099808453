"""Changing one graph in a Neo4j database; every function runs inside a transaction of its caller.

Passages keep what they say on their relationships (``SPEAKS_OF``, ``TELLS``); entities and what relates them are made
from it by the same functions as in the file store, so that both stores have the same graph of the same readings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.knowledge.graph.merging import Mention, Telling, merged_entity, merged_weight, read_in
from engine.knowledge.graph.names import normalised, shown
from engine.model.values import Community, PassageId
from engine.roles.graph import PassageGraph
from plugins.neo4j.queries import plain
from plugins.neo4j.session import Transaction, rows

_Key = tuple[str, str, str]
_MOST_AT_ONCE = 2000
"""Nodes that one transaction deletes: a server keeps a whole transaction in memory."""

_ADD_MENTIONS = """
UNWIND $rows AS row
MATCH (p:WorkbenchPassage {graph: $graph, id: row.passage})
MERGE (e:WorkbenchEntity {graph: $graph, id: row.entity})
ON CREATE SET e.degree = 0, e.community = ''
CREATE (p)-[:WORKBENCH_SPEAKS_OF {
 name: row.name, type: row.type, description: row.description, aliases: row.aliases}]->(e)
"""
_ADD_TELLINGS = """
UNWIND $rows AS row
MATCH (p:WorkbenchPassage {graph: $graph, id: row.passage})
MATCH (s:WorkbenchEntity {graph: $graph, id: row.source})
CREATE (p)-[:WORKBENCH_TELLS {graph: $graph, key: row.key, source: row.source, type: row.type, target: row.target,
 description: row.description, weight: row.weight}]->(s)
"""
_TELLINGS = """
UNWIND $keys AS key MATCH (p:WorkbenchPassage)-[t:WORKBENCH_TELLS {graph: $graph, key: key}]->()
RETURN t.source AS source, t.type AS type, t.target AS target, p.id AS passage, t.description AS description,
 t.weight AS weight
"""
_UNRELATE = """
UNWIND $rows AS row
MATCH (:WorkbenchEntity {graph: $graph, id: row.source})-[r:WORKBENCH_RELATED {type: row.type}]->
 (:WorkbenchEntity {graph: $graph, id: row.target})
DELETE r
"""
_RELATE = """
UNWIND $rows AS row
MATCH (s:WorkbenchEntity {graph: $graph, id: row.source}), (t:WorkbenchEntity {graph: $graph, id: row.target})
CREATE (s)-[:WORKBENCH_RELATED {
 type: row.type, description: row.description, weight: row.weight, passages: row.passages}]->(t)
"""
_MENTIONS = """
UNWIND $ids AS id
MATCH (p:WorkbenchPassage)-[m:WORKBENCH_SPEAKS_OF]->(e:WorkbenchEntity {graph: $graph, id: id})
RETURN e.id AS entity, p.id AS passage, m.name AS name, m.type AS type, m.description AS description,
 m.aliases AS aliases
"""
_SET_ENTITIES = """
UNWIND $rows AS row MATCH (e:WorkbenchEntity {graph: $graph, id: row.id})
SET e.name = row.name, e.type = row.type, e.description = row.description, e.aliases = row.aliases,
 e.names = row.names, e.mentions = row.mentions
"""
_SET_DEGREES = """
UNWIND $ids AS id MATCH (e:WorkbenchEntity {graph: $graph, id: id})
SET e.degree = COUNT { (e)-[:WORKBENCH_RELATED]-() }
"""
_ADD_COMMUNITY = """
MERGE (c:WorkbenchCommunity {graph: $graph, id: $id})
SET c.title = $title, c.summary = $summary, c.summarised_by = $summarised_by, c.entities = $entities,
 c.passages = $passages
WITH c UNWIND c.entities AS id MATCH (e:WorkbenchEntity {graph: $graph, id: id}) WHERE e.community = ''
SET e.community = c.id
"""
_THIN_COMMUNITIES = """
MATCH (c:WorkbenchCommunity {graph: $graph})
WHERE any(id IN c.entities WHERE id IN $gone) OR any(id IN c.passages WHERE id IN $passages)
SET c.entities = [id IN c.entities WHERE NOT id IN $gone], c.passages = [id IN c.passages WHERE NOT id IN $passages]
WITH c WHERE size(c.entities) = 0 DETACH DELETE c
"""


@dataclass(slots=True)
class _Touched:
    """Parts to be rebuilt from the passages."""

    entities: set[str] = field(default_factory=set)
    relationships: set[_Key] = field(default_factory=set)


async def lock(tx: Transaction, graph: str) -> None:
    """Let no other transaction change the graph before this one ends."""
    query = "MATCH (g:WorkbenchGraph {number: $graph}) SET g.changes = coalesce(g.changes, 0) + 1"
    await rows(tx, query, {"graph": graph})


async def set_aside(tx: Transaction, graph: str) -> None:
    """Take a graph out of sight at once; :func:`sweep` deletes it, in as many transactions as it takes."""
    query = "MATCH (g:WorkbenchGraph {number: $graph}) REMOVE g:WorkbenchGraph SET g:WorkbenchDropped"
    await rows(tx, query, {"graph": graph})


async def sweep(tx: Transaction) -> bool:
    """Delete some of what was set aside, by this process or one that ended meanwhile; whether more may be left."""
    found = await rows(tx, "MATCH (g:WorkbenchDropped) RETURN g.number AS number LIMIT 1")
    if not found:
        return False
    graph = {"graph": found[0]["number"], "most": _MOST_AT_ONCE}
    for label in ("WorkbenchPassage", "WorkbenchCommunity", "WorkbenchEntity"):
        query = f"MATCH (n:{label} {{graph: $graph}}) WITH n LIMIT $most DETACH DELETE n RETURN count(*) AS gone"
        if (await rows(tx, query, graph))[0]["gone"]:
            return True
    await rows(tx, "MATCH (g:WorkbenchDropped {number: $graph}) DELETE g", graph)
    return True


async def add(tx: Transaction, graph: str, read: Sequence[PassageGraph]) -> None:
    # A passage that comes twice counts as read the last time.
    latest = {plain(item.passage): item for item in read}
    touched = await _take_out(tx, graph, [*latest])
    mentions: list[dict[str, Any]] = []
    tellings: list[dict[str, Any]] = []
    for passage, item in latest.items():
        spoken, related = read_in(item)
        touched.entities.update(one.entity for one in spoken)
        touched.relationships.update(one.key for one in related)
        mentions += [_mention_row(one, passage) for one in spoken]
        tellings += [_telling_row(one, passage) for one in related]
    passages = [{"id": passage, "text_hash": item.text_hash} for passage, item in latest.items()]
    query = "UNWIND $rows AS row CREATE (:WorkbenchPassage {graph: $graph, id: row.id, text_hash: row.text_hash})"
    for statement, data in ((query, passages), (_ADD_MENTIONS, mentions), (_ADD_TELLINGS, tellings)):
        await rows(tx, statement, {"graph": graph, "rows": data})
    await _rebuild(tx, graph, touched, [])


async def forget(tx: Transaction, graph: str, passages: Sequence[PassageId]) -> None:
    given = [plain(passage) for passage in passages]
    await _rebuild(tx, graph, await _take_out(tx, graph, given), given)


async def complete(
    tx: Transaction, graph: str, communities: Sequence[Community], fingerprint: str, built_at: str
) -> None:
    """Replace all communities; what they name and the graph does not have is left out, and empty ones too."""
    await rows(tx, "MATCH (c:WorkbenchCommunity {graph: $graph}) DETACH DELETE c", {"graph": graph})
    await rows(tx, "MATCH (e:WorkbenchEntity {graph: $graph}) SET e.community = ''", {"graph": graph})
    for item in {item.id: item for item in communities}.values():
        members = await _known(tx, graph, "WorkbenchEntity", item.entities)
        if not members:
            continue
        row = {
            "graph": graph,
            "id": shown(item.id),
            "title": shown(item.title),
            "summary": shown(item.summary),
            "summarised_by": item.summarised_by,
            "entities": members,
            "passages": await _known(tx, graph, "WorkbenchPassage", item.passages),
        }
        await rows(tx, _ADD_COMMUNITY, row)
    query = "MATCH (g:WorkbenchGraph {number: $graph}) SET g.fingerprint = $fingerprint, g.built_at = $built_at"
    await rows(tx, query, {"graph": graph, "fingerprint": fingerprint, "built_at": built_at})


async def _take_out(tx: Transaction, graph: str, passages: list[str]) -> _Touched:
    given = {"graph": graph, "ids": passages}
    found = "UNWIND $ids AS id MATCH (p:WorkbenchPassage {graph: $graph, id: id})"
    spoken = await rows(tx, f"{found}-[:WORKBENCH_SPEAKS_OF]->(e) RETURN DISTINCT e.id AS id", given)
    query = f"{found}-[t:WORKBENCH_TELLS]->() RETURN DISTINCT t.source AS source, t.type AS type, t.target AS target"
    related = await rows(tx, query, given)
    await rows(tx, f"{found} DETACH DELETE p", given)
    keys = {(row["source"], row["type"], row["target"]) for row in related}
    return _Touched({row["id"] for row in spoken}, keys)


async def _rebuild(tx: Transaction, graph: str, touched: _Touched, passages: list[str]) -> None:
    await _rebuild_relationships(tx, graph, touched.relationships)
    mentioned: defaultdict[str, list[Mention]] = defaultdict(list)
    for row in await rows(tx, _MENTIONS, {"graph": graph, "ids": sorted(touched.entities)}):
        mentioned[row["entity"]].append(Mention(**{**row, "aliases": tuple(row["aliases"])}))
    gone = sorted(touched.entities - mentioned.keys())
    query = "UNWIND $ids AS id MATCH (e:WorkbenchEntity {graph: $graph, id: id}) DETACH DELETE e"
    await rows(tx, query, {"graph": graph, "ids": gone})
    data = [_entity_row(entity, mentions) for entity, mentions in mentioned.items()]
    await rows(tx, _SET_ENTITIES, {"graph": graph, "rows": data})
    if gone or passages:
        await rows(tx, _THIN_COMMUNITIES, {"graph": graph, "gone": gone, "passages": passages})
    ends = touched.entities | {end for source, _, target in touched.relationships for end in (source, target)}
    await rows(tx, _SET_DEGREES, {"graph": graph, "ids": sorted(ends)})


async def _rebuild_relationships(tx: Transaction, graph: str, keys: Iterable[_Key]) -> None:
    keys = sorted(keys)
    by_key: defaultdict[_Key, list[Telling]] = defaultdict(list)
    for row in await rows(tx, _TELLINGS, {"graph": graph, "keys": [_joined(key) for key in keys]}):
        item = Telling(**row)
        by_key[item.key].append(item)
    named = [dict(zip(("source", "type", "target"), key, strict=True)) for key in keys]
    await rows(tx, _UNRELATE, {"graph": graph, "rows": named})
    data = []
    for key, tellings in by_key.items():
        description, weight = merged_weight(tellings)
        more = {"description": description, "weight": weight, "passages": sorted(item.passage for item in tellings)}
        data.append({**dict(zip(("source", "type", "target"), key, strict=True)), **more})
    await rows(tx, _RELATE, {"graph": graph, "rows": data})


async def _known(tx: Transaction, graph: str, label: str, wanted: Sequence[str]) -> list[str]:
    """Keep the values of a list that the graph has, in the order of the list."""
    ids = list(dict.fromkeys(map(plain, wanted)))
    query = f"UNWIND $ids AS id MATCH (n:{label} {{graph: $graph, id: id}}) RETURN n.id AS id"
    found = {row["id"] for row in await rows(tx, query, {"graph": graph, "ids": ids})}
    return [id_ for id_ in ids if id_ in found]


def _joined(key: _Key) -> str:
    # Names are without control characters, so no two keys become the same text.
    return "\x1f".join(key)


def _mention_row(mention: Mention, passage: str) -> dict[str, Any]:
    return {
        "passage": passage,
        "entity": mention.entity,
        "name": mention.name,
        "type": mention.type,
        "description": mention.description,
        "aliases": [*mention.aliases],
    }


def _telling_row(telling: Telling, passage: str) -> dict[str, Any]:
    source, kind, target = telling.key
    more = {"description": telling.description, "weight": telling.weight, "key": _joined(telling.key)}
    return {"passage": passage, "source": source, "type": kind, "target": target, **more}


def _entity_row(entity: str, mentions: list[Mention]) -> dict[str, Any]:
    merged = merged_entity(mentions)
    return {
        "id": entity,
        "name": merged.name,
        "type": merged.type,
        "description": merged.description,
        "aliases": [*merged.aliases],
        "names": sorted({entity, *(normalised(alias) for alias in merged.aliases)}),
        "mentions": len(mentions),
    }
