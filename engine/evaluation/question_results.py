"""How each question of a set ends under one setting, and where it was lost: before, in or after the grading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from engine.evaluation.evidence import Evidence, Gathered
from engine.evaluation.figures import ANSWERED, NOTES, OUTCOMES, Evaluation

Result = Literal["wrong", "refused", "unknown", "right", "unlabelled"]
"""``refused`` although it has an answer; refusing one that has none is ``right``."""
Lost = Literal["", "not_found", "not_kept", "not_passed", "not_given", "given", "no_answer"]
"""Where the expected passage was last seen: no search found one; found, and dropped by a threshold or top-k; kept, and
not passed by the grader; passed, and not given to the generator; given. ``no_answer``: answered although the question
has none. Empty where the question is not lost, or has no expected passage."""
_READ = ("answered_right", "context_hit", "recall", "grader_recall", "rewrites")


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question under one setting."""

    case_id: str
    result: Result
    lost: Lost = ""


def question_results(evidence: Evidence, evaluation: Evaluation, setting: int) -> tuple[QuestionResult, ...]:
    """Every gathered question under a setting of an evaluation of the same evidence, in the order of the set."""
    values = {name: evaluation.measures[name].of(setting) for name in _READ}
    unknown = evaluation.measures["answered_right"].unknown[:, setting] | ~evaluation.path_known[:, setting]
    found = []
    for place, item in enumerate(evidence.gathered):
        own = {name: float(column[place]) for name, column in values.items()}
        if np.isnan(own["answered_right"]):
            found.append(QuestionResult(item.case.id, "unknown" if unknown[place] else "unlabelled"))
        elif own["answered_right"]:
            found.append(QuestionResult(item.case.id, "right"))
        else:
            code, note = int(evaluation.outcomes[place, setting]), NOTES[int(evaluation.notes[place, setting])]
            answered = code < 0 or (OUTCOMES[code] in ANSWERED and note != "cannot_tell")
            found.append(QuestionResult(item.case.id, "wrong" if answered else "refused", _lost(item, own)))
    return tuple(found)


def _lost(item: Gathered, own: Mapping[str, float]) -> Lost:
    if item.case.answerable is False:
        return "no_answer"
    if not item.case.expected:
        return ""
    if own["context_hit"] > 0:
        return "given"
    if own["grader_recall"] > 0:
        return "not_given"
    # A share of those judged is no number where none was.
    if own["recall"] > 0 or not np.isnan(own["grader_recall"]):
        return "not_passed"
    rounds = item.table.rounds if np.isnan(own["rewrites"]) else item.table.rounds[: int(own["rewrites"]) + 1]
    met = [place for place, meets in enumerate(item.table.met) if meets]
    return "not_kept" if any(current.rank[place] > 0 for current in rounds for place in met) else "not_found"
