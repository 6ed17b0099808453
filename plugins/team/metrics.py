"""Figures of this process for Prometheus; each replica gives its own, so that they can be added up."""

from __future__ import annotations

import threading
from collections import Counter as Tally
from collections.abc import Iterable
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from engine.engine import Engine
from engine.library.values import JobState
from engine.model.events import Event
from engine.model.system import PartHealth
from engine.model.values import RunId
from engine.plugins import Inside, Part
from engine.system.health import ANSWERING, look_at_all

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]
_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)


class Metrics(Part):
    """Sees every event of the runs of this process, and looks at its other parts when it is asked; thread-safe."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        own = self._registry = CollectorRegistry()
        self._workflows: dict[RunId, str] = {}
        self._guard = threading.Lock()
        self._runs = Counter("workbench_runs", "Runs that ended.", ("workflow", "outcome"), registry=own)
        self._seconds = Histogram(
            "workbench_run_seconds", "How long runs took.", ("workflow",), buckets=_SECONDS, registry=own
        )
        self._calls = Counter("workbench_model_calls", "Calls of models.", ("role", "model", "result"), registry=own)
        self._call_seconds = Counter(
            "workbench_model_call_seconds", "Seconds that calls of models took.", ("role", "model"), registry=own
        )
        self._registry.register(_Now(engine, inside))
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)

    def note(self, run_id: RunId, event: Event) -> None:
        """Take one event of a run of this process."""
        match event.kind:
            case "run_started":
                with self._guard:
                    self._workflows[run_id] = event.config.workflow
            case "model_called" if not event.call.built_in:
                call = event.call
                result = "cached" if call.cached else "failed" if call.error else "ok"
                self._calls.labels(call.role, call.model, result).inc()
                self._call_seconds.labels(call.role, call.model).inc(call.duration_ms / 1000.0)
            case "run_finished":
                with self._guard:
                    workflow = self._workflows.pop(run_id, "")
                self._runs.labels(workflow, event.outcome).inc()
                self._seconds.labels(workflow).observe(event.t_ms / 1000.0)

    def text(self) -> bytes:
        """Everything in Prometheus' text format; takes as long as the slowest look at a part."""
        return generate_latest(self._registry)


class _Now(Collector):
    """Values read on demand."""

    def __init__(self, engine: Engine, inside: Inside) -> None:
        self._engine = engine
        self._inside = inside

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Give no names ahead: otherwise it would be asked for its figures when it is registered."""
        return ()

    def collect(self) -> Iterable[GaugeMetricFamily]:
        yield GaugeMetricFamily("workbench_runs_active", "Runs in progress.", value=self._engine.active_runs())
        jobs = GaugeMetricFamily("workbench_jobs", "Jobs of the knowledge base, by state.", labels=("state",))
        states = Tally(job.state for job in self._engine.ingestions.here())
        for state in get_args(JobState):
            jobs.add_metric((state,), states[state])
        yield jobs
        up = GaugeMetricFamily("workbench_part_up", "Whether a part answers.", labels=("part", "name"))
        health: list[PartHealth] = self._inside.loop.call(look_at_all(self._engine.resources, (), ANSWERING))
        for item in health:
            if item.health != "off":
                up.add_metric((item.part, item.name), item.health != "down")
        yield up
