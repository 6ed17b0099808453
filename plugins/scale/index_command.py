"""``python -m engine index``: how the vectors of a collection on a server are found, measured and changed."""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING, get_args

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import bar_on
from engine.settings import Settings
from plugins.scale.values import IndexKind, IndexView

if TYPE_CHECKING:
    from typing import Any

    from engine.engine import Engine

_FAILED = 1
_STOPPED = 130
_LOOK_S = 0.3


def add_index(commands: Any) -> None:
    """The command and its flags."""
    said = (
        "Say which index a collection of a Milvus server has and what it finds. Another index is built from the "
        "vectors that are there; after an interrupt the server builds on, and the same command waits for it."
    )
    index = commands.add_parser("index", help="show, measure or change the index of a collection", description=said)
    index.add_argument("collection", metavar="COLLECTION")
    index.add_argument("--build", choices=get_args(IndexKind), metavar="KIND", help=", ".join(get_args(IndexKind)))
    index.add_argument("--measure", action="store_true", help="measure recall against exact search among all passages")
    index.add_argument(
        "--breadth", type=int, metavar="N", help="let searches look so far (ef, nprobe, search_list); 0: as the server"
    )
    index.add_argument("--json", action="store_true", help="print plain values")
    index.set_defaults(command=_index)


def _index(options: argparse.Namespace) -> int:
    # Imported here: the other commands start without it.
    from engine.engine import Engine
    from plugins.scale.actions import Scale

    console = Console(stderr=True, soft_wrap=True)
    with Engine.open(Settings.load()) as engine:
        engine.wait_until_ready()
        scale = Scale.of(engine)
        if options.build or options.measure:
            code = _follow(engine, scale.start_index(options.collection, options.build or ""), console)
            if code:
                return code
        if options.breadth is not None:
            scale.set_breadth(options.collection, options.breadth)
        view = scale.index(options.collection)
    if options.json:
        print(json.dumps(view.to_dict(), ensure_ascii=False, indent=2))
    else:
        _print(view, Console(soft_wrap=True))
    return 0


def _follow(engine: Engine, job_id: str, console: Console) -> int:
    """Show how far the job has come until it is over; returns the exit code."""
    with bar_on(console) as bar:
        task = bar.add_task("", total=None)
        try:
            while not (job := engine.ingestions.job(job_id)).over:
                bar.update(task, completed=job.done, total=job.total or None, description=job.state)
                time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            engine.ingestions.stop(job_id)
            console.print("Stopped; the server builds on, and the same command waits for it.")
            return _STOPPED
    if job.fault is not None:
        console.print(f"[red]{escape(job.fault.fact)}[/] {escape(job.fault.remedy)}")
        return _FAILED
    engine.ingestions.discard(job_id)
    return 0


def _print(view: IndexView, console: Console) -> None:
    state = view.state
    built = "".join(f" {name} {value}" for name, value in state.build.items())
    console.print(f"{escape(view.collection)}: {state.kind}{built}, {state.indexed} of {state.rows} passages indexed")
    if state.parameter:
        console.print(f"breadth of a search ({state.parameter}): {state.breadth or 'as the server chooses'}")
    if view.recall is None:
        console.print("what it finds has not been measured: --measure", style="dim")
        return
    found = view.recall
    heading = f"{found.kind}, {found.passages} passages, {found.questions} questions, {found.measured_at}"
    console.print(escape(heading), style="dim")
    for row in found.rows:
        breadth = f"{row.breadth:>6}" if row.breadth else "     –"
        console.print(
            f"{breadth}  recall@{found.limit} {row.recall:.3f}  median {row.median_ms:.1f} ms  95 % {row.p95_ms:.1f} ms"
        )
