"""What a run asked of models: calls, and apart from them the steps of built-in roles, which call none."""

from __future__ import annotations

from components.common.i18n import Words
from engine.model.values import RunRecord, counted


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
