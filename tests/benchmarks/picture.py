"""What the picture of a run costs: a moment of the stream that a page follows, and all moments of a replay."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from components.ask.live_view import moment
from components.common.i18n import words_for
from engine.engine import Engine
from engine.flow.graph import WorkflowGraph
from engine.model.config import WORKFLOWS, RunConfig
from engine.model.events import Event, fold, fold_all
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row, in_turn

_QUESTION = "What are the main symptoms of diabetes?"


def picture(bench: Bench) -> Iterator[Row]:
    """One moment in the middle of a run of each workflow, folding included, and what its stream sends."""
    with Engine.open(Settings(data_dir=bench.folder)) as engine:
        engine.wait_until_ready()
        for name in WORKFLOWS:
            events = list(engine.stream(_QUESTION, RunConfig(workflow=name)))
            yield from _of_run(engine.graph(name), events, name, bench.sizes.repeats)


def _of_run(graph: WorkflowGraph, events: Sequence[Event], name: str, repeats: int) -> Iterator[Row]:
    words = words_for("en")
    before = fold_all(events[:-1])
    (taken,) = in_turn(lambda: moment(graph, fold(before, events[-1]), words, "wide"), repeats=repeats)
    yield Row(f"{name}: one moment", "ms", taken, "< 1 ms")
    sent: dict[str, Any] = {}
    sizes = []
    record = None
    for event in events:
        record = fold(record, event)
        now = moment(graph, record, words, "wide")
        sizes.append(len(json.dumps({part: value for part, value in now.items() if sent.get(part) != value})))
        sent = now
    yield Row(f"{name}: first message", "", (float(sizes[0]),), note="bytes")
    yield Row(f"{name}: a change", "", tuple(map(float, sizes[1:])), note=f"bytes, of {len(events)} events")
