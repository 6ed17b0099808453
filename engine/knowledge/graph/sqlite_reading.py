"""Reading one graph out of the file of graphs; every function is given a connection and the graph's number."""

# Names of tables and columns stand in this file, every value is a parameter.
# ruff: noqa: S608

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from engine.knowledge.graph.names import normalised
from engine.model.values import Community, Entity, PassageId, Relationship
from engine.roles.graph import GraphInfo, Neighbourhood

# Lists are handed over as one JSON value, so that neither their length nor what stands in them matters to the query.
_IN = "IN (SELECT value FROM json_each(?))"
_ENTITY = "id, name, type, description, aliases, degree, community"
_ORDER = "ORDER BY degree DESC, id"


def number_of(db: sqlite3.Connection, space: str, collection: str) -> int | None:
    query = "SELECT number FROM graphs WHERE space = ? AND collection = ?"
    row = db.execute(query, (space, collection)).fetchone()
    return None if row is None else int(row[0])


def info(db: sqlite3.Connection, graph: int) -> GraphInfo:
    query = "SELECT collection, extractor, fingerprint, built_at FROM graphs WHERE number = ?"
    collection, extractor, fingerprint, built_at = db.execute(query, (graph,)).fetchone()
    counted = {
        table: int(db.execute(f"SELECT count(*) FROM {table} WHERE graph = ?", (graph,)).fetchone()[0])
        for table in ("entities", "relationships", "communities", "passages")
    }
    return GraphInfo(collection, extractor, **counted, fingerprint=fingerprint, built_at=built_at)


def done(db: sqlite3.Connection, graph: int) -> dict[PassageId, str]:
    return dict(db.execute("SELECT passage, text_hash FROM passages WHERE graph = ? ORDER BY passage", (graph,)))


def named(db: sqlite3.Connection, graph: int, names: Sequence[str]) -> list[Entity]:
    wanted = as_json(normalised(name) for name in names)
    return _entities(
        db,
        graph,
        f"SELECT {_ENTITY} FROM entities WHERE graph = ? AND id IN "
        f"(SELECT entity FROM names WHERE graph = ? AND name {_IN}) {_ORDER}",
        (graph, graph, wanted),
    )


