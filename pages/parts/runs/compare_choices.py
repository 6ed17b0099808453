"""Runs offered for comparison, and their names in a picker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.outcomes import outcome_text
from components.common.phrases import workflow_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.model.config import USUAL
from engine.model.values import RunId
from engine.records.listing import RunSummary, summarise
from engine.samples.demos import all_demos

_MOST = 200
_LONGEST_QUESTION = 70


def run_choices(engine: Engine, words: Words, opened: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """Runs by id, each with a label of its own: the open one, the newest, the demos; ``wanted`` even if unknown."""
    found: dict[str, RunSummary] = {}
    for run_id in (opened, *wanted):
        with suppress(WorkbenchError):
            if run_id and (summary := summarise(tuple(engine.events(RunId(run_id))))) is not None:
                found[run_id] = summary
    with suppress(WorkbenchError):
        found |= {item.id: item for item in engine.runs(_MOST) if item.id not in found}
    labels = {run_id: _label(item, words, opened) for run_id, item in found.items()}
    for demo in all_demos():
        labels.setdefault(demo.id, words("{question} · demo", question=demo.question[:_LONGEST_QUESTION]))
    # A run that was deleted stays chosen: the page says that it is gone instead of choosing another.
    labels |= {run_id: run_id for run_id in wanted if run_id and run_id not in labels}
    counts = Counter(labels.values())
    return {run_id: label if counts[label] == 1 else _dated(label, run_id, found) for run_id, label in labels.items()}


def _label(item: RunSummary, words: Words, opened: str) -> str:
    """Named by what a reader remembers of it; the usual workflow goes unsaid, as in the list of runs."""
    short = beginning(item.question, _LONGEST_QUESTION)
    loop = workflow_text(item.workflow, words) if item.workflow != USUAL else ""
    ended = outcome_text(item.outcome, words, item.answer_note)
    return " · ".join(part for part in (short, loop, ended, words("open on Ask") if item.id == opened else "") if part)


def _dated(label: str, run_id: str, found: Mapping[str, RunSummary]) -> str:
    """Tell runs apart that are called the same: by when they began and, within a minute, by their id."""
    began = found[run_id].started_at[:16].replace("T", " ") if run_id in found else ""
    return " · ".join(part for part in (label, began, run_id[:8]) if part)
