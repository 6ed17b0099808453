"""Why a run went wrong: one label of a closed set, with the figures that led to it.

With labels (which passages were expected) the rules follow the expected passages through the run. Without, they go by
what the run itself shows, and are worded as what it looks like: no one can know that a passage was right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.model.config import declared
from engine.model.decide import gate_in, passed_ids
from engine.model.values import Candidate, PassageId, RunRecord, Verdict

Failure = Literal[
    "nothing_retrieved",
    "dropped_by_similarity",
    "grader_too_strict",
    "grader_too_lenient",
    "rewrite_drifted",
    "budget_spent",
    "no_such_knowledge",
    "unsupported_answer",
    "refused_let_in",
]

_NEAR_SIMILARITY = 0.1
"""A best candidate that misses the similarity threshold by no more than this was nearly kept."""
_NEAR_VERDICT = 0.1
"""A best P(relevant) that misses the minimum confidence by no more than this was nearly passed."""
_DRIFT = 0.05
"""A fall of the best similarity that counts."""
_WRONG = frozenset({"answered_forced", "answered_unverified", "abstained"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a run suffered from."""

    failure: Failure
    figures: Mapping[str, float] = field(default_factory=dict)
    """The numbers that led to it, by name; a page puts them into its sentence."""
    passages: tuple[PassageId, ...] = ()
    """The passages it is about."""
    labelled: bool = False
    """Whether expected passages led to it, or only what the run shows."""


def diagnose(
    record: RunRecord,
    met: Mapping[PassageId, tuple[int, ...]] | None = None,
    answerable: bool | None = None,
) -> Diagnosis | None:
    """What a finished run suffered from; None where it ended well, failed with an error of its own, or was stopped,
    and for a run of another loop than that of four nodes, whose gates these rules do not know.

    ``met`` says which expectations a candidate meets, None where nothing is expected; ``answerable`` false says that
    there is nothing to find, so that abstaining is right.
    """
    if not declared(record.workflow).on_grid or record.outcome not in (*_WRONG, "answered") or not record.rounds:
        return None
    if record.outcome == "abstained" and answerable is False:
        return None
    if met is not None and answerable is not False:
        found = _by_labels(record, met)
        return None if found is None else replace(found, labelled=True)
    if record.outcome == "answered":
        return _unsupported(record) or _refused_let_in(record)
    return _by_what_it_shows(record)


def _by_labels(record: RunRecord, met: Mapping[PassageId, tuple[int, ...]]) -> Diagnosis | None:
    """Follows the expected passages: found, kept, passed, given."""
    expected = {passage_id for passage_id, places in met.items() if places}
    found = [item for current in record.rounds for item in current.candidates if item.passage.id in expected]
    if not found:
        return Diagnosis("nothing_retrieved", _searches(record))
    given = {passage.id for passage in record.context.passages} if record.context else set()
    if given & expected:
        spent = _spent(record)
        return None if record.outcome == "answered" else spent
    kept = [item for item in found if _kept(item, record)]
    if not kept:
        best = max(found, key=_nearness)
        return Diagnosis("dropped_by_similarity", _dropped(best, record), (best.passage.id,))
    if record.outcome == "answered":
        figures: dict[str, float] = {"passed": len(given), "expected": len({item.passage.id for item in kept})}
        return Diagnosis("grader_too_lenient", figures, tuple(sorted(given)))
    judged = _verdicts(record)
    missed = [item.passage.id for item in kept if item.passage.id in judged]
    if not missed:
        # Kept and not judged: for want of time, or a fault that is shown as one.
        return Diagnosis("budget_spent", _time(record)) if _late(record) else None
    best_id = max(missed, key=lambda name: judged[name].reach)
    return Diagnosis("grader_too_strict", _refused(judged[best_id], record), (best_id,))


def _by_what_it_shows(record: RunRecord) -> Diagnosis | None:
    if record.outcome == "answered_unverified":
        return _unsupported(record)
    if not any(current.candidates for current in record.rounds):
        return Diagnosis("nothing_retrieved", _searches(record))
    if _late(record):
        return Diagnosis("budget_spent", _time(record))
    if record.outcome == "answered_forced":
        return _unsupported(record) or _drifted(record) or _spent(record)
    return _nothing_passed(record)


def _nothing_passed(record: RunRecord) -> Diagnosis:
    """Diagnose an abstention: was the right passage dropped, misjudged, lost by a rewrite, or is there none?"""
    judged = _verdicts(record)
    candidates = [item for current in record.rounds for item in current.candidates]
    passing = [
        item
        for item in candidates
        if item.passage.id in judged and judged[item.passage.id].passes(record.config.min_confidence)
    ]
    if passing:
        # It passed and still nothing was given: no round that judged it had kept it.
        best = max(passing, key=_nearness)
        return Diagnosis("dropped_by_similarity", _dropped(best, record), (best.passage.id,))
    closest = max(candidates, key=_nearness)
    missing = record.config.similarity_threshold - closest.passage.similarity
    if 0 < missing <= _NEAR_SIMILARITY:
        return Diagnosis("dropped_by_similarity", _dropped(closest, record), (closest.passage.id,))
    readable = {name: verdict for name, verdict in judged.items() if verdict.relevant is not None}
    if readable:
        best_id = max(readable, key=lambda name: readable[name].reach)
        if record.config.min_confidence - readable[best_id].reach <= _NEAR_VERDICT:
            return Diagnosis("grader_too_strict", _refused(readable[best_id], record), (best_id,))
    drifted = _drifted(record)
    if drifted is not None:
        return drifted
    nearest = {"best": closest.passage.similarity} if _scaled(record) else {}
    return Diagnosis("no_such_knowledge", {**nearest, "judged": len(readable)})


