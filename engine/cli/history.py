"""``python -m engine history``: the history of weak points, listed, deleted, switched on and off."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import app_with_the_store
from engine.database.databases import Databases
from engine.errors import RunError, UnknownCollection
from engine.knowledge.weak_points import WeakPoints
from engine.running.running_app import at
from engine.settings import Settings


def add_history(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command ``history``."""
    meaning = "list, delete or switch the history of weak points"
    history = commands.add_parser("history", help=meaning, description=f"{meaning.capitalize()}.")
    history.add_argument("--collection", default="", metavar="NAME", help="of this collection alone")
    history.add_argument("--json", action="store_true", help="print the entries as GET /api/weak-points has them")
    history.add_argument("--delete", default="", metavar="ID", help="remove one entry for good")
    switch = history.add_mutually_exclusive_group()
    switch.add_argument("--on", action="store_true", help="let runs of --collection add entries")
    switch.add_argument("--off", action="store_true", help="let runs of --collection add none")
    history.set_defaults(command=_history)


def _history(options: argparse.Namespace) -> int:
    if (options.on or options.off) and not options.collection:
        print("--on and --off need --collection NAME.", file=sys.stderr)
        return 2
    settings = Settings.load()
    collection = _own_name(options.collection, settings) if options.collection else ""
    # The file may be open in a running app at the same time.
    points = WeakPoints(Databases.of(settings).weak_points)
    if options.on or options.off:
        points.switch(collection, on=options.on)
    if options.delete and not points.delete(options.delete):
        raise RunError.unknown_weak_point(point=options.delete)
    found = points.list(collection)
    if options.json:
        print(json.dumps([asdict(item) for item in found], ensure_ascii=False, indent=2))
        return 0
    console = Console(soft_wrap=True)
    if collection:
        state = "on" if points.is_on(collection) else "off"
        console.print(escape(f"{collection}: the history is {state}"), style="dim")
    for item in found:
        said = f"{item.noted_at[:10]}  {item.why:<9}  {item.collection}  {item.question}  ({item.id})"
        console.print(escape(said))
    if not found:
        console.print("No entries.", style="dim")
    return 0


def _own_name(name: str, settings: Settings) -> str:
    """The name of the collection that a name or an alias stands for, as its entries have it.

    Raises ``UnknownCollection``.
    """
    app = app_with_the_store(settings)
    if app is not None:
        named = {str(item["name"]): item.get("aliases") or () for item in app.listed(at("collections"))}
    else:
        from engine.engine import Engine

        with Engine.open(settings) as engine:
            named = {info.name: info.aliases for info in engine.collections()}
    for own, aliases in named.items():
        if name == own or name in aliases:
            return own
    raise UnknownCollection(name=name)
