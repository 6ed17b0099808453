"""Changing one graph in the file of graphs; every function runs inside a transaction of its caller."""

# Names of tables and columns stand in this file, every value is a parameter.
# ruff: noqa: S608

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.knowledge.graph.merging import Mention, Telling, merged_entity, merged_weight, read_in
from engine.knowledge.graph.names import normalised, shown
from engine.knowledge.graph.sqlite_file import TABLES
from engine.knowledge.graph.sqlite_reading import as_json
from engine.model.values import Community, PassageId
from engine.roles.graph import PassageGraph

_IN = "IN (SELECT value FROM json_each(?))"
_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Touched:
    """Parts to be rebuilt from the passages."""

    entities: set[str] = field(default_factory=set)
    relationships: set[_Key] = field(default_factory=set)


def empty(db: sqlite3.Connection, graph: int) -> None:
    for table in TABLES:
        db.execute(f"DELETE FROM {table} WHERE graph = ?", (graph,))


def add(db: sqlite3.Connection, graph: int, read: Sequence[PassageGraph]) -> None:
    # A passage that comes twice counts as read the last time.
    latest = {item.passage: item for item in read}
    touched = _take_out(db, graph, [*latest])
    for passage, item in latest.items():
        mentions, tellings = read_in(item)
        db.execute("INSERT INTO passages VALUES (?, ?, ?)", (graph, passage, item.text_hash))
        db.executemany("INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?)", [_row(graph, one) for one in mentions])
        db.executemany(
            "INSERT INTO tellings VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(graph, *one.key, one.passage, one.description, one.weight) for one in tellings],
        )
        touched.entities.update(one.entity for one in mentions)
        touched.relationships.update(one.key for one in tellings)
    _rebuild(db, graph, touched)


def forget(db: sqlite3.Connection, graph: int, passages: Sequence[PassageId]) -> None:
    _rebuild(db, graph, _take_out(db, graph, passages))
    db.execute(f"DELETE FROM evidence WHERE graph = ? AND passage {_IN}", (graph, as_json(passages)))


def set_communities(db: sqlite3.Connection, graph: int, communities: Sequence[Community]) -> None:
    """Replace all; what they name and the graph does not have is left out, and a community without entities too."""
    for table in ("communities", "members", "evidence"):
        db.execute(f"DELETE FROM {table} WHERE graph = ?", (graph,))
    db.execute("UPDATE entities SET community = '' WHERE graph = ? AND community != ''", (graph,))
    for item in {item.id: item for item in communities}.values():
        members = _known(db, "SELECT id FROM entities WHERE graph = ? AND id", graph, item.entities)
        passages = _known(db, "SELECT passage FROM passages WHERE graph = ? AND passage", graph, item.passages)
        if not members:
            continue
        row = (graph, shown(item.id), shown(item.title), shown(item.summary), item.summarised_by)
        db.execute("INSERT OR REPLACE INTO communities VALUES (?, ?, ?, ?, ?)", row)
        _replace_list(db, "members", graph, row[1], members)
        _replace_list(db, "evidence", graph, row[1], passages)
        db.execute(
            f"UPDATE entities SET community = ? WHERE graph = ? AND community = '' AND id {_IN}",
            (row[1], graph, as_json(members)),
        )


def _take_out(db: sqlite3.Connection, graph: int, passages: Sequence[PassageId]) -> _Touched:
    given = (graph, as_json(passages))
    touched = _Touched()
    for table, columns in (("mentions", "entity"), ("tellings", "source, type, target"), ("passages", "")):
        if columns:
            rows = db.execute(f"SELECT {columns} FROM {table} WHERE graph = ? AND passage {_IN}", given).fetchall()
            if table == "mentions":
                touched.entities.update(entity for (entity,) in rows)
            else:
                touched.relationships.update(rows)
        db.execute(f"DELETE FROM {table} WHERE graph = ? AND passage {_IN}", given)
    return touched


