"""Commands of evaluation other than ``eval``: ``judgements`` of query sets, ``fits`` of graders, ``drafts``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, get_args

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work, print_list
from engine.errors import EvaluationError, SourceError
from engine.evaluation.annotation.formats import Format
from engine.knowledge.sheets import listed
from engine.running.running_app import RunningApp, at

_USUAL = 40
_STATES = ("open", "accepted", "refused", "all")


def add_judgements(commands: Any) -> None:
    """The command and its actions."""
    about = "Judgements of the questions of a query set: written to a file, taken from one, and the set's scores."
    judgements = commands.add_parser("judgements", help="export and import judgements of a set", description=about)
    does = judgements.add_subparsers(required=True, metavar="ACTION")

    write = does.add_parser("export", help="print them", description="Print the judgements of a set.")
    write.add_argument("set", metavar="SET")
    write.add_argument("--format", choices=get_args(Format), default="jsonl", help="default: %(default)s")
    write.set_defaults(command=_export)

    take = does.add_parser("import", help="take them from a file", description="Take judgements of a set from a file.")
    take.add_argument("set", metavar="SET")
    take.add_argument("file", metavar="FILE", type=Path)
    take.add_argument("--format", choices=get_args(Format), help="default: recognised by the content")
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
    def show(item: Any, console: Console) -> None:
        figures = ", ".join(f"{name} {value:.3f} (n = {n})" for name, (value, n) in item["figures"].items())
        until = f"judgements until {item['noted_at'][:16]}" if item["noted_at"] else ""
        parts = (item["at"][:16], item["batch_id"][:8], figures, until, item["note"])
        console.print(escape("  ".join(filter(None, parts))))

    return print_list(options, at("query-sets", options.set, "history"), show)


def add_fits(commands: Any) -> None:
    """The command; fits are made on the page Tune."""
    about = "Graders fitted to a collection, newest first, each by the name that --grader takes."
    fits = commands.add_parser("fits", help="list the graders fitted to a collection", description=about)
    fits.add_argument("collection", metavar="COLLECTION")
    fits.add_argument("--json", action="store_true", help="print plain values")
    fits.set_defaults(command=_fits)


def _fits(options: argparse.Namespace) -> int:
    def show(item: Any, console: Console) -> None:
        kappa = item["figures"].get("kappa", (None, None))
        before, after = ("–" if value is None else f"{value:.2f}" for value in kappa)
        said = f"{item['kind']} · {item['judgements']} judgements · kappa {before} → {after} · {item['made_at'][:16]}"
        console.print(f"{escape(item['name'])}  [dim]{escape(said)}[/]")

    return print_list(options, at("collections", options.collection, "fits"), show)


def add_drafts(commands: Any) -> None:
    """The command and its actions."""
    about = "Questions drafted from the documents of a collection. None is in a query set before it is accepted."
    drafts = commands.add_parser(
        "drafts", help="draft questions from documents, accept or refuse them", description=about
    )
    does = drafts.add_subparsers(required=True, metavar="ACTION")

    said = "Let a chat model draft questions, each with the passage that answers it."
    make = does.add_parser("make", help="draft questions from a collection", description=said)
    make.add_argument("collection", metavar="COLLECTION")
    make.add_argument("--limit", type=int, default=_USUAL, metavar="N", help="at most so many; default: %(default)s")
    make.add_argument(
        "--model", default="", metavar="MODEL", help="chat model that writes them; default: the generator"
    )
    make.add_argument("--json", action="store_true", help="print plain values")
    make.set_defaults(command=_make)

    show = does.add_parser("list", help="list drafted questions", description="List drafted questions.")
    show.add_argument("collection", nargs="?", default="", metavar="COLLECTION")
    show.add_argument("--state", choices=_STATES, default="open", help="default: %(default)s")
    show.add_argument("--json", action="store_true", help="print plain values")
    show.set_defaults(command=_list)

    accept = does.add_parser("accept", help="put one into a query set", description="Put one into a query set.")
    accept.add_argument("draft", metavar="ID")
    accept.add_argument("--set", required=True, metavar="NAME", help="the query set; made where there is none")
    accept.add_argument("--question", metavar="TEXT", help="other words for it")
    accept.add_argument("--gold", action="append", metavar="TEXT", help="what a right answer says; may be given again")
    accept.set_defaults(command=_accept)

    for name, state, what in (
        ("refuse", "refused", "put one aside; its wording is not drafted again"),
        ("reopen", "open", "take back what was decided; an accepted question leaves its set"),
    ):
        action = does.add_parser(name, help=what, description=what.capitalize())
        action.add_argument("draft", metavar="ID")
        action.set_defaults(command=_decide, state=state)


def _make(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        found = app.answer(
            at("collections", options.collection, "drafts"), {"limit": options.limit, "model": options.model}
        )
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
            return
        console = Console(soft_wrap=True)
        for item in found["drafts"]:
            _show(item, console)
        if not found["drafts"]:
            _say("No new question was found in this collection.")

    return at_work(work)


def _list(options: argparse.Namespace) -> int:
    return print_list(options, at("drafts", collection=options.collection, state=options.state), _show)


def _accept(options: argparse.Namespace) -> int:
    decision: dict[str, Any] = {"state": "accepted", "set": options.set}
    if options.question is not None:
        decision["question"] = options.question
    if options.gold is not None:
        decision["gold_answers"] = options.gold

    def work(app: RunningApp) -> None:
        _say(f"Accepted into {app.answer(at('drafts', options.draft), decision, 'PUT')['set']}.")

    return at_work(work)


def _decide(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        _say(f"Now {app.answer(at('drafts', options.draft), {'state': options.state}, 'PUT')['state']}.")

    return at_work(work)


def _show(item: Any, console: Console) -> None:
    answer = f" [green]{escape(item['gold_answers'][0])}[/]" if item["gold_answers"] else ""
    where = ", ".join(item["passages"]) or "nothing answers it"
    console.print(f"{item['id']}  {escape(item['question'])}{answer}  [dim]{item['rule']} · {escape(where)}[/]")


def _say(text: str) -> None:
    Console(stderr=True, soft_wrap=True).print(escape(text))
