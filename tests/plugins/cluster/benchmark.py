"""How the rate of a batch grows with the workers of a Ray cluster: a chat model grades, and takes 200 ms a call.

The model server is a process of its own that needs hardly any processor. PostgreSQL, a Milvus server, three nodes of
Ray and all workers share this machine, so how busy its processors were is measured as well (TM-19).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import SecretStr

from engine.engine import Engine
from engine.evaluation.cases import Case, QuerySet
from engine.model.config import RoleModel, RoleModels, RunConfig
from engine.settings import Settings
from tests.benchmarks.harness import Bench, Row
from tests.benchmarks.wordings import questions
from tests.support import milvus_server, postgres_server, ray_cluster, steady_ollama

CALL_S = 0.2
CALLS_AT_ONCE = 2
"""Of one worker (``WORKBENCH_GRADER_CONCURRENCY``): few, so that two processors have time left with four workers."""
RUNS_AT_ONCE = 2
"""Of one worker: while one searches and answers, the other grades."""
LIMIT = 8
"""``WORKBENCH_MODEL_CALLS_AT_ONCE``: what four workers reach."""
MEASURED: Sequence[tuple[int, int]] = ((1, LIMIT), (2, LIMIT), (3, LIMIT), (4, LIMIT), (4, 4))
"""Workers, and the server's limit."""
NODES = 3
_SET = "rated"
_GATHERED_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Rated:
    """What was measured of one batch."""

    calls: int
    seconds: float
    """From the beginning of the first call to the end of the last."""
    silent_s: float
    """Longest time in which the server was asked nothing new."""
    start_s: float
    """From the start of the batch to the first call."""
    most: int
    """Calls at the same time."""
    idle: float
    """Share of the machine's processors meanwhile."""


def cluster(bench: Bench) -> Iterator[Row]:
    """Calls a second at the model server over the ideal, which knows of nothing but the 200 ms."""
    for missing in (milvus_server.missing(), postgres_server.missing(), ray_cluster.missing()):
        if missing:
            print(f"left out: {missing}")
            return
    cases = questions(bench.sizes.rated)
    with ExitStack() as stack:
        milvus = stack.enter_context(milvus_server.running(bench.folder))
        server = stack.enter_context(postgres_server.running())
        ray = stack.enter_context(ray_cluster.running(nodes=NODES - 1))
        stack.enter_context(_variables(ray.environment))
        for place, (workers, limit) in enumerate(MEASURED):
            folder = bench.folder / str(place)
            with (
                server.database() as url,
                steady_ollama.running(folder, seconds=CALL_S, at_once=4 * LIMIT) as model,
            ):
                settings = Settings(
                    data_dir=folder / "data",
                    milvus_uri=milvus,
                    database_url=SecretStr(url),
                    ollama_url=model.url,
                    ray_address=ray.address,
                    ray_workers=workers,
                    model_calls_at_once=limit,
                    grader_concurrency=CALLS_AT_ONCE,
                )
                yield from _rows(workers, limit, len(cases), _rated(settings, model, cases))


def _rows(workers: int, limit: int, asked: int, rated: Rated) -> Iterator[Row]:
    name = f"{workers} workers, limit {limit}"
    ideal = min(workers * CALLS_AT_ONCE, limit) / CALL_S
    rate = rated.calls / rated.seconds
    note = f"{rated.calls} calls of {asked} questions in {rated.seconds:.1f} s, at most {rated.most} at once"
    yield Row(f"{name}: calls", "/s", (rate,), f"{ideal:.0f}", note)
    note = f"first call after {rated.start_s:.1f} s, longest silence {rated.silent_s:.2f} s"
    yield Row(f"{name}: of the ideal", "×", (rate / ideal,), "≥ 0.85", note)
    yield Row(f"{name}: processors idle", "%", (rated.idle,), "", f"load {os.getloadavg()[0]:.1f}")


def _rated(settings: Settings, model: steady_ollama.Steady, cases: Sequence[Case]) -> Rated:
    config = RunConfig(
        grade_probe=True, max_rewrites=0, models=RoleModels(grader=RoleModel(f"ollama:{steady_ollama.MODEL}"))
    )
    with Engine(settings) as engine:
        engine.wait_until_ready()
        engine.evaluation.save_query_set(QuerySet(_SET, tuple(cases)))
        model.figures()
        began = time.monotonic()
        batch = engine.batches.start(_SET, config, RUNS_AT_ONCE)
        while not engine.batches.progress(batch).spent.calls and not engine.batches.wait(batch, 0.2):
            pass
        busy = _processors()
        if not engine.batches.wait(batch, _GATHERED_S):
            raise TimeoutError("the batch came to no end")
        idle, whole = (after - before for before, after in zip(busy, _processors(), strict=True))
        progress = engine.batches.progress(batch)
        if progress.done != len(cases):
            raise AssertionError(f"{progress.done} of {len(cases)} questions were gathered: {progress.fault}")
    figures = model.figures()
    return Rated(
        calls=len(figures.ended),
        seconds=figures.ended[-1] - figures.began[0],
        silent_s=max(later - former for former, later in pairwise(figures.began)),
        start_s=figures.began[0] - began,
        most=figures.at_once,
        idle=idle / whole,
    )


def _processors() -> tuple[int, int]:
    """What all processors have been idle, and at all, in ticks."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    ticks = [int(field) for field in fields]
    return ticks[3] + ticks[4], sum(ticks)


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """With these in the environment, for the drivers that are started."""
    former = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
