"""Diagnosis of a run: one label of a closed set, with the figures that single it out.

With labels (which passages were expected) the rules follow the expected passages through the run. Without, only what
the run itself shows is named; where nothing passed, that leaves several causes, and none of them is picked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.flow import workflow
from engine.model.config import BUILTIN
from engine.model.decide import cut_of, gate_in, passed_ids
from engine.model.values import Candidate, PassageId, RunRecord, Verdict
from engine.replay.admitted import refused_given

Failure = Literal[
    "nothing_retrieved",
    "dropped_by_similarity",
    "grader_too_strict",
    "grader_too_lenient",
    "left_out",
    "rewrite_drifted",
    "budget_spent",
    "undetermined",
    "unsupported_answer",
    "refused_let_in",
]
"""What the evidence of each is, by labels or by the run alone:

- ``nothing_retrieved``: no search brought an expected passage; without labels, none brought any passage.
- ``dropped_by_similarity``: an expected passage (without labels, one whose verdict passes) was found and never kept.
- ``grader_too_strict``: an expected passage was kept, and its verdict does not pass. Labels only.
- ``grader_too_lenient``: it answered from other passages while an expected one was kept, or though the labels say that
  there is no answer. Labels only.
- ``left_out``: a passage passed, and the answer was to be made from the last round, which lacks it.
- ``rewrite_drifted``: pass rate and best similarity fell with the rewrites, and never rose.
- ``budget_spent``: time or rewrites were over, or a rewrite repeated a query, before the gate was met.
- ``undetermined``: nothing passed, and no label says what should have.
- ``unsupported_answer``: the answer cites nothing, says what its sources do not, or is made from what did not pass.
- ``refused_let_in``: it was given passages that the grader had judged not relevant, under a low bar.
"""

_DRIFT = 0.05
"""A fall of the best similarity that counts."""
_WRONG = frozenset({"answered_forced", "answered_unverified", "abstained"})


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Diagnosis of a run."""

    failure: Failure
    figures: Mapping[str, float] = field(default_factory=dict)
    """The numbers that led to it, by name; a page puts them into its sentence."""
    passages: tuple[PassageId, ...] = ()
    """The passages it is about."""
    labelled: bool = False
    """Whether expected passages led to it, or only what the run shows."""
    grader: str = ""
    """The one grader whose verdicts it is about, as verdicts name it; empty where there is none or several."""

    @property
    def by_words(self) -> bool:
        """True if passages were refused by the built-in grader, which compares words."""
        refused = self.failure == "grader_too_strict" and "unreadable" not in self.figures
        return self.grader == BUILTIN and (refused or self.figures.get("refused", 0) > 0)


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
    if not workflow(record.workflow).on_grid or record.outcome not in (*_WRONG, "answered") or not record.rounds:
        return None
    if answerable is False:
        return _without_an_answer(record)
    if met is not None:
        found = _by_labels(record, met)
        return None if found is None else replace(found, labelled=True)
    if record.outcome == "answered":
        return _unsupported(record) or _refused_let_in(record)
    return _by_what_it_shows(record)


def _without_an_answer(record: RunRecord) -> Diagnosis | None:
    """To refuse is right, and so is an answer that says that it cannot tell."""
    if record.outcome == "abstained" or record.answer_note == "cannot_tell":
        return None
    if record.outcome != "answered":
        return _by_what_it_shows(record)
    given = _given(record)
    lenient = Diagnosis(
        "grader_too_lenient", {"passed": len(given)}, tuple(sorted(given)), grader=_grader(record, given)
    )
    return replace(_refused_let_in(record) or lenient, labelled=True)


