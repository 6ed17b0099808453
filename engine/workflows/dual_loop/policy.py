"""The policy of the dual loop: pure functions of rounds, tried strategies, drafts and config (DL-02 to DL-04).

The engine and every what-if call the same functions, so a replay cannot disagree with a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.model.config import RunConfig
from engine.model.decide import kept_passages, passed_ids
from engine.model.language import normalised_query
from engine.model.values import (
    INITIAL,
    STRATEGIES,
    Comparison,
    Decision,
    Draft,
    Evaluation,
    Memory,
    Outcome,
    Reason,
    Recall,
    Rewrite,
    Round,
    RouteChoice,
    Strategy,
    Suggestion,
    TriedRoute,
)
from engine.workflows.dual_loop.options import dual_options

LEAST_RELEVANT = 1
"""Passages of a round that must pass for its documents to count as relevant (DL-03)."""
WEB: Strategy = "web_search"

Skip = Literal["no_summaries", "web_off", "web_not_set"]
Stale = Literal["", "repeated_rewrite", "rewriter_failed"]


@dataclass(frozen=True, slots=True)
class DualEvidence:
    """Inputs of the dual loop's decisions."""

    rounds: Sequence[Round] = ()
    """Of all passes; the newest is the one decided on."""
    usable: tuple[Strategy, ...] = STRATEGIES
    """Strategies that can be used in this run, in the order of ``STRATEGIES``."""
    tried: Sequence[TriedRoute] = ()
    """Of all passes; those of the pass ``corrections`` count."""
    drafts: Sequence[Draft] = ()
    corrections: int = 0
    """Corrective rewrites so far; also the number of the pass of the outer loop."""
    elapsed_s: float = 0.0
    rewrite: Stale = ""
    """What became of the newest rewrite, where it brought no new query."""
    grader_unavailable: bool = False
    """The grader could not be reached in the newest round."""
    writer_failed: bool = False
    """The newest pass brought no answer; the newest draft is that of an earlier one."""


# -- strategies -----------------------------------------------------------------------------------------------------


def skips(*, summaries: bool, web_on: bool, web_set: bool) -> dict[Strategy, Skip]:
    """Strategies that cannot be used, each with the reason why: they are skipped and have not failed (DL-03)."""
    found: dict[Strategy, Skip] = {}
    if not summaries:
        found["hierarchical_search"] = "no_summaries"
    if not web_on:
        found[WEB] = "web_off"
    elif not web_set:
        found[WEB] = "web_not_set"
    return found


def usable_strategies(skipped: Mapping[Strategy, str]) -> tuple[Strategy, ...]:
    """Strategies that are not skipped, in the order in which they are tried."""
    return tuple(strategy for strategy in STRATEGIES if strategy not in skipped)


def first_strategy(choice: RouteChoice | None, usable: Sequence[Strategy]) -> Strategy:
    """Choose where a pass begins: the router's choice where it can be used, else the first usable strategy.

    A corrective pass has no choice of its own (``choice`` None). Passages can always be searched directly.
    """
    if choice is not None and choice.route != "direct" and choice.route in usable:
        return choice.route
    return usable[0] if usable else "direct_chunk_search"


def untried(usable: Sequence[Strategy], tried: Sequence[TriedRoute], attempt: int) -> tuple[Strategy, ...]:
    """Usable strategies that the pass ``attempt`` has not tried yet, in order."""
    done = {item.strategy for item in tried if item.attempt == attempt}
    return tuple(strategy for strategy in usable if strategy not in done)


def moves_on_to_web(current: Round, config: RunConfig, left: Sequence[Strategy]) -> bool:
    """Return whether a local search that kept nothing continues to the web within the same visit (DL-03).

    ``left`` are the usable strategies that the pass has not tried, the current one not among them.
    """
    return current.strategy != WEB and WEB in left and not kept_passages(current, config)


