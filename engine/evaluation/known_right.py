"""Right passages of a run: by the request, by people's judgements, or by the sample questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from engine.errors import WorkbenchError
from engine.evaluation.cases import Case, Expectation, question_id, sample_set
from engine.evaluation.judgements import settled
from engine.evaluation.matching import met_map
from engine.evaluation.store import EvaluationStore
from engine.model.values import PassageId, RunRecord

Met = Mapping[PassageId, tuple[int, ...]]


class Judgements(Protocol):
    """An engine, as far as it is asked here."""

    @property
    def evaluation(self) -> EvaluationStore:
        """Raises ``EvaluationError`` where its file cannot be used: then no judgement is known."""


def known_right(engine: Judgements, record: RunRecord, expected: Sequence[str] = ()) -> tuple[Met | None, bool | None]:
    """Return which expectations each passage meets, and whether the question can be answered; None if unknown.

    ``expected`` are ids of passages, or names of sources; without any it goes by what people have judged, and else by
    the sample question that was asked. Other query sets say only whether there is an answer.
    """
    if expected:
        named = tuple(Expectation("passage" if "#" in item else "source", item) for item in expected)
        return met_map(Case(question_id(record.question), record.question, named), record), True
    try:
        own = {name: said for (_, name), said in settled(engine.evaluation.labels(record.question)).items()}
    except WorkbenchError:
        own = {}
    helpful: Met = {name: (0,) for name, relevant in own.items() if relevant}
    if helpful:
        return helpful, True
    if record.config.collection == sample_set().collection:
        asked = record.question.strip()
        case = next((case for case in sample_set().cases if case.question.strip() == asked), None)
        if case is not None:
            return (met_map(case, record), True) if case.expected else (None, case.answerable)
    return None, _answerable(engine, record)


def _answerable(engine: Judgements, record: RunRecord) -> bool | None:
    """Return the labels of the query sets with this question, and the run's own set; None if they differ."""
    try:
        cases = engine.evaluation.cases_asking(record.question, record.config.collection, record.id)
    except WorkbenchError:
        return None
    said = {True if case.expected else case.answerable for case in cases} - {None}
    return said.pop() if len(said) == 1 else None
