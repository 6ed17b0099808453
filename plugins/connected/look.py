"""Looking round in a Milvus that is not ours: its collections, their fields, and a few rows; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.errors import WorkbenchError
from engine.knowledge.foreign_fields import FLOATS, METRICS, Seen, fields_of, proposed_fields, seen_in, text_fields
from engine.knowledge.milvus_catalogue import CATALOGUE, Catalogue
from engine.knowledge.milvus_database import Database, Level
from engine.knowledge.milvus_schema import readable_name
from engine.library.values import FieldMap, ProposedModel, RemoteField
from engine.model.values import Fault
from plugins.connected.client import translated_errors
from plugins.connected.errors import (
    CHANGED,
    GONE,
    NO_INDEX,
    NO_VECTORS,
    OTHER_METRIC,
    OTHER_VECTORS,
    TextlessCollection,
)
from plugins.connected.values import Place, RemoteCollection

_MOST_LISTED = 200
_ROWS = 5
_OWN_FIELDS = FieldMap("id", "text", "vector", "source", "title", "section")


def look(db: Database, place: Place, *, own_too: bool = True) -> tuple[RemoteCollection, ...]:
    """The first 200 collections and aliases by name, as far as they can be read without loading any.

    Without ``own_too`` those of the catalogue there are left out.
    """
    with translated_errors(place):
        names = {name: name for name in db.names()} | db.aliases()
        recorded = recorded_there(db)
    wanted = [
        name
        for name, real in sorted(names.items())
        if readable_name(name) and readable_name(real) and (own_too or real not in recorded)
    ]
    return tuple(_looked_at(db, place, name, recorded.get(names[name]), load=False) for name in wanted[:_MOST_LISTED])


def inspect(db: Database, place: Place, name: str) -> RemoteCollection:
    """One collection with a sample of every field; it is loaded if it was not. Raises ``StoreError``."""
    with translated_errors(place, name):
        if not readable_name(name) or not db.there(name):
            raise GONE(gone=name, address=place.address)
        recorded = recorded_there(db)
        real = real_name(db.describe(name), name)
    return _looked_at(db, place, name, recorded.get(real), load=True)


def real_name(description: Mapping[str, Any], name: str) -> str:
    """Return a collection's real name for a name that may be an alias."""
    return str(description.get("collection_name") or name)


def recorded_there(db: Database) -> dict[str, dict[str, Any]]:
    """Return that place's own catalogue entries of its collections; empty if there are none."""
    return Catalogue(db).collections() if db.there(CATALOGUE) else {}


def _looked_at(
    db: Database, place: Place, name: str, recorded: Mapping[str, Any] | None, *, load: bool
) -> RemoteCollection:
    try:
        with translated_errors(place, name):
            return _described(db, name, recorded, load=load)
    except WorkbenchError as error:
        # One collection that cannot be read must not hide the others.
        return RemoteCollection(name, 0, (), None, fault=Fault.of(error), loaded=False)


def _described(db: Database, name: str, recorded: Mapping[str, Any] | None, *, load: bool) -> RemoteCollection:
    seen = seen_in(db, name, rows=False)
    unusable = why_unusable(seen, fields_of(seen))
    # Text may be in a dynamic field, which only rows can tell.
    hopeless = unusable is not None and not isinstance(unusable, TextlessCollection)
    if load and not hopeless:
        db.load(name)
    loaded = db.loaded(name)
    # Waiting for the newest rows costs a server up to 0.2 s a collection: only for one that was asked for.
    level: Level = "Strong" if load else "Bounded"
    rows = db.rows(name, "", ["*"], level=level, limit=_ROWS) if loaded else []
    seen = replace(seen, rows=rows)
    fields = fields_of(seen)
    unusable = why_unusable(seen, fields)
    # An empty dynamic collection, or one not loaded, shows its fields later.
    undescribed = bool(seen.description.get("enable_dynamic_field")) and not rows and not loaded
    fault = None if unusable is None or (undescribed and not hopeless) else Fault.of(unusable)
    real = real_name(seen.description, name)
    return RemoteCollection(
        name=name,
        alias_of=real if real != name else "",
        passages=db.count(name, level) if loaded else db.estimated(name),
        fields=fields,
        proposed=_OWN_FIELDS if recorded else None if fault else proposed_fields(fields, rows),
        models=_recorded_model(recorded),
        own=recorded is not None,
        fault=fault,
        loaded=loaded,
        query_prefix=str(recorded["query_prefix"]) if recorded else None,
        passage_prefix=str(recorded["passage_prefix"]) if recorded else None,
    )


def vector_of(collection: RemoteCollection, fields: FieldMap) -> tuple[int, str]:
    """Dimension and metric of the chosen vectors; COSINE where an embedded store has no index on them.

    Raises ``StoreError`` where they are no float vectors, or compared by a metric of another kind.
    """
    chosen = next((item for item in collection.fields if item.name == fields.vector), None)
    if chosen is None or chosen.type != FLOATS:
        raise CHANGED(name=collection.name, field=fields.vector)
    if chosen.metric not in ("", *METRICS):
        raise OTHER_METRIC(name=collection.name, metric=chosen.metric)
    return chosen.dim, chosen.metric or "COSINE"


def _recorded_model(recorded: Mapping[str, Any] | None) -> tuple[ProposedModel, ...]:
    if recorded is None:
        return ()
    return (ProposedModel(str(recorded["embedding_model"]), int(recorded["dim"]), True, "recorded"),)


def why_unusable(seen: Seen, fields: Sequence[RemoteField]) -> WorkbenchError | None:
    """Explain why a collection cannot answer questions; None if it can."""
    vectors = [item for item in fields if item.type.endswith("_VECTOR")]
    if not vectors:
        return NO_VECTORS(name=seen.name)
    floats = [item for item in vectors if item.type == FLOATS]
    if not floats:
        return OTHER_VECTORS(name=seen.name, types=", ".join(sorted({item.type for item in vectors})))
    if not text_fields(fields):
        return TextlessCollection(name=seen.name)
    if seen.needs_index and not any(item.metric for item in floats):
        return NO_INDEX(name=seen.name, unindexed=floats[0].name)
    if not any(item.metric in ("", *METRICS) for item in floats):
        return OTHER_METRIC(name=seen.name, metric=floats[0].metric)
    return None
