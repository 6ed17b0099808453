"""The list of runs and the line under the question, read back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.common.i18n import Words
from components.common.run_settings import differing
from components.runs.run_list import RunLine, run_row
from engine.model.config import RunConfig
from engine.model.values import RunRecord
from engine.replay import what_if
from pages.parts.ask.what_if import end_of, price_text
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
    )
    row = run_row(line, words)
    said = f"{row['outcome']} · {row['rewrites']} · {row['calls']}"
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
    if row["rewrites"] != "–" and row["rewrites"] != str(len(record.rewrites)):
        yield f"{len(record.rewrites)} rewrites"
    if row["calls"] != str(sum(not item.built_in for item in record.model_calls)):
        yield "the calls are others"


def feet(record: RunRecord, words: Words) -> Iterator[Claim]:
    """The end and the price at the sidebar's foot for a few moved settings of a run that came to its end."""
    if record.outcome not in ("answered", "answered_forced", "answered_unverified", "abstained"):
        return
    for changed in _moved(record.config):
        if not differing(changed, record.config):
            continue
        found = what_if(record, changed)
        end, price = end_of(found, words), price_text(found, words)
        said = f"{end} · {price}"
        printed = {int(item) for item in numbers(end)}
        wrong: list[str] = []
        if not found.path_known:
            needed = found.calls_needed.worst
            wrong += [] if needed.calls + needed.built_in_calls in printed | {0} else ["more steps are needed"]
        elif found.same_path:
            wrong += [] if found.outcome == record.outcome else ["it would end otherwise"]
        elif found.rewrites and found.rewrites not in printed:
            wrong.append(f"after {found.rewrites} rewrites")
        if (found.calls_needed.worst.calls if found.state != "known" else 0) not in map(int, numbers(price)):
            wrong.append(f"the state is {found.state}")
        yield Claim(said, tuple(wrong))


def _moved(config: RunConfig) -> list[RunConfig]:
    return [
        replace(config, gate="pass_rate", grade_pass_threshold=0.2),
        replace(config, gate="min_relevant", min_relevant=2),
        replace(config, similarity_threshold=0.45),
        replace(config, max_rewrites=0),
        replace(config, top_k=3),
    ]
