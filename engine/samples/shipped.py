"""Runs that ship with the program and that no one can change: the demos, and one run of every sample question.

Those of the questions judged every candidate, so that Tune has its figures on a first visit. They were really run with
the built-in roles; ``make samples`` makes them again.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from engine.errors import UnknownRun
from engine.model.config import RunConfig
from engine.model.events import Event, fold_all
from engine.model.values import RunId, RunRecord
from engine.records.codec import event_from_json
from engine.samples.demos import demo_events, demo_record, is_demo

EVIDENCE = "evidence.jsonl.xz"
"""Every run in one stream, a blank line between two: what passages say again and again is compressed once."""
EVIDENCE_CONFIG = RunConfig(grade_probe=True)
STARTED_AT = "2026-01-01T09:00:00.000+00:00"
_PREFIX = "sample-"


def evidence_run(question_id: str) -> RunId:
    """Return the id of the shipped run of a sample question."""
    return RunId(f"{_PREFIX}{question_id}")


def is_shipped(run_id: str) -> bool:
    """Return whether an id is that of a shipped run; runs of an engine have ids of another form."""
    return is_demo(run_id) or run_id.startswith(_PREFIX)


@lru_cache(maxsize=8)
def shipped_events(run_id: str) -> tuple[Event, ...]:
    """The events of a shipped run as its record holds them; raises ``UnknownRun`` for an id that is none."""
    if is_demo(run_id):
        return demo_events(run_id)
    if (lines := evidence_lines().get(RunId(run_id))) is None:
        raise UnknownRun(run=run_id)
    return tuple(event_from_json(line) for line in lines)


@cache
def shipped_record(run_id: str) -> RunRecord:
    """The finished record of a shipped run; raises ``UnknownRun`` for an id that is none."""
    return demo_record(run_id) if is_demo(run_id) else fold_all(shipped_events(run_id))


@cache
def evidence_lines() -> Mapping[RunId, tuple[bytes, ...]]:
    """The runs of the sample questions by id, one event a line."""
    text = lzma.decompress((files("engine.samples") / EVIDENCE).read_bytes())
    runs = [tuple(run.split(b"\n")) for run in text.split(b"\n\n")]
    return {RunId(json.loads(lines[0])["run_id"]): lines for lines in runs}
