"""Notes on an answer beyond its passages, in plain words: how well supported, from where, and why it stands."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.markup import Node, chip
from components.common.outcomes import reason_text
from components.common.phrases import probability_text
from components.common.workflow_view import view_of
from engine.flow import workflow
from engine.messages import N_
from engine.model.values import ANSWERED, Draft, Memory, RunRecord

WHY_STANDING = {
    "max_corrections": N_("No answer passed its evaluation: this is the best of {n}. See “Strategies”."),
    "max_epochs": N_("The evaluator still asks for changes after {n} answers. See “Evaluation”."),
    "evaluator_failed": N_("The evaluator failed: this answer is not evaluated."),
    "deadline": N_("Out of time: this answer has not passed its evaluation."),
    "writer_failed": N_("The revision failed: this is the answer before it."),
}

_OWN_WORDS = ("max_corrections", "max_epochs", "evaluator_failed", "deadline", "writer_failed")
"""Reasons for which an answer stands that did not pass; each has a sentence of its own."""


def standing_draft(record: RunRecord) -> Draft | None:
    """The newest draft that is the answer of the run; None where no draft is."""
    return next((item for item in reversed(record.drafts) if item.text == record.answer), None)


def writing_text(record: RunRecord, words: Words) -> str:
    """Name the answer at work, ``answer 2 of at most 3``; empty for single-answer runs."""
    most = workflow(record.workflow).most_answers(record.config)
    now = next((item.node for item in reversed(record.nodes) if item.duration_ms is None), "")
    flow = workflow(record.workflow).flow
    writing = now in flow.of_kind("answer")
    number = len(record.drafts) + writing
    if most < 2 or number < 1:
        return ""
    return words("answer {n} of at most {most}", n=number, most=most)


def checking_text(record: RunRecord, words: Words) -> str:
    """Say that a model checks the answer, which is written; empty at any other time."""
    flow, last = workflow(record.workflow).flow, record.nodes[-1] if record.nodes else None
    written = last is not None and last.duration_ms is not None and last.node in flow.of_kind("answer", "evaluate")
    waits = record.active and written and record.answer and not record.config.models.verifier.built_in
    return words("… being checked") if waits else ""


def basis_text(record: RunRecord, words: Words) -> str:
    """What an answer rests on where that is not passages found for it; empty for any other."""
    if record.outcome not in (*ANSWERED, "abstained"):
        return ""
    context, draft = record.context, standing_draft(record)
    if answering_memory(record) is not None and draft is not None and draft.direct:
        return words("from memory")
    if (draft is not None and draft.direct) or not (record.drafts or record.rounds):
        return words("without a search")
    if context is not None and context.tables and not context.passages:
        return words("from the tables of the question")
    return words("given passages not recorded") if record.origin is not None and context is None else ""


def answering_memory(record: RunRecord) -> Memory | None:
    """The memory that a direct answer comes from; None where the run searched, or nothing usable was recalled."""
    recall, route = record.recall, record.route
    if recall is None or route is None or route.route != "direct" or route.code == "smalltalk":
        return None
    return next(iter(recall.holding), None)


def standing_chips(record: RunRecord, words: Words) -> list[Node]:
    """Chips on how good the answer of a finished run was found: its evidence, its evaluation."""
    made = view_of(record.workflow).chips(record, words)
    draft = standing_draft(record)
    if draft is not None and record.outcome != "fallback":
        made.append(evaluation_chip(draft, record, words))
    return made


def evaluation_chip(draft: Draft, record: RunRecord, words: Words) -> Node:
    """Return whether an answer passed its evaluation, and with how many suggestions it did not."""
    if draft.evaluation is None:
        newest = record.active and draft is record.drafts[-1]
        return chip("accent", words("… being evaluated")) if newest else chip("warn", f"? {words('not evaluated')}")
    if draft.evaluation.passed:
        return chip("pass", f"✓ {words('evaluation passed')}")
    found = len(draft.evaluation.suggestions)
    return chip("warn", f"! {words.count('1 suggestion', '{n} suggestions', found)}")


def answer_notes(record: RunRecord, words: Words) -> list[str]:
    """Sentences below the answer, the weightiest first; none for an answer that passed."""
    own = view_of(record.workflow).answer_notes(record, words)
    if own or record.outcome == "fallback":
        return own
    if not record.drafts:
        return _context_notes(record, words)
    draft = standing_draft(record)
    notes = [_forced(record, draft, words)] if record.outcome == "answered_forced" else []
    if draft is not None and draft.direct:
        notes.append(_direct(record, words))
    return notes


def _context_notes(record: RunRecord, words: Words) -> list[str]:
    """List notes on an answer without passages; the usual notes are added separately."""
    if not record.rounds and record.outcome is not None and record.answer:
        return [words("Nothing was searched; the answer uses no passage.")]
    context = record.context
    if context is not None and context.tables and not context.passages and record.outcome in ANSWERED:
        return [words("No passage passed: only the attached tables support this answer.")]
    return []


def _direct(record: RunRecord, words: Words) -> str:
    memory = answering_memory(record)
    if memory is None:
        return words("Nothing was searched; the answer uses no passage.")
    return words(
        "From memory, nothing was searched. Asked earlier: “{question}” (similarity {similarity}).",
        question=memory.question,
        similarity=probability_text(memory.similarity),
    )


def _forced(record: RunRecord, draft: Draft | None, words: Words) -> str:
    why = reason_text(record.reason, words)
    if draft is not None and draft.evaluation is not None and draft.evaluation.passed:
        return words("It passed its evaluation, on too few relevant passages: {why}.", why=why)
    if record.reason in _OWN_WORDS:
        return words(WHY_STANDING[record.reason], n=len(record.drafts))
    return words("Not fully passed: {why}.", why=why)
