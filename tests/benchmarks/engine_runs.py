"""What the engine adds to a run: instant roles against bare LangGraph, the first event, and the record."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, cast

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.events import Event, NodeStarted, RunStarted
from engine.model.values import RunId
from engine.records.store import RunStore
from engine.running.resources import Resources
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row, in_turn, ratio
from tests.support.fakes import FakeGrader, FakeResources
from tests.support.recorded import recorded_run

EVERY_PASSAGE = frozenset({"p1", "p2", "p3", "p4", "p5"})
STRAIGHT = RunConfig()
_LOOPING = RunConfig(max_rewrites=3)


def overhead(bench: Bench) -> Iterator[Row]:
    """Whole runs whose roles answer at once, against a LangGraph graph of the same shape whose nodes do nothing."""
    for name, config, relevant in (
        ("1 round", STRAIGHT, EVERY_PASSAGE),
        ("4 rounds", _LOOPING, frozenset[str]()),
    ):
        bare, rounds = _bare_graph(), config.max_rewrites + 1 if not relevant else 1
        with engine_of(bench.folder / name.replace(" ", "-"), relevant) as engine, asyncio.Runner() as runner:

            def ours(engine: Engine = engine, config: RunConfig = config) -> None:
                engine.run("What is it?", config)

            def base(runner: asyncio.Runner = runner, bare: Any = bare, rounds: int = rounds) -> None:
                runner.run(bare.ainvoke({"round": 0, "rounds": rounds}, config={"recursion_limit": 50}))

            engine_ms, bare_ms = in_turn(ours, base, repeats=bench.sizes.repeats, warm_ups=2)
        yield Row(f"run with instant roles, {name}", "ms", engine_ms, "< 10 ms")
        yield ratio(f"run with instant roles, {name} / bare LangGraph", engine_ms, bare_ms)


def first_event(bench: Bench) -> Iterator[Row]:
    """From the call to the first event, and to the first node, of a streamed run."""
    to_event, to_node = [], []
    with engine_of(bench.folder, EVERY_PASSAGE) as engine:
        for turn in range(bench.sizes.repeats + 1):
            began = time.perf_counter()
            for event in engine.stream("What is it?", STRAIGHT):
                passed_ms = (time.perf_counter() - began) * 1000.0
                if turn and isinstance(event, RunStarted):
                    to_event.append(passed_ms)
                if turn and isinstance(event, NodeStarted) and event.node == "retrieve":
                    to_node.append(passed_ms)
    yield Row("first event after start", "ms", tuple(to_event), "< 50 ms")
    yield Row("first node after start", "ms", tuple(to_node))


def records(bench: Bench) -> Iterator[Row]:
    """Appending events, having them on disk, and reading a whole run back."""
    appended, written, loaded = [], [], []
    template = recorded_run(rewrites=3)
    with RunStore(bench.folder / "runs.db") as store:
        for turn in range(bench.sizes.repeats):
            run_id = RunId(f"run-{turn}")
            events = list(itertools.islice(_endless(template, run_id), bench.sizes.events))
            began = time.perf_counter()
            for event in events:
                store.append(run_id, event)
            after_append = time.perf_counter()
            store.flush()
            after_flush = time.perf_counter()
            whole = _whole(store, template, turn)
            before_load = time.perf_counter()
            store.load(whole)
            appended.append((after_append - began) * 1000.0 / len(events))
            written.append((after_flush - began) * 1000.0 / len(events))
            loaded.append((time.perf_counter() - before_load) * 1000.0)
    yield Row("record: append of one event", "ms", tuple(appended), note="returns before it is on disk")
    yield Row("record: one event on disk", "ms", tuple(written), note=f"{bench.sizes.events} events at once")
    yield Row(f"record: load a run of {len(template)} events", "ms", tuple(loaded))


def _whole(store: RunStore, template: list[Event], turn: int) -> RunId:
    run_id = RunId(f"whole-{turn}")
    for event in template:
        store.append(run_id, replace(event, run_id=run_id) if isinstance(event, RunStarted) else event)
    store.flush()
    return run_id


def _endless(template: list[Event], run_id: RunId) -> Iterator[Event]:
    """The events of a run over and over, numbered on; never finished, as the store would close the run."""
    head = template[0]
    assert isinstance(head, RunStarted)
    yield replace(head, run_id=run_id)
    for number, event in enumerate(itertools.cycle(template[1:-1]), start=2):
        yield replace(event, seq=number)


def engine_of(folder: Path, relevant: frozenset[str], **settings: Any) -> Engine:
    fakes = FakeResources(settings=Settings(data_dir=folder, **settings), grader=FakeGrader(relevant=relevant))
    return Engine(fakes.settings, cast(Resources, fakes))


class _BareState(TypedDict):
    round: int
    rounds: int


def _bare_graph() -> Any:
    """Four nodes and the same edges as the self-corrective workflow, doing nothing."""
    from langgraph.graph import END, START, StateGraph

    async def nothing(state: _BareState) -> dict[str, int]:
        return {"rounds": state["rounds"]}

    async def count(state: _BareState) -> dict[str, int]:
        return {"round": state["round"] + 1}

    def route(state: _BareState) -> str:
        return "rewrite" if state["round"] < state["rounds"] else "generate"

    graph = StateGraph(_BareState)
    for name, node in (("retrieve", nothing), ("grade", count), ("rewrite", nothing), ("generate", nothing)):
        graph.add_node(name, node)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges("grade", route, {"rewrite": "rewrite", "generate": "generate"})
    graph.add_edge("rewrite", "retrieve")
    graph.add_edge("generate", END)
    return graph.compile()
