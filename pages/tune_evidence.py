"""The evidence that the Tune page reads: gathered once, kept while nothing was added to it, and swept from memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from components.i18n import Words
from components.phrases import fault_text
from engine.config import PARAMETERS, RunConfig
from engine.engine import Engine
from engine.evaluation.cases import Case
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.figures import Measure
from engine.evaluation.sweep import sweep
from engine.evaluation.sweep_values import Axis, AxisValue, HeatMap, Sweep
from engine.evaluation.values import Batch

_KEPT = 4
_STEPS = 11
"""Values of one axis of the map."""
SWEPT = {1: (101, 20), 2: (21, 20), 3: (11, 6)}
"""Values of a threshold and of a whole number by how many settings are swept: some hundreds of settings."""


@dataclass(frozen=True, slots=True)
class Gathering:
    """The batch whose runs are the evidence, None before the first; and the questions of the set."""

    set_name: str
    cases: tuple[Case, ...]
    batch: Batch | None

    @property
    def config(self) -> RunConfig:
        """The settings that the evidence was gathered with."""
        return self.batch.config if self.batch else RunConfig()

    def why(self, case_id: str, words: Words) -> str:
        """Why a question is in no figure."""
        fault = self.batch.failures.get(case_id) if self.batch else None
        return " ".join(fault_text(fault, words)) if fault else words("tune.failures.cut_off")


def evidence_of(engine: Engine, gathering: Gathering) -> Evidence | None:
    """The gathered evidence; read from the records again only where runs ended since."""
    if gathering.batch is None:
        return None
    batch = gathering.batch
    return _evidence(engine.instance, batch.id, len(batch.done), len(batch.failures), _engine=engine)


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _evidence(instance: str, batch_id: str, done: int, failed: int, _engine: Engine) -> Evidence:
    results = _engine.batches.results(batch_id)
    wanted = _engine.evaluation.batch(batch_id)
    ended = {*wanted.done, *wanted.failures}
    # Questions that have not run yet are no failures.
    cases = [case for case in _engine.evaluation.batch_cases(batch_id) if case.id in ended]
    return gather(cases, {case.id: record for case, record in results})


def map_of(evidence: Evidence, config: RunConfig, x: str, y: str, measure: Measure) -> HeatMap:
    """The heat map of two settings, the others as the sliders have them."""
    return swept(evidence, config, (x, y), (_STEPS, _STEPS)).heat(measure, x, y)


def swept(evidence: Evidence, config: RunConfig, names: tuple[str, ...], most: tuple[int, int]) -> Sweep:
    """Every combination of round values of these settings; computed again only where another setting moved."""
    defaults = RunConfig()
    held = replace(config, **{name: getattr(defaults, name) for name in names})
    return _swept(evidence, held, names, most)


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs={Evidence: id, RunConfig: repr})
def _swept(evidence: Evidence, held: RunConfig, names: tuple[str, ...], most: tuple[int, int]) -> Sweep:
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
