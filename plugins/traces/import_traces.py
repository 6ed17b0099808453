"""``python -m engine import-traces``: traces of other programs as runs."""

from __future__ import annotations

import argparse
import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import app_with_the_store
from engine.settings import Settings
from plugins.traces.errors import UNREADABLE


def add_import_traces(commands: Any) -> None:
    """The command."""
    about = "Take in traces of another program: OTLP, Phoenix, Langfuse, or files of rag_workbench.observe."
    take = commands.add_parser("import-traces", help="debug the runs of another program here", description=about)
    take.add_argument("files", metavar="FILE", nargs="+", type=Path)
    take.add_argument("--project", default="", help="where spans are from that do not say it")
    take.add_argument("--collection", default="", help="the collection here that holds the same documents, if one does")
    take.add_argument("--as-set", default="", metavar="NAME", help="keep the questions as a query set to tune over")
    take.add_argument("--dry-run", action="store_true", help="say what is found, and keep nothing")
    take.set_defaults(command=_import)


def _import(options: argparse.Namespace) -> int:
    files = [(path.name, _content(path)) for path in options.files]
    settings = Settings.load()
    body = {
        "files": [{"name": name, "content_base64": base64.b64encode(data).decode()} for name, data in files],
        "project": options.project,
        "collection": options.collection,
        "set_name": options.as_set,
        "dry_run": options.dry_run,
    }
    app = app_with_the_store(settings)
    if app is not None:
        _say(app.answer("/api/traces", body), dry=options.dry_run)
        return 0
    # Imported here: an app that does the work answers seconds before this could.
    from engine.engine import Engine
    from plugins.traces.report import previewed, taken
    from plugins.traces.taking import Traces

    with Engine.open(settings) as engine:
        traces, target = Traces.of(engine), {"project": options.project, "collection": options.collection}
        if options.dry_run:
            found = previewed(traces.preview(files, **target))
        else:
            found = taken(traces.take(files, **target, set_name=options.as_set))
        _say(found, dry=options.dry_run)
    return 0


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UNREADABLE(name=str(path), why=error.strerror or type(error).__name__) from None


def _say(found: Mapping[str, Any], *, dry: bool) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for item in found["traces"]:
        known = "  (imported before)" if item["known"] else ""
        counts = f"{item['searches']} searches, {item['passages']} passages, {item['verdicts']} verdicts"
        answer = "answer" if item["answer"] else "no answer"
        console.print(escape(f"{item['run'][:12]}  {counts}, {answer}  {item['question'][:70]}{known}"))
    for item in found["left_out"]:
        console.print(escape(f"left out: {item}"))
    if dry:
        console.print(f"{len(found['traces'])} traces from {found['spans']} spans; nothing was kept.")
        return
    console.print(f"Runs imported: {found['new']}; there already: {len(found['traces']) - found['new']}.")
    if found["set_name"]:
        console.print(escape(f"Query set {found['set_name']!r}, gathered as {found['batch_id'][:12]}."))
