"""Check what a finished answer says, sentence by sentence, when its workflow has come to its end."""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.answer_note import noted, to_check
from engine.errors import ModelError
from engine.flow import workflow
from engine.flow.context import NodeTrace, RunContext, model_of
from engine.model.events import RunFinished, Warned
from engine.model.values import Fault, Outcome, RunRecord
from engine.roles import Given


async def checked(
    run: RunContext, record: RunRecord, outcome: Outcome, reason: str, parent: RunRecord | None = None
) -> RunFinished:
    """The end of a run with the note on its answer, which stands already.

    The verifier has what is left of the run's time; what it cannot check then is unchecked, and the run says so. In a
    branch, the answer of its ``parent`` is not checked again.
    """
    given, verifier = to_check(record, outcome), run.roles.verifier
    if given is not None and verifier is not None:
        if parent is not None and _same_to_check(parent, record, given):
            record = replace(record, checks=parent.checks)
        else:
            trace = NodeTrace(run, *_answering(record))
            record = replace(record, checks=await verifier.verify(record.question, record.answer, given, trace))
    ended = noted(record, outcome)
    fault = next((item.fault for item in ended.checks or () if item.fault is not None), None)
    if fault is not None:
        run.emit(Warned(warning=replace(fault, node=_answering(record)[0])))
    if ended.answer_note == "uncited":
        run.emit(Warned(warning=Fault.of(ModelError.answer_uncited(model=model_of(run, "generator")))))
    return RunFinished(
        outcome=outcome,
        reason=reason,
        answer_note=ended.answer_note,
        unsupported_sentences=ended.unsupported_sentences,
        checks=ended.checks,
    )


def _same_to_check(parent: RunRecord, record: RunRecord, given: Given) -> bool:
    same = parent.answer == record.answer and parent.config.models.verifier == record.config.models.verifier
    return same and parent.checks is not None and to_check(parent) == given


def _answering(record: RunRecord) -> tuple[str, int]:
    """Node and round of the answer that stands, to which the calls of the verifier belong."""
    writing = workflow(record.workflow).flow.of_kind("answer")
    return next(((item.node, item.round) for item in reversed(record.nodes) if item.node in writing), ("", 0))
