"""The command line; where a running app holds the knowledge base, the work is handed to that app."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from engine.attachments.admission import admissible
from engine.attachments.reading import file_bytes
from engine.cli.doctor import add_doctor
from engine.cli.graph import add_graph
from engine.cli.history import add_history
from engine.cli.ingest import add_ingest, add_sources, ingest_here, ingest_there, print_report
from engine.cli.jobs import add_jobs, app_with_the_store, bar_on
from engine.cli.judgements import add_drafts, add_fits, add_judgements
from engine.cli.models import add_models
from engine.cli.record_printing import print_record
from engine.cli.serve import add_options
from engine.errors import AppRefused, ModelError, WorkbenchError
from engine.flow import workflows
from engine.messages import CONTEXT_END
from engine.model.config import (
    MODEL_PARAMETERS,
    OLD_GATE,
    ROLES,
    SETTINGS,
    USUAL,
    WORKFLOWS,
    Parameter,
    RoleModel,
    RunConfig,
    Setting,
)
from engine.model.decide import gate_warnings
from engine.model.values import Fault, RunRecord
from engine.plugins import plugins
from engine.running.own_judge import own_judge_warnings
from engine.running.seed_response import seed_response
from engine.settings import Settings
from engine.version import PROGRAM, __version__

if TYPE_CHECKING:
    from engine.evaluation.cases import Case
    from engine.evaluation.command import Job, Report
    from engine.evaluation.concurrent_cases import Runner
    from engine.evaluation.values import AnswerJudgement

_FAILED = 1
_BAD_USE = 2
_UNKNOWN = 3
_CODES_OF_BAD_USE = ("WB1", "WB351", "WB353", "WB357", "WB358", "WB705", "WB805", "WB806", "WB807", "WB808")
"""Settings and questions; files that are no attachments, or that nothing would look at; what a running app says of a
request that it cannot read; data sets and measures.
"""
_OF_MODELS = ("temperature", "num_ctx")
_ROLES = tuple(role for role in ROLES if role != "extractor")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 for an answer, a full ingestion or bars that were cleared; 1 for a fault, said on standard error, or
    a bar that was not; 2 for bad use; 3 for bars that only unknown questions miss, counted at their worse end.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except WorkbenchError as error:
        print(f"{error.fact}\n{error.remedy}", file=sys.stderr)
        code = error.original_code if isinstance(error, AppRefused) else error.code
        theirs = [code for plugin in plugins() for code in plugin.bad_use]
        return _BAD_USE if code.startswith((*_CODES_OF_BAD_USE, *theirs)) else _FAILED
    except BrokenPipeError:
        # The reader (`head`, say) has had enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Self-Corrective RAG Workbench")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    about = "Answer a question from a collection. WORKBENCH_DEFAULTS names a file with other defaults than those below."
    ask = commands.add_parser("ask", help="answer a question", description=about)
    _add_ask_arguments(ask)
    ask.set_defaults(command=_ask)

    add_ingest(commands)
    add_graph(commands)

    judge = commands.add_parser("eval", help="run a set of questions and measure", description="Run and measure a set.")
    _add_eval_arguments(judge)
    judge.set_defaults(command=_eval)

    add_drafts(commands)
    add_judgements(commands)
    add_fits(commands)
    add_sources(commands)
    add_jobs(commands)
    add_history(commands)
    add_models(commands)
    add_doctor(commands)
    for plugin in plugins():
        if plugin.commands is not None:
            plugin.commands(commands)

    add_options(commands.add_parser("serve", help="start the workbench", description="Serve pages and HTTP API."))
    return parser


def _add_ask_arguments(ask: argparse.ArgumentParser) -> None:
    """A flag for each parameter of a run, with its range and default."""
    defaults = RunConfig()
    attaching = [name for name, own in workflows().items() if own.takes_attachments]
    ask.add_argument("question")
    ask.add_argument(
        "--workflow",
        choices=tuple(WORKFLOWS),
        metavar="NAME",
        help=f"{', '.join(WORKFLOWS)}; default: {defaults.workflow}",
    )
    ask.add_argument(
        "--json",
        action="store_true",
        help="print the JSON of POST /api/self-corrective-rag; for another workflow the record, as POST /api/runs",
    )
    ask.add_argument("--collection", help=f"default: {defaults.collection}")
    ask.add_argument(
        "--attach",
        action="append",
        default=[],
        metavar="PATH",
        help="image (PNG, JPEG, WebP) or table (CSV, XLSX, Markdown, HTML) to ask about; may be given several times; "
        f"{', '.join(attaching)}: only it looks at them",
    )
    for name, setting in SETTINGS.items():
        _add_setting(ask, name, setting)
    for role in _ROLES:
        said = "builtin, ollama:MODEL or provider:model; default: what the settings name"
        ask.add_argument(_flag(role), metavar="MODEL", help=said)
    for name in _OF_MODELS:
        _add_number(ask, name, MODEL_PARAMETERS[name], "of the chat models named; ")
    for workflow, own in workflows().items():
        for name, setting in own.own_settings.items():
            _add_setting(ask, name, setting, workflow)


def _add_setting(ask: argparse.ArgumentParser, name: str, setting: Setting, owner: str = "") -> None:
    """The flag of one setting; ``owner`` is the workflow that alone has it."""
    if setting.limits is not None:
        _add_number(ask, name, setting.limits, f"{owner}: " if owner else "")
        return
    meaning = setting.name.rpartition(CONTEXT_END)[2]
    usual = ("on" if setting.default else "off") if setting.widget == "switch" else setting.default
    usual = RunConfig().gate if name == "gate" else usual
    said = f"{owner + ': ' if owner else ''}{meaning[:1].lower()}{meaning[1:]}; default: {usual}{_other_defaults(name)}"
    said += f", {OLD_GATE} where --grade-pass-threshold is given" if name == "gate" else ""
    if setting.choices:
        ask.add_argument(_flag(name), choices=tuple(setting.choices), help=said)
    else:
        ask.add_argument(_flag(name), action=argparse.BooleanOptionalAction, default=None, help=said)


def _add_eval_arguments(judge: argparse.ArgumentParser) -> None:
    accepted = "SQuAD JSON, a BEIR folder or zip, CSV or JSONL; or the name of a query set, such as samples"
    judge.add_argument("dataset", metavar="DATASET", help=accepted)
    judge.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help=f"JSON or TOML with fields of a run's config; without a gate it has {OLD_GATE}",
    )
    judge.add_argument("--collection", metavar="NAME", help="collection to ask; documents of the data set go into it")
    for flag, bound in (("--min", "least"), ("--max", "most")):
        meaning = f"{bound} value of a measure, e.g. recall@5=0.95; may be given several times"
        judge.add_argument(flag, action="append", default=[], metavar="MEASURE=VALUE", help=meaning)
    judge.add_argument(
        "--judge",
        nargs="?",
        const="",
        metavar="MODEL",
        help="have this chat model judge the answers; without a name the judge of WORKBENCH_ROLE_MODELS",
    )
    judge.add_argument("--json", default="", metavar="FILE", help="write the result as JSON; - for standard output")
    judge.add_argument("--limit", type=int, metavar="N", help="at most so many questions, evenly spread over the set")
    judge.add_argument("--concurrency", type=int, default=2, metavar="N", help="runs at the same time; default: 2")


def _add_number(parser: argparse.ArgumentParser, name: str, limits: Parameter, meaning: str = "") -> None:
    parser.add_argument(
        _flag(name),
        type=int if limits.whole else float,
        metavar=f"{limits.low:.10g}..{limits.high:.10g}",
        help=f"{meaning}default: {limits.default:g}{_other_defaults(name)}",
    )


def _other_defaults(name: str) -> str:
    """Say which workflows have another default."""
    others = [(own.defaults[name], workflow) for workflow, own in workflows().items() if name in own.defaults]
    return "".join(f", {value if isinstance(value, str) else format(value, 'g')} in {by}" for value, by in others)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The flags that were written, by the name of the field they set."""
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _config(options: argparse.Namespace) -> RunConfig:
    numbers = _given(options, _OF_MODELS)
    RoleModel(**numbers)  # a bad number is said also where no chat model is named
    usual = Settings.load().defaults_of_runs
    named = {role: RoleModel(name) for role, name in _given(options, _ROLES).items()}
    chosen: dict[str, RoleModel] = {role: named.get(role) or getattr(usual.models, role) for role in _ROLES}
    chosen = {role: model if model.built_in else replace(model, **numbers) for role, model in chosen.items()}
    written = _given(options, ("workflow", "collection", *SETTINGS))
    own = _given(options, [name for item in workflows().values() for name in item.own_settings])
    config = usual.over({**written, "options": own})
    return replace(config, models=replace(config.models, **chosen))


