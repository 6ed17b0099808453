"""``python -m engine eval``: what is asked for, and what is said about it. Running it is the command line's."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from engine.database.databases import Databases
from engine.errors import EvaluationError, InvalidConfig
from engine.evaluation.bars import (
    JUDGED,
    USUAL,
    Bar,
    MeasureName,
    Value,
    answered_right_by,
    bar_of,
    measure_of,
    values_of,
)
from engine.evaluation.cases import SAMPLE_SET, Case, QuerySet, sample_set
from engine.evaluation.figures import Figure
from engine.evaluation.formats.common import plain_text
from engine.evaluation.importing import ImportPlan, read_query_set, spread
from engine.evaluation.judgements import judged_answers, key_of, request_of, verdicts_of
from engine.evaluation.judging import require_judge
from engine.evaluation.measures import OF_PASSAGES
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import AnswerJudgement
from engine.flow import workflow
from engine.knowledge.milvus_schema import check_new_name
from engine.model.config import BUILTIN, OLD_GATE, Defaults, RoleModel, RunConfig, read_plain
from engine.model.values import Fault, RunRecord
from engine.settings import Settings
from engine.version import __version__

if TYPE_CHECKING:
    from engine.evaluation.correction import Correction
    from engine.evaluation.grader_bench import GraderFigures
    from engine.model.values.names import VerdictKind

_DEFAULTS = Defaults()
_KINDS: Mapping[VerdictKind, str] = {
    "builtin": "built in",
    "score": "P from scores",
    "token": "P of a token",
    "said": "self-reported P",
}
_OF_GRADER = {"kappa": "κ", "auc": "AUC", "brier": "Brier", "ece": "ECE"}
_MOST_AT_ONCE = 32
_MOST_FAILURES_SHOWN = 20
_BASIS_TEXTS = {
    "gold": "gold answers",
    "judgement": "people's judgements of the answer",
    "passage": "the passages given",
    "refusal": "refusing what cannot be answered",
    "nothing": "nothing",
}
_BY_FILE = (
    "their labels name files, and not which of their passages is right: name passages, or judge 20 passages on the "
    "page Tune, whose tab Grader bench goes by them."
)


@dataclass(frozen=True, slots=True)
class Job:
    """An evaluation that was asked for in good order."""

    plan: ImportPlan
    config: RunConfig
    """With the collection to ask."""
    bars: tuple[Bar, ...]
    concurrency: int
    json_to: str
    """A file, ``-`` for standard output, or empty."""
    judge: RoleModel | None = None
    """The chat model that judges the answers; None where none does."""

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.plan.set.cases


@dataclass(frozen=True, slots=True)
class Report:
    """Result of the command."""

    job: Job
    cases: tuple[Case, ...]
    records: Mapping[str, RunRecord]
    failures: Mapping[str, Fault]
    values: Mapping[MeasureName, Value]
    said: tuple[AnswerJudgement, ...] = ()
    """What people, and the judge, said of the answers."""
    answered_right_by: Mapping[str, int] = field(default_factory=dict)
    """By what ``answered_right`` is decided, and for how many questions."""
    judge_fault: Fault | None = None
    """What stopped the judge before its last answer."""
    correction: Correction | None = None
    """Whether correction pays; None where these settings never correct, or nothing ran."""
    grader: Mapping[VerdictKind, GraderFigures] = field(default_factory=dict)
    """How good the verdicts are against the labels of the data set, each kind of P by itself."""
    by_screener: int = 0
    """Verdicts that the screener of a cascade decided, which are not in ``grader``."""

    @property
    def missed(self) -> tuple[Bar, ...]:
        """Bars that were not cleared."""
        return tuple(bar for bar in self.job.bars if not self.values[bar.measure].clears(bar))

    @property
    def by_file(self) -> int:
        """Questions whose labels name whole files, and not which of their passages is right."""
        return sum(case.by_file for case in self.cases)

    @property
    def passed(self) -> bool:
        """True if every bar was cleared, there was anything to measure, and the judge came to its end."""
        return not self.missed and len(self.failures) < len(self.cases) and self.judge_fault is None

    @property
    def unknown_alone(self) -> bool:
        """True if nothing else is wrong than bars that unknown questions miss at their worse end."""
        ran = len(self.failures) < len(self.cases) and self.judge_fault is None
        return (
            ran and bool(self.missed) and all(self.values[bar.measure].only_unknown_misses(bar) for bar in self.missed)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON-ready values."""
        return {
            "dataset": self.job.plan.set.name,
            "collection": self.job.config.collection,
            "workbench": __version__,
            "config": asdict(self.job.config),
            "cases": len(self.cases),
            "passed": self.passed,
            "measures": {str(name): _value(value) for name, value in self.values.items()},
            "bars": [
                {
                    "measure": str(bar.measure),
                    "relation": bar.relation,
                    "bound": bar.bound,
                    "value": self.values[bar.measure].value,
                    "end": self.values[bar.measure].end_for(bar),
                    "cleared": bar not in self.missed,
                    "missed_by_unknown": self.values[bar.measure].only_unknown_misses(bar),
                }
                for bar in self.job.bars
            ],
            "answered_right_by": self.answered_right_by,
            "labelled_by_file": self.by_file,
            "correction": self.correction.to_dict() if self.correction else None,
            "grader": {kind: found.to_dict() for kind, found in self.grader.items()},
            "decided_by_screener": self.by_screener,
            "failures": [{"case": case_id, **fault.said()} for case_id, fault in self.failures.items()],
            "runs": {case_id: record.id for case_id, record in self.records.items()},
            "notes": [str(note) for note in self.job.plan.notes],
            **self._judged(),
        }

    def _judged(self) -> dict[str, Any]:
        """Return the judge's verdict on each answer by case, if one was requested."""
        if self.job.judge is None:
            return {}
        verdicts = verdicts_of(self.said, self.job.judge.model)
        by_case = {
            case.id: verdicts.get(key_of(request_of(case, self.records[case.id])))
            for case in self.cases
            if case.id in self.records
        }
        found = {
            case_id: {"right": item.right, "reason": item.explanation, "claims": [asdict(one) for one in item.claims]}
            for case_id, item in by_case.items()
            if item is not None
        }
        fault = {"judge_fault": self.judge_fault.said()} if self.judge_fault is not None else {}
        return {"judge": self.job.judge.model, "judged": found, **fault}


