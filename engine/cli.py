"""The command line; where a running app holds the knowledge base, the work is handed to that app."""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.config import PARAMETERS, RoleModel, RoleModels, RunConfig
from engine.errors import WorkbenchError
from engine.knowledge.ingest import IngestItem, IngestReport, items_of
from engine.knowledge.ingest import Progress as Ingested
from engine.records.codec import record_from_dict
from engine.responses import seed_response
from engine.running_app import RunningApp
from engine.settings import Settings
from engine.values import RunRecord
from engine.version import __version__
from engine.wording import decision_sentence

if TYPE_CHECKING:
    from engine.engine import Engine

_FAILED = 1
_BAD_USE = 2
_ROOT = Path(__file__).resolve().parent.parent
_NUMBERS = ("top_k", "similarity_threshold", "grade_pass_threshold", "max_rewrites", "min_confidence", "budget_s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 for an answer or a full ingestion, 1 for a fault (said on standard error), 2 for bad use."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except WorkbenchError as error:
        print(f"{error.fact}\n{error.remedy}", file=sys.stderr)
        return _BAD_USE if error.code.startswith("WB1") else _FAILED
    except BrokenPipeError:
        # The reader (`head`, say) has had enough; Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description="Self-Corrective RAG Workbench")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    ask = commands.add_parser("ask", help="answer a question", description="Answer a question from a collection.")
    ask.add_argument("question")
    ask.add_argument("--json", action="store_true", help="print the JSON of POST /api/self-corrective-rag")
    ask.add_argument("--collection", default=RunConfig().collection, help="default: %(default)s")
    for name in _NUMBERS:
        limits = PARAMETERS[name]
        ask.add_argument(
            "--" + name.replace("_", "-"),
            type=int if limits.whole else float,
            metavar=f"{limits.low:g}..{limits.high:g}",
            help=f"default: {limits.default:g}",
        )
    for role in ("grader", "rewriter", "generator"):
        choices = "builtin, ollama:MODEL or provider:model"
        ask.add_argument(f"--{role}", default="builtin", metavar="MODEL", help=choices)
    ask.set_defaults(command=_ask)

    put = commands.add_parser("ingest", help="put files into a collection", description="Text and Markdown files.")
    put.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="file or folder")
    put.add_argument("--collection", required=True, metavar="NAME")
    put.set_defaults(command=_ingest)

    serve = commands.add_parser("serve", help="start the workbench", description="Serve pages and HTTP API.")
    serve.set_defaults(command=_serve)
    return parser


def _ask(options: argparse.Namespace) -> int:
    numbers = {name: getattr(options, name) for name in _NUMBERS if getattr(options, name) is not None}
    models = RoleModels(
        grader=RoleModel(options.grader), rewriter=RoleModel(options.rewriter), generator=RoleModel(options.generator)
    )
    config = RunConfig(collection=options.collection, models=models, **numbers)
    record = _answer(options.question, config)
    if options.json:
        print(json.dumps(seed_response(record), ensure_ascii=False, indent=2))
    else:
        _print_record(record)
    return _FAILED if record.outcome in ("failed", "cancelled", "interrupted") else 0


def _answer(question: str, config: RunConfig) -> RunRecord:
    settings = Settings.load()
    app = _app_with_the_store(settings)
    if app is not None:
        plain = _plain_config(config)
        reply = app.post("/api/runs", {"question": question, "workflow": config.workflow, "config": plain})
        return record_from_dict(_without_derived(_checked(reply, settings)))
    # Imported here: an app that does the work answers seconds before this could.
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        return engine.run(question, config)


def _app_with_the_store(settings: Settings) -> RunningApp | None:
    """The app that has the embedded knowledge base open; a Milvus server is shared, so there nobody is asked."""
    return None if settings.milvus_uri else RunningApp.find(settings.data_dir)


def _ingest(options: argparse.Namespace) -> int:
    items, missing = items_of(options.paths)
    console = Console(stderr=True, soft_wrap=True)
    for path, error in missing:
        console.print(f"[red]✗[/] {escape(str(path))}: {escape(error.fact)}")
    if not items:
        console.print("Nothing to ingest: no text or Markdown file was found.")
        return _FAILED
    report = _ingested(items, options.collection, console)
    return _print_report(report, console) or (_FAILED if missing else 0)


def _ingested(items: Sequence[IngestItem], collection: str, console: Console) -> Mapping[str, Any]:
    settings = Settings.load()
    app = _app_with_the_store(settings)
    if app is not None:
        return _ingest_there(app, items, collection, console)
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        return _ingest_here(engine, items, collection, console).to_dict()