def _ask(options: argparse.Namespace) -> int:
    config = _config(options)
    admissible(len(options.attach), config)
    files = [(Path(path).name, file_bytes(path)) for path in options.attach]
    record = _answer(options.question, config, files)
    if options.json:
        plain = seed_response(record) if record.workflow == USUAL else record.to_dict()
        print(json.dumps(plain, ensure_ascii=False, indent=2))
    else:
        print_record(record)
    return _FAILED if record.outcome in ("failed", "cancelled", "interrupted") else 0


def _answer(question: str, config: RunConfig, files: Sequence[tuple[str, bytes]] = ()) -> RunRecord:
    settings = Settings.load()
    app = app_with_the_store(settings)
    if app is not None:
        for item in app.warnings_before(question, config):
            _warn_before(str(item.get("fact", "")), str(item.get("remedy", "")))
        return app.ask(question, config, files)
    # Imported here: an app that does the work answers seconds before this could.
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        for warning in engine.warnings_before(question, config):
            _warn_before(warning.fact, warning.remedy)
        read = [engine.read_attachment(name, data, config, question=question) for name, data in files]
        return engine.run(question, config, attachments=read)


def _warn_before(fact: str, remedy: str) -> None:
    """Said while there is still time to stop the run; standard output is the answer's."""
    print(f"{fact} {remedy}", file=sys.stderr, flush=True)


