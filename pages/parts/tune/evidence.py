"""The evidence that the Tune page reads: gathered once, and kept while nothing was added to it.

What is kept is keyed by the state of the file of evaluations, so that every session sees what any process wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import fault_text
from engine.engine import Engine
from engine.evaluation.anytime import Drawn, drawn
from engine.evaluation.cases import Case, QuerySet
from engine.evaluation.evidence import Evidence, gather
from engine.evaluation.fit_builtin import Refit, weighed_pairs
from engine.evaluation.fit_scores import Calibration, scored_pairs
from engine.evaluation.fitting import Subject, Trial, half_of, trial
from engine.evaluation.grader_bench import Pair, by_kind, pairs
from engine.evaluation.judgements import judged_answers, judges_of, verdicts_of
from engine.evaluation.values import AnswerJudgement, Batch, BatchProgress
from engine.model.config import RunConfig
from engine.model.grader_fit import GraderFit
from engine.model.values import IMPORTED, RunRecord
from engine.model.values.names import VerdictKind
from pages.parts.common.rights import seen_by

_KEPT = 4
_OTHERS = 4
"""Other gatherings whose answers are read along."""
JUDGE = "tune_judge"
"""Key of the choice among the models that have judged answers."""
_PARTS = 10
"""Times that the figures are made again while a batch is running."""


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
    def imported(self) -> bool:
        """True if the evidence is traces of another program, which alone could gather more."""
        return self.config.models.generator.model.startswith(f"{IMPORTED}:")

    @property
    def added(self) -> int:
        """Questions of the set that the batch does not know."""
        known = frozenset(self.batch.case_ids) if self.batch else frozenset()
        return sum(case.id not in known for case in self.query_set.cases) if self.batch else 0

    def relabelled(self, gathered: Mapping[str, Case]) -> int:
        """Questions that expect something else by now than when they were gathered, by which figures go."""
        return sum(
            (then.expected, then.gold_answers, then.answerable) != (now.expected, now.gold_answers, now.answerable)
            for now in self.query_set.cases
            if (then := gathered.get(now.id)) is not None
        )

    def why(self, case_id: str, words: Words) -> str:
        """Explain why a question has no usable run."""
        fault = self.batch.failures.get(case_id) if self.batch else None
        return (
            words.joined(fault_text(fault, words))
            if fault
            else words("The run was cut off; run the rest to repeat it.")
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence with a name: what is computed from it is kept under that name."""

    name: str
    evidence: Evidence
    cases: Mapping[str, Case]
    judge: str = ""
    """The model whose verdicts on answers are read; empty where none has judged any."""
    judges: tuple[str, ...] = ()
    """All that have, the one with the newest first."""

    def __len__(self) -> int:
        return len(self.evidence)


# -- what the store has ------------------------------------------------------------------------------------------


def query_set_of(engine: Engine, name: str) -> QuerySet:
    return _query_set(seen_by(engine), name, _state(engine), engine)


def batches_of(engine: Engine, set_name: str) -> tuple[Batch, ...]:
    """Newest first."""
    return _batches(seen_by(engine), set_name, _state(engine), engine)


def progress_of(engine: Engine, batch_id: str) -> BatchProgress:
    """A batch that rests is asked for once; one that is running, every time: its process may have been killed."""
    rests = _progress(seen_by(engine), batch_id, _state(engine), engine)
    return engine.batches.progress(batch_id) if rests.running else rests


