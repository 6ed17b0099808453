"""No matter what is read, read again and forgotten: the graph is that of what is left (GH-03)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.knowledge.graph.sqlite_store import SqliteGraphs
from engine.model.values import PassageId
from engine.roles.graph import GraphStore, PassageGraph, ReadEntity, ReadRelationship

NAMES = st.sampled_from(["Pain", "pain", "ＰＡＩＮ", "Aspirin", "ASA", "图谱", "知识图谱", "Fall"])
ENTITIES = st.builds(
    ReadEntity,
    NAMES,
    st.sampled_from(["TERM", "drug", "Sign"]),
    st.sampled_from(["", "short", "longer text"]),
    st.lists(NAMES, max_size=2).map(tuple),
)
RELATIONSHIPS = st.builds(
    ReadRelationship,
    NAMES,
    NAMES,
    st.sampled_from(["", "treats"]),
    st.sampled_from(["", "said"]),
    st.sampled_from([0.25, 0.5, 1.0, 3.0]),
)
READINGS = st.builds(
    PassageGraph,
    st.sampled_from([PassageId(f"p{number}") for number in range(5)]),
    st.sampled_from(["h1", "h2"]),
    st.lists(ENTITIES, max_size=4).map(tuple),
    st.lists(RELATIONSHIPS, max_size=4).map(tuple),
)
STEPS = st.lists(READINGS | st.sampled_from([f"p{number}" for number in range(5)]), max_size=8)
"""A reading is added, the id of a passage forgotten."""

# Settings of a test take the place of those of all tests, also where these put up with a machine that is busy.
ON_A_BUSY_MACHINE = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


async def taken(store: GraphStore, name: str, steps: Sequence[PassageGraph | str]) -> Any:
    """Everything that a graph holds after some steps, without its name."""
    await store.begin(name, "builtin")
    for step in steps:
        if isinstance(step, str):
            await store.forget(name, [PassageId(step)])
        else:
            await store.add(name, [step])
    entities = await store.most_central(name, 99)
    around = await store.neighbourhood(name, [item.id for item in entities], 0, 99)
    info = await store.describe(name)
    assert info is not None
    await store.drop(name)
    return entities, around, replace(info, collection=""), await store.done(name)


def left(steps: Sequence[PassageGraph | str]) -> list[PassageGraph]:
    last: dict[str, PassageGraph] = {}
    for step in steps:
        if isinstance(step, str):
            last.pop(step, None)
        else:
            last[step.passage] = step
    return sorted(last.values(), key=lambda item: item.passage, reverse=True)


@settings(max_examples=20, suppress_health_check=ON_A_BUSY_MACHINE, deadline=None)
@given(STEPS)
def test_a_graph_is_what_its_passages_say_now(tmp_path: Path, steps: list[PassageGraph | str]) -> None:
    async def compare() -> None:
        store = SqliteGraphs(tmp_path / "graphs.db")
        try:
            entities, around, *_ = went = await taken(store, "steps", steps)
            assert went == await taken(store, "left", left(steps))
            ids = {item.id for item in entities}
            assert all({item.source, item.target} <= ids and item.passages for item in around.relationships)
            assert all(item.passages for item in entities)
            assert sum(item.degree for item in entities) == 2 * len(around.relationships)
        finally:
            await store.close()

    asyncio.run(compare())
