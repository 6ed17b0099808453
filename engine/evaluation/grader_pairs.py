"""Pairs of a question and a passage, with what a grader said of it and what is known to be true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from engine.evaluation.cases import Case
from engine.evaluation.matching import met_by
from engine.evaluation.values import Label
from engine.model.values import BY_HAND, PassageId, RunId, RunRecord, Verdict

LabelSource = Literal["thumb", "dataset", "assumed"]
"""``thumb``: said so on a verdict card. ``dataset``: an expectation of the case is met, or the case is known to
be unanswerable. ``assumed``: the case has expectations and the passage meets none; data sets seldom name every right
passage, so this can be wrong."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One passage judged for one question."""

    case_id: str
    question: str
    passage_id: PassageId
    run_id: RunId
    """The run whose verdict this is."""
    p_relevant: float | None
    """None where the grader's reply could not be read."""
    label: bool | None
    """Whether the passage helps to answer the question; None where no one knows."""
    label_source: LabelSource | None = None
    grader: str = ""
    """As verdicts name it."""
    reach: float = -1.0
    """The greatest cut at which it passes, as :attr:`Verdict.reach`; below 0 where it could not be read."""

    def passes(self, cut: float) -> bool:
        """As :meth:`Verdict.passes`: inclusive, and never where unreadable."""
        return self.reach >= cut


def pairs(
    cases: Iterable[Case],
    records: Mapping[str, RunRecord],
    labels: Iterable[Label] = (),
    *,
    only_labelled: bool = False,
) -> tuple[Pair, ...]:
    """One pair for every passage that a case's run judged, by case and first judgement.

    ``records`` go by case id. A passage judged more than once counts with its first readable verdict; verdicts that a
    reader set in a branch are not the grader's. Thumbs win over the data set. ``only_labelled`` leaves out the pairs
    whose label is assumed or not known. Unlabelled pairs are kept otherwise: two graders can be compared on them.
    """
    thumbs = {(item.question.strip(), item.passage_id): item.relevant for item in labels}
    found: list[Pair] = []
    for case in cases:
        record = records.get(case.id)
        if record is None:
            continue
        own = _pairs_of(case, record, thumbs)
        found.extend(item for item in own if not only_labelled or item.label_source in ("thumb", "dataset"))
    return tuple(found)


def _pairs_of(case: Case, record: RunRecord, thumbs: Mapping[tuple[str, PassageId], bool]) -> Iterable[Pair]:
    passages = record.passages
    for passage_id, verdict in _first_verdicts(record).items():
        thumb = thumbs.get((case.question.strip(), passage_id))
        passage = passages.get(passage_id)
        label, source = _label(case, thumb, met=passage is not None and bool(met_by(case, passage)))
        yield Pair(
            case_id=case.id,
            question=case.question,
            passage_id=passage_id,
            run_id=record.id,
            p_relevant=None if verdict.relevant is None else verdict.p_relevant,
            label=label,
            label_source=source,
            grader=verdict.grader,
            reach=verdict.reach,
        )


def _label(case: Case, thumb: bool | None, *, met: bool) -> tuple[bool | None, LabelSource | None]:
    if thumb is not None:
        return thumb, "thumb"
    if met:
        return True, "dataset"
    if case.answerable is False:
        return False, "dataset"
    return (False, "assumed") if case.expected else (None, None)


def _first_verdicts(record: RunRecord) -> dict[PassageId, Verdict]:
    verdicts: dict[PassageId, Verdict] = {}
    for part in record.rounds:
        for passage_id, verdict in part.verdicts.items():
            if verdict.grader == BY_HAND:
                continue
            former = verdicts.get(passage_id)
            if former is None or (former.relevant is None and verdict.relevant is not None):
                verdicts[passage_id] = verdict
    return verdicts
