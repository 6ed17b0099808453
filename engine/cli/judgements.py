"""``python -m engine judgements``: judgements of a query set as files, and its scores over time."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_args

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work
from engine.errors import JudgementsUnusable, SourceError
from engine.evaluation.desk.formats import Format
from engine.knowledge.sheets import listed

if TYPE_CHECKING:
    from engine.engine import Engine


class _Place(Protocol):
    """The desk of this process or of the app that has the knowledge base open, all in plain values."""

    def judgements(self, set_name: str, form: str) -> str: ...

    def take_judgements(self, set_name: str, body: Mapping[str, Any]) -> Mapping[str, Any]: ...

    def history(self, set_name: str) -> Sequence[Mapping[str, Any]]: ...


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


class _Here:
    """The desk of this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def judgements(self, set_name: str, form: str) -> str:
        chosen: Any = form
        return self._engine.judging.exported(set_name, chosen)

    def take_judgements(self, set_name: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self._engine.judging.imported(
            set_name,
            body["content"],
            body["name"],
            body.get("format"),
            judge=body["judge"],
            relevant_from=body["relevant_from"],
        )
        return asdict(found)

    def history(self, set_name: str) -> Sequence[Mapping[str, Any]]:
        return [asdict(item) for item in self._engine.judging.history(set_name)]


def _export(options: argparse.Namespace) -> int:
    return at_work(_Here, lambda place: sys.stdout.write(place.judgements(options.set, options.format)))


def _import(options: argparse.Namespace) -> int:
    try:
        content, others = listed(options.file.name, options.file.read_bytes())
    except OSError as error:
        raise JudgementsUnusable.nothing(name=str(options.file), cause=error.strerror) from None
    except SourceError as error:
        raise JudgementsUnusable.nothing(name=str(options.file), cause=error.fact) from None
    body = {"content": content, "name": options.file.name, "judge": options.judge}
    body |= {"relevant_from": options.relevant_from, **({"format": options.format} if options.format else {})}

    def work(place: _Place) -> None:
        found = place.take_judgements(options.set, body)
        console = Console(stderr=True, soft_wrap=True)
        console.print(f"{found['passages']} passages and {found['answers']} answers judged")
        if others:
            console.print("Only the first sheet with something in it was read.")
        for line in found["left_out"]:
            console.print(f"left out: {escape(line)}")
        if found["left_out_n"] > len(found["left_out"]):
            console.print(f"and {found['left_out_n'] - len(found['left_out'])} further lines")

    return at_work(_Here, work)


def _history(options: argparse.Namespace) -> int:
    def work(place: _Place) -> None:
        found = place.history(options.set)
        if options.json:
            print(json.dumps(list(found), ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for item in found:
            figures = ", ".join(f"{name} {value:.3f} (n = {n})" for name, (value, n) in item["figures"].items())
            until = f"judgements until {item['noted_at'][:16]}" if item["noted_at"] else ""
            parts = (item["at"][:16], item["batch_id"][:8], figures, until, item["note"])
            console.print(escape("  ".join(filter(None, parts))))

    return at_work(_Here, work)
