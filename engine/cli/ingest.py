"""Commands ``ingest``, which puts files into a collection, and ``sources``, which says what was read of each."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from engine.cli.graph import build_graph, follow
from engine.cli.jobs import app_with_the_store, bar_on, job_over, own_app, print_list
from engine.errors import AppRefused, SourceError, WorkbenchError
from engine.knowledge.ingest import IngestItem, IngestReport, items_of
from engine.knowledge.ingest import Progress as Ingested
from engine.knowledge.loaders.kinds import KINDS
from engine.knowledge.milvus_schema import check_new_name
from engine.knowledge.preview import preview
from engine.knowledge.rates import rate_of, usual_rate, writer_of
from engine.library.accounts import English, account_lines, counts_left_out, note_text
from engine.library.values import CHUNK_LIMITS, DEFAULT_CHUNKS, ChunkOptions, JobStatus, Preview
from engine.model.config import RoleModel
from engine.model.values import CONTEXTS, NEW_CONTEXT, Account, Fault, SourceNote
from engine.roles import SourceInfo
from engine.running.running_app import RunningApp, at
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.engine import Engine

_FAILED = 1
_STOPPED = 130
_MOST_TO_TARGET = DEFAULT_CHUNKS.most_tokens / DEFAULT_CHUNKS.target_tokens
_LOOK_S = 0.2
_GO_ON = "Resume it on the Knowledge page, under Add."


def add_ingest(commands: Any) -> None:
    """The command and its flags."""
    said = (
        f"Put files, or all files below a folder or in an archive, into a collection: {KINDS}. What the collection has "
        "already is skipped; a changed file replaces its former version; a file that cannot be used is named, and the "
        "others go in. After an interrupt the same command continues where it was."
    )
    put = commands.add_parser("ingest", help="put files into a collection", description=said)
    put.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="file or folder")
    put.add_argument("--collection", required=True, metavar="NAME")
    for flag, name, meaning in (
        ("--chunk-tokens", "target_tokens", "size near which a long section is cut, in estimated tokens"),
        ("--overlap", "overlap_tokens", "longest sentence that neighbouring passages share, in estimated tokens"),
    ):
        low, high = CHUNK_LIMITS[name]
        default = getattr(DEFAULT_CHUNKS, name)
        put.add_argument(flag, type=int, metavar=f"{low}..{high}", help=f"{meaning}; default: {default}")
    put.add_argument(
        "--embedding-model",
        default="",
        metavar="NAME",
        help="builtin, hashing, ollama:MODEL or local:FILE, for a new collection",
    )
    for kind, what in (("query", "queries"), ("passage", "passages")):
        of_new = f"text put before {what}, for a new collection with a model of Ollama; default: that known for it"
        put.add_argument(f"--{kind}-prefix", metavar="TEXT", help=of_new)
    put.add_argument(
        "--context",
        choices=CONTEXTS,
        help=f"what is embedded and searched in front of a passage, for a new collection: nothing (none), its title "
        f"and section (path), or these and a sentence by a chat model (written); default: {NEW_CONTEXT}",
    )
    put.add_argument(
        "--context-model",
        default="",
        metavar="MODEL",
        help="the chat model that writes these sentences, one call a passage; default: the extractor of the settings",
    )
    put.add_argument(
        "--graph", default="", metavar="MODEL", help="then read a knowledge graph: builtin (rules), or a chat model"
    )
    put.add_argument(
        "--hidden",
        action="store_true",
        help="read hidden text, slides, rows, columns and sheets too; default: leave out",
    )
    put.add_argument("--preview", action="store_true", help="say what would be done, and do nothing")
    put.set_defaults(command=_ingest)


def _ingest(options: argparse.Namespace) -> int:
    chunks = _chunks(options)
    if options.graph:
        RoleModel(options.graph)  # a bad name is said before anything is done
    found, missing = items_of(options.paths)
    items = [replace(item, hidden=options.hidden) for item in found]
    console = Console(stderr=True, soft_wrap=True)
    for path, error in missing:
        sign = "[yellow]–[/]" if counts_left_out(Fault.of(error)) else "[red]✗[/]"
        console.print(f"{sign} {escape(str(path))}: {escape(error.fact)}")
    unusable = [error for _, error in missing if not counts_left_out(Fault.of(error))]
    if not items:
        console.print(f"Nothing to ingest: no file that can be read was found. What can be read: {KINDS}.")
        return _FAILED
    settings = Settings.load()
    app = app_with_the_store(settings)
    if options.preview:
        _print_preview(_previewed(options, items, chunks, app, settings))
        return _FAILED if unusable else 0
    if app is not None:
        report = ingest_there(app, items, options.collection, _body(options, chunks), console)
        read = build_graph(app, options.collection, options.graph, console) if options.graph else 0
    else:
        from engine.engine import Engine

        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            status = _as_job(engine, options, items, chunks, console)
            read = follow(own_app(engine), status.follow_up, console) if status.follow_up else 0
        if status.state == "stopped":
            console.print(f"Stopped after {status.done} of {status.total} passages.")
            console.print("Run the same command once more to continue: nothing is embedded or written twice.")
            return _STOPPED
        report = status.to_dict()
        if status.fault is not None:
            console.print(f"[red]{escape(status.fault.fact)}[/] {escape(status.fault.remedy)}")
            console.print("The same command then continues where it was.")
            return print_report(report, console) or _FAILED
    return print_report(report, console) or (_FAILED if unusable else read)


def _chunks(options: argparse.Namespace) -> ChunkOptions:
    """Read the chunk options, where what is not given follows from what is; raises ``InvalidConfig`` out of range."""
    target = options.chunk_tokens if options.chunk_tokens is not None else DEFAULT_CHUNKS.target_tokens
    overlap = options.overlap if options.overlap is not None else min(DEFAULT_CHUNKS.overlap_tokens, target // 2)
    low, high = CHUNK_LIMITS["most_tokens"]
    return ChunkOptions(target, min(high, max(low, round(target * _MOST_TO_TARGET))), overlap)


def _as_job(
    engine: Engine, options: argparse.Namespace, items: Sequence[IngestItem], chunks: ChunkOptions, console: Console
) -> JobStatus:
    """Begin a job, or continue with what an earlier one for the same files has done; an interrupt stops it in order."""
    job_id = engine.ingestions.start(
        items,
        options.collection,
        chunks=chunks,
        embedding_model=options.embedding_model,
        query_prefix=options.query_prefix,
        passage_prefix=options.passage_prefix,
        context=options.context,
        context_model=options.context_model,
        graph=options.graph,
    )
    with bar_on(console) as bar:
        task = bar.add_task("reading", total=None)
        try:
            while not (status := engine.ingestions.wait(job_id, _LOOK_S)).over:
                _show(bar, task, asdict(status))
        except KeyboardInterrupt:
            return engine.ingestions.stop(job_id)
        _show(bar, task, asdict(status))
    return status


def _show(bar: Progress, task: Any, job: Mapping[str, Any]) -> None:
    source = escape(job["source"])[-40:]
    if job["state"] in ("waiting", "reading"):
        bar.update(task, completed=job["files_done"], total=job["files"], description=f"{job['state']} {source}")
    else:
        rate = f" · {job['per_second']:.1f}/s" if job["per_second"] else ""
        bar.update(task, completed=job["done"], total=job["total"], description=f"{source}{rate}")


def ingest_here(engine: Engine, items: Sequence[IngestItem], collection: str, console: Console) -> IngestReport:
    """Ingest in this process without a job that could be resumed."""
    with bar_on(console) as bar:
        task = bar.add_task("passages", total=None)

        def show(progress: Ingested) -> None:
            bar.update(task, completed=progress.done, total=progress.total, description=escape(progress.source)[:40])

        return engine.ingest(items, collection, show)


def ingest_there(
    app: RunningApp, items: Sequence[IngestItem], collection: str, options: Mapping[str, Any], console: Console
) -> Mapping[str, Any]:
    """One file a request, so that a bad one cannot hold up the others; ``options`` as the route's body has them.

    A large file becomes a job there, which is followed to its end; an interrupt stops it.
    """
    check_new_name(collection)
    limit_mb = Settings.load().max_upload_mb
    total: dict[str, Any] = {}
    console.print(f"The workbench at {escape(app.url)} has the knowledge base open; it does the work.")
    with bar_on(console) as bar:
        for item in bar.track(items, description="files"):
            try:
                content = item.read()
                if len(content) > limit_mb * 1e6:
                    raise SourceError.too_large(name=item.name, size_mb=f"{len(content) / 1e6:.1f}", limit_mb=limit_mb)
                report = app.add_source(collection, item.name, content, options)
                if "id" in report:
                    report = _followed(app, report, item.name, bar)
            except WorkbenchError as error:
                report = {"failed": [{"name": item.name, "fact": error.fact, "remedy": error.remedy}]}
            for key in ("added", "replaced", "skipped", "failed", "notes", "passages"):
                if key in report:
                    total[key] = total[key] + report[key] if key in total else report[key]
    return total


def _followed(app: RunningApp, job: Mapping[str, Any], name: str, bar: Progress) -> dict[str, Any]:
    """The report of a job in the app once it is over; raises ``AppRefused`` where it did not come to its end."""
    task = bar.add_task("waiting", total=None)
    try:
        while not job_over(job):
            _show(bar, task, job)
            time.sleep(_LOOK_S)
            job = app.job(str(job["id"]))
    except KeyboardInterrupt:
        job = app.stop_job(str(job["id"]))
        bar.console.print(f"{escape(name)}: stopped after {job['done']} of {job['total']} passages. {_GO_ON}")
        raise
    finally:
        bar.remove_task(task)
    if job["state"] == "done":
        return dict(job)
    fault = job["fault"] or {"fact": f"Its job in the workbench was {job['state']}.", "remedy": _GO_ON}
    raise AppRefused.restored(str(fault["fact"]), str(fault["remedy"]))


def _body(options: argparse.Namespace, chunks: ChunkOptions) -> dict[str, Any]:
    # An empty prefix is a prefix; only one that was not written is left to what is known for the model.
    of_new = {name: getattr(options, name) for name in ("query_prefix", "passage_prefix", "context")}
    written = {name: value for name, value in of_new.items() if value is not None}
    return {
        **written,
        "chunks": asdict(chunks),
        "embedding_model": options.embedding_model,
        "context_model": options.context_model,
        "hidden": options.hidden,
    }


def _previewed(
    options: argparse.Namespace,
    items: Sequence[IngestItem],
    chunks: ChunkOptions,
    app: RunningApp | None,
    settings: Settings,
) -> Preview:
    if app is None:
        from engine.engine import Engine

        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            return engine.ingestions.preview(
                items,
                options.collection,
                chunks,
                embedding_model=options.embedding_model,
                context=options.context,
                context_model=options.context_model,
            )
    known = {str(item.get("name")): item for item in app.listed(at("collections"))}.get(options.collection, {})
    present = [SourceInfo.of(item) for item in app.sources(options.collection)]
    model = str(known.get("embedding_model", ""))
    named = options.context_model or settings.models.extractor.model
    writer = str(known.get("context_model", "")) if known else named if options.context == "written" else ""
    return preview(
        items,
        present,
        chunks,
        context=known.get("context") or options.context or NEW_CONTEXT,
        context_model=writer,
        context_tokens_per_s=rate_of(settings.data_dir, writer_of(writer)),
        limit_mb=settings.max_upload_mb,
        tokens_per_s=rate_of(settings.data_dir, model),
        usual_tokens_per_s=usual_rate(model),
    )


def _print_preview(found: Preview) -> None:
    console = Console(soft_wrap=True)
    for source in found.sources:
        fate = f"[yellow]=[/] the same as {escape(source.same_as)}" if source.same_as else ""
        fate += ", what was read of it is recorded" if source.recorded else ""
        fate = fate or ("[cyan]↻[/] replaces its former version" if source.replaces else "[green]+[/] new")
        facts = [source.format, source.encoding, f"{len(source.passages)} passages", f"{sum(source.tokens)} tokens"]
        details = " · ".join(escape(part) for part in facts if part)
        console.print(f"{escape(source.name)}: {fate} · {details}")
        if source.recorded or not source.same_as:
            print_account(source.account, console)
    for name, fault in found.failed:
        console.print(f"[red]✗[/] {escape(name)}: {escape(fault.fact)} {escape(fault.remedy)}")
    where = "here" if found.measured else "on a common machine"
    time = f", about {found.seconds:.0f} s {where}" if found.seconds is not None else ""
    console.print(f"To embed: {found.passages} passages{time}. Files that cannot be used: {len(found.failed)}.")
    if price := found.writing:
        time = f", about {price.seconds:.0f} s here" if price.seconds is not None else ""
        console.print(f"Context: {price.calls} calls of {escape(price.model)}, about {price.tokens} tokens{time}.")


def print_report(report: Mapping[str, Any], console: Console) -> int:
    """Say what became of every file; returns the exit code."""
    for fault in report.get("failed", []):
        console.print(f"[red]✗[/] {escape(fault['name'])}: {escape(fault['fact'])} {escape(fault['remedy'])}")
    for item in report.get("skipped", []):
        console.print(f"[yellow]=[/] {escape(item['name'])}: already in the collection as {escape(item['same_as'])}")
    for name in report.get("replaced", []):
        console.print(f"[cyan]↻[/] {escape(str(name))}: replaced")
    for note in report.get("notes", []):
        text = note_text(SourceNote(note["code"], dict(note["params"])), English())
        console.print(f"[yellow]![/] {escape(note['name'])}: {escape(text)}")
    if unreadable := report.get("unreadable"):
        console.print(f"[yellow]![/] {unreadable} passages without a sentence of context: no reply could be used")
    added = len(report.get("added", []))
    console.print(
        f"{added} added, {len(report.get('replaced', []))} replaced, {len(report.get('skipped', []))} skipped, "
        f"{len(report.get('failed', []))} failed; {report.get('passages', 0)} passages"
    )
    return _FAILED if report.get("failed") else 0


def add_sources(commands: Any) -> None:
    """The command; files go in by ``ingest``."""
    about = "Sources of a collection by name, with what was read of each and what was left out."
    sources = commands.add_parser("sources", help="list the sources of a collection", description=about)
    sources.add_argument("collection", metavar="COLLECTION")
    sources.add_argument("--json", action="store_true", help="print the JSON of GET /api/collections/NAME/sources")
    sources.set_defaults(command=_sources)


def _sources(options: argparse.Namespace) -> int:
    def show(item: Any, console: Console) -> None:
        info = SourceInfo.of(item)
        console.print(f"{escape(info.source)}  [dim]{info.passages} passages · {escape(info.added_at[:16])}[/]")
        print_account(info.account, console)

    return print_list(options, at("collections", options.collection, "sources"), show)


def print_account(account: Account | None, console: Console) -> None:
    """Print an account, a sentence a line."""
    for line in account_lines(account, English()):
        console.print(f"    [yellow]![/] {escape(line.text)}" if line.missing else f"    [dim]{escape(line.text)}[/]")