def _eval(options: argparse.Namespace) -> int:
    # Imported here: what measures is not needed to ask or to ingest.
    from engine.evaluation.command import job_of, say, say_notes
    from engine.evaluation.concurrent_cases import RunsHere

    job = job_of(options)
    console = Console(stderr=True, soft_wrap=True)
    say_notes(job.plan, console)
    for warning in (*gate_warnings(job.config), *own_judge_warnings(job.config)):
        _warn_before(warning.fact, warning.remedy)
    if job.judge is not None and job.judge.model == job.config.models.generator.model:
        _warn_before(f"{job.judge.model} judges its own answers.", "Another model as judge would tell more.")
    settings = Settings.load()
    app = app_with_the_store(settings)
    if app is not None:
        console.print(f"The workbench at {escape(app.url)} has the knowledge base open; it does the work.")
        if not job.plan.items:
            _say_coverage(job, [str(item.get("source", "")) for item in app.sources(job.config.collection)])
        placed = ingest_there(app, job.plan.items, job.config.collection, {}, console) if job.plan.items else {}
        report = _evaluated(job, placed, app, console)
    else:
        from engine.engine import Engine

        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            placed = {}
            if not job.plan.items:
                _say_coverage(job, [item.source for item in engine.sources(job.config.collection)])
            else:
                placed = ingest_here(engine, job.plan.items, job.config.collection, console).to_dict()
            report = _evaluated(job, placed, RunsHere(engine), console)
    say(report)
    return 0 if report.passed else _UNKNOWN if report.unknown_alone else _FAILED


def _say_coverage(job: Job, sources: Sequence[str]) -> None:
    """Warn where a collection holds only a part of what is expected; raises ``EvaluationError`` where none of it."""
    from engine.evaluation.matching import refuse_uncovered, source_coverage

    found = source_coverage(job.cases, job.config.collection, sources)
    refuse_uncovered(found)
    if found.partly:
        what = f"{found.present} of {found.expected} expected sources exist in the collection {found.collection!r}:"
        _warn_before(what, "what the others hold cannot be found.")


def _evaluated(job: Job, placed: Mapping[str, Any], runner: Runner, console: Console) -> Report:
    """Run the cases where the knowledge base is; ``placed``: what became of the data set's documents."""
    from engine.evaluation.command import report_of
    from engine.evaluation.concurrent_cases import ask_all

    if placed:
        # One line a document that was there already would bury the rest of a corpus.
        print_report({**placed, "skipped": []}, console)
        console.print(f"{len(placed.get('skipped', []))} documents were in the collection already")
    cases = job.plan.after(placed).cases
    with bar_on(console) as bar:
        task = bar.add_task("questions", total=len(cases))
        records, failures = ask_all(runner, cases, job.config, job.concurrency, lambda: bar.advance(task))
    said, fault = _said(job, cases, records, console)
    return replace(report_of(job, cases, records, failures, said), judge_fault=fault)


def _said(
    job: Job, cases: Sequence[Case], records: Mapping[str, RunRecord], console: Console
) -> tuple[tuple[AnswerJudgement, ...], Fault | None]:
    """What people have said of these answers, what the judge says, which is asked where it has not been yet, and what
    stopped it.
    """
    from engine.database.databases import Databases
    from engine.evaluation.judging import judge_now
    from engine.evaluation.store import EvaluationStore

    settings = Settings.load()
    results = [(case, records[case.id]) for case in cases if case.id in records]
    fault = None
    with closing(Databases.of(settings)) as databases, EvaluationStore(databases.evaluation) as store:
        if job.judge is not None:
            with bar_on(console) as bar:
                task = bar.add_task("answers judged", total=None)
                update = partial(bar.update, task)
                try:
                    judge_now(job.judge, settings, store, results, lambda done, of: update(completed=done, total=of))
                except ModelError as error:
                    fault = Fault.of(error)
        return store.answer_judgements(*((case.question, record.answer) for case, record in results)), fault