def part_of(batch: BatchProgress) -> int:
    """Return how many ended runs a running batch's figures rest on; grows by tenths."""
    ended, step = batch.done + batch.failed, max(3, batch.total // _PARTS)
    return ended // step * step if batch.running else ended


def _state(engine: Engine) -> tuple[int, ...]:
    """Changes whenever anything is written to the evaluations, by any process."""
    return engine.evaluation.state()


@st.cache_resource(max_entries=8, show_spinner=False)
def _query_set(instance: str, name: str, state: tuple[int, ...], _engine: Engine) -> QuerySet:
    return _engine.evaluation.query_set(name)


@st.cache_resource(max_entries=8, show_spinner=False)
def _batches(instance: str, set_name: str, state: tuple[int, ...], _engine: Engine) -> tuple[Batch, ...]:
    return _engine.evaluation.batches(set_name)


@st.cache_resource(max_entries=8, show_spinner=False)
def _progress(instance: str, batch_id: str, state: tuple[int, ...], _engine: Engine) -> BatchProgress:
    return _engine.batches.progress(batch_id)


# -- data of the figures ----------------------------------------------------------------------------------------


def evidence_of(engine: Engine, gathering: Gathering) -> Shown | None:
    """The gathered evidence; read from the records again only where runs ended since."""
    batch = gathering.batch
    if batch is None:
        return None
    part = part_of(progress_of(engine, batch.id))
    # While it is running, only every part of it: each run that ends would make all charts again.
    runs = "" if gathering.running else _runs_of(engine, batch.id)
    others = tuple((other.id, len(other.done)) for other in gathering.others[:_OTHERS])
    fits = _fits(seen_by(engine), collection_of(engine, gathering), _state(engine), engine)
    state = (part, len(batch.failures), runs, tuple(fits))
    said = _said(seen_by(engine), batch.id, others, runs, _state(engine), engine)
    judges = judges_of(said)
    chosen = st.session_state.get(JUDGE)
    judge = chosen if chosen in judges else judges[0] if judges else ""
    # A judgement that is made again has another time.
    name = sha256(repr((judge, [(item.judge, item.judged_at) for item in said])).encode()).hexdigest()[:16]
    judging = (name if said else "", judge, judges)
    return _evidence(seen_by(engine), batch.id, state, others, judging, said, fits, engine)


def drawn_so_far(shown: Shown, gathering: Gathering) -> Drawn | None:
    """Return a running batch's progress when its evidence was read; None for one at rest or a small one."""
    if gathering.batch is None or not gathering.running:
        return None
    return drawn(gathering.batch.id, gathering.batch.case_ids, shown.cases)


def _runs_of(engine: Engine, batch_id: str) -> str:
    """Hash of the runs that there are: one may have been deleted since, or made again."""
    ids = " ".join(record.id for _, record in engine.batches.results(batch_id))
    return sha256(ids.encode()).hexdigest()[:16]


@st.cache_resource(max_entries=_KEPT, show_spinner=False)
def _evidence(
    instance: str,
    batch_id: str,
    state: tuple[int, int, str, tuple[str, ...]],
    others: tuple[tuple[str, int], ...],
    judging: tuple[str, str, tuple[str, ...]],
    _said: tuple[AnswerJudgement, ...],
    _fits: Mapping[str, GraderFit],
    _engine: Engine,
) -> Shown:
    results = _engine.batches.results(batch_id)
    wanted = _engine.evaluation.batch(batch_id)
    ended = {*wanted.done, *wanted.failures}
    # Questions that have not run yet are no failures.
    cases = [case for case in _engine.evaluation.batch_cases(batch_id) if case.id in ended]
    more = [{case.id: record for case, record in _engine.batches.results(other)} for other, _ in others]
    of, judge, judges = judging
    records = {case.id: record for case, record in results}
    evidence = gather(cases, records, more, judged_answers(_said), verdicts_of(_said, judge), fits=_fits)
    name = f"{instance}/{batch_id}/{state}/{others}/{of}"
    return Shown(name, evidence, {case.id: case for case in cases}, judge, judges)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fits(instance: str, collection: str, state: tuple[int, ...], _engine: Engine) -> Mapping[str, GraderFit]:
    """Return the fits to a collection by id: a calibration among them is tried without a call."""
    return {fit.id: fit for fit in _engine.grader_fits.of(collection)}


@st.cache_resource(max_entries=8, show_spinner=False)
def _said(
    instance: str,
    batch_id: str,
    others: tuple[tuple[str, int], ...],
    runs: str,
    state: tuple[int, ...],
    _engine: Engine,
) -> tuple[AnswerJudgement, ...]:
    """Return people's and models' judgements of some batches' answers."""
    found = [_engine.batches.results(name) for name in (batch_id, *(name for name, _ in others))]
    pairs_of = ((case.question, record.answer) for results in found for case, record in results if record.answer)
    return _engine.evaluation.answer_judgements(*pairs_of)


def judged_pairs(engine: Engine, batch: Batch, *, only_labelled: bool) -> tuple[Pair, ...]:
    """Every verdict of a gathering with its label; made again after new labels."""
    runs = _runs_of(engine, batch.id)
    return _pairs(seen_by(engine), batch.id, runs, _state(engine), only_labelled, engine)


@st.cache_resource(max_entries=8, show_spinner=False)
def _pairs(
    instance: str, batch_id: str, runs: str, state: tuple[int, ...], only_labelled: bool, _engine: Engine
) -> tuple[Pair, ...]:
    results = _engine.batches.results(batch_id)
    records = {case.id: record for case, record in results}
    labels = _engine.evaluation.labels(*(case.question for case, _ in results))
    return pairs([case for case, _ in results], records, labels, only_labelled=only_labelled)


def fit_trial(engine: Engine, batch: Batch, kind: VerdictKind, *, half: bool, only_labelled: bool, cut: float) -> Trial:
    """Return the trial of a grader fitted to the judgements of verdicts of one kind; repeated after new labels.

    Coefficients of the built-in grader, a calibration of any other; ``half``: learnt from half of the questions.
    """
    runs, state = _runs_of(engine, batch.id), _state(engine)
    return _fit_trial(seen_by(engine), (batch.id, runs, kind, half), state, only_labelled, cut, _engine=engine)


@st.cache_resource(max_entries=8, show_spinner=False)
def _fit_trial(
    instance: str,
    batch: tuple[str, str, VerdictKind, bool],
    state: tuple[int, ...],
    only_labelled: bool,
    cut: float,
    *,
    _engine: Engine,
) -> Trial:
    batch_id, runs, kind, half = batch
    graded: Sequence[Pair] = by_kind(_pairs(instance, batch_id, runs, state, only_labelled, _engine)).get(kind, ())
    graded = half_of(graded) if half else graded
    records = {case.id: record for case, record in _engine.batches.results(batch_id)}
    grader = _engine.evaluation.batch(batch_id).config.models.grader
    collection = next((str(record.manifest.get("collection", "")) for record in records.values()), "")
    subject = Subject(grader.model, collection, cut)
    if grader.built_in:
        return trial(Refit(), weighed_pairs(graded, records), subject)
    return trial(Calibration(), scored_pairs(graded, records), subject)


def collection_of(engine: Engine, gathering: Gathering) -> str:
    """The collection by its own name, as the runs say; an alias may lead to another one by now."""
    records = records_of(engine, gathering.batch) if gathering.batch is not None else []
    return records[0][1].collection if records else gathering.config.collection


def records_of(engine: Engine, batch: Batch) -> list[tuple[Case, RunRecord]]:
    """The finished runs of a gathering."""
    return engine.batches.results(batch.id)
