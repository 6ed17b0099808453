"""Update the shipped demos: ``python -m tests.recordings`` (a few seconds, built-in roles, a folder of its own).

With ids of demos behind it, only those.

Ids and dates are fixed, so that only what the engine really did differently shows up as a change.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine.engine import Engine
from engine.model.events import Event, RunStarted, fold_all
from engine.records.codec import event_to_json
from engine.samples.demos import Demo, all_demos, demos
from engine.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "engine" / "samples" / "recordings"
STARTED_AT = "2026-01-01T09:00:00.000+00:00"


def recorded(engine: Engine, demo: Demo) -> Iterator[Event]:
    """Run a demo's question with its settings; its events, without those that no record keeps."""
    for event in engine.stream(demo.question, demo.config):
        if isinstance(event, RunStarted):
            yield replace(event, run_id=demo.id, started_at=STARTED_AT)
        elif event.stored:
            yield event


def write(folder: Path, name: str, events: list[Event]) -> Path:
    """One event a line, compressed without a time stamp."""
    path = folder / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(event_to_json(event) for event in events), 9, mtime=0))
    return path


def main(only: Sequence[str] = ()) -> None:
    """Record every demo, or those named; files of demos that there are no more go."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl.gz"):
        if old.name.partition(".")[0] not in {demo.id for demo in all_demos()}:
            old.unlink()
    with tempfile.TemporaryDirectory() as data:
        # Port 1 of this machine refuses at once, as an Ollama does that is not running.
        settings = Settings(data_dir=Path(data), ollama_url="http://127.0.0.1:1")
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            # The first run loads the embedding model, which would show in the times of the first demo.
            engine.run(demos()[0].question)
            for demo in all_demos():
                if only and demo.id not in only:
                    continue
                events = list(recorded(engine, demo))
                path = write(FOLDER, demo.id, events)
                record = fold_all(events)
                rates = ", ".join(f"{item.passed}/{item.kept}" for item in record.decisions)
                print(f"{demo.id}: {record.outcome}, {rates}, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
