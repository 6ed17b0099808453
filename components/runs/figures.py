"""The five figures of a run: outcome, what its loop goes by, best similarity or suggestions, model calls, time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from components.common.i18n import Words
from components.common.outcomes import end_mark, outcome_text, reason_text, run_end_text
from components.common.phrases import duration_text, moved_text, node_text, probability_text
from components.common.workflow_view import view_of
from components.labels import GRADE_NAMES
from components.sentences.calls import calls_recorded, steps_text
from engine.flow import workflow
from engine.model.config import WorkflowName
from engine.model.values import Decision, RunRecord, counted
from engine.model.wording import change_of
from engine.replay.admitted import refused_given

Measure = Literal["pass_rate", "quality", "similarity", "suggestions", "context"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number in its place: label, value, a note below, and the meaning that colours them."""

    label: str
    value: str
    note: str = ""
    look: str = ""
    note_look: str = "muted"


def figures_of(record: RunRecord, words: Words, measures: tuple[Measure, Measure] | None = None) -> tuple[Figure, ...]:
    """Build the five cards; ``measures`` replaces those of the run's own workflow when two runs are compared."""
    drawn: dict[Measure, Callable[[RunRecord, Words], Figure]] = {
        "pass_rate": _pass_rate,
        "quality": _quality,
        "similarity": _similarity,
        "suggestions": _suggestions,
        "context": _context,
    }
    first, second = measures or _measures_of(record.workflow)
    return (
        _outcome(record, words),
        drawn[first](record, words),
        drawn[second](record, words),
        _calls(record, words),
        _time(record, words),
    )


def shared_measures(a: RunRecord, b: RunRecord) -> tuple[Measure, Measure]:
    """The two measures by which two runs can be set side by side: of different loops, those that every loop has."""
    if a.workflow == b.workflow:
        return _measures_of(a.workflow)
    return ("pass_rate" if workflow(a.workflow).gate and workflow(b.workflow).gate else "context"), "similarity"


def _measures_of(of: WorkflowName) -> tuple[Measure, Measure]:
    """Return the two measures of a workflow shown between outcome and calls."""
    own = workflow(of)
    first, second = (cast(Measure, name) for name in own.measures)
    return ("context" if first == "pass_rate" and not own.gate else first), second


def measured(record: RunRecord, measure: Measure) -> float | None:
    """The value of a run that its card shows: the best similarity of all rounds, the last value of anything else."""
    if measure == "similarity":
        return record.best_similarity
    return next(reversed(_values(record, measure)), None)


def _values(record: RunRecord, measure: Measure) -> list[float]:
    match measure:
        case "pass_rate":
            return list(record.pass_rates.values())
        case "quality":
            return list(record.quality_scores.values())
        case "similarity":
            return [best for item in record.rounds if (best := item.best_similarity) is not None]
        case "suggestions":
            return [len(item.evaluation.suggestions) for item in record.drafts if item.evaluation is not None]
        case "context":
            counted = record.context and record.rounds and record.origin is None
            return [record.context.tokens] if record.context and counted else []


def _graded(record: RunRecord) -> list[Decision]:
    return [item for item in record.decisions if item.node == workflow(record.workflow).gate]


def _outcome(record: RunRecord, words: Words) -> Figure:
    if record.outcome is None:
        running = next((item.node for item in reversed(record.nodes) if item.duration_ms is None), "")
        note = words("at {node}", node=node_text(running, record.workflow, words)) if running else ""
        return Figure(words("Outcome"), outcome_text(None, words), note, "accent")
    refused = len(refused_given(record)) if record.outcome == "answered" else 0
    look = "warn" if refused else end_mark(record.outcome, record.answer_note).tone
    parts = []
    reason = record.reason or (record.decisions[-1].reason if record.decisions else "")
    if reason and reason != record.outcome:
        parts.append(reason_text(reason, words))
    if refused:
        parts.append(words.count("from 1 refused passage", "from {n} refused passages", refused))
    return Figure(words("Outcome"), run_end_text(record, words), " · ".join(parts), look, look)


