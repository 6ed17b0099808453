"""The plain sentence of a run of the dual loop that ends without an answer (DL-03)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.builtin.phrases import Phrases
from engine.model.values import Reason, Round, TriedRoute


def fallback_answer(
    question: str, rounds: Sequence[Round], tried: Sequence[TriedRoute], reason: Reason, *, rejected: bool
) -> str:
    """Say that there is no answer and why; English for languages other than Chinese.

    ``tried`` are the strategies of the last pass, ``rejected`` says that an answer was written and did not pass.
    """
    say = Phrases.to("fallback", question)

    def named(*statuses: str) -> str:
        chosen = dict.fromkeys(item.strategy for item in tried if item.status in statuses)
        return _joined([say(strategy) for strategy in chosen], say)

    late = reason == "deadline"
    parts = [say("late" if late else "opening")]
    if searched := named("searched", "nothing_found"):
        parts += [say("searched", names=searched), _read(rounds, say)]
    if failed := named("failed"):
        parts.append(say("failed", names=failed))
    if skipped := named("skipped"):
        parts.append(say("skipped", names=skipped))
    if rejected:
        parts.append(say("rejected"))
    return say.gap.join([*parts, say("again" if late else "advice")])


def _joined(names: Sequence[str], say: Phrases) -> str:
    if say.written == "zh" or len(names) < 2:
        return say.listed(names)
    return f"{say.listed(names[:-1])} and {names[-1]}"


def _read(rounds: Sequence[Round], say: Phrases) -> str:
    kept = len({name for item in rounds for name, verdict in item.verdicts.items() if verdict.relevant is not None})
    if kept == 0:
        return say("unread")
    return say("read_one") if kept == 1 else say("read", kept=kept)
