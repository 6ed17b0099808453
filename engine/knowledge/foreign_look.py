"""Looking round in a Milvus that is not ours: its collections, their fields, and a few rows; nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import TextlessCollection, UnusableCollection, WorkbenchError
from engine.knowledge.foreign_client import told_as_remote
from engine.knowledge.foreign_fields import FLOATS, METRICS, Seen, fields_of, proposed_fields, why_unusable
from engine.knowledge.milvus_catalogue import CATALOGUE, Catalogue
from engine.knowledge.milvus_connection import Client, embedded
from engine.knowledge.milvus_schema import readable_name
from engine.library.values import FieldMap, Place, ProposedModel, RemoteCollection
from engine.model.values import Fault

_MOST_LISTED = 200
_ROWS = 5
_LOADING_S = 60.0
_OWN_FIELDS = FieldMap("id", "text", "vector", "source", "title", "section")


def look(client: Client, place: Place, timeout_s: float, *, own_too: bool = True) -> tuple[RemoteCollection, ...]:
    """The first 200 collections by name, as far as they can be read without loading any.

    Without ``own_too`` those of the catalogue there are left out.
    """
    with told_as_remote(place):
        names = sorted(filter(readable_name, client.list_collections(timeout=timeout_s)))
        recorded = recorded_there(client, timeout_s)
    wanted = [name for name in names if own_too or name not in recorded]
    return tuple(
        _looked_at(client, place, name, recorded.get(name), timeout_s, load=False) for name in wanted[:_MOST_LISTED]
    )


def inspect(client: Client, place: Place, name: str, timeout_s: float) -> RemoteCollection:
    """One collection with a sample of every field; it is loaded if it was not. Raises ``UnusableCollection``."""
    with told_as_remote(place, name):
        if not readable_name(name) or not client.has_collection(name, timeout=timeout_s):
            raise UnusableCollection.gone(gone=name, address=place.address)
        recorded = recorded_there(client, timeout_s)
    return _looked_at(client, place, name, recorded.get(name), timeout_s, load=True)


def recorded_there(client: Client, timeout_s: float) -> dict[str, dict[str, Any]]:
    """What the workbench's catalogue of that place says of its collections; nothing where there is none."""
    if not client.has_collection(CATALOGUE, timeout=timeout_s):
        return {}
    make_searchable(client, CATALOGUE, timeout_s)
    return Catalogue(client, timeout_s).collections()


def make_searchable(client: Client, name: str, timeout_s: float) -> None:
    """Load a collection unless it is loaded; it is never released from here, for others may be using it."""
    if not _loaded(client, name, timeout_s):
        client.load_collection(name, timeout=max(timeout_s, _LOADING_S))


def metrics_of(client: Client, name: str, timeout_s: float) -> dict[str, str]:
    """The metric of every field that has an index."""
    indexes = [
        client.describe_index(name, index, timeout=timeout_s) for index in client.list_indexes(name, timeout=timeout_s)
    ]
    return {str(item["field_name"]): str(item.get("metric_type", "")).upper() for item in indexes if item}


def _looked_at(
    client: Client, place: Place, name: str, recorded: Mapping[str, Any] | None, timeout_s: float, *, load: bool
) -> RemoteCollection:
    try:
        with told_as_remote(place, name):
            return _described(client, place, name, recorded, timeout_s, load=load)
    except WorkbenchError as error:
        # One collection that cannot be read must not hide the others.
        return RemoteCollection(name, 0, (), None, fault=Fault.of(error), loaded=False)


def _described(
    client: Client, place: Place, name: str, recorded: Mapping[str, Any] | None, timeout_s: float, *, load: bool
) -> RemoteCollection:
    description = client.describe_collection(name, timeout=timeout_s)
    metrics = metrics_of(client, name, timeout_s)
    seen = Seen(name, description, metrics, (), needs_index=not embedded(place.address))
    unusable = why_unusable(seen, fields_of(seen))
    # Text may be in a dynamic field, which only rows can tell.
    hopeless = unusable is not None and not isinstance(unusable, TextlessCollection)
    if load and not hopeless:
        make_searchable(client, name, timeout_s)
    loaded = _loaded(client, name, timeout_s)
    # Waiting for the newest rows costs a server up to 0.2 s a collection: only for one that was asked for.
    level = "Strong" if load else "Bounded"
    rows = _rows(client, name, timeout_s, level) if loaded else []
    seen = Seen(name, description, metrics, rows, seen.needs_index)
    fields = fields_of(seen)
    unusable = why_unusable(seen, fields)
    # An empty dynamic collection, or one not loaded, shows its fields later.
    untold = bool(description.get("enable_dynamic_field")) and not rows and not loaded
    fault = None if unusable is None or (untold and not hopeless) else Fault.of(unusable)
    return RemoteCollection(
        name=name,
        passages=_count(client, name, timeout_s, level, loaded=loaded),
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

    Raises ``UnusableCollection`` where they are no float vectors, or compared by a metric of another kind.
    """
    chosen = next((item for item in collection.fields if item.name == fields.vector), None)
    if chosen is None or chosen.type != FLOATS:
        raise UnusableCollection.changed(name=collection.name, field=fields.vector)
    if chosen.metric not in ("", *METRICS):
        raise UnusableCollection.other_metric(name=collection.name, metric=chosen.metric)
    return chosen.dim, chosen.metric or "COSINE"


def _recorded_model(recorded: Mapping[str, Any] | None) -> tuple[ProposedModel, ...]:
    if recorded is None:
        return ()
    return (ProposedModel(str(recorded["embedding_model"]), int(recorded["dim"]), True, "recorded"),)


def _loaded(client: Client, name: str, timeout_s: float) -> bool:
    state = client.get_load_state(name, timeout=timeout_s).get("state")
    return str(getattr(state, "name", state)) == "Loaded"


def _rows(client: Client, name: str, timeout_s: float, level: str) -> list[Mapping[str, Any]]:
    found = client.query(name, filter="", output_fields=["*"], limit=_ROWS, consistency_level=level, timeout=timeout_s)
    return list(found)


def _count(client: Client, name: str, timeout_s: float, level: str, *, loaded: bool) -> int:
    if not loaded:
        return int(client.get_collection_stats(name, timeout=timeout_s).get("row_count", 0))
    (row,) = client.query(name, filter="", output_fields=["count(*)"], consistency_level=level, timeout=timeout_s)
    return int(row["count(*)"])
