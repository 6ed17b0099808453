"""Update the shipped demos: ``python -m tests.recordings`` (a few seconds, built-in roles, a folder of its own).

With ids of demos behind it, only those; with ``evidence``, the runs of the sample questions that Tune shows at first.

Ids and dates are fixed, so that only what the engine really did differently shows up as a change.
"""

from __future__ import annotations

import gzip
import lzma
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from engine.engine import Engine
from engine.model.config import RunConfig
from engine.model.events import Event, RunStarted, fold_all
from engine.model.values import RunId
from engine.records.codec import event_to_json
from engine.samples import sample_questions
from engine.samples.demos import all_demos, demos
from engine.samples.shipped import EVIDENCE, EVIDENCE_CONFIG, STARTED_AT, evidence_run
from engine.settings import Settings

FOLDER = Path(__file__).resolve().parents[1] / "engine" / "samples" / "recordings"


def recorded(engine: Engine, run_id: RunId, question: str, config: RunConfig) -> Iterator[Event]:
    """Run a question under an id; its events, without those that no record keeps."""
    for event in engine.stream(question, config):
        if isinstance(event, RunStarted):
            yield replace(event, run_id=run_id, started_at=STARTED_AT)
        elif event.stored:
            yield event


def write(folder: Path, name: str, events: list[Event]) -> Path:
    """One event a line, compressed without a time stamp."""
    path = folder / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(event_to_json(event) for event in events), 9, mtime=0))
    return path


def write_evidence(engine: Engine) -> Path:
    """Run every sample question, all candidates judged, and write the runs as one stream."""
    runs = [
        b"\n".join(
            event_to_json(event) for event in recorded(engine, evidence_run(item.id), item.question, EVIDENCE_CONFIG)
        )
        for item in sample_questions()
    ]
    path = FOLDER.parent / EVIDENCE
    path.write_bytes(lzma.compress(b"\n\n".join(runs), preset=9 | lzma.PRESET_EXTREME))
    return path


def write_demos(engine: Engine, only: Sequence[str]) -> None:
    """Record every demo, or those named; files of demos that there are no more go."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl.gz"):
        if old.name.partition(".")[0] not in {demo.id for demo in all_demos()}:
            old.unlink()
    for demo in all_demos():
        if only and demo.id not in only:
            continue
        events = list(recorded(engine, demo.id, demo.question, demo.config))
        path = write(FOLDER, demo.id, events)
        record = fold_all(events)
        rates = ", ".join(f"{item.passed}/{item.kept}" for item in record.decisions)
        print(f"{demo.id}: {record.outcome}, {rates}, {path.stat().st_size / 1000:.0f} kB")


def main(only: Sequence[str] = ()) -> None:
    """Write the evidence, or demos."""
    with tempfile.TemporaryDirectory() as data:
        # Port 1 of this machine refuses at once, as an Ollama does that is not running.
        settings = Settings(data_dir=Path(data), ollama_url="http://127.0.0.1:1")
        with Engine.open(settings) as engine:
            engine.wait_until_ready()
            # The first run loads the embedding model, which would show in the times of the first one recorded.
            engine.run(demos()[0].question)
            if "evidence" in only:
                print(f"{EVIDENCE}: {write_evidence(engine).stat().st_size / 1000:.0f} kB")
            else:
                write_demos(engine, only)


if __name__ == "__main__":
    main(sys.argv[1:])
