"""The routing policy of the self-corrective loop: pure functions of evidence and config.

The engine and every what-if call the same :func:`decide`, so a replay cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from engine.errors import RunWarning
from engine.model.config import RunConfig, declared
from engine.model.values import (
    Candidate,
    Comparison,
    Context,
    Decision,
    Draft,
    Gate,
    Outcome,
    Passage,
    PassageId,
    Quantity,
    Reason,
    Round,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Inputs of a decision: the rounds so far, the time spent, and the result of the last rewrite."""

    rounds: Sequence[Round]
    elapsed_s: float = 0.0
    repeated_rewrite: bool = False
    rewriter_failed: bool = False
    grader_unavailable: bool = False
    """The grader could not be reached in the newest round, after passages of an earlier one had passed."""
    sufficiency: float | None = None
    """Of the passages together, from 0 to 1; None where they were not asked to suffice."""


def gate_of(rank: int, similarity: float, config: RunConfig) -> Gate:
    """Rank is reported first, then similarity; both bounds are inclusive (SC-02)."""
    if rank > config.top_k:
        return "beyond_top_k"
    return "kept" if similarity >= config.similarity_threshold else "below_threshold"


def gate_in(item: Candidate, config: RunConfig) -> Gate:
    """The gate of a candidate under ``config``, no matter what config it was recorded with."""
    gate = gate_of(item.rank, item.passage.similarity, config)
    options = config.options
    return cast(Gate, options.gate_of(item, gate)) if options.has_gates else gate


def gated(passages: Sequence[Passage], config: RunConfig) -> tuple[Candidate, ...]:
    """Passages in rank order with gate and margin under ``config``; none is lost."""
    return tuple(
        Candidate(
            passage=passage,
            rank=rank,
            gate=gate_of(rank, passage.similarity, config),
            margin=round(passage.similarity - config.similarity_threshold, 6),
        )
        for rank, passage in enumerate(passages, start=1)
    )


def kept_passages(current: Round, config: RunConfig) -> list[Passage]:
    """The round's kept passages under ``config``, no matter what config the round was recorded with."""
    return [item.passage for item in current.candidates if gate_in(item, config) == "kept"]


def cascades(config: RunConfig) -> bool:
    """Return whether a screener decides before the grader: one that is another model, in a workflow that allows it."""
    models, idle = config.models, "cascade" in declared(config.workflow).idle
    return config.cascade and not (idle or models.grader.built_in or models.grader == models.screener)


def judging(config: RunConfig) -> tuple[object, ...]:
    """Everything that decides which verdict a passage gets; equal for configs under which all get the same."""
    models = config.models
    cuts = (models.screener, config.cascade_low, config.cascade_high)
    return (models.grader, cuts) if cascades(config) else (models.grader,)


def by_cut(screened: Verdict, config: RunConfig) -> Verdict | None:
    """A screener's verdict as it stands: a no below the lower cut, a yes from the upper one on.

    None where the grader judges: between the cuts, and where the screener could not be read. Of a question that was
    split, a yes holds for the parts whose P reaches the upper cut.
    """
    if screened.relevant is None:
        return None
    p_relevant = round(screened.p_relevant, 9)
    if config.cascade_low <= p_relevant < config.cascade_high:
        return None
    relevant = p_relevant >= config.cascade_high
    return replace(
        screened,
        relevant=relevant,
        confidence=screened.confidence if relevant == screened.relevant else 1.0 - screened.confidence,
        by_cut=True,
        cut=config.cascade_high if relevant else config.cascade_low,
        parts=tuple(float(chance >= config.cascade_high) for chance in screened.parts),
    )


def cut_of(verdict: Verdict, config: RunConfig) -> float | None:
    """The cut that a screener's verdict stands by; None where an older record has it from a run with other cuts."""
    cut = config.cascade_high if verdict.relevant else config.cascade_low
    cut = cut if verdict.cut is None else verdict.cut
    return cut if (round(verdict.p_relevant, 9) >= cut) == verdict.relevant else None


