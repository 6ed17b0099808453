"""The state that workflows share; each adds its own keys by inheriting."""

from __future__ import annotations

from typing import TypedDict

from engine.model.values import Decision, Rewrite, Round


class RunState(TypedDict, total=False):
    question: str
    """As asked; never changed."""
    query: str
    """What is searched next: the question, or its newest rewrite."""
    rounds: tuple[Round, ...]
    rewrites: tuple[Rewrite, ...]
    decision: Decision
    """Of the newest round."""
