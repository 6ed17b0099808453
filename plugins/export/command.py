"""``python -m engine export-code``: settings as a LangGraph project that runs without the workbench."""

from __future__ import annotations

import argparse
import io
import zipfile
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

from engine.cli.jobs import app_with_the_store
from engine.errors import InvalidConfig
from engine.model.config import RunConfig
from engine.settings import Settings


def add_export_code(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command ``export-code``."""
    said = (
        "Write settings as a LangGraph project: a graph file, the workbench's own modules that it runs, requirements "
        "and langgraph.json. It needs no workbench, only the same Milvus and models, and takes the same decisions."
    )
    export = commands.add_parser("export-code", help="write settings as a LangGraph project", description=said)
    which = export.add_mutually_exclusive_group()
    which.add_argument("--settings", metavar="NAME", help="settings that were saved on the page Tune")
    which.add_argument("--config", type=Path, metavar="FILE", help="JSON or TOML, as for eval; default: usual settings")
    which.add_argument("--run", metavar="ID", help="the settings of a stored run")
    export.add_argument("--collection", metavar="NAME", help="another collection than the settings name")
    usual = Path("self-corrective-rag")
    export.add_argument(
        "--out", type=Path, default=usual, metavar="PATH", help="folder, or a file *.zip; default: %(default)s"
    )
    export.set_defaults(command=_export)


def _export(options: argparse.Namespace) -> int:
    settings = Settings.load()
    config = _config(options, settings)
    config = replace(config, collection=options.collection or config.collection)
    archive = _made(config, settings)
    if options.out.suffix == ".zip":
        options.out.write_bytes(archive)
    else:
        _unpack(archive, options.out)
    print(f"Written to {options.out}; README.md there says how to run it.")
    return 0


def _config(options: argparse.Namespace, settings: Settings) -> RunConfig:
    """The settings that were named; the files that hold them may be open in a running app at the same time."""
    # Imported here: the other commands start without them.
    from engine.database.databases import Databases
    from engine.evaluation.command import read_config
    from engine.evaluation.store import EvaluationStore
    from engine.records.store import RunStore
    from engine.samples.archive import Archive

    if options.run:
        with closing(Databases.of(settings)) as databases, closing(RunStore(databases.runs)) as runs:
            return Archive(runs).record(options.run).config
    if not options.settings:
        return read_config(options.config, settings.defaults_of_runs)
    with closing(Databases.of(settings)) as databases, closing(EvaluationStore(databases.evaluation)) as store:
        saved = store.settings()
    if options.settings not in saved:
        if not saved:
            raise InvalidConfig.none_saved(name=options.settings)
        raise InvalidConfig.not_one_of(field="settings", allowed=tuple(saved))
    return saved[options.settings]


def _made(config: RunConfig, settings: Settings) -> bytes:
    app = app_with_the_store(settings)
    if app is not None:
        plain = asdict(config)
        return app.file("/api/settings/code", {"workflow": plain.pop("workflow"), "config": plain})
    from engine.engine import Engine
    from plugins.export.project import code_project

    with Engine.open(settings) as engine:
        engine.wait_until_ready()
        return code_project(engine, config).zipped()


def _unpack(archive: bytes, folder: Path) -> None:
    """Write the files of the archive's one folder; those of the same name are replaced, others stay."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        for name in files.namelist():
            path = folder.joinpath(*Path(name).parts[1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files.read(name))