def _ingest_here(engine: Engine, items: Sequence[IngestItem], collection: str, console: Console) -> IngestReport:
    with _bar(console) as bar:
        task = bar.add_task("passages", total=None)

        def show(progress: Ingested) -> None:
            bar.update(task, completed=progress.done, total=progress.total, description=escape(progress.source)[:40])

        return engine.ingest(items, collection, show)


def _ingest_there(
    app: RunningApp, items: Sequence[IngestItem], collection: str, console: Console
) -> Mapping[str, Any]:
    """One file a request, so that a bad one cannot hold up the others."""
    total: dict[str, Any] = {}
    console.print(f"The workbench at {escape(app.url)} has the knowledge base open; it does the work.")
    with _bar(console) as bar:
        for item in bar.track(items, description="files"):
            content = base64.b64encode(item.read()).decode()
            body = {"name": item.name, "content_base64": content}
            reply = app.post(f"/api/collections/{collection}/sources", body)
            if reply.get("success") is False:
                reply = {"failed": [{"name": item.name, "fact": reply["fact"], "remedy": reply["remedy"]}]}
            for key in ("added", "replaced", "skipped", "failed", "passages"):
                if key in reply:
                    total[key] = total[key] + reply[key] if key in total else reply[key]
    return total


def _serve(_: argparse.Namespace) -> int:
    settings = Settings.load()
    address = {"STREAMLIT_SERVER_ADDRESS": settings.host, "STREAMLIT_SERVER_PORT": str(settings.port)}
    command = [sys.executable, "-m", "streamlit", "run", str(_ROOT / "app.py")]
    environment = {**os.environ, **address}
    print(f"Self-Corrective RAG Workbench: http://{settings.host}:{settings.port}", flush=True)
    os.chdir(_ROOT)
    if os.name == "nt":
        import subprocess

        return subprocess.call(command, env=environment)  # noqa: S603 - our own command
    os.execve(sys.executable, command, environment)  # noqa: S606 - our own command
    return 0


def _print_record(record: RunRecord) -> None:
    console = Console(soft_wrap=True)
    for decision in record.decisions:
        console.print(escape(decision_sentence(decision)), style="dim")
    for item in record.rewrites:
        console.print(escape(f"rewrite: {item.query} → {item.rewritten_query}"), style="dim")
    if record.error:
        console.print(f"[red]{escape(record.error.fact)}[/] {escape(record.error.remedy)}")
    if record.answer:
        console.print()
        console.print(escape(record.answer))
    for citation in record.citations:
        console.print(escape(f"[{citation.marker}] {citation.source} § {citation.section}"), style="cyan")
    cost = f"{record.calls} model calls · {record.duration_ms / 1000:.2f} s"
    console.print(escape(f"\n{record.outcome} ({record.reason}) · {cost}"), style="dim")


def _print_report(report: Mapping[str, Any], console: Console) -> int:
    for fault in report.get("failed", []):
        console.print(f"[red]✗[/] {escape(fault['name'])}: {escape(fault['fact'])} {escape(fault['remedy'])}")
    for item in report.get("skipped", []):
        console.print(f"[yellow]=[/] {escape(item['name'])}: already in the collection as {escape(item['same_as'])}")
    for name in report.get("replaced", []):
        console.print(f"[cyan]↻[/] {escape(str(name))}: replaced, its content had changed")
    added = len(report.get("added", []))
    console.print(
        f"{added} added, {len(report.get('replaced', []))} replaced, {len(report.get('skipped', []))} skipped, "
        f"{len(report.get('failed', []))} failed; {report.get('passages', 0)} passages"
    )
    return _FAILED if report.get("failed") else 0


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console)


def _plain_config(config: RunConfig) -> dict[str, Any]:
    from dataclasses import asdict

    plain = asdict(config)
    del plain["workflow"]
    return plain


def _checked(reply: Any, settings: Settings) -> dict[str, Any]:
    if isinstance(reply, dict) and "rounds" in reply:
        return reply
    fact = str(reply.get("fact", "The running workbench gave no record.")) if isinstance(reply, dict) else ""
    remedy = str(reply.get("remedy", "Try again in the browser.")) if isinstance(reply, dict) else ""
    raise WorkbenchError(fact or f"The workbench at {settings.host} gave no record.", remedy=remedy or "Try again.")


def _without_derived(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if key not in ("workflow", "calls")}
