"""``python -m engine models``: models in files, those that are here and those that can be fetched."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from engine.settings import Settings
from engine.version import install_command

_GB = 1e9


def add_models(commands: Any) -> None:
    """The command with its one subcommand."""
    meaning = "list models in files, which llama.cpp runs without a server, and fetch those that are known to work"
    models = commands.add_parser("models", help=meaning, description=f"{meaning.capitalize()}.")
    models.set_defaults(command=_list)
    deeper = models.add_subparsers(metavar="fetch")
    fetch = deeper.add_parser("fetch", help="download a model, or continue where it was", description="Fetch a model.")
    fetch.add_argument("name", metavar="NAME", help="one that `models` lists as not here")
    fetch.set_defaults(command=_fetch)


def _list(_: argparse.Namespace) -> int:
    from engine.llm import catalogue, local

    settings, console = Settings.load(), Console(soft_wrap=True)
    lines = [] if local.installed() else [f"GGUF files need packages: {install_command(local.PACKAGES)}"]
    for item in local.local_models(settings):
        if item.fault is not None:
            lines.append(f"{item.name}  {item.fault.fact} {item.fault.remedy}")
        elif item.kind:
            lines.append(
                f"{item.role_name}  {item.kind}  {item.size / _GB:.1f} GB, in memory {item.needs / _GB:.1f} GB"
            )
    for known in catalogue.listed(settings.data_dir):
        if not known.here:
            facts = f"{known.size / _GB:.1f} GB  {known.licence}  sha256 {known.checksum}"
            lines.append(f"{known.name}  {known.kind}  not here  {facts}")
    for line in lines:
        console.print(line, markup=False, highlight=False)
    return 0


def _fetch(options: argparse.Namespace) -> int:
    from engine.llm import catalogue

    known = catalogue.CATALOGUE.get(options.name)
    if known is None:
        print(f"{options.name} is none of: {', '.join(catalogue.CATALOGUE)}", file=sys.stderr)
        return 2
    shown = Progress(TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with shown as progress:
        task = progress.add_task(known.name, total=known.size)
        asyncio.run(
            catalogue.fetch(
                known, Settings.load().data_dir, lambda status: progress.update(task, completed=status.done)
            )
        )
    print(f"{known.name} is in {known.folder(Settings.load().data_dir)}")
    return 0