def _by_labels(record: RunRecord, met: Mapping[PassageId, tuple[int, ...]]) -> Diagnosis | None:
    """Follows the expected passages: found, kept, passed, given."""
    expected = {passage_id for passage_id, places in met.items() if places}
    found = [item for current in record.rounds for item in current.candidates if item.passage.id in expected]
    if not found:
        return _nothing_found(record)
    given = _given(record)
    if given & expected:
        if record.outcome != "answered":
            return _spent(record)
        return _unsupported(record) if record.unsupported_sentences else None
    if left_out := _left_out(record, expected):
        return left_out
    kept = [item for item in found if gate_in(item, record.config) == "kept"]
    judged = _verdicts(record)
    if not kept:
        return _dropped(max(found, key=_nearness), record)
    if record.outcome == "answered":
        figures: dict[str, float] = {"passed": len(given), "expected": len({item.passage.id for item in kept})}
        lenient = Diagnosis("grader_too_lenient", figures, tuple(sorted(given)), grader=_grader(record, given))
        return _refused_let_in(record) or lenient
    missed = [item.passage.id for item in kept if item.passage.id in judged]
    if not missed:
        # Kept and not judged: for want of time, or a fault that is shown as one.
        return Diagnosis("budget_spent", _time(record)) if _late(record) else None
    best_id = max(missed, key=lambda name: judged[name].reach)
    if judged[best_id].passes(record.config.min_confidence):
        return None
    figures = {**_refused(judged[best_id], record), "others": len(expected & record.passages.keys() - judged.keys())}
    return Diagnosis("grader_too_strict", figures, (best_id,), grader=judged[best_id].grader)


def _by_what_it_shows(record: RunRecord) -> Diagnosis | None:
    if record.outcome == "answered_unverified":
        return _unsupported(record)
    if not record.passages:
        return _nothing_found(record)
    if record.outcome == "answered_forced":
        if _late(record):
            return Diagnosis("budget_spent", _time(record))
        return _unsupported(record) or _drifted(record) or _spent(record)
    return _nothing_given(record)


def _nothing_given(record: RunRecord) -> Diagnosis:
    """An abstention: something passed and was lost, or what should have passed is not known."""
    judged = _verdicts(record)
    bar = record.config.min_confidence
    passing = {name for name, verdict in judged.items() if verdict.passes(bar)}
    if left_out := _left_out(record, passing):
        return left_out
    dropped = [item for current in record.rounds for item in current.candidates if item.passage.id in passing]
    if dropped:
        # It passed and still nothing was given: no round that judged it had kept it.
        return _dropped(max(dropped, key=_nearness), record)
    if _late(record):
        return Diagnosis("budget_spent", _time(record))
    refused = {name for name, verdict in judged.items() if verdict.relevant is not None}
    figures: dict[str, float] = {
        "candidates": len(record.passages),
        "refused": len(refused),
        "unreadable": len(judged) - len(refused),
        "unjudged": len(record.passages.keys() - judged.keys()),
    }
    if record.best_similarity is not None:
        figures["best"] = record.best_similarity
    return Diagnosis("undetermined", figures, grader=_grader(record, refused))


def _left_out(record: RunRecord, names: set[PassageId]) -> Diagnosis | None:
    """One of these passages was kept and passed, and the rounds after it are all that an answer is made from."""
    if record.config.context != "last_round":
        return None
    for current in record.rounds[:-1]:
        passed = [name for name in passed_ids(current, record.config) if name in names]
        if passed:
            return Diagnosis("left_out", {"round": current.index}, (passed[0],))
    return None


def _given(record: RunRecord) -> set[PassageId]:
    return {passage.id for passage in record.context.passages} if record.context else set()


def _grader(record: RunRecord, names: Collection[PassageId]) -> str:
    """The grader of all the verdicts on these passages; empty where there were several."""
    graders = {verdict.grader for name, verdict in _verdicts(record).items() if name in names}
    return graders.pop() if len(graders) == 1 else ""


