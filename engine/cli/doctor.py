"""``python -m engine doctor``: health with remedies on the command line, and the diagnosis."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from engine.cli.jobs import own_app
from engine.errors import WorkbenchError
from engine.running.running_app import RunningApp
from engine.settings import Settings

_FAILED = 1
_MARKS = {"ok": "[green]✓[/]", "warning": "[yellow]![/]", "down": "[red]✗[/]", "off": "[dim]–[/]"}


def add_doctor(commands: Any) -> None:
    """The subcommand with its flags."""
    doctor = commands.add_parser(
        "doctor", help="say how every part is", description="Health of every part, with what to do; 1 if one is down."
    )
    doctor.add_argument("--diagnosis", action="store_true", help="print a text to pass on: no secrets, no questions")
    doctor.set_defaults(command=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    """Asks the running app where there is one: it has the knowledge base open, and no one else could look at it."""
    settings = Settings.load()
    app = RunningApp.find(settings.data_dir)
    parts, text = _look(app, options.diagnosis) if app is not None else _look_here(settings, options.diagnosis)
    if options.diagnosis:
        print(text)
    else:
        _print_parts(parts)
    return _FAILED if any(item["health"] == "down" for item in parts) else 0


def _look_here(settings: Settings, diagnosis: bool) -> tuple[list[dict[str, Any]], str]:
    from engine.engine import Engine

    with Engine.open(settings) as engine:
        # What keeps it from opening is what its health says.
        with suppress(WorkbenchError):
            engine.wait_until_ready()
        return _look(own_app(engine), diagnosis)


def _look(app: RunningApp, diagnosis: bool) -> tuple[list[dict[str, Any]], str]:
    parts = app.answer("/api/host/health")["parts"]
    return parts, app.answer("/api/host/diagnosis")["text"] if diagnosis else ""


def _print_parts(parts: Sequence[Mapping[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(soft_wrap=True)
    for item in parts:
        name = f"{item['part']} {item['name']}".strip().replace("_", " ")
        facts = ", ".join(f"{key} {value}" for key, value in item["detail"].items())
        console.print(f"{_MARKS[item['health']]} {escape(name)}: {item['health']}  [dim]{escape(facts)}[/]")
        if item["fault"] and item["health"] != "ok":
            console.print(f"    {escape(item['fault']['fact'])} {escape(item['fault']['remedy'])}")
