"""The state of the dual loop; its names are those of DL-02."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from engine.flow.state import RunState
from engine.model.values import Context, Draft, Passage, Recall, Strategy, TriedRoute


class DualState(RunState, total=False):
    recall: Recall
    route: Literal["direct"] | Strategy
    """How the coming search is done; ``direct`` where the run begins with an answer."""
    skipped: Mapping[Strategy, str]
    """Strategies that cannot be used in this run, each with the reason why."""
    tried_routes: tuple[TriedRoute, ...]
    """Of the present pass of the outer loop."""
    documents: tuple[Passage, ...]
    """Passages of the newest round that passed."""
    documents_are_relevant: bool
    updated_query: str
    """What is searched: the question as asked, or as the newest rewrite has it."""
    response: str
    is_relevant: bool
    correction_attempts: int
    drafts: tuple[Draft, ...]
    contexts: tuple[Context, ...]
    """What each draft was written from."""
    writer_failed: bool
    """Whether the newest pass brought no answer."""