def _refused(verdict: Verdict, record: RunRecord) -> dict[str, float]:
    """P(relevant) and the bar that it misses, where both are known; ``no`` where only the grader's no held it back.

    ``screener`` where the cut of a cascade decided: then they are its P and that cut.
    """
    bar = record.config.min_confidence
    if verdict.relevant is None:
        return {"unreadable": 1.0}
    if verdict.by_cut:
        cut = cut_of(verdict, record.config)
        return {"screener": 1.0, **({} if cut is None else {"p": round(verdict.p_relevant, 9), "bar": cut})}
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
    reason = record.decisions[-1].reason if record.decisions else ""
    if (
        record.outcome != "answered_forced"
        or record.context is None
        or reason not in ("max_rewrites", "repeated_rewrite")
    ):
        # A rewriter or grader that failed is shown as the fault that it is.
        return None
    passed = {name for current in record.rounds for name in passed_ids(current, record.config)}
    figures: dict[str, float] = {"rewrites": len(record.rewrites), "passed": len(passed)}
    figures |= {"repeated": 1} if reason == "repeated_rewrite" else {}
    compared = record.decisions[-1].comparisons if record.decisions else ()
    if unmet := [item for item in compared if item.quantity in ("sufficiency", "covered_parts")]:
        figures[unmet[0].quantity] = unmet[0].value
        figures |= {"parts": unmet[0].bound} if unmet[0].quantity == "covered_parts" else {}
    elif record.config.gate == "min_relevant":
        figures["wanted"] = record.config.min_relevant
    else:
        rates = [decision.pass_rate for decision in record.decisions]
        figures |= {"rate": max(rates, default=0.0), "bar": record.config.grade_pass_threshold}
    return Diagnosis("budget_spent", figures, tuple(passage.id for passage in record.context.passages))


def _refused_let_in(record: RunRecord) -> Diagnosis | None:
    """The answer was given passages that the grader had refused: a low bar, or the rule of an earlier version."""
    refused = refused_given(record)
    if not refused:
        return None
    given = len(record.context.passages) if record.context else 0
    figures: dict[str, float] = {"refused": len(refused), "given": given, "bar": record.config.min_confidence}
    return Diagnosis("refused_let_in", figures, refused)


def _unsupported(record: RunRecord) -> Diagnosis | None:
    """The answer is based on nothing verified, cites nothing, or says what stands in nothing that it cites.

    The label of the outcome says the same, so that no two of them contradict each other.
    """
    if record.origin is not None or record.answer_note == "cannot_tell":
        # How another program marks what it cites is not known here.
        return None
    verified = record.context is not None and record.context.verified
    said = record.unsupported_sentences or ()
    if verified and (record.citations or record.cell_citations) and not said:
        return None
    figures = {"citations": len(record.citations), "sentences": len(said), "verified": float(verified)}
    return Diagnosis("unsupported_answer", figures)


def _nearness(item: Candidate) -> tuple[float, int]:
    """The more similar one first, and where that is not known the one of the better rank."""
    return item.passage.similarity, -item.rank


def _dropped(item: Candidate, record: RunRecord) -> Diagnosis:
    """The gates that a passage did not get through; its verdict, where it has one that does not pass either."""
    figures: dict[str, float] = {"rank": item.rank, "top_k": record.config.top_k}
    if all(current.scaled for current in record.rounds):
        figures |= {"similarity": item.passage.similarity, "threshold": record.config.similarity_threshold}
    verdict = _verdicts(record).get(item.passage.id)
    refused = verdict is not None and verdict.relevant is not None and not verdict.passes(record.config.min_confidence)
    if verdict is not None and refused:
        return Diagnosis("dropped_by_similarity", {**figures, "refused": 1}, (item.passage.id,), grader=verdict.grader)
    return Diagnosis("dropped_by_similarity", figures, (item.passage.id,))


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


def _nothing_found(record: RunRecord) -> Diagnosis:
    """No search found it, or the time was over before one was made."""
    searches = sum(current.searched for current in record.rounds)
    if not searches and _late(record):
        return Diagnosis("budget_spent", _time(record))
    return Diagnosis("nothing_retrieved", {"rounds": searches})


def _time(record: RunRecord) -> dict[str, float]:
    return {"seconds": record.duration_ms / 1000.0, "budget": record.config.budget_s}
