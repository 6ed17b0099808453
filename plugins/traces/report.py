"""Import report in plain values, for the API and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.messages import N_
from engine.model.values import RunId, RunRecord
from plugins.traces.foreign import LeftOut, Recognised

LEFT_OUT: Mapping[str, str] = {
    "line": N_("line {line} is no JSON: {why}"),
    "no_search": N_("trace {trace}: {spans} spans, and none is a search with documents"),
    "no_contents": N_("trace {trace}: {spans} spans, without what its searches took in and gave"),
    "no_steps": N_("trace {trace}: it came without its observations"),
    "many_spans": N_("trace {trace}: {n} spans, and one trace may have {limit}"),
    "many_searches": N_("trace {trace}: {n} searches, and one trace may have {limit}"),
    "no_question": N_("trace {trace}: no question can be found in it"),
    "hidden": N_("trace {trace}: it was imported before, into a collection that you may not see"),
    "scores": N_("trace {trace}: {n} scores, which are about the trace and no verdicts on passages"),
}
"""Sentences for what could not be used, by code."""


@dataclass(frozen=True, slots=True)
class Previewed:
    """Preview of an import, before anything is kept."""

    found: Recognised
    records: tuple[RunRecord, ...]
    """As they would be kept, in the order of their beginning."""
    known: frozenset[RunId]
    """Those that were imported before: they stay as they are."""


@dataclass(frozen=True, slots=True)
class TracesTaken:
    """Result of an import."""

    seen: Previewed
    """What the files held, and which runs were there before."""
    set_name: str = ""
    batch_id: str = ""

    @property
    def runs(self) -> tuple[RunId, ...]:
        """All of the files, those imported before among them."""
        return tuple(record.id for record in self.seen.records)

    @property
    def new(self) -> int:
        """Number of runs that were not there before."""
        return len(self.runs) - len(self.seen.known)


def said_of(item: LeftOut) -> str:
    """List what was left out, in English."""
    return LEFT_OUT[item.code].format(**item.params)


def previewed(seen: Previewed) -> dict[str, Any]:
    """Preview a file, trace by trace."""
    return {
        "spans": seen.found.spans,
        "traces": [
            {
                "run": record.id,
                "trace": trace.trace_id,
                "tool": trace.tool,
                "project": trace.project,
                "question": record.question,
                "searches": len(record.rounds),
                "passages": sum(len(own.candidates) for own in record.rounds),
                "verdicts": sum(len(own.verdicts) for own in record.rounds),
                "answer": bool(record.answer),
                "outcome": record.outcome,
                "similarity": record.origin.similarity if record.origin else "unknown",
                "notes": [note.code for note in record.origin.notes] if record.origin else [],
                "known": record.id in seen.known,
            }
            for record, trace in zip(seen.records, seen.found.traces, strict=True)
        ],
        "left_out": [said_of(item) for item in seen.found.left_out],
    }


def taken(done: TracesTaken) -> dict[str, Any]:
    """The same, with what was kept of it."""
    return {**previewed(done.seen), "new": done.new, "set_name": done.set_name, "batch_id": done.batch_id}
