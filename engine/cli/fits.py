"""``python -m engine fits``: the graders that are fitted to a collection, here or in the app that has it open."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work
from engine.running.running_app import RunningApp, at


def add_fits(commands: Any) -> None:
    """The command; fits are made on the page Tune."""
    told = "Graders fitted to a collection, newest first, each by the name that --grader takes."
    fits = commands.add_parser("fits", help="list the graders fitted to a collection", description=told)
    fits.add_argument("collection", metavar="COLLECTION")
    fits.add_argument("--json", action="store_true", help="print plain values")
    fits.set_defaults(command=_fits)


def _fits(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        found = app.listed(at("collections", options.collection, "fits"))
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for item in found:
            before, after = (
                "–" if value is None else f"{value:.2f}" for value in item["figures"].get("kappa", (None, None))
            )
            told = (
                f"{item['kind']} · {item['judgements']} judgements · kappa {before} → {after} · {item['made_at'][:16]}"
            )
            console.print(f"{escape(item['name'])}  [dim]{escape(told)}[/]")

    return at_work(work)