def screening(rounds: Iterable[Round]) -> tuple[int, int]:
    """Count the kept passages that a screener judged in these rounds, and of them those that its cuts settled."""
    judged = [own.verdicts.get(item.id) for own in rounds for item in own.kept if item.id in own.screened]
    return len(judged), sum(verdict is not None and verdict.by_cut for verdict in judged)


def passed_ids(current: Round, config: RunConfig) -> list[PassageId]:
    """Kept passages whose verdict passes; a passage without verdict or with an unreadable one does not."""
    return [
        passage.id
        for passage in kept_passages(current, config)
        if passage.id in current.verdicts and current.verdicts[passage.id].passes(config.min_confidence)
    ]


def decide(evidence: Evidence, config: RunConfig) -> Decision:
    """Decide where to go after the newest round, and give the one reason why (SC-04, SC-05).

    Precedence: every kept verdict unreadable ends the run; then gate met, deadline, rewrite, forced generation.
    Raises ``ValueError`` without rounds.

        >>> record = engine.run("糖尿病能不能治好？")
        >>> decide(Evidence(record.rounds, elapsed_s=0.1), record.config).reason
        'passed'
    """
    if not evidence.rounds:
        raise ValueError("a decision needs at least one round")
    current = evidence.rounds[-1]
    kept = kept_passages(current, config)
    passed = len(passed_ids(current, config))
    rewrites = len(evidence.rounds) - 1
    unreadable = sum(1 for item in kept if _unreadable(current, item.id))

    def to(route: str, reason: Reason, *comparisons: Comparison) -> Decision:
        return Decision(current.index, route, reason, comparisons, passed, len(kept))

    if kept and unreadable == len(kept):
        return to("end", "grader_failed", Comparison("unreadable", unreadable, "==", len(kept)))
    asked = _asked_of(evidence, config, passed, len(kept))
    unmet = next((item for item in asked if item.relation == "<"), None)
    if unmet is None:
        return to("generate", "passed", *asked)
    if evidence.grader_unavailable:
        ungraded = sum(1 for item in kept if item.id not in current.verdicts)
        return to("generate", "grader_unavailable", unmet, Comparison("ungraded", ungraded, ">=", 1))
    if evidence.elapsed_s >= config.budget_s:
        return to("generate", "deadline", unmet, Comparison("elapsed_s", evidence.elapsed_s, ">=", config.budget_s))
    if rewrites >= config.max_rewrites:
        return to("generate", "max_rewrites", unmet, Comparison("rewrites", rewrites, ">=", config.max_rewrites))
    if evidence.rewriter_failed:
        return to("generate", "rewriter_failed", unmet, Comparison("failed_rewrites", 1, ">=", 1))
    if evidence.repeated_rewrite:
        return to("generate", "repeated_rewrite", unmet, Comparison("repeated_rewrites", 1, ">=", 1))
    if not current.candidates:
        # The probe has no threshold: nothing found means an empty collection, and no rewrite can fill it.
        return to("generate", "no_passages", unmet, Comparison("candidates", 0, "==", 0))
    return to("rewrite", "below_gate", unmet, Comparison("rewrites", rewrites, "<", config.max_rewrites))


def _asked_of(evidence: Evidence, config: RunConfig, passed: int, kept: int) -> list[Comparison]:
    """Everything that is asked of the passages, in the order in which the first unmet one decides."""
    value, bound, quantity = _gate_operands(evidence.rounds, config, passed, kept)
    found: list[tuple[Quantity, float, float]] = [(quantity, value, bound)]
    if parts := len(evidence.rounds[-1].parts):
        found.append(("covered_parts", parts - len(open_parts(evidence.rounds, config)), parts))
    if evidence.sufficiency is not None:
        found.append(("sufficiency", evidence.sufficiency, 1))
    return [Comparison(name, value, ">=" if value >= bound else "<", bound) for name, value, bound in found]