def _rebuild(db: sqlite3.Connection, graph: int, touched: _Touched) -> None:
    _rebuild_relationships(db, graph, touched.relationships)
    mentioned: defaultdict[str, list[Mention]] = defaultdict(list)
    query = f"SELECT entity, passage, name, type, description, aliases FROM mentions WHERE graph = ? AND entity {_IN}"
    for entity, passage, name, kind, description, aliases in db.execute(query, (graph, as_json(touched.entities))):
        found = Mention(entity, passage, name, kind, description, tuple(json.loads(aliases)))
        mentioned[entity].append(found)
    gone = touched.entities - mentioned.keys()
    db.execute(f"DELETE FROM entities WHERE graph = ? AND id {_IN}", (graph, as_json(gone)))
    db.execute(f"DELETE FROM names WHERE graph = ? AND entity {_IN}", (graph, as_json(touched.entities)))
    for entity, mentions in mentioned.items():
        _set_entity(db, graph, entity, mentions)
    if gone:
        _leave_communities(db, graph, gone)
    ends = touched.entities | {end for source, _, target in touched.relationships for end in (source, target)}
    db.execute(
        "UPDATE entities SET degree ="
        " (SELECT count(*) FROM relationships WHERE graph = entities.graph AND source = entities.id) +"
        " (SELECT count(*) FROM relationships WHERE graph = entities.graph AND target = entities.id)"
        f" WHERE graph = ? AND id {_IN}",
        (graph, as_json(ends)),
    )


def _rebuild_relationships(db: sqlite3.Connection, graph: int, keys: Iterable[_Key]) -> None:
    where = "graph = ? AND source = ? AND type = ? AND target = ?"
    for key in keys:
        query = f"SELECT passage, description, weight FROM tellings WHERE {where}"
        tellings = [Telling(*key, *row) for row in db.execute(query, (graph, *key))]
        if tellings:
            row = (graph, *key, *merged_weight(tellings))
            db.execute("INSERT OR REPLACE INTO relationships VALUES (?, ?, ?, ?, ?, ?)", row)
        else:
            db.execute(f"DELETE FROM relationships WHERE {where}", (graph, *key))


def _set_entity(db: sqlite3.Connection, graph: int, entity: str, mentions: list[Mention]) -> None:
    merged = merged_entity(mentions)
    db.execute(
        "INSERT INTO entities (graph, id, name, type, description, aliases, mentions) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (graph, id) DO UPDATE SET name = excluded.name, type = excluded.type,"
        " description = excluded.description, aliases = excluded.aliases, mentions = excluded.mentions",
        (graph, entity, merged.name, merged.type, merged.description, _listed(merged.aliases), len(mentions)),
    )
    names = {entity, *(normalised(alias) for alias in merged.aliases)}
    db.executemany("INSERT INTO names VALUES (?, ?, ?)", [(graph, name, entity) for name in names])


def _leave_communities(db: sqlite3.Connection, graph: int, gone: Iterable[str]) -> None:
    db.execute(f"DELETE FROM members WHERE graph = ? AND entity {_IN}", (graph, as_json(gone)))
    left = "SELECT community FROM members WHERE graph = ?"
    db.execute(f"DELETE FROM communities WHERE graph = ? AND id NOT IN ({left})", (graph, graph))
    db.execute(f"DELETE FROM evidence WHERE graph = ? AND community NOT IN ({left})", (graph, graph))


def _known(db: sqlite3.Connection, query: str, graph: int, wanted: Sequence[str]) -> list[str]:
    """Keep the values of a list that the graph has, in the order of the list."""
    found = {value for (value,) in db.execute(f"{query} {_IN}", (graph, as_json(wanted)))}
    return [value for value in dict.fromkeys(wanted) if value in found]


def _replace_list(db: sqlite3.Connection, table: str, graph: int, community: str, values: list[str]) -> None:
    rows = [(graph, community, position, value) for position, value in enumerate(values)]
    db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", rows)


def _row(graph: int, mention: Mention) -> tuple[object, ...]:
    aliases = _listed(mention.aliases)
    return (graph, mention.entity, mention.passage, mention.name, mention.type, mention.description, aliases)


def _listed(values: Sequence[str]) -> str:
    return json.dumps(values, ensure_ascii=False)