def _pass_rate(record: RunRecord, words: Words) -> Figure:
    graded = _graded(record)
    last = graded[-1] if graded else None
    note = _bar(record, words)
    counted = f"{last.passed}/{last.kept} · {note}" if last else note
    return _course(words("Pass rate"), _values(record, "pass_rate"), counted)


def _bar(record: RunRecord, words: Words) -> str:
    """Describe what a round must reach; empty if nothing is required."""
    bar = view_of(record.workflow).bar(record.config)
    if bar is None:
        return ""
    quantity, least = bar
    if quantity == "relevant_passages":
        return words("bar {value}", value=int(least))
    return words("bar {value}", value=probability_text(least))


def _quality(record: RunRecord, words: Words) -> Figure:
    checks = [item.quality for item in record.rounds if item.quality is not None]
    note = _bar(record, words)
    if checks:
        note = f"{words(GRADE_NAMES[checks[-1].routing_grade])} · {note}"
    return _course(words("Quality score"), _values(record, "quality"), note)


def _similarity(record: RunRecord, words: Words) -> Figure:
    """The best of all rounds, with what each round came to."""
    best, values = record.best_similarity, _values(record, "similarity")
    bar = words("bar {value}", value=probability_text(record.config.similarity_threshold))
    if any(not item.scaled for item in record.rounds):
        return Figure(words("Best similarity"), "–", words("only ranks are known"))
    if best is None:
        return Figure(words("Best similarity"), "–", bar)
    course = " → ".join(map(probability_text, values)) if len(values) > 1 else ""
    return Figure(words("Best similarity"), probability_text(best), " · ".join(filter(None, (course, bar))))


def _suggestions(record: RunRecord, words: Words) -> Figure:
    """Count the changes requested for each answer: none means that it passed."""
    counts = [int(count) for count in _values(record, "suggestions")]
    look = "" if not counts else "pass" if counts[-1] == 0 else "warn"
    return Figure(words("Suggestions"), " → ".join(map(str, counts)) or "–", "", look)


def _context(record: RunRecord, words: Words) -> Figure:
    """Describe how much of its budget the context used, and its parts."""
    context = record.context
    if context is not None and record.origin is not None:
        given = words.count("1 passage", "{n} passages", len(context.passages))
        return Figure(words("Context"), "–", given)
    if context is None or not record.rounds:
        return Figure(words("Context"), "–")
    parts = [
        words("of {most}", most=context.token_budget),
        words.count("1 passage", "{n} passages", len(context.passages)),
    ]
    if context.graph is not None:
        parts.append(words.count("1 relationship", "{n} relationships", len(context.graph.relationships)))
    if context.tables:
        parts.append(words.count("1 table", "{n} tables", len(context.tables)))
    return Figure(words("Context"), words("{n} tokens", n=context.tokens), " · ".join(parts))


def _course(label: str, values: Sequence[float], note: str) -> Figure:
    """A value over the rounds: first and last, and by how much it rose or fell from the first to the last."""
    if not values:
        return Figure(label, "–", note)
    if len(values) == 1:
        return Figure(label, probability_text(values[0]), note)
    change = change_of(values[0], values[-1])
    look = ("muted", "pass", "warn")[change.direction]
    return Figure(label, change.course, f"{moved_text(change)} · {note}", note_look=look)


def _calls(record: RunRecord, words: Words) -> Figure:
    if calls_recorded(record) is None:
        return Figure(words("Model calls"), "–")
    count = counted(record.model_calls)
    parts = steps_text(record, words)
    if count.cached:
        parts.append(words("{n} from cache", n=count.cached))
    return Figure(words("Model calls"), str(count.done), " · ".join(parts))


def _time(record: RunRecord, words: Words) -> Figure:
    if record.origin is not None:
        return Figure(words("Time"), duration_text(record.duration_ms), words("in the other program"))
    budget = record.config.budget_s
    share = record.duration_ms / 1000.0 / budget
    return Figure(
        words("Time"),
        duration_text(record.duration_ms),
        words("of {most}", most=f"{budget:g} s"),
        look="warn" if share >= 1 else "",
    )
