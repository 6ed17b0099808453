"""Reading one graph out of a Neo4j database; every function runs in a transaction and is given the graph's number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from engine.knowledge.graph.names import normalised
from engine.model.values import Community, Entity, PassageId, Relationship
from engine.roles.graph import GraphInfo, Neighbourhood
from plugins.neo4j.session import Transaction, rows

_PASSAGES = "[(p:WorkbenchPassage)-[:WORKBENCH_SPEAKS_OF]->(e) | p.id] AS passages"
_RETURN = (
    "RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.aliases AS aliases,"
    f" e.degree AS degree, e.community AS community, {_PASSAGES}"
)
_INFO = """
MATCH (g:WorkbenchGraph {number: $graph})
RETURN g.collection AS collection, g.extractor AS extractor, g.fingerprint AS fingerprint, g.built_at AS built_at,
 COUNT { MATCH (:WorkbenchEntity {graph: $graph}) } AS entities,
 COUNT { MATCH (:WorkbenchEntity {graph: $graph})-[:WORKBENCH_RELATED]->() } AS relationships,
 COUNT { MATCH (:WorkbenchCommunity {graph: $graph}) } AS communities,
 COUNT { MATCH (:WorkbenchPassage {graph: $graph}) } AS passages
"""


async def number_of(tx: Transaction, space: str, collection: str) -> str | None:
    query = "MATCH (g:WorkbenchGraph {space: $space, collection: $collection}) RETURN g.number AS number"
    found = await rows(tx, query, {"space": space, "collection": plain(collection)})
    return str(found[0]["number"]) if found else None


async def info(tx: Transaction, graph: str) -> GraphInfo:
    (row,) = await rows(tx, _INFO, {"graph": graph})
    return GraphInfo(**row)


async def done(tx: Transaction, graph: str) -> dict[PassageId, str]:
    query = "MATCH (p:WorkbenchPassage {graph: $graph}) RETURN p.id AS id, p.text_hash AS text_hash"
    found = await rows(tx, query, {"graph": graph})
    return {PassageId(row["id"]): row["text_hash"] for row in sorted(found, key=lambda row: str(row["id"]))}


async def named(tx: Transaction, graph: str, names: Sequence[str]) -> list[Entity]:
    query = f"MATCH (e:WorkbenchEntity {{graph: $graph}}) WHERE any(name IN e.names WHERE name IN $names) {_RETURN}"
    found = await rows(tx, query, {"graph": graph, "names": [normalised(name) for name in names]})
    return sorted(map(_entity, found), key=lambda item: (-item.degree, item.id))


async def names(tx: Transaction, graph: str) -> dict[str, tuple[str, ...]]:
    query = "MATCH (e:WorkbenchEntity {graph: $graph}) UNWIND e.names AS name RETURN name, e.id AS id"
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in await rows(tx, query, {"graph": graph}):
        found[row["name"]].append(row["id"])
    return {name: tuple(sorted(ids)) for name, ids in sorted(found.items())}


async def entities(tx: Transaction, graph: str, ids: Sequence[str]) -> list[Entity]:
    query = f"UNWIND $ids AS id MATCH (e:WorkbenchEntity {{graph: $graph, id: id}}) {_RETURN}"
    wanted = list(dict.fromkeys(map(plain, ids)))
    return [_entity(row) for row in await _ordered(tx, query, graph, wanted)]


async def most_central(tx: Transaction, graph: str, limit: int) -> list[Entity]:
    query = (
        "MATCH (e:WorkbenchEntity {graph: $graph}) WITH e ORDER BY e.degree DESC, e.mentions DESC, e.id LIMIT $limit"
        f" {_RETURN}"
    )
    found = [_entity(row) for row in await rows(tx, query, {"graph": graph, "limit": max(limit, 0)})]
    return sorted(found, key=lambda item: (-item.degree, -len(item.passages), item.id))


async def of_passages(tx: Transaction, graph: str, passages: Sequence[PassageId]) -> list[Entity]:
    """Return the entities of passages, those that most of the passages speak of first."""
    query = (
        "UNWIND $ids AS id MATCH (:WorkbenchPassage {graph: $graph, id: id})-[:WORKBENCH_SPEAKS_OF]->"
        "(e:WorkbenchEntity) RETURN e.id AS id"
    )
    given = list(dict.fromkeys(map(plain, passages)))
    often = Counter(str(row["id"]) for row in await rows(tx, query, {"graph": graph, "ids": given}))
    found = await entities(tx, graph, [*often])
    return sorted(found, key=lambda item: (-often[item.id], -item.degree, item.id))


async def neighbourhood(tx: Transaction, graph: str, ids: Sequence[str], hops: int, limit: int) -> Neighbourhood:
    query = (
        "UNWIND $ids AS id MATCH (e:WorkbenchEntity {graph: $graph, id: id})"
        " RETURN e.id AS id ORDER BY e.degree DESC, e.id LIMIT $limit"
    )
    given = {"graph": graph, "ids": list(dict.fromkeys(map(plain, ids))), "limit": max(limit, 0)}
    found = [str(row["id"]) for row in await rows(tx, query, given)]
    away = dict.fromkeys(found, 0)
    for hop in range(1, hops + 1):
        if not found or len(away) >= limit:
            break
        found = await _around(tx, graph, found, away, limit - len(away))
        away |= dict.fromkeys(found, hop)
    ordered = await entities(tx, graph, [*away])
    return Neighbourhood(away, tuple(ordered), tuple(await _between(tx, graph, [*away])))


async def communities(tx: Transaction, graph: str) -> list[Community]:
    query = (
        "MATCH (c:WorkbenchCommunity {graph: $graph}) RETURN c.id AS id, c.title AS title, c.summary AS summary,"
        " c.entities AS entities, c.passages AS passages, c.summarised_by AS summarised_by"
    )
    found = [
        Community(**{**row, "entities": tuple(row["entities"]), "passages": tuple(row["passages"])})
        for row in await rows(tx, query, {"graph": graph})
    ]
    return sorted(found, key=lambda item: (-len(item.entities), item.id))


def plain(text: str) -> str:
    """The text in a form that the protocol can send: half a surrogate pair has no UTF-8 form."""
    return text.encode("utf-8", "replace").decode()


async def _around(tx: Transaction, graph: str, inner: list[str], seen: Iterable[str], limit: int) -> list[str]:
    """The next ring: what has a relationship with the inner one, in either direction, and was not seen before."""
    query = (
        "UNWIND $ids AS id MATCH (:WorkbenchEntity {graph: $graph, id: id})-[:WORKBENCH_RELATED]-(e:WorkbenchEntity)"
        " WHERE NOT e.id IN $seen WITH DISTINCT e RETURN e.id AS id ORDER BY e.degree DESC, e.id LIMIT $limit"
    )
    found = await rows(tx, query, {"graph": graph, "ids": inner, "seen": [*seen], "limit": limit})
    return [str(row["id"]) for row in found]


async def _between(tx: Transaction, graph: str, ids: list[str]) -> list[Relationship]:
    query = (
        "UNWIND $ids AS id MATCH (s:WorkbenchEntity {graph: $graph, id: id})-[r:WORKBENCH_RELATED]->(t:WorkbenchEntity)"
        " WHERE t.id IN $ids RETURN s.id AS source, t.id AS target, r.type AS type, r.description AS description,"
        " r.weight AS weight, r.passages AS passages"
    )
    found = [
        Relationship(**{**row, "passages": tuple(row["passages"])})
        for row in await rows(tx, query, {"graph": graph, "ids": ids})
    ]
    return sorted(found, key=lambda item: (-item.weight, item.id))


async def _ordered(tx: Transaction, query: str, graph: str, ids: list[str]) -> list[dict[str, Any]]:
    by_id = {row["id"]: row for row in await rows(tx, query, {"graph": graph, "ids": ids})}
    return [by_id[id_] for id_ in ids if id_ in by_id]


def _entity(row: dict[str, Any]) -> Entity:
    return Entity(**{**row, "aliases": tuple(row["aliases"]), "passages": tuple(sorted(row["passages"]))})