def passed_over(to: Strategy | None, skipped: Mapping[Strategy, str], noted: Sequence[TriedRoute]) -> list[Strategy]:
    """Skipped strategies whose turn went by when ``to`` (None: nothing more) came next, and that are not noted yet."""
    before = STRATEGIES if to is None else STRATEGIES[: STRATEGIES.index(to)]
    known = {item.strategy for item in noted}
    return [strategy for strategy in before if strategy in skipped and strategy not in known]


# -- memory ---------------------------------------------------------------------------------------------------------


def recalled(memories: Sequence[Memory], collection: str, fingerprint: str) -> Recall:
    """Return the displayable part of recalled memories; those from earlier contents of the collection are stale.

    No matter what a store returns, an answer that did not pass is never recalled as a fact (DL-06).
    """
    proper = tuple(item for item in memories if item.passed and item.collection == collection)
    return Recall(proper, tuple(item.id for item in proper if item.fingerprint != fingerprint))


MOST_RECALLED = 3
"""Memories that are recalled: more than the nearest few say nothing about a question."""


def of_this_question(memory: Memory, question: str) -> bool:
    """Return whether a run of this very question left a memory; another wording is another question."""
    return normalised_query(memory.question) == normalised_query(question)


# -- decisions ------------------------------------------------------------------------------------------------------


def decide_route(choice: RouteChoice) -> Decision:
    """Return whether the run begins with an answer or with a search (DL-02)."""
    if choice.route == "direct":
        return Decision(0, "direct_response", "direct", (), 0, 0, node="route_query")
    return Decision(0, "rewrite_query", "search", (), 0, 0, node="route_query")


def decide_documents(evidence: DualEvidence, config: RunConfig) -> Decision:
    """Decide where to go after the documents of one strategy were judged (DL-03).

    Precedence: every verdict unreadable; relevant documents; a grader out of reach; the deadline; another strategy;
    all tried. Relevant documents end the run where an answer stands already and nothing new can come of them: after
    the deadline, or where no new query was found. Raises ``ValueError`` without rounds.
    """
    if not evidence.rounds:
        raise ValueError("a decision about documents needs at least one round")
    current = evidence.rounds[-1]
    kept = kept_passages(current, config)
    passed = len(passed_ids(current, config))
    relevance = Comparison("relevant_passages", passed, ">=" if passed >= LEAST_RELEVANT else "<", LEAST_RELEVANT)
    late = Comparison("elapsed_s", evidence.elapsed_s, ">=", config.budget_s)
    over = evidence.elapsed_s >= config.budget_s

    def to(route: str, reason: Reason, *comparisons: Comparison) -> Decision:
        return Decision(current.index, route, reason, comparisons, passed, len(kept), node="grade_documents")

    unreadable = sum(1 for item in kept if item.id in current.verdicts and current.verdicts[item.id].relevant is None)
    if kept and unreadable == len(kept):
        # A run that has an answer already keeps it; without one it has failed.
        reason: Reason = "grader_unavailable" if evidence.drafts else "grader_failed"
        return to("end", reason, Comparison("unreadable", unreadable, "==", len(kept)))
    if passed >= LEAST_RELEVANT:
        if evidence.drafts and over:
            return to("end", "deadline", relevance, late)
        if evidence.drafts and evidence.rewrite and not current.searched:
            return to("end", evidence.rewrite, relevance, _stale(evidence.rewrite))
        return to("generate_response", "documents_relevant", relevance)
    ungraded = sum(1 for item in kept if item.id not in current.verdicts)
    if evidence.grader_unavailable and ungraded:
        return to("end", "grader_unavailable", relevance, Comparison("ungraded", ungraded, ">=", 1))
    if over:
        return to("end", "deadline", relevance, late)
    left = len(untried(evidence.usable, evidence.tried, evidence.corrections))
    if left:
        return to("retrieve_documents", "next_strategy", relevance, Comparison("untried_strategies", left, ">=", 1))
    return to("end", "strategies_exhausted", relevance, Comparison("untried_strategies", 0, "<", 1))


