"""The evaluator that needs no model: it checks what can be checked by words, figures and markers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from engine.builtin.answer_checks import (
    Answer,
    cited,
    consistent,
    every_part,
    kind_asked_for,
    on_the_question,
    said_what_is_missing,
    says_something,
    structured,
)
from engine.builtin.answer_poles import on_the_side_asked
from engine.builtin.grader import Similarity
from engine.builtin.report import reported
from engine.model.config import BUILTIN
from engine.model.small_talk import small_talk
from engine.model.values import Evaluation, EvaluationDimension, Suggestion
from engine.roles import SILENT, EvaluationAim, EvaluationRequest, Trace

Check = Callable[[Answer], Iterator[Suggestion]]

CHECKS: Mapping[EvaluationAim, tuple[Check, ...]] = {
    "answer": (on_the_question, every_part, kind_asked_for, consistent, structured, cited, said_what_is_missing),
    "relevance": (on_the_question, on_the_side_asked, every_part, kind_asked_for),
}
_MOST = 8
"""Suggestions of one evaluation: more would not be read."""


class BuiltinEvaluator:
    """Deterministic: the same answer and passages give the same judgement (contract: :class:`engine.roles.Evaluator`).

    It compares words, so a paraphrase with other words looks unsupported, and a wrong statement in the passage's own
    words looks right. What a cut hides of a passage is not held against an answer where one sentence alone needs it.
    """

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    async def evaluate(self, request: EvaluationRequest, trace: Trace = SILENT) -> Evaluation:
        """Evaluate an answer; raises what the similarity callable raises."""
        similarities = await self._similarity(request.question, request.passages) if request.passages else []
        judged = partial(judge, similarities=similarities)
        return reported(trace, "evaluator", request, judged, asked=_asked, said=_said)


def judge(request: EvaluationRequest, similarities: Sequence[float]) -> Evaluation:
    """Every finding of the checks of an aim, in their order; at most one about a sentence in each dimension.

    ``similarities`` are those of the question with each passage, in [0, 1].
    """
    answer = Answer(request, tuple(similarities))
    found: list[Suggestion] = []
    quoted: set[tuple[str, EvaluationDimension]] = set()
    for check in _checks(request):
        for suggestion in check(answer):
            about = suggestion.quote, suggestion.dimension
            if suggestion.quote and about in quoted:
                continue
            quoted.add(about)
            found.append(suggestion)
    kept = _of_every_dimension(found)
    return Evaluation(passed=not kept, suggestions=kept, evaluator=BUILTIN)


def _checks(request: EvaluationRequest) -> tuple[Check, ...]:
    if request.aim == "relevance" and small_talk(request.question):
        # It asks for nothing in particular: any civil word solves it.
        return (says_something,)
    return CHECKS[request.aim]


def _of_every_dimension(found: list[Suggestion]) -> tuple[Suggestion, ...]:
    """The first suggestions, among them one of each failed dimension (AE-03), in their order."""
    first = {item.dimension: place for place, item in reversed(list(enumerate(found)))}
    places = {*first.values(), *range(_MOST - len(first))}
    return tuple(item for place, item in enumerate(found) if place in places)


def _asked(request: EvaluationRequest) -> dict[str, Any]:
    passages = [item.text for item in request.passages]
    return {"aim": request.aim, "question": request.question, "answer": request.answer, "passages": passages}


def _said(evaluation: Evaluation) -> dict[str, Any]:
    named = [
        {"dimension": item.dimension, "suggestion": item.text, "quote": item.quote} for item in evaluation.suggestions
    ]
    return {"passed": evaluation.passed, "suggestions": named}
