"""Facts about one run's answer: its figures by the query sets with its question, and who judged it."""

from __future__ import annotations

from engine.errors import EvaluationError
from engine.evaluation.aggregate import evaluate
from engine.evaluation.answers import BASES
from engine.evaluation.cases import Case, question_id
from engine.evaluation.evidence import gather
from engine.evaluation.judgements import judged_answers, judges_of, verdicts_of
from engine.evaluation.measures import Measure
from engine.evaluation.store import EvaluationStore
from engine.evaluation.values import RunAnswer
from engine.model.language import language_of
from engine.model.values import RunRecord

_MEASURES: tuple[Measure, ...] = (
    *("exact_match", "f1", "containment", "citation_precision", "citation_recall"),
    *("claim_recall", "faithfulness"),
)


def run_answer(store: EvaluationStore, record: RunRecord) -> RunAnswer:
    """Return the facts about a run's answer; of several judging models, the last one counts."""
    case = case_for(store, record)
    said = store.answer_judgements((case.question, record.answer)) if record.answer else ()
    judges = judges_of(said)
    verdicts = verdicts_of(said, judges[0]) if judges else {}
    evidence = gather([case], {case.id: record}, (), judged_answers(said), verdicts)
    if not len(evidence):
        return RunAnswer(record.id, None, None, case.gold_answers, dict.fromkeys(_MEASURES), said)
    evaluation = evaluate(evidence, [record.config])
    right, by = evaluation.figure("answered_right").value, int(evaluation.right_by.basis[0, 0])
    figures = {name: evaluation.figure(name).value for name in _MEASURES}
    told_by = BASES[by] if right is not None and by >= 0 else None
    return RunAnswer(record.id, None if right is None else right == 1.0, told_by, case.gold_answers, figures, said)


def case_for(store: EvaluationStore, record: RunRecord) -> Case:
    """The question of a run as a query set of its collection has it; without expectations where none asks it.

    Of several sets one with gold answers is taken, else the first by name.
    """
    found = store.cases_asking(record.question, record.config.collection)
    bare = Case(question_id(record.question), record.question, language=language_of(record.question))
    return next((case for case in found if case.gold_answers), found[0] if found else bare)


def require_answer(record: RunRecord) -> None:
    """Raise ``EvaluationError.no_answer`` for a run that is not over, or that ended without an answer."""
    if not record.answer or record.outcome in (None, "abstained", "failed", "cancelled", "interrupted", "unanswered"):
        raise EvaluationError.no_answer(run=record.id)
