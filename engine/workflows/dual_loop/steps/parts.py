"""Code shared by steps of the dual loop: its roles, its time limits, and how a draft becomes the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.flow.context import RunContext
from engine.model.decide import best_draft
from engine.model.events import AnswerCompleted, ContextAssembled, Drafted, RouteTried
from engine.model.surroundings import read_with, texts_around
from engine.model.values import Context, Draft, Passage, Strategy, TriedRoute
from engine.workflows.dual_loop.policy import DualEvidence, passed_over, stale, usable_strategies

MEMORY_S = 5.0
"""Longest wait for long-term memory: a run must not hang on what is only a help."""
WEB_S = 20.0
"""Longest wait for one web search."""


def at_most_s(run: RunContext, longest_s: float = float("inf")) -> float:
    """Seconds that one of several steps may wait: half of what is left, so that one that hangs leaves the next some."""
    return max(0.0, min(longest_s, run.clock.left_s() / 2))


def evidence_of(state: Mapping[str, Any], run: RunContext, **changes: Any) -> DualEvidence:
    """Return the inputs of a decision from the state."""
    known: dict[str, Any] = {
        "rounds": state.get("rounds", ()),
        "usable": usable_strategies(state["skipped"]),
        "tried": state["tried_routes"],
        "drafts": state["drafts"],
        "corrections": state["correction_attempts"],
        "elapsed_s": run.clock.elapsed_s(),
        "rewrite": stale(state.get("rewrites", ())),
        "writer_failed": state["writer_failed"],
    }
    return DualEvidence(**{**known, **changes})


def note(run: RunContext, *tried: TriedRoute) -> tuple[TriedRoute, ...]:
    """Say that strategies were tried, or why not."""
    for item in tried:
        run.emit(RouteTried(tried=item))
    return tried


def note_passed_over(
    run: RunContext, to: Strategy | None, skipped: Mapping[Strategy, str], tried: Sequence[TriedRoute], attempt: int
) -> tuple[TriedRoute, ...]:
    """``tried`` with the strategies added whose turn went by because they cannot be used."""
    passed = passed_over(to, skipped, tried)
    return (*tried, *note(run, *(TriedRoute(item, attempt, "skipped", skipped[item]) for item in passed)))


def read_for(state: Mapping[str, Any], draft: int) -> tuple[Passage, ...]:
    """The passages that an answer was written from, with what surrounds them in their text."""
    context = state["contexts"][draft]
    return read_with(context.passages, texts_around(context, state.get("rounds", ()), state.get("surroundings")))


def drafted(run: RunContext, state: Mapping[str, Any], draft: Draft, context: Context) -> dict[str, Any]:
    """Say that an answer is complete; returns the changes of the state."""
    run.emit(Drafted(draft=draft))
    run.emit(AnswerCompleted.of(draft))
    return {
        "drafts": (*state["drafts"], draft),
        "contexts": (*state["contexts"], context),
        "response": draft.text,
        "writer_failed": False,
    }


def let_best_stand(run: RunContext, drafts: Sequence[Draft], contexts: Sequence[Context]) -> str:
    """Make the best draft the run's answer, with what it was written from; nothing is said where it is so already."""
    best = best_draft(drafts)
    if best is None:
        return ""
    if best.index != drafts[-1].index:
        run.emit(ContextAssembled(context=contexts[best.index]))
        run.emit(AnswerCompleted.of(best))
    return best.text
