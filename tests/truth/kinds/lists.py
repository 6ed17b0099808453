"""The list of runs and the line under the question, read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from components.common.i18n import Words
from components.common.run_settings import differing
from components.runs.run_list import RunLine, run_row
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay import what_if
from pages.parts.ask.what_if import line_parts
from pages.parts.runs.run_list import _UNSEARCHED
from tests.truth.claims import Claim, numbers

_MET = ("passed", "quality_met", "documents_relevant", "answer_relevant", "evaluation_passed")


def rows(record: RunRecord, words: Words) -> Iterator[Claim]:
    """How a run ended and what it took, as the list has it from its summary."""
    line = RunLine(
        id=record.id,
        question=record.question,
        outcome=record.outcome,
        answer_note=record.answer_note,
        started_at=record.started_at,
        duration_ms=record.duration_ms,
        calls=record.calls,
        rewrites=len(record.rewrites),
        workflow=record.workflow,
        searched=record.reason not in _UNSEARCHED,
    )
    row = run_row(line, words)
    said = f"{row['outcome']} · {row['rounds']} · {row['calls']}"
    yield Claim(said, tuple(_row_wrong(row, record, words)))


def _row_wrong(row: dict[str, object], record: RunRecord, words: Words) -> Iterator[str]:
    outcome = str(row["outcome"])
    plain = outcome.partition(" ")[2]
    given = record.context is not None and bool(record.context.passages or record.context.tables)
    cites = bool(record.citations or record.cell_citations)
    if plain == words("Answered") and given and not cites:
        yield "the answer cites nothing"
    if plain == words("Answered") and record.outcome != "answered":
        yield f"the run ended as {record.outcome}"
    below = words("Answered below the bar") in plain
    graded = [item for item in record.decisions if item.node in ("grade", "grade_documents")]
    if below and all(item.reason in _MET for item in (*graded[-1:], *record.decisions[-1:])):
        yield "the last decision met its bar"
    if (words("Says it cannot tell") in plain) and cites and record.config.models.generator.built_in:
        yield "it cites what it says"
    if row["rounds"] != "–" and row["rounds"] != str(len(record.rounds)):
        yield f"{len(record.rounds)} rounds"
    if row["calls"] != str(sum(not item.built_in for item in record.model_calls)):
        yield "the calls are others"


def lines(record: RunRecord, words: Words) -> Iterator[Claim]:
    """The line under the question for a few moved sliders of a run that came to its end."""
    if record.outcome not in ("answered", "answered_forced", "answered_unverified", "abstained"):
        return
    for changed in _moved(record.config):
        if not differing(changed, record.config):
            continue
        found = what_if(record, changed)
        parts = line_parts(found, record, words)
        said = words(" · ").join(parts)
        wrong: list[str] = []
        told = {int(item) for item in numbers(" ".join(parts))}
        if found.state == "needs_calls":
            wrong += [] if words("Not known from this run") in said else ["it is not known"]
        elif found.same_path:
            wrong += _same_wrong(said, found.outcome == record.outcome, words)
        else:
            last = found.steps[-1].round.index if found.steps else None
            wrong += [] if last is None or last in told else [f"round {last}"]
            rewrites = sum(item.round >= 0 or item.strategy != "initial" for item in record.rewrites) - found.rewrites
            counted = re.search(r"(\d+) rewrites?|(\d+) 次重写", said)
            if (int(counted.group(1) or counted.group(2)) if counted else 0) != abs(rewrites):
                wrong.append(f"the rewrites differ by {rewrites}")
            side = re.search(r"rewrites?[^·]*? (fewer|more)|(少|多)[^·，]*次重写", said)
            if (
                rewrites
                and side
                and (side.group(1) or side.group(2)) not in (("fewer", "少") if rewrites > 0 else ("more", "多"))
            ):
                wrong.append("fewer and more are mixed up")
        if (words("0 calls") in parts) != (found.state == "known"):
            wrong.append(f"the state is {found.state}")
        yield Claim(said, tuple(wrong))


def _same_wrong(said: str, same: bool, words: Words) -> list[str]:
    return [] if same else ["it would end otherwise"]


def _moved(config: RunConfig) -> list[RunConfig]:
    return [
        replace(config, gate="pass_rate", grade_pass_threshold=0.2),
        replace(config, gate="min_relevant", min_relevant=2),
        replace(config, similarity_threshold=0.45),
        replace(config, max_rewrites=0),
        replace(config, top_k=3),
    ]
