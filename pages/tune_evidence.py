"""The evidence that the Tune page reads: gathered once, kept while nothing was added to it, and swept from memory.

What is kept is keyed by the state of the file of evaluations, so that every session sees what any process wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from components.i18n import Words
from components.phrases import fault_text
from engine.config import PARAMETERS, RunConfig
from engine.engine import Engine
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Measure
from engine.evaluation.grader_pairs import Pair, pairs
from engine.evaluation.recommend import enough_known
from engine.evaluation.sweep import Cost, front, recommend, rows, sweep
from engine.evaluation.sweep_values import Axis, AxisValue, Front, HeatMap, Recommendation, Sweep
from engine.evaluation.values import Batch, BatchProgress
from engine.values import RunRecord

COSTS: tuple[Cost, ...] = ("steps", "calls", "seconds")
_KEPT = 4
_STEPS = 11
"""Values of one axis of the map."""
_SWEPT = {1: (101, 20), 2: (21, 20), 3: (11, 6)}
"""Values of a threshold and of a whole number by how many settings are swept: some hundreds of settings."""
_PARTS = 10
"""Times that the figures are made again while a batch goes on."""
_HASHED: Any = {RunConfig: repr}


@dataclass(frozen=True, slots=True)
class Gathering:
    """The batch whose runs are the evidence, None before the first; and the questions of the set."""

    query_set: QuerySet
    batch: Batch | None
    others: tuple[Batch, ...] = ()
    """Other gatherings of the set that hold at least one run, newest first."""
    running: bool = False

    @property
    def config(self) -> RunConfig:
        """The settings that the evidence was gathered with."""
        return self.batch.config if self.batch else RunConfig(collection=self.query_set.collection)

    @property
    def added(self) -> int:
        """Questions of the set that the batch does not know."""
        known = frozenset(self.batch.case_ids) if self.batch else frozenset()
        return sum(case.id not in known for case in self.query_set.cases) if self.batch else 0

    def why(self, case_id: str, words: Words) -> str:
        """Why a question is in no figure."""
        fault = self.batch.failures.get(case_id) if self.batch else None
        return " ".join(fault_text(fault, words)) if fault else words("tune.failures.cut_off")


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence with a name: what is computed from it is kept under that name."""

    name: str
    evidence: Evidence
    cases: Mapping[str, Case]

    def __len__(self) -> int:
        return len(self.evidence)


@dataclass(frozen=True, slots=True)
class Tried:
    """What the page shows of a sweep; the sweep itself takes hundreds of megabytes for a thousand runs."""

    axes: tuple[Axis, ...]
    configs: tuple[RunConfig, ...]
    settings: tuple[Mapping[str, AxisValue], ...]
    values: Mapping[Measure, tuple[float, ...]]
    """Quality and costs by setting; NaN where no question can tell."""
    known: tuple[int, ...]
    telling: tuple[bool, ...]
    """Whether enough is known of a setting to be shown beside the others."""
    fronts: Mapping[Cost, Front]
    recommended: Recommendation


# -- what the store has ------------------------------------------------------------------------------------------


def query_set_of(engine: Engine, name: str) -> QuerySet:
    return _query_set(engine.instance, name, _state(engine), engine)


def batches_of(engine: Engine, set_name: str) -> tuple[Batch, ...]:
    """Newest first."""
    return _batches(engine.instance, set_name, _state(engine), engine)


def progress_of(engine: Engine, batch_id: str) -> BatchProgress:
    """A batch that rests is asked for once; one that goes on, every time: its process may have been killed."""
    rests = _progress(engine.instance, batch_id, _state(engine), engine)
    return engine.batches.progress(batch_id) if rests.running else rests