def _refused(verdict: Verdict, record: RunRecord) -> dict[str, float]:
    """P(relevant) and the bar that it misses, where both are known; ``no`` where only the grader's no held it back."""
    bar = record.config.min_confidence
    if verdict.bare:
        return {}
    figures = {"p": verdict.p_relevant, "bar": bar}
    return {**figures, "no": 1.0} if verdict.held_back(bar) else figures


def _drifted(record: RunRecord) -> Diagnosis | None:
    """Every rewrite left both the pass rate and the best similarity no better, and in the end clearly lower."""
    rates = [decision.pass_rate for decision in record.decisions]
    best = [current.best_similarity or 0.0 for current in record.rounds]
    if len(rates) < 2 or rates[0] == 0 or max(rates[1:]) > rates[0] or rates[-1] >= rates[0]:
        return None
    if best[0] - best[-1] < _DRIFT or max(best[1:]) > best[0]:
        return None
    figures = {"rate_first": rates[0], "rate_last": rates[-1], "best_first": best[0], "best_last": best[-1]}
    return Diagnosis("rewrite_drifted", figures)


def _spent(record: RunRecord) -> Diagnosis | None:
    """Verified passages were there, and the gate was never met before time or rewrites were over."""
    if _late(record):
        return Diagnosis("budget_spent", _time(record))
    if record.outcome != "answered_forced" or record.context is None:
        return None
    passed = {name for current in record.rounds for name in passed_ids(current, record.config)}
    figures: dict[str, float] = {"rewrites": len(record.rewrites), "passed": len(passed)}
    compared = record.decisions[-1].comparisons if record.decisions else ()
    if whole := [item.value for item in compared if item.quantity == "sufficiency"]:
        figures["sufficiency"] = whole[0]
    elif record.config.gate == "min_relevant":
        figures["wanted"] = record.config.min_relevant
    else:
        rates = [decision.pass_rate for decision in record.decisions]
        figures |= {"rate": max(rates, default=0.0), "bar": record.config.grade_pass_threshold}
    return Diagnosis("budget_spent", figures, tuple(passage.id for passage in record.context.passages))


def _refused_let_in(record: RunRecord) -> Diagnosis | None:
    """The answer was given passages that the grader had refused: a low bar, or the rule of an earlier version."""
    given = record.context.passages if record.context else ()
    judged = _verdicts(record)
    refused = tuple(item.id for item in given if item.id in judged and judged[item.id].relevant is False)
    if not refused:
        return None
    figures: dict[str, float] = {"refused": len(refused), "given": len(given), "bar": record.config.min_confidence}
    return Diagnosis("refused_let_in", figures, refused)


def _unsupported(record: RunRecord) -> Diagnosis | None:
    """The answer is based on nothing verified, cites nothing, or cited what it was not given."""
    if record.origin is not None:
        # How another program marks what it cites is not known here.
        return None
    verified = record.context is not None and record.context.verified
    if verified and record.citations and not record.removed_markers:
        return None
    figures = {"citations": len(record.citations), "removed": len(record.removed_markers), "verified": float(verified)}
    return Diagnosis("unsupported_answer", figures)


def _kept(item: Candidate, record: RunRecord) -> bool:
    return gate_in(item, record.config) == "kept"


def _nearness(item: Candidate) -> tuple[float, int]:
    """The more similar one first, and where that is not known the one of the better rank."""
    return item.passage.similarity, -item.rank


def _scaled(record: RunRecord) -> bool:
    return all(current.scaled for current in record.rounds)


def _dropped(item: Candidate, record: RunRecord) -> dict[str, float]:
    places: dict[str, float] = {"rank": item.rank, "top_k": record.config.top_k}
    if not _scaled(record):
        return places
    return {"similarity": item.passage.similarity, "threshold": record.config.similarity_threshold, **places}


def _verdicts(record: RunRecord) -> dict[PassageId, Verdict]:
    """Map every passage to its newest verdict, a readable one before one that could not be read."""
    found: dict[PassageId, Verdict] = {}
    for current in record.rounds:
        for passage_id, verdict in current.verdicts.items():
            if verdict.relevant is not None or passage_id not in found:
                found[passage_id] = verdict
    return found


def _late(record: RunRecord) -> bool:
    return bool(record.decisions) and record.decisions[-1].reason == "deadline"


def _searches(record: RunRecord) -> dict[str, float]:
    return {"rounds": sum(current.searched for current in record.rounds)}


def _time(record: RunRecord) -> dict[str, float]:
    return {"seconds": record.duration_ms / 1000.0, "budget": record.config.budget_s}