def job_of(options: argparse.Namespace) -> Job:
    """Parse the request; raises on errors before anything is opened or run."""
    bars = (*(bar_of(item, ">=") for item in options.min), *(bar_of(item, "<=") for item in options.max))
    _require("concurrency", options.concurrency, _MOST_AT_ONCE)
    if options.limit is not None:
        _require("limit", options.limit, 1_000_000)
    if options.json not in ("", "-") and not Path(options.json).absolute().parent.is_dir():
        raise InvalidConfig.result_unwritable(path=options.json, why="there is no such folder")
    config = read_config(options.config, Settings.load().defaults_of_runs)
    plan = _plan(options.dataset, options.collection or "", options.limit)
    if plan.items:
        check_new_name(plan.set.collection)
    own = plan.items or (options.dataset != SAMPLE_SET and not Path(options.dataset).exists())
    named = options.collection or (plan.set.collection if own else config.collection)
    judge = judge_named(options.judge, config, bars)
    return Job(plan, replace(config, collection=named), bars, options.concurrency, options.json, judge)


def judge_named(name: str | None, config: RunConfig, bars: Sequence[Bar]) -> RoleModel | None:
    """The judge that was named, or the one of the settings where ``--judge`` stands alone or a bar asks for one.

    Raises ``InvalidConfig`` where there is none, or where the model cannot judge.
    """
    if name is None and not any(bar.measure.name in JUDGED for bar in bars):
        return None
    model = RoleModel(name or Settings.load().judge_model or BUILTIN, num_ctx=config.models.generator.num_ctx)
    require_judge(model)
    return model


def read_config(path: Path | None, usual: Defaults = _DEFAULTS) -> RunConfig:
    """A run's config from a JSON or TOML file, what it does not name as ``usual``; raises ``InvalidConfig``.

    A file without a gate keeps that which it was made with.
    """
    return usual.of() if path is None else usual.over({"gate": OLD_GATE, **read_plain(path)})