def part_of(batch: BatchProgress) -> int:
    """How many ended runs the figures of a batch that goes on stand for; grows by tenths."""
    ended, step = batch.done + batch.failed, max(3, batch.total // _PARTS)
    return ended // step * step if batch.running else ended


def _state(engine: Engine) -> tuple[int, ...]:
    """Changes whenever anything is written to the file of evaluations, by whatever process."""
    path = engine.evaluation.path
    found: list[int] = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            facts = file.stat()
        except OSError:
            continue
        found += [facts.st_mtime_ns, facts.st_size]
    return tuple(found)


@st.cache_resource(max_entries=8, show_spinner=False)
def _query_set(instance: str, name: str, state: tuple[int, ...], _engine: Engine) -> QuerySet:
    return _engine.evaluation.query_set(name)


@st.cache_resource(max_entries=8, show_spinner=False)
def _batches(instance: str, set_name: str, state: tuple[int, ...], _engine: Engine) -> tuple[Batch, ...]:
    return _engine.evaluation.batches(set_name)


@st.cache_resource(max_entries=8, show_spinner=False)
def _progress(instance: str, batch_id: str, state: tuple[int, ...], _engine: Engine) -> BatchProgress:
    return _engine.batches.progress(batch_id)


# -- what the figures are made of --------------------------------------------------------------------------------


def evidence_of(engine: Engine, gathering: Gathering) -> Shown | None:
    """The gathered evidence; read from the records again only where runs ended since."""
    batch = gathering.batch
    if batch is None:
        return None
    part = part_of(progress_of(engine, batch.id))
    return _evidence(engine.instance, batch.id, part, gathering.running, len(batch.failures), _engine=engine)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _evidence(instance: str, batch_id: str, part: int, running: bool, failed: int, _engine: Engine) -> Shown:
    results = _engine.batches.results(batch_id)
    wanted = _engine.evaluation.batch(batch_id)
    ended = {*wanted.done, *wanted.failures}
    # Questions that have not run yet are no failures.
    cases = [case for case in _engine.evaluation.batch_cases(batch_id) if case.id in ended]
    evidence = gather(cases, {case.id: record for case, record in results})
    return Shown(f"{instance}/{batch_id}/{part}/{running}/{failed}", evidence, {case.id: case for case in cases})


def judged_pairs(engine: Engine, batch: Batch, *, only_labelled: bool) -> tuple[Pair, ...]:
    """Every verdict of a gathering beside its label; made again where somebody labelled something."""
    part = part_of(progress_of(engine, batch.id))
    return _pairs(engine.instance, batch.id, part, _state(engine), only_labelled, engine)


@st.cache_resource(max_entries=8, show_spinner=False)
def _pairs(
    instance: str, batch_id: str, part: int, state: tuple[int, ...], only_labelled: bool, _engine: Engine
) -> tuple[Pair, ...]:
    results = _records(instance, batch_id, part, _engine)
    records = {case.id: record for case, record in results}
    labels = _engine.evaluation.labels()
    return pairs([case for case, _ in results], records, labels, only_labelled=only_labelled)


def records_of(engine: Engine, batch: Batch) -> list[tuple[Case, RunRecord]]:
    """The finished runs of a gathering."""
    return _records(engine.instance, batch.id, part_of(progress_of(engine, batch.id)), engine)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _records(instance: str, batch_id: str, part: int, _engine: Engine) -> list[tuple[Case, RunRecord]]:
    return _engine.batches.results(batch_id)


def map_of(shown: Shown, config: RunConfig, x: str, y: str, measure: Measure) -> HeatMap:
    """The heat map of two settings, the others as the sliders have them."""
    return _map(shown.name, _held(config, (x, y)), x, y, measure, shown.evidence)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_HASHED)
def _map(name: str, held: RunConfig, x: str, y: str, measure: Measure, _evidence: Evidence) -> HeatMap:
    return _sweep(_evidence, held, (x, y), (_STEPS, _STEPS)).heat(measure, x, y)


def tried(shown: Shown, config: RunConfig, names: tuple[str, ...], before: RunConfig) -> Tried:
    """Every combination of round values of these settings; computed again only where another setting moved."""
    return _tried(shown.name, _held(config, names), names, before, shown.evidence)


@st.cache_resource(max_entries=64, show_spinner=False, hash_funcs=_HASHED)
def _tried(name: str, held: RunConfig, names: tuple[str, ...], before: RunConfig, _evidence: Evidence) -> Tried:
    made = _sweep(_evidence, held, names, _SWEPT[len(names)])
    measures: tuple[Measure, ...] = ("quality", *COSTS)
    return Tried(
        axes=made.axes,
        configs=made.configs,
        settings=tuple(made.settings(place) for place in range(len(made.configs))),
        values={measure: tuple(map(float, made.evaluation.value(measure))) for measure in measures},
        known=tuple(map(int, made.evaluation.known_n)),
        telling=tuple(map(bool, enough_known(made.evaluation))),
        fronts={cost: front(made, cost) for cost in COSTS},
        recommended=recommend(made, before),
    )


def tried_rows(shown: Shown, config: RunConfig, names: tuple[str, ...]) -> list[dict[str, AxisValue | None]]:
    """The same settings with every measure, for a file."""
    return rows(_sweep(shown.evidence, _held(config, names), names, _SWEPT[len(names)]))


def _held(config: RunConfig, names: tuple[str, ...]) -> RunConfig:
    """The settings that a sweep leaves alone; those that it varies must not tell two sweeps apart."""
    defaults = RunConfig()
    return replace(config, **{name: getattr(defaults, name) for name in names})


def _sweep(evidence: Evidence, held: RunConfig, names: tuple[str, ...], most: tuple[int, int]) -> Sweep:
    return sweep(evidence, held, [axis_of(name, most) for name in names])


def axis_of(name: str, most: tuple[int, int]) -> Axis:
    """Round values over the range of a setting: at most ``most`` of a threshold, and of a whole number."""
    limits = PARAMETERS[name]
    values: tuple[AxisValue, ...]
    if limits.whole:
        numbers = range(int(limits.low), int(limits.high) + 1)
        values = tuple(numbers[:: -(-len(numbers) // most[1])])
    else:
        width = limits.high - limits.low
        values = tuple(round(limits.low + width * place / (most[0] - 1), 4) for place in range(most[0]))
    return Axis(name, values)


def base_path() -> str:
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""
