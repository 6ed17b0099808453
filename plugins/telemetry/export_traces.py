"""``python -m engine export-traces``: runs that have ended as OpenTelemetry spans, in a file or sent to an address."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from engine.database.databases import Databases
from engine.errors import InvalidConfig, InvalidSettings, RecordError
from engine.model.values import RunRecord
from engine.people.limits import CollectionLimits, PeopleDatabase
from engine.records.store import RunStore
from engine.samples.archive import Archive
from engine.settings import Settings
from engine.system.masking import Redactor
from plugins.telemetry.errors import TelemetryError
from plugins.telemetry.settings import TelemetrySettings

_FILE_ENDS = (".json", ".jsonl")


def add_export_traces(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command ``export-traces``."""
    meaning = "runs as OpenTelemetry spans, in a file or sent to an address"
    export = commands.add_parser("export-traces", help=meaning, description=f"{meaning.capitalize()}.")
    export.add_argument("runs", nargs="*", metavar="RUN", help="ids of runs, or of demos such as demo-rescue-en")
    export.add_argument("--last", type=int, default=0, metavar="N", help="the newest N runs as well")
    to = "a file that ends in .json or .jsonl, - for standard output, or an address; default: WORKBENCH_OTLP_ENDPOINT"
    export.add_argument("--to", default="", metavar="FILE|ADDRESS", help=to)
    export.add_argument(
        "--content",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="with questions, passages, prompts, replies and answers; default: WORKBENCH_OTLP_CONTENT",
    )
    export.set_defaults(command=_export)


def _export(options: argparse.Namespace) -> int:
    settings = Settings.load()
    chosen = settings.of(TelemetrySettings)
    to = options.to or chosen.otlp_endpoint
    if not to or not (options.runs or options.last > 0):
        print("Name runs or --last N, and --to FILE or ADDRESS.", file=sys.stderr)
        return 2
    content = chosen.otlp_content if options.content is None else options.content
    # The files may be open in a running app at the same time.
    with closing(Databases.of(settings)) as databases, RunStore(databases.runs) as store:
        archive = Archive(store)
        named = (
            [*options.runs, *(item.id for item in store.list(max(0, options.last)))] if options.last else options.runs
        )
        records = [_over(archive.record(run_id)) for run_id in dict.fromkeys(named)]
        known = CollectionLimits(PeopleDatabase(databases.people))
        limits = known.all() if content and not chosen.otlp_limited_content else {}

    def wanted(record: RunRecord) -> bool:
        return content and not ({record.collection, record.config.collection} & limits.keys())

    try:
        return _put(records, to, settings, wanted)
    except ImportError:
        raise TelemetryError.cannot_export() from None


def _over(record: RunRecord) -> RunRecord:
    if record.outcome is None:
        raise RecordError.run_not_over_to_export(run=record.id)
    return record


def _put(records: list[RunRecord], to: str, settings: Settings, wanted: Callable[[RunRecord], bool]) -> int:
    # Imported where it is wanted: it comes with an extra.
    from plugins.telemetry.otlp import as_json
    from plugins.telemetry.posting import Receiver
    from plugins.telemetry.trace import trace_of

    clean = Redactor(settings)
    traces = [trace_of(record, content=wanted(record), clean=clean) for record in records]
    if "://" in to:
        if not _usable(to):
            print("--to must be an address such as http://127.0.0.1:6006.", file=sys.stderr)
            return 2
        with closing(Receiver.of(settings, to)) as receiver:
            for trace in traces:
                receiver.send(trace)
            print(f"{len(traces)} runs sent to {receiver.shown}.", file=sys.stderr)
        return 0
    if to != "-" and not to.endswith(_FILE_ENDS):
        print("--to is a file that ends in .json or .jsonl, -, or an address with its scheme.", file=sys.stderr)
        return 2
    parts = [traces] if to.endswith(".json") else [[trace] for trace in traces]
    text = "".join(as_json(part, settings.of(TelemetrySettings).otlp_project) + "\n" for part in parts)
    if to == "-":
        sys.stdout.write(text)
    else:
        try:
            Path(to).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidConfig.result_unwritable(path=to, why=error.strerror or type(error).__name__) from None
        print(f"Runs written to {to}: {len(traces)}", file=sys.stderr)
    return 0


def _usable(address: str) -> bool:
    """Return whether it would do as a setting."""
    try:
        Settings.load(otlp_endpoint=address)
    except InvalidSettings:
        return False
    return True
