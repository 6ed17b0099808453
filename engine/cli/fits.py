"""``python -m engine fits``: the graders that are fitted to a collection, here or in the app that has it open."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work

if TYPE_CHECKING:
    from engine.engine import Engine


class _Place(Protocol):
    """The fits of this process or of the app that has the knowledge base open, all in plain values."""

    def fits(self, collection: str) -> Sequence[Mapping[str, Any]]: ...


def add_fits(commands: Any) -> None:
    """The command; fits are made on the page Tune."""
    told = "Graders fitted to a collection, newest first, each by the name that --grader takes."
    fits = commands.add_parser("fits", help="list the graders fitted to a collection", description=told)
    fits.add_argument("collection", metavar="COLLECTION")
    fits.add_argument("--json", action="store_true", help="print plain values")
    fits.set_defaults(command=_fits)


class _Here:
    """The fits of this process."""

    def __init__(self, engine: Engine) -> None:
        engine.wait_until_ready()
        self._engine = engine

    def fits(self, collection: str) -> Sequence[Mapping[str, Any]]:
        own_name = self._engine.describe(collection).name
        return [fit.to_dict() for fit in self._engine.grader_fits.of(own_name)]


def _fits(options: argparse.Namespace) -> int:
    def work(place: _Place) -> None:
        found = place.fits(options.collection)
        if options.json:
            print(json.dumps(list(found), ensure_ascii=False, indent=2))
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

    return at_work(_Here, work)
