"""A record with the verdicts that its grader would have given with another calibration, or without one: no call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.model.config import RERANK_SERVER, RoleModel
from engine.model.grader_fit import GraderFit, refitted
from engine.model.values import BY_HAND, PassageId, Round, RunRecord, Verdict


def rejudged(record: RunRecord, grader: RoleModel, fits: Mapping[str, GraderFit]) -> RunRecord:
    """The record as ``grader`` would have judged it; the very same one where that is not known.

    It is known where ``grader`` differs from the run's in its calibration alone, and every verdict tells. ``fits``
    are looked up by id. The recorded decisions, rewrites and answer stay.
    """
    own = record.config.models.grader
    if grader == own or replace(grader, fit=own.fit) != own or not _its_own_verdicts(record):
        return record
    fit = fits.get(grader.fit) if grader.fit else None
    if (grader.fit and not _may_use(fit, record)) or not tells_scores(record):
        return record
    share = takes_share(record)
    rounds: list[Round] = []
    for current in record.rounds:
        verdicts: dict[PassageId, Verdict] = {}
        for name, verdict in current.verdicts.items():
            stands = verdict.by_cut or verdict.grader == BY_HAND
            revised = verdict if stands else refitted(verdict, fit, share=share)
            if revised is None:
                return record
            verdicts[name] = revised
        rounds.append(replace(current, verdicts=verdicts))
    models = replace(record.config.models, grader=grader)
    return replace(record, config=replace(record.config, models=models), rounds=tuple(rounds))


def takes_share(record: RunRecord) -> bool:
    """True if the scores of the run's grader are between 0 and 1, and P(relevant) themselves."""
    served = record.config.models.grader.model.startswith(RERANK_SERVER)
    return served and record.manifest.get("rerank_scores") == "share"


def tells_scores(record: RunRecord) -> bool:
    """True if the numbers behind the verdicts are those of the grader as shipped.

    A calibration leaves them as they are; examples in its prompt do not.
    """
    fit = record.config.models.grader.fit
    return not fit or record.manifest.get("grader_fit", "").startswith("calibration@")


def _may_use(fit: GraderFit | None, record: RunRecord) -> bool:
    """Whether a run may, by the rules of :meth:`engine.evaluation.grader_fits.GraderFits.used_by`."""
    own = (record.config.models.grader.model, record.collection)
    return fit is not None and fit.kind == "calibration" and (fit.model, fit.collection) == own


def _its_own_verdicts(record: RunRecord) -> bool:
    """False where verdicts came from another run or program, or where memories were judged, whose scores are not kept.

    A branch from its first round on judged all of its passages itself.
    """
    remembered = record.recall is not None and record.recall.memories
    return record.origin is None and not remembered and (record.fork is None or record.fork.round == 0)
