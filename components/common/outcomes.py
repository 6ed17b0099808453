"""What ends, reasons and places of passages are called and look like: the one table that every page reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from components.common.i18n import Words
from engine.messages import N_, NC_
from engine.model.values import AnswerNote, Fork, Gate, Outcome, RunRecord

Tone = Literal["pass", "warn", "grey", "fault", "accent"]


@dataclass(frozen=True, slots=True)
class Mark:
    """The label of a code, the tone and the sign that go with it, and its colour in a chart."""

    label: str
    tone: Tone
    glyph: str
    colour: str = ""


RUNNING = Mark(N_("Running"), "accent", "●", "#d5d9e2")

OUTCOMES: Mapping[Outcome, Mark] = {
    "answered": Mark(N_("Answered"), "pass", "✓", "#0d9488"),
    "answered_forced": Mark(N_("Answered below the bar"), "warn", "!", "#e0a53f"),
    "answered_unverified": Mark(N_("Answered from unverified passages"), "warn", "!", "#b45309"),
    "abstained": Mark(N_("Refused"), "grey", "∅", "#7b8494"),
    "fallback": Mark(N_("Nothing found"), "grey", "∅", "#6366f1"),
    "cancelled": Mark(N_("Cancelled"), "grey", "■", "#a3a3a3"),
    "failed": Mark(N_("Failed"), "fault", "✗", "#dc2626"),
    "interrupted": Mark(N_("Interrupted"), "fault", "✗", "#b91c1c"),
    "unanswered": Mark(N_("No answer recorded"), "grey", "–", "#94a3b8"),
}

NOTES: Mapping[AnswerNote, Mark] = {
    "cannot_tell": Mark(N_("Says it cannot tell"), "grey", "–", "#a8b0bd"),
    "uncited": Mark(N_("{outcome}, no source cited"), "warn", "!", "#f2c94c"),
    "unsupported": Mark(N_("{outcome}, not supported"), "warn", "!", "#d97706"),
    "unchecked": Mark(N_("{outcome}, not checked"), "warn", "?", "#eab308"),
}
"""Where something has to be said of the answer, this stands for the outcome."""

REASONS: Mapping[str, Mark] = {
    "passed": Mark(N_("bar met"), "pass", "✓"),
    "deadline": Mark(N_("out of time"), "grey", "!"),
    "below_gate": Mark(N_("below the bar"), "warn", "↻"),
    "max_rewrites": Mark(N_("no rewrite left"), "grey", "!"),
    "repeated_rewrite": Mark(N_("the rewrite repeated a query"), "grey", "!"),
    "no_passages": Mark(N_("the collection is empty"), "grey", "!"),
    "rewriter_failed": Mark(N_("the rewriter failed"), "grey", "!"),
    "grader_unavailable": Mark(N_("the grader cannot be reached"), "grey", "!"),
    "grader_failed": Mark(N_("no verdict could be read"), "fault", "✗"),
    "quality_met": Mark(N_("bar met"), "pass", "✓"),
    "low_quality": Mark(N_("below the bar"), "warn", "↻"),
    "direct": Mark(N_("no search needed"), "pass", "✓"),
    "search": Mark(N_("needs a search"), "pass", "✓"),
    "documents_relevant": Mark(N_("relevant passages found"), "pass", "✓"),
    "next_strategy": Mark(N_("another search is left"), "warn", "↻"),
    "strategies_exhausted": Mark(N_("every search was tried"), "grey", "!"),
    "answer_relevant": Mark(N_("the answer fits the question"), "pass", "✓"),
    "answer_off": Mark(N_("the answer misses the question"), "warn", "↻"),
    "max_corrections": Mark(N_("no correction left"), "grey", "!"),
    "evaluation_passed": Mark(N_("evaluation passed"), "pass", "✓"),
    "revise": Mark(N_("the answer needs changes"), "warn", "↻"),
    "max_epochs": Mark(N_("no revision left"), "grey", "!"),
    "evaluator_failed": Mark(N_("the answer could not be evaluated"), "grey", "!"),
    "writer_failed": Mark(N_("the revision failed"), "grey", "!"),
    "cancelled": Mark(N_("stopped by you"), "grey", "!"),
    "bypass": Mark(N_("this mode does not search"), "pass", "✓"),
    "simple": Mark(N_("no search needed"), "pass", "✓"),
    "table_answers": Mark(N_("an attached table answers it"), "pass", "✓"),
    "tables_only": Mark(N_("attached tables only"), "pass", "✓"),
    "needs_search": Mark(N_("needs a search"), "pass", "✓"),
}
"""Why a node decided: the aim is reached, another attempt is made, the loop ended before its aim, or a fault."""

GATES: Mapping[Gate, Mark] = {
    "kept": Mark(NC_("life-line", "kept"), "accent", "→"),
    "below_threshold": Mark(N_("dropped: similarity"), "grey", "–"),
    "beyond_top_k": Mark(N_("dropped: top-k"), "grey", "–"),
    "below_graph": Mark(N_("dropped: graph score"), "grey", "–"),
    "below_rerank": Mark(N_("dropped: rerank score"), "grey", "–"),
}


def end_mark(outcome: Outcome | None, note: AnswerNote = "") -> Mark:
    """Tone, sign and colour of an end; None while it runs. An answer with a note looks as its note says."""
    return NOTES[note] if note else OUTCOMES[outcome] if outcome else RUNNING


def outcome_text(outcome: Outcome | None, words: Words, note: AnswerNote = "") -> str:
    """Describe how a run ended, with the note on its answer; None while it is running."""
    label = words(OUTCOMES[outcome].label if outcome else RUNNING.label)
    return words(NOTES[note].label, outcome=label) if note else label


def ended_text(record: RunRecord, words: Words) -> str:
    """Describe how a run ended: ``Answered``, ``Answered, not supported``, ``Says it cannot tell``."""
    return outcome_text(record.outcome, words, record.answer_note)


def end_badge(outcome: Outcome | None, words: Words, note: AnswerNote = "") -> tuple[Tone, str]:
    """Tone and words of the chip that says how a run ended or would end: ``✓ Answered``."""
    mark = end_mark(outcome, note)
    return mark.tone, f"{mark.glyph} {outcome_text(outcome, words, note)}"


def run_badge(record: RunRecord, words: Words) -> tuple[Tone, str]:
    """Tone and words of the chip that says how a run ended."""
    return end_badge(record.outcome, words, record.answer_note)


def end_text(outcome: Outcome | None, rewrites: int, words: Words, note: AnswerNote = "") -> str:
    """Describe how a run ended, or would end, and after what: ``Refused after 3 rewrites``."""
    # The note on what an answer cites stands last; the one that it cannot tell stands for the outcome itself.
    cannot_tell = note == "cannot_tell"
    label = outcome_text(outcome, words, note if cannot_tell else "")
    if rewrites:
        label = words.count("{outcome} after 1 rewrite", "{outcome} after {n} rewrites", rewrites, outcome=label)
    return words(NOTES[note].label, outcome=label) if note and not cannot_tell else label


def run_end_text(record: RunRecord, words: Words) -> str:
    """Describe how a run ended, and after how many rewrites; one before any search corrects nothing."""
    rewrites = sum(not item.initial for item in record.rewrites)
    return end_text(record.outcome, rewrites, words, record.answer_note)


def reason_text(reason: str, words: Words) -> str:
    """A reason code in words; anything that is no code is shown as it is."""
    return words(REASONS[reason].label) if reason in REASONS else reason


def round_text(index: int, words: Words) -> str:
    """The name of a round by its query: ``as asked``, ``rewrite 1``, ``rewrite 2``."""
    return words("rewrite {n}", n=index) if index > 0 else words(NC_("round", "as asked"))


def branch_text(fork: Fork, words: Words) -> str:
    """Say which run a branch came from, and where it left it."""
    return words("Branch of run {run}, from {round}", run=fork.parent[:8], round=round_text(fork.round, words))
