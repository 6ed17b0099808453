"""``python -m engine judgements``: judgements of a query set as files, and its scores over time."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work
from engine.errors import EvaluationError, SourceError
from engine.evaluation.desk.formats import Format
from engine.knowledge.sheets import listed
from engine.running.running_app import RunningApp, at


def add_judgements(commands: Any) -> None:
    """The command and its actions."""
    told = "Judgements of the questions of a query set: written to a file, taken from one, and the set's scores."
    judgements = commands.add_parser("judgements", help="export and import judgements of a set", description=told)
    does = judgements.add_subparsers(required=True, metavar="ACTION")

    write = does.add_parser("export", help="print them", description="Print the judgements of a set.")
    write.add_argument("set", metavar="SET")
    write.add_argument("--format", choices=get_args(Format), default="jsonl", help="default: %(default)s")
    write.set_defaults(command=_export)

    take = does.add_parser("import", help="take them from a file", description="Take judgements of a set from a file.")
    take.add_argument("set", metavar="SET")
    take.add_argument("file", metavar="FILE", type=Path)
    take.add_argument("--format", choices=get_args(Format), help="default: told from the content")
    take.add_argument("--judge", default="", metavar="NAME", help="whose they are where the file does not say")
    take.add_argument("--relevant-from", type=int, default=1, metavar="N", help="least rating that means relevant; 1")
    take.set_defaults(command=_import)

    show = does.add_parser("history", help="scores over time", description="What the gatherings of a set came to.")
    show.add_argument("set", metavar="SET")
    show.add_argument("--json", action="store_true", help="print plain values")
    show.set_defaults(command=_history)


def _export(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        sys.stdout.write(app.file(at("query-sets", options.set, "judgements", format=options.format)).decode())

    return at_work(work)


def _import(options: argparse.Namespace) -> int:
    try:
        content, others = listed(options.file.name, options.file.read_bytes())
    except OSError as error:
        raise EvaluationError.judgements_unusable(name=str(options.file), cause=error.strerror) from None
    except SourceError as error:
        raise EvaluationError.judgements_unusable(name=str(options.file), cause=error.fact) from None
    body = {"content": content, "name": options.file.name, "judge": options.judge}
    body |= {"relevant_from": options.relevant_from, **({"format": options.format} if options.format else {})}

    def work(app: RunningApp) -> None:
        found = app.answer(at("query-sets", options.set, "judgements"), body)
        console = Console(stderr=True, soft_wrap=True)
        console.print(f"{found['passages']} passages and {found['answers']} answers judged")
        if others:
            console.print("Only the first sheet with something in it was read.")
        for line in found["left_out"]:
            console.print(f"left out: {escape(line)}")
        if found["left_out_n"] > len(found["left_out"]):
            console.print(f"and {found['left_out_n'] - len(found['left_out'])} further lines")

    return at_work(work)


def _history(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        found = app.listed(at("query-sets", options.set, "history"))
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for item in found:
            figures = ", ".join(f"{name} {value:.3f} (n = {n})" for name, (value, n) in item["figures"].items())
            until = f"judgements until {item['noted_at'][:16]}" if item["noted_at"] else ""
            parts = (item["at"][:16], item["batch_id"][:8], figures, until, item["note"])
            console.print(escape("  ".join(filter(None, parts))))

    return at_work(work)