def decide_answer(evidence: DualEvidence, config: RunConfig) -> Decision:
    """Decide where to go after an answer was judged (DL-04).

    Precedence: a pass that brought no answer; not evaluated, for want of time or because the evaluator failed; the
    answer solves the question; the limit of corrections; the deadline; else another correction. The limit comes before
    the deadline, as it ends the loop no matter what time is left. Raises ``ValueError`` without drafts.
    """
    if not evidence.drafts:
        raise ValueError("a decision about an answer needs at least one draft")
    draft = evidence.drafts[-1]
    searched = evidence.rounds[-1] if evidence.rounds and not draft.direct else None
    passed = len(passed_ids(searched, config)) if searched else 0
    kept = len(kept_passages(searched, config)) if searched else 0
    index = evidence.rounds[-1].index if evidence.rounds else 0

    def to(route: str, reason: Reason, *comparisons: Comparison) -> Decision:
        return Decision(index, route, reason, comparisons, passed, kept, node="grade_relevance")

    late = Comparison("elapsed_s", evidence.elapsed_s, ">=", config.budget_s)
    over = evidence.elapsed_s >= config.budget_s
    stands = "consolidate_memory"
    if evidence.writer_failed:
        return to(stands, "deadline", late) if over else to(stands, "writer_failed", _once("failed_answers"))
    if draft.evaluation is None:
        return to(stands, "deadline", late) if over else to(stands, "evaluator_failed", _once("unreached_evaluators"))
    suggestions = len(draft.evaluation.suggestions)
    if draft.evaluation.passed:
        return to(stands, "answer_relevant", Comparison("suggestions", suggestions, "<", 1))
    unmet = Comparison("suggestions", suggestions, ">=", 1)
    limit = dual_options(config).max_corrections
    if evidence.corrections >= limit:
        return to(stands, "max_corrections", unmet, Comparison("corrections", evidence.corrections, ">=", limit))
    if over:
        return to(stands, "deadline", unmet, late)
    return to("rewrite_query", "answer_off", unmet, Comparison("corrections", evidence.corrections, "<", limit))


def settled(evaluation: Evaluation) -> Evaluation:
    """The evaluation with ``passed`` meaning that there is no suggestion, and a failed one with at least one."""
    if evaluation.passed and evaluation.suggestions:
        return Evaluation(False, evaluation.suggestions, evaluation.evaluator)
    if evaluation.passed or evaluation.suggestions:
        return evaluation
    said = Suggestion("reasonableness", "The answer does not solve the question.", code="off")
    return Evaluation(False, (said,), evaluation.evaluator)


def stale(rewrites: Sequence[Rewrite]) -> Stale:
    """Return the result of the newest rewrite if it brought no new query."""
    last = rewrites[-1] if rewrites else None
    if last is None or last.strategy == INITIAL:
        return ""
    if last.failed:
        return "rewriter_failed"
    return "repeated_rewrite" if last.repeated else ""


# -- what stands ----------------------------------------------------------------------------------------------------


def draft_stands(last: Decision, drafts: Sequence[Draft], tried: Sequence[TriedRoute]) -> bool:
    """Return whether a run that ended with ``last`` has a draft as its answer.

    Where every strategy was tried and nothing relevant was found there is no answer, rejected drafts notwithstanding
    (DL-03); a search that failed says nothing about the sources and takes no answer away.
    """
    if not drafts:
        return False
    if last.reason != "strategies_exhausted":
        return True
    attempt = tried[-1].attempt if tried else 0
    return any(item.status == "failed" for item in tried if item.attempt == attempt)


def outcome_of(last: Decision, drafts: Sequence[Draft], tried: Sequence[TriedRoute]) -> Outcome:
    """Return the outcome of a run whose graph ended by ``last``."""
    if last.reason == "answer_relevant":
        return "answered"
    return "answered_forced" if draft_stands(last, drafts, tried) else "fallback"


def _stale(rewrite: Stale) -> Comparison:
    return _once("failed_rewrites") if rewrite == "rewriter_failed" else _once("repeated_rewrites")


def _once(
    quantity: Literal["failed_rewrites", "repeated_rewrites", "failed_answers", "unreached_evaluators"],
) -> Comparison:
    return Comparison(quantity, 1, ">=", 1)