def report_of(
    job: Job,
    cases: tuple[Case, ...],
    records: Mapping[str, RunRecord],
    failures: Mapping[str, Fault],
    said: tuple[AnswerJudgement, ...] = (),
) -> Report:
    """The figures of what was run: the usual ones and those that have a bar."""
    from engine.evaluation.correction import correction, corrections
    from engine.evaluation.evidence import gather
    from engine.evaluation.grader_bench import by_kind, figures, pairs

    usual = (*USUAL, *(JUDGED if job.judge is not None else ()))
    measures = tuple(dict.fromkeys((*map(measure_of, usual), *(bar.measure for bar in job.bars))))
    in_order = {case.id: failures[case.id] for case in cases if case.id in failures}
    evidence = gather(cases, records, (), judged_answers(said))
    judge = job.judge.model if job.judge is not None else ""
    graded = pairs(cases, records) if workflow(job.config.workflow).grades else ()
    return Report(
        job,
        cases,
        records,
        in_order,
        values_of(measures, cases, records, said, judge),
        said,
        answered_right_by(cases, records, said),
        correction=correction(evidence, job.config) if len(evidence) and corrections(job.config) else None,
        grader={kind: figures(own, job.config.min_confidence) for kind, own in by_kind(graded).items()},
        by_screener=sum(pair.by_cut for pair in graded),
    )


def say(report: Report) -> None:
    """Print the table and what failed, and write the JSON; with JSON on standard output the rest goes to the other."""
    console = Console(stderr=report.job.json_to == "-", soft_wrap=True)
    console.print(_table(report))
    if report.answered_right_by:
        by = ", ".join(f"{_BASIS_TEXTS[name]} for {n}" for name, n in report.answered_right_by.items())
        console.print(f"answered_right is judged by {by}.")
    if report.by_file and any(item.name in (*OF_PASSAGES, "grader_recall") for item in report.values):
        left_out = ", ".join(sorted(OF_PASSAGES))
        console.print(
            f"{report.by_file} of {len(report.cases)} questions: {_BY_FILE} They are not in {left_out}, and count in "
            "grader_recall once, for the best passage."
        )
    for kind, found in report.grader.items():
        if found.brier is not None:
            console.print(_graded(kind, found))
    if report.by_screener:
        console.print(f"The screener decided {report.by_screener} passages, which say nothing of the grader.")
    if report.correction is not None:
        console.print(_corrected(report.correction))
    for case_id, fault in list(report.failures.items())[:_MOST_FAILURES_SHOWN]:
        console.print(f"[red]✗[/] {escape(case_id)}: {escape(fault.fact)}")
    if len(report.failures) > _MOST_FAILURES_SHOWN:
        console.print(f"… and {len(report.failures) - _MOST_FAILURES_SHOWN} more failures")
    if report.judge_fault is not None:
        stopped = f"{report.judge_fault.fact} {report.judge_fault.remedy}"
        console.print(f"[red]the judge stopped:[/] {escape(stopped)} The same command judges the rest.")
    for bar in report.missed:
        console.print(f"[red]below the bar:[/] {_missed(bar, report)}")
    _write_json(report)


def _graded(kind: VerdictKind, found: GraderFigures) -> str:
    """Say how good verdicts are whose P is of one kind, and what that is counted over."""
    said = []
    for name, shown in _OF_GRADER.items():
        value, error = getattr(found, name), found.intervals.get(name)
        between = f" ({error.low:.3f} … {error.high:.3f})" if error is not None and value is not None else ""
        said.append(f"{shown} {'–' if value is None else f'{value:.3f}'}{between}")
    over = f"{found.n} passages of {found.questions} questions; {found.assumed_n} are assumed not relevant"
    left = f"{found.unreadable_n} unreadable and {found.unlabelled_n} unlabelled ones are left out"
    return f"Grader, {_KINDS[kind]}: {', '.join(said)}. Over {over}, {left}."


def _corrected(found: Correction) -> str:
    """Say whether correction pays."""
    counts = ", ".join(f"{found.count(effect)} {effect}" for effect in ("helped", "harmed", "same", "unknown"))
    with_, without = (_bounds(figure, 1) for figure in found.steps)
    said = f"Correction, against none: {counts}; {with_} steps a question with it, {without} without."
    if found.missing:
        price = f"{found.price.calls} calls of chat models and {found.price.built_in_calls} built-in steps"
        said += f" {len(found.missing)} answers without it were never generated: at most {price} would tell."
    return said