def open_parts(rounds: Sequence[Round], config: RunConfig) -> tuple[str, ...]:
    """The parts of the question that no passage answers which the answer would be written from."""
    considered = rounds if config.context == "union" else rounds[-1:]
    passed = [current.verdicts[name] for current in considered for name in passed_ids(current, config)]
    return tuple(
        part
        for place, part in enumerate(rounds[-1].parts if rounds else ())
        if not any(verdict.covers(place, config.min_confidence) for verdict in passed)
    )


def _gate_operands(rounds: Sequence[Round], config: RunConfig, passed: int, kept: int) -> tuple[float, float, Quantity]:
    if config.gate == "pass_rate":
        return (passed / kept if kept else 0.0), config.grade_pass_threshold, "pass_rate"
    considered = rounds if config.context == "union" else rounds[-1:]
    distinct = {passage_id for item in considered for passage_id in passed_ids(item, config)}
    return len(distinct), config.min_relevant, "relevant_passages"


def _unreadable(current: Round, passage_id: PassageId) -> bool:
    verdict = current.verdicts.get(passage_id)
    return verdict is not None and verdict.relevant is None


def passed_together(rounds: Sequence[Round], config: RunConfig) -> list[Passage]:
    """The passed passages that an answer would be written from, each once, in the order of rounds and ranks."""
    considered = rounds if config.context == "union" else rounds[-1:]
    found: dict[PassageId, Passage] = {}
    for current in considered:
        passed = set(passed_ids(current, config))
        for passage in kept_passages(current, config):
            if passage.id in passed:
                found.setdefault(passage.id, passage)
    return list(found.values())


def outcome_of(decision: Decision | None, context: Context) -> Outcome:
    """Return the outcome of a run that reached generation: a closed set apart from the reasons (SC-04, SC-07)."""
    if not context.passages:
        return "abstained"
    if not context.verified:
        return "answered_unverified"
    return "answered" if decision is None or decision.reason == "passed" else "answered_forced"


def best_draft(drafts: Sequence[Draft]) -> Draft | None:
    """The answer that stands: of those with the fewest suggestions the newest; None where there is none.

    One that was not evaluated has no suggestions that anybody knows of.
    """
    if not drafts:
        return None
    return min(drafts, key=lambda draft: (_suggestions(draft), -draft.index))


def _suggestions(draft: Draft) -> int:
    return len(draft.evaluation.suggestions) if draft.evaluation else 0


def gate_warnings(config: RunConfig) -> tuple[RunWarning, ...]:
    """List why no result can meet the gate of ``config``, and what it asks for that comes to nothing."""
    own = declared(config.workflow)
    found = (_of_count(config) if config.gate == "min_relevant" else _of_rate(config)) if own.gated else None
    screens = not config.cascade or "cascade" in own.idle or cascades(config)
    return tuple(item for item in (found, None if screens else RunWarning.nothing_screened()) if item)


def _of_count(config: RunConfig) -> RunWarning | None:
    rounds = config.max_rewrites + 1 if config.context == "union" else 1
    if config.min_relevant > config.top_k * rounds:
        return RunWarning.gate_out_of_reach(wanted=config.min_relevant, most=config.top_k * rounds)
    if config.min_relevant > config.top_k:
        return RunWarning.gate_needs_rewrite(wanted=config.min_relevant, top_k=config.top_k)
    return None


def _of_rate(config: RunConfig) -> RunWarning | None:
    """Asked as :func:`engine.model.decide.decide` asks, so that rounding cannot tell them apart."""
    needed = next(n for n in range(config.top_k + 1) if n / config.top_k >= config.grade_pass_threshold)
    if needed <= 1:
        return None
    return RunWarning.gate_needs_passages(
        threshold=f"{config.grade_pass_threshold:.4g}", needed=needed, kept=config.top_k
    )