def names(db: sqlite3.Connection, graph: int) -> dict[str, tuple[str, ...]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, entity in db.execute("SELECT name, entity FROM names WHERE graph = ? ORDER BY name, entity", (graph,)):
        found[name].append(entity)
    return {name: tuple(entities) for name, entities in found.items()}


def entities(db: sqlite3.Connection, graph: int, ids: Sequence[str]) -> list[Entity]:
    query = f"SELECT {_ENTITY} FROM entities WHERE graph = ? AND id {_IN}"
    found = {entity.id: entity for entity in _entities(db, graph, query, (graph, as_json(ids)))}
    return [found[id_] for id_ in dict.fromkeys(ids) if id_ in found]


def most_central(db: sqlite3.Connection, graph: int, limit: int) -> list[Entity]:
    query = f"SELECT {_ENTITY} FROM entities WHERE graph = ? ORDER BY degree DESC, mentions DESC, id LIMIT ?"
    return _entities(db, graph, query, (graph, max(limit, 0)))


def of_passages(db: sqlite3.Connection, graph: int, passages: Sequence[PassageId]) -> list[Entity]:
    """Return the entities of passages, those that most of the passages speak of first."""
    query = f"SELECT entity, count(*) FROM mentions WHERE graph = ? AND passage {_IN} GROUP BY entity"
    often = dict(db.execute(query, (graph, as_json(passages))))
    return sorted(entities(db, graph, [*often]), key=lambda item: (-often[item.id], -item.degree, item.id))


def neighbourhood(db: sqlite3.Connection, graph: int, ids: Sequence[str], hops: int, limit: int) -> Neighbourhood:
    query = f"SELECT id FROM entities WHERE graph = ? AND id {_IN} {_ORDER} LIMIT ?"
    found = [id_ for (id_,) in db.execute(query, (graph, as_json(ids), max(limit, 0)))]
    away = dict.fromkeys(found, 0)
    for hop in range(1, hops + 1):
        if not found or len(away) >= limit:
            break
        found = _around(db, graph, found, away, limit - len(away))
        away |= dict.fromkeys(found, hop)
    return Neighbourhood(away, tuple(entities(db, graph, [*away])), tuple(_between(db, graph, [*away])))


def communities(db: sqlite3.Connection, graph: int) -> list[Community]:
    members = _lists(db, "SELECT community, entity FROM members WHERE graph = ? ORDER BY position", graph)
    evidence = _lists(db, "SELECT community, passage FROM evidence WHERE graph = ? ORDER BY position", graph)
    rows = db.execute("SELECT id, title, summary, summarised_by FROM communities WHERE graph = ?", (graph,))
    found = [
        Community(id_, title, summary, tuple(members[id_]), tuple(map(PassageId, evidence[id_])), by)
        for id_, title, summary, by in rows
    ]
    return sorted(found, key=lambda item: (-len(item.entities), item.id))


def as_json(values: Iterable[str]) -> str:
    # Half a surrogate pair has no UTF-8 form; nothing in the file can be called so, and the query must not fail.
    return json.dumps([value.encode("utf-8", "replace").decode() for value in values])


def _around(db: sqlite3.Connection, graph: int, inner: list[str], seen: dict[str, int], limit: int) -> list[str]:
    """The next ring: what has a relationship with the inner one, in either direction, and was not seen before."""
    ring, known = as_json(inner), as_json(seen)
    query = (
        f"SELECT id FROM entities WHERE graph = ? AND id IN ("
        f" SELECT target FROM relationships WHERE graph = ? AND source {_IN}"
        f" UNION SELECT source FROM relationships WHERE graph = ? AND target {_IN})"
        f" AND id NOT {_IN} {_ORDER} LIMIT ?"
    )
    return [id_ for (id_,) in db.execute(query, (graph, graph, ring, graph, ring, known, limit))]


def _between(db: sqlite3.Connection, graph: int, ids: list[str]) -> list[Relationship]:
    given = as_json(ids)
    # The plus keeps SQLite from walking the index over all targets: sources alone choose the rows.
    query = (
        f"SELECT source, type, target, description, weight FROM relationships"
        f" WHERE graph = ? AND source {_IN} AND +target {_IN}"
    )
    rows = db.execute(query, (graph, given, given)).fetchall()
    telling: defaultdict[tuple[str, str, str], list[PassageId]] = defaultdict(list)
    tellings = (
        f"SELECT source, type, target, passage FROM tellings"
        f" WHERE graph = ? AND source {_IN} AND +target {_IN} ORDER BY passage"
    )
    for source, kind, target, passage in db.execute(tellings, (graph, given, given)):
        telling[source, kind, target].append(passage)
    found = [
        Relationship(source, target, kind, description, tuple(telling[source, kind, target]), weight)
        for source, kind, target, description, weight in rows
    ]
    return sorted(found, key=lambda item: (-item.weight, item.id))


def _entities(db: sqlite3.Connection, graph: int, query: str, params: Sequence[object]) -> list[Entity]:
    rows = db.execute(query, params).fetchall()
    spoken: defaultdict[str, list[PassageId]] = defaultdict(list)
    mentions = f"SELECT entity, passage FROM mentions WHERE graph = ? AND entity {_IN} ORDER BY passage"
    for entity, passage in db.execute(mentions, (graph, as_json(row[0] for row in rows))):
        spoken[entity].append(passage)
    return [
        Entity(id_, name, kind, description, tuple(json.loads(aliases)), tuple(spoken[id_]), degree, community)
        for id_, name, kind, description, aliases, degree, community in rows
    ]


def _lists(db: sqlite3.Connection, query: str, graph: int) -> defaultdict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for community, value in db.execute(query, (graph,)):
        found[community].append(value)
    return found
