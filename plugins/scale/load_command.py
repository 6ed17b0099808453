"""``python -m engine load``: passages with vectors from another program into a collection."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from engine.settings import Settings


def add_load(commands: Any) -> None:
    """The command and its flags."""
    said = (
        "Put passages with vectors that were made elsewhere into a collection: JSON lines or Parquet with source, text "
        "and vector, and where wanted id, title, section, ordinal and kind; rows of a source stand together. What is "
        "there already is skipped, so the same command continues after an interrupt."
    )
    load = commands.add_parser("load", help="put in passages that were embedded elsewhere", description=said)
    load.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON lines (.jsonl) or Parquet (.parquet)")
    load.add_argument("--collection", required=True, metavar="NAME")
    load.add_argument(
        "--embedding-model",
        default="",
        metavar="NAME",
        help="model that made the vectors: builtin, hashing or ollama:MODEL; default: that of the collection",
    )
    load.add_argument(
        "--context",
        choices=["none", "path"],
        help="what the vectors were made from: the bare texts (none, the default for a new collection), or texts below "
        "a line with title > section (path)",
    )
    load.add_argument(
        "--bulk",
        type=Path,
        metavar="FOLDER",
        help="let a Milvus server import blocks from this folder, which it reads too (2.3 with local storage; newer "
        "servers by their documentation, untried)",
    )
    load.add_argument("--bulk-as", default="", metavar="PATH", help="the folder as the server calls it, in its bucket")
    load.set_defaults(command=_load)


def _load(options: argparse.Namespace) -> int:
    # Imported here: the other commands start without it.
    from engine.engine import Engine
    from plugins.scale.actions import Scale
    from plugins.scale.loading import LoadReport

    console = Console(stderr=True, soft_wrap=True)

    def show(report: LoadReport) -> None:
        console.print(f"{report.passages} passages of {report.sources} sources put in", style="dim")

    with Engine.open(Settings.load()) as engine:
        engine.wait_until_ready()
        report = Scale.of(engine).load_vectors(
            options.files,
            options.collection,
            options.embedding_model,
            show,
            bulk=options.bulk,
            bulk_as=options.bulk_as,
            context=options.context,
        )
    skipped = f", {report.skipped} sources were there already" if report.skipped else ""
    print(f"{report.passages} passages of {report.sources} sources put into {options.collection}{skipped}")
    return 0
