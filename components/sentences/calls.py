"""What a run asked of models: calls, and apart from them the steps of built-in roles, which call none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from components.common.i18n import Words
from engine.flow import workflow
from engine.model.values import ModelCall, RunRecord, counted


def calls_recorded(record: RunRecord) -> int | None:
    """Calls of chat models; None where an imported trace tells of none, as it need not have recorded them."""
    return record.calls if record.origin is None or record.model_calls else None


def calls_text(record: RunRecord, words: Words, *, waiting: int = 0) -> str:
    """``1 model call · 4 steps``, or ``3 done, 2 running`` while calls of a live run are ``waiting`` for their end."""
    count = counted(record.model_calls, waiting)
    parts = [words.count("1 model call", "{n} model calls", count.done)]
    if calls_recorded(record) is None:
        parts = [words("calls not recorded")]
    if count.running:
        parts = [words("{n} done, {running} running", n=count.done, running=count.running)]
    return words(" · ").join([*parts, *steps_text(record, words)])


def steps_text(record: RunRecord, words: Words) -> list[str]:
    """``4 steps``; empty for a run without any."""
    steps = counted(record.model_calls).steps
    return [words.count("1 step", "{n} steps", steps)] if steps else []


def reason_calls(record: RunRecord) -> tuple[ModelCall, ...]:
    """Calls for reasons of verdicts once the run was over, each at the step and in the round that judged its passage.

    They are none of the run's own.
    """
    judged = {name: current.index for current in reversed(record.rounds) for name in current.verdicts}
    node = workflow(record.workflow).flow.grading
    return tuple(
        replace(call, node=node, round=judged.get(item.passage_id, 0), passage_id=item.passage_id)
        for item in record.reasons
        for call in item.calls
    )


def reason_calls_text(calls: Sequence[ModelCall], words: Words) -> str:
    """``2 calls for reasons, once the run was over``."""
    return words.count(
        "1 call for a reason, once the run was over", "{n} calls for reasons, once the run was over", len(calls)
    )
