"""``python -m engine sources``: the sources of a collection, what was read of each and what was left out."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work
from engine.library.accounts import English, account_lines
from engine.model.values import Account
from engine.roles import SourceInfo
from engine.running.running_app import RunningApp, at


def add_sources(commands: Any) -> None:
    """The command; files go in by ``ingest``."""
    told = "Sources of a collection by name, with what was read of each and what was left out."
    sources = commands.add_parser("sources", help="list the sources of a collection", description=told)
    sources.add_argument("collection", metavar="COLLECTION")
    sources.add_argument("--json", action="store_true", help="print the JSON of GET /api/collections/NAME/sources")
    sources.set_defaults(command=_sources)


def _sources(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        found = app.listed(at("collections", options.collection, "sources"))
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for info in map(SourceInfo.of, found):
            console.print(f"{escape(info.source)}  [dim]{info.passages} passages · {escape(info.added_at[:16])}[/]")
            print_account(info.account, console)

    return at_work(work)


def print_account(account: Account | None, console: Console) -> None:
    """Print an account, a sentence a line."""
    for line in account_lines(account, English()):
        console.print(f"    [yellow]![/] {escape(line.text)}" if line.missing else f"    [dim]{escape(line.text)}[/]")
