"""``python -m engine drafts``: questions drafted from a collection, here or in the app that has it open."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape

from engine.cli.jobs import at_work
from engine.running.running_app import RunningApp, at

_USUAL = 40
_STATES = ("open", "accepted", "refused", "all")


def add_drafts(commands: Any) -> None:
    """The command and its actions."""
    told = "Questions drafted from the documents of a collection. None is in a query set before it is accepted."
    drafts = commands.add_parser(
        "drafts", help="draft questions from documents, accept or refuse them", description=told
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
        _print(found["drafts"])
        if not found["drafts"]:
            _told("No new question was found in this collection.")

    return at_work(work)


def _list(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        found = app.listed(at("drafts", collection=options.collection, state=options.state))
        if options.json:
            print(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            _print(found)

    return at_work(work)


def _accept(options: argparse.Namespace) -> int:
    decision: dict[str, Any] = {"state": "accepted", "set": options.set}
    if options.question is not None:
        decision["question"] = options.question
    if options.gold is not None:
        decision["gold_answers"] = options.gold

    def work(app: RunningApp) -> None:
        _told(f"Accepted into {app.answer(at('drafts', options.draft), decision, 'PUT')['set']}.")

    return at_work(work)


def _decide(options: argparse.Namespace) -> int:
    def work(app: RunningApp) -> None:
        _told(f"Now {app.answer(at('drafts', options.draft), {'state': options.state}, 'PUT')['state']}.")

    return at_work(work)


def _print(drafts: Sequence[Mapping[str, Any]]) -> None:
    console = Console(soft_wrap=True)
    for item in drafts:
        answer = f" [green]{escape(item['gold_answers'][0])}[/]" if item["gold_answers"] else ""
        where = ", ".join(item["passages"]) or "nothing answers it"
        console.print(f"{item['id']}  {escape(item['question'])}{answer}  [dim]{item['rule']} · {escape(where)}[/]")


def _told(text: str) -> None:
    Console(stderr=True, soft_wrap=True).print(escape(text))
