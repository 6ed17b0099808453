"""The questions that the workbench offers to try: for each workflow some that show what only it does."""

from __future__ import annotations

from components.common.i18n import UiLanguage
from engine.model.config import USUAL, WorkflowName, declared
from engine.samples import multi_hop_questions, sample_questions


def shown_samples(workflow: WorkflowName, language: UiLanguage) -> list[tuple[str, str]]:
    """Questions with their kind, in the order of their buttons; those of the usual workflow where it has none."""
    labelled = {item.id: item for item in (*sample_questions(), *multi_hop_questions())}
    offered = declared(workflow).samples or declared(USUAL).samples
    shown = []
    for named, kind in offered.get(language, ()):
        known = labelled.get(named)
        shown.append((known.question, kind or known.kind) if known else (named, kind))
    return shown
