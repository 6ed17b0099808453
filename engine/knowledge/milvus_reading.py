"""Reading rows of a collection by filter or by id, however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.knowledge.milvus_connection import Client, Freshness
from engine.knowledge.milvus_filter import one_of
from engine.knowledge.milvus_schema import Layout, foreign_layout, vector_field
from engine.model.values import PassageId
from engine.roles import StoredPassage, Vector

_BATCH = 500


class RowReader:
    """Blocks, and raises foreign exceptions untranslated."""

    def __init__(self, client: Client, fresh: Freshness, timeout_s: float) -> None:
        self._client = client
        self._fresh = fresh
        self._timeout_s = timeout_s

    def rows(self, name: str, where: str, output: list[str], **bounds: int) -> list[Any]:
        """Rows that a filter matches; an empty filter needs a ``limit``, of at most 16 384, or a count as output."""
        return list(
            self._client.query(
                name,
                filter=where,
                output_fields=output,
                consistency_level=self._fresh.level(name),
                timeout=self._timeout_s,
                **bounds,
            )
        )

    def foreign_layout(self, name: str, description: Mapping[str, Any]) -> Layout:
        """The layout of another program's collection; raises ``StoreError`` where it holds no text with vectors."""
        vector = (vector_field(description) or {}).get("name")
        indexes = [
            self._client.describe_index(name, index_name, timeout=self._timeout_s)
            for index_name in self._client.list_indexes(name, timeout=self._timeout_s)
        ]
        metric = next((str(item["metric_type"]) for item in indexes if item.get("field_name") == vector), "COSINE")
        sample = self.rows(name, "", ["*"], limit=1)
        return foreign_layout(name, description, metric, dict(sample[0]) if sample else {})

    def by_ids(self, name: str, layout: Layout, ids: Sequence[PassageId], output: list[str]) -> list[Any]:
        keys = layout.keys(list(dict.fromkeys(ids)))
        found: list[Any] = []
        for start in range(0, len(keys), _BATCH):
            found += self.rows(name, one_of(layout.key, keys[start : start + _BATCH]), output)
        return found

    def ids(self, name: str, layout: Layout, where: str = "") -> list[PassageId]:
        """Every id, in a fixed order: a collection is read whole by asking for its ids and then for batches of these.

        A filter of the key itself is not bounded to the 16 384 rows that a query without one may return.
        """
        found = self.rows(name, where or layout.every, [layout.key])
        return sorted(PassageId(str(item[layout.key])) for item in found)

    def page(self, name: str, layout: Layout, ids: Sequence[PassageId]) -> list[tuple[StoredPassage, Vector]]:
        """Passages with their vectors, in the order asked for; ids that are not there are left out."""
        output = layout.output if layout.dynamic else [*layout.output, layout.vector]
        found = {}
        for item in self.by_ids(name, layout, ids, output):
            passage = layout.passage(item, name)
            found[passage.id] = (passage, np.asarray(item[layout.vector], dtype=np.float32))
        return [found[item] for item in ids if item in found]
