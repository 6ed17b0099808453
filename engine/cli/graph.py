"""``python -m engine graph``: the knowledge graph of a collection, built, shown and deleted, here or in the app."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from engine.cli.jobs import at_work, bar_on, job_over
from engine.model.config import RoleModel
from engine.running.running_app import RunningApp, at
from engine.settings import Settings

_FAILED = 1
_STOPPED = 130
_LOOK_S = 0.3
_SUMMARY = 160
_CENTRAL = 12
_COMMUNITIES = 8


def add_graph(commands: Any) -> None:
    """The command and its flags."""
    about = "Build, show or delete the knowledge graph of a collection: entities, relationships and communities."
    graph = commands.add_parser("graph", help="build, show or delete a knowledge graph", description=about)
    does = graph.add_subparsers(required=True, metavar="ACTION")

    said = (
        "Read the passages of a collection into its graph. What was read is not read again, so the same command goes "
        "on after an interrupt and reads what is new after files were put in."
    )
    build = does.add_parser("build", help="read passages into the graph", description=said)
    build.add_argument("collection", metavar="COLLECTION")
    build.add_argument(
        "--extractor",
        metavar="MODEL",
        help="builtin (rules, weak), ollama:MODEL or provider:model; default: what the settings name",
    )
    build.add_argument("--replace", action="store_true", help="throw away a graph that another extractor has read")
    build.set_defaults(command=_build)

    show = does.add_parser("show", help="say what a graph holds", description="Say what a graph holds.")
    show.add_argument("collection", metavar="COLLECTION")
    show.add_argument("--entity", default="", metavar="NAME", help="the neighbours of this entity")
    show.add_argument("--hops", type=int, default=1, choices=range(5), help="relationships away; default: 1")
    show.add_argument("--find", default="", metavar="TEXT", help="entities with this in a name")
    show.add_argument("--json", action="store_true", help="print the JSON of GET /api/collections/NAME/graph")
    show.set_defaults(command=_show)

    delete = does.add_parser("delete", help="drop a graph; passages stay", description="Drop a graph; passages stay.")
    delete.add_argument("collection", metavar="COLLECTION")
    delete.set_defaults(command=_delete)


def build_graph(app: RunningApp, collection: str, extractor: str, console: Console, *, replace: bool = False) -> int:
    """Begin or continue a graph, and follow it to its end; returns the exit code. An interrupt stops it in order."""
    begun = app.answer(at("collections", collection, "graph"), {"extractor": extractor, "replace": replace})
    return follow(app, str(begun["id"]), console)


def follow(app: RunningApp, job_id: str, console: Console) -> int:
    """Show how far a building has come until it is over; returns the exit code."""
    with bar_on(console) as bar:
        task = bar.add_task("passages", total=None)
        try:
            while not job_over(job := app.job(job_id)):
                _bar(bar, task, job)
                time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            job = app.stop_job(job_id)
        _bar(bar, task, job)
    if job["state"] == "stopped":
        console.print(f"Stopped after {job['done']} of {job['total']} passages; the same command continues from there.")
        return _STOPPED
    if fault := job.get("fault"):
        console.print(f"[red]{escape(fault['fact'])}[/] {escape(fault['remedy'])}")
        return _FAILED
    counts = f"{job['entities']} entities, {job['relationships']} relationships, {job['communities']} communities"
    console.print(f"Knowledge graph of {escape(job['collection'])}: {counts}, read from {job['passages']} passages")
    if job["unreadable"]:
        console.print(
            f"[yellow]{job['unreadable']} replies could not be read; the next building asks for them again[/]"
        )
    return 0


def _build(options: argparse.Namespace) -> int:
    extractor = options.extractor or Settings.load().models.extractor.model
    RoleModel(extractor)  # a bad name is said before anything is opened
    console = Console(stderr=True, soft_wrap=True)
    return at_work(lambda app: build_graph(app, options.collection, extractor, console, replace=options.replace))


def _show(options: argparse.Namespace) -> int:
    console, name = Console(soft_wrap=True), options.collection

    def shown(app: RunningApp) -> int:
        if options.entity:
            around = {"entity": options.entity, "hops": options.hops}
            found, say = app.answer(at("collections", name, "graph", "neighbourhood", **around)), _print_around
        else:
            found, say = app.answer(at("collections", name, "graph", query=options.find)), _print_graph
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            say(found, console)
        return 0

    return at_work(shown)


def _delete(options: argparse.Namespace) -> int:
    def deleted(app: RunningApp) -> int:
        app.answer(at("collections", options.collection, "graph"), method="DELETE")
        Console(soft_wrap=True).print(f"The knowledge graph of {escape(options.collection)} is deleted.")
        return 0

    return at_work(deleted)


def _bar(bar: Progress, task: Any, job: Mapping[str, Any]) -> None:
    if job["state"] == "summarising":
        bar.update(task, completed=job["files_done"], total=job["files"], description="communities")
        return
    rate = f" · {job['per_second']:.1f}/s" if job["per_second"] else ""
    bar.update(
        task, completed=job["done"], total=job["total"] or None, description=f"{escape(job['source'])[-40:]}{rate}"
    )


def _print_graph(found: Mapping[str, Any], console: Console) -> None:
    graph = found["graph"]
    state = "up to date" if graph["finished"] else "unfinished"
    if found["stale"]:
        state = "stale: the collection has changed since"
    counts = f"{graph['entities']} entities, {graph['relationships']} relationships, {graph['communities']} communities"
    console.print(f"{escape(graph['collection'])}: {counts}")
    read = f"{graph['passages']} of {found['collection_passages']} passages read by {graph['extractor']}"
    console.print(escape(f"{read} · {state}"), style="dim")
    _print_entities(found["entities"][:_CENTRAL], console)
    for item in found["communities"][:_COMMUNITIES]:
        console.print(escape(f"◌ {item['title']} ({len(item['entities'])}): {_cut(item['summary'])}"))


def _cut(text: str) -> str:
    return text if len(text) <= _SUMMARY else text[:_SUMMARY].rstrip() + "…"


def _print_around(found: Mapping[str, Any], console: Console) -> None:
    names = {item["id"]: item["name"] for item in found["entities"]}
    _print_entities(found["entities"], console)
    for item in found["relationships"]:
        relationship = f"{names[item['source']]} → {item['type']} → {names[item['target']]}"
        console.print(escape(f"{relationship}  [{', '.join(item['passages'][:3])}]"), style="cyan")


def _print_entities(entities: Sequence[Mapping[str, Any]], console: Console) -> None:
    for item in entities:
        also = f" = {', '.join(item['aliases'])}" if item["aliases"] else ""
        said = f": {item['description'][:120]}" if item["description"] else ""
        console.print(escape(f"● {item['name']}{also} ({item['type']}, {item['degree']}){said}"))
