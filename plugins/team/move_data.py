"""``python -m engine move-data``: all records from SQLite files into a PostgreSQL database, or back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from engine.cli.jobs import bar_on
from engine.plugins import plugins
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.database.databases import Databases
    from engine.database.moving import MovedTable
    from plugins.team.moving import CopyProgress

_DIGITS = 16


def add_move_data(commands: Any) -> None:
    """The subcommand with its flags."""
    move = commands.add_parser(
        "move-data",
        help="copy all records into another database",
        description="Copy runs, query sets, judgements and all other records from one database into another, and jobs "
        "that are not over, which wait there to be resumed. The side that is not named is the SQLite files of "
        "WORKBENCH_DATA_DIR. No workbench may be using either. Nothing is deleted; what the target has already is "
        "compared, so an interrupted copy is finished by the same command.",
    )
    move.add_argument("--to", default="", metavar="URL", help="PostgreSQL database, empty or from an earlier try")
    move.add_argument("--from", default="", metavar="URL", dest="source", help="PostgreSQL database to copy from")
    move.set_defaults(command=_move_data)


def _move_data(options: argparse.Namespace) -> int:
    if not (options.to or options.source):
        print("move-data needs --to URL, --from URL, or both.", file=sys.stderr)
        return 2
    # Imported here: no other command needs it.
    from engine.database.databases import Databases
    from plugins.team.postgres import PostgresDatabase

    settings = Settings.load()
    files = Databases.files(settings)
    source = Databases.one(PostgresDatabase(options.source)) if options.source else files
    target = Databases.one(PostgresDatabase(options.to)) if options.to else files
    try:
        with bar_on(Console(stderr=True)) as bar:
            tasks: dict[str, Any] = {}

            def show(name: str, done: int, total: int) -> None:
                if name not in tasks:
                    tasks[name] = bar.add_task(name, total=total)
                bar.update(tasks[name], completed=done)

            moved = _moved(source, target, show, settings)
    finally:
        source.close()
        target.close()
    _print(moved)
    return 0


def _moved(source: Databases, target: Databases, progress: CopyProgress, settings: Settings) -> list[MovedTable]:
    from plugins.team.job_moving import JobMove
    from plugins.team.moving import move, require_free

    require_free(source, target)
    if source.by_part.keys() == target.by_part.keys():
        # Encrypted ones are rows like others, and so are jobs.
        return move(source, target, progress)
    # Looked at before anything is written.
    plugged = [plugin.tables(settings, source, target) for plugin in plugins() if plugin.tables is not None]
    jobs = JobMove.planned(settings.data_dir / "ingest", source, target)
    return [*move(source, target, progress), *(copy() for copy in plugged), jobs.done()]


def _print(moved: Sequence[MovedTable]) -> None:
    console = Console(soft_wrap=True)
    shown = Table("table", box=None)
    for heading in ("rows", "new there", f"checksum ({_DIGITS} of 64 digits)"):
        shown.add_column(heading, justify="right")
    for item in moved:
        shown.add_row(item.name, str(item.rows), str(item.written), item.checksum[:_DIGITS])
    console.print(shown)
    rows, written = sum(item.rows for item in moved), sum(item.written for item in moved)
    console.print(f"All {rows} rows are in both, by count and checksum; {written} of them were copied now.")