def _missed(bar: Bar, report: Report) -> str:
    """Explain why a threshold is missed, and if unknown questions are the reason, how to resolve them."""
    found = report.values[bar.measure]
    figure = found.figure
    if figure.lower is None:
        why = f": {_BY_FILE}" if report.by_file and bar.measure.name in OF_PASSAGES else ""
        return f"{bar} is asked for, and {bar.measure} could not be measured{why}"
    if not figure.unknown_n:
        return f"{bar} is asked for, and {bar.measure} is {figure.lower:.4g}"
    bounds = f"{figure.lower:.4g} … {'?' if figure.upper is None else f'{figure.upper:.4g}'}"
    said = f"{bar} is asked for, and {bar.measure} is {bounds}, known for {figure.known_n} of {figure.n} questions"
    if not found.only_unknown_misses(bar):
        return said
    if bar.measure.name in JUDGED and figure.unknown_n > len(report.failures):
        remedy = "Judge the answers without a readable verdict: the same command asks for them once more."
    elif report.failures:
        remedy = "The failed runs listed above are what is unknown: run them again once their cause is gone."
    else:
        remedy = "Label what these questions expect, or judge their answers."
    return f"{said}: it is missed only because an unknown question counts at its worse end. {remedy}"


def say_notes(plan: ImportPlan, console: Console) -> None:
    """Print what the import left out."""
    for note in plan.notes:
        console.print(f"[yellow]![/] {escape(str(note))}")


def _plan(dataset: str, collection: str, limit: int | None) -> ImportPlan:
    path = Path(dataset)
    saved = sample_set() if dataset == SAMPLE_SET else None if path.exists() else _saved_set(dataset)
    if saved is None:
        return read_query_set(path, path.stem or path.name, collection=collection, limit=limit)
    chosen = saved.cases if limit is None else spread(saved.cases, limit)
    return ImportPlan(replace(saved, cases=chosen, collection=collection or saved.collection), (), ())


def _saved_set(name: str) -> QuerySet:
    """A query set of the workbench; raises ``EvaluationError.data_set_unusable`` where there is none of that name."""
    with closing(Databases.of(Settings.load())) as databases:
        if databases.evaluation.exists:
            with EvaluationStore(databases.evaluation) as store:
                if name in store.query_sets():
                    return store.query_set(name)
    raise EvaluationError.data_set_unusable(name=name, cause="there is no such file or folder, and no set of that name")


def _table(report: Report) -> Table:
    heading = f"{report.job.plan.set.name} · {len(report.cases)} questions · collection {report.job.config.collection}"
    table = Table(title=escape(heading), title_justify="left")
    table.add_column("measure")
    for name in ("value", "95 % interval", "known", "bar"):
        table.add_column(name, justify="right")
    for measure, value in report.values.items():
        bars = [bar for bar in report.job.bars if bar.measure == measure]
        marks = ", ".join(
            f"[{'red' if bar in report.missed else 'green'}]{bar.relation} {bar.bound:g}[/]" for bar in bars
        )
        interval = value.interval
        between = f"{interval.low:.3f} … {interval.high:.3f}" if interval else ""
        known = f"{value.figure.known_n} of {value.figure.n}" if value.figure.unknown_n else str(value.figure.n)
        table.add_row(str(measure), _number(value), between, known, marks)
    return table


def _number(value: Value) -> str:
    """The value, or the bounds that it keeps to while a question is unknown."""
    return _bounds(value.figure, 0 if value.measure.name == "failed" else 3)


def _bounds(figure: Figure, digits: int) -> str:
    if figure.lower is None:
        return "–"
    if not figure.unknown_n:
        return f"{figure.lower:.{digits}f}"
    return f"{figure.lower:.{digits}f} … {'?' if figure.upper is None else f'{figure.upper:.{digits}f}'}"


def _value(value: Value) -> dict[str, Any]:
    """``low`` and ``high`` are sampling error, ``lower`` and ``upper`` what unknown questions leave open."""
    interval, figure = value.interval, value.figure
    sampled = {"low": interval.low, "high": interval.high} if interval else {}
    bounds = {"lower": figure.lower, "upper": figure.upper, "known_n": figure.known_n}
    return {"value": figure.value, "n": figure.n, **bounds, **sampled}


def _write_json(report: Report) -> None:
    target = report.job.json_to
    if not target:
        return
    text = plain_text(json.dumps(report.to_dict(), ensure_ascii=False, indent=2)) + "\n"
    if target == "-":
        sys.stdout.write(text)
        return
    try:
        Path(target).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidConfig.result_unwritable(path=target, why=error.strerror or type(error).__name__) from None


def _require(field: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InvalidConfig.out_of_range(field=field, low=1, high=most)
