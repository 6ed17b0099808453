"""One plain sentence for each step that only the loops beyond the four-node one have."""

from __future__ import annotations

from components.i18n import Words
from components.presenter_graph import graph_sentence
from engine.replay import ReplayStep
from engine.values import Decision, QualityCheck, RunRecord

_LOOPS = ("quality_loop", "dual_loop", "answer_evaluation")
_MARKED = ("max_corrections", "max_epochs", "evaluator_failed", "deadline")


def number(count: int, words: Words) -> str:
    """A count in words as far as the language writes it out, else in figures."""
    written = words("presenter.numbers").split()
    return written[count] if 0 <= count < len(written) else str(count)


def loop_sentence(step: ReplayStep, record: RunRecord, words: Words) -> str | None:
    """The sentence of a step; None where the four-node loop's own sentence says it as well."""
    if record.workflow == "graph_hybrid":
        return graph_sentence(step, record, words)
    if record.workflow not in _LOOPS:
        return None
    match step.kind:
        case "asked":
            return _asked(record, words)
        case "recalled":
            return _recalled(record, words)
        case "routed":
            return _routed(step.round, record, words)
        case "checked":
            return _checked(step.round, record, words)
        case "rewritten" if step.round < 0:
            return _initial(record, words)
        case "drafted":
            return _drafted(step.draft, record, words)
        case "evaluated":
            return _evaluated(step.draft, record, words)
        case "kept":
            kept = record.remembered
            return words("presenter.kept.passed" if kept is None or kept.passed else "presenter.kept.failed")
        case "ended":
            return _ended(record, words)
        case _:
            return None


def _asked(record: RunRecord, words: Words) -> str | None:
    if record.fork is None and f"presenter.asked.{record.workflow}" in words:
        return words(f"presenter.asked.{record.workflow}")
    return None


def strategy_of(index: int, record: RunRecord, words: Words) -> str:
    """How a round was searched; empty where there is one way alone."""
    strategy = record.rounds[index].strategy
    return words(f"presenter.strategy.{strategy}") if strategy else ""


def judged_consequence(decision: Decision, record: RunRecord, words: Words) -> str | None:
    """What follows from a round of the dual loop; None where the gate of the four-node loop decided."""
    if record.workflow != "dual_loop":
        return None
    match decision.reason:
        case "documents_relevant":
            return words("presenter.documents.relevant")
        case "next_strategy":
            return words("presenter.documents.next")
        case "strategies_exhausted" if record.outcome == "fallback":
            return words("presenter.documents.exhausted")
        case "repeated_rewrite" | "rewriter_failed":
            return words("presenter.documents.no_query")
        case _:
            return words(f"presenter.documents.{decision.reason}")


def scored(index: int, record: RunRecord, words: Words) -> str:
    """What the reranker found in a round of the quality-control loop."""
    best = max((item.p_relevant for item in record.rounds[index].verdicts.values()), default=0.0)
    return words("presenter.judged.scored", best=f"{best:.2f}")


def _recalled(record: RunRecord, words: Words) -> str:
    recall = record.recall
    if recall is None or recall.off:
        return words("presenter.recalled.off")
    if recall.failed:
        return words("presenter.recalled.failed")
    count = len(recall.memories)
    if count == 0:
        return words("presenter.recalled.none")
    said = words.count("presenter.recalled", count, n=number(count, words))
    return _joined(words, said, words("presenter.recalled.stale") if len(recall.stale) == count else "")


def _routed(index: int, record: RunRecord, words: Words) -> str:
    if record.workflow == "dual_loop":
        return _route(record, words)
    routing = record.rounds[index].routing if index < len(record.rounds) else None
    if routing is None:
        return words("presenter.asked.quality_loop")
    kinds = [
        words(f"presenter.kind.{kind}", share=words("presenter.percent", n=f"{share * 100:.0f}"))
        for kind, share in routing.shares.items()
    ]
    said = words("presenter.routed.kinds", kinds=words("list.joint").join(kinds))
    wide = words("presenter.routed.wide") if routing.wide else ""
    missing = [words(f"presenter.kind.{kind}", share="").strip() for kind in routing.missing]
    lacking = words("presenter.routed.missing", kinds=words("list.joint").join(missing)) if missing else ""
    return _joined(words, said, wide, lacking)


def _route(record: RunRecord, words: Words) -> str:
    choice = record.route
    if choice is None:
        return words("presenter.asked.dual_loop")
    if choice.route != "direct":
        return words("presenter.routed.search", strategy=words(f"presenter.strategy.{choice.route}"))
    changed = choice.without_memory not in (None, "direct")
    return _joined(words, words("presenter.routed.direct"), words("presenter.routed.memory") if changed else "")


def _checked(index: int, record: RunRecord, words: Words) -> str:
    check = record.rounds[index].quality
    if check is None:
        return words("presenter.grader_failed")
    decision = next((item for item in record.decisions if item.round == index), None)
    bar = decision.comparisons[0].bound if decision and decision.comparisons else 0.5
    said = words("presenter.checked", score=f"{check.routing_score:.2f}", bar=f"{bar:.2f}")
    if decision is None:
        return said
    return _joined(words, said, _after_check(decision, check, words))


def _after_check(decision: Decision, check: QualityCheck, words: Words) -> str:
    if decision.reason == "quality_met":
        return words("presenter.checked.met")
    if decision.reason == "low_quality":
        issues = [words(f"presenter.issue.{issue.code}") for issue in check.issues]
        return words("presenter.checked.low", issues=words("list.joint").join(issues))
    if decision.reason == "grader_failed":
        return words("presenter.grader_failed")
    return words("presenter.checked.forced", why=why_no_rewrite(decision, words))


def why_no_rewrite(decision: Decision, words: Words) -> str:
    """What kept the question from being rephrased once more."""
    bound = decision.comparisons[-1].bound
    if decision.reason == "deadline":
        return words("presenter.why.deadline", time=words("presenter.seconds", n=f"{bound:g}"))
    if decision.reason == "max_rewrites":
        few = {0: "presenter.why.max_rewrites.none", 2: "presenter.why.max_rewrites.two"}
        if int(bound) in few:
            return words(few[int(bound)])
        return words.count("presenter.why.max_rewrites", int(bound), n=number(int(bound), words))
    return words(f"presenter.why.{decision.reason}")


def _initial(record: RunRecord, words: Words) -> str:
    rewrite = next(item for item in record.rewrites if item.round < 0)
    if rewrite.rewritten_query == record.question:
        return words("presenter.rewritten.initial.same")
    return words("presenter.rewritten.initial", query=rewrite.rewritten_query)


def _drafted(index: int, record: RunRecord, words: Words) -> str:
    draft = next(item for item in record.drafts if item.index == index)
    if draft.direct:
        return words("presenter.drafted.direct")
    if index == 0:
        return words("presenter.drafted")
    if record.workflow == "dual_loop":
        return words("presenter.drafted.corrected")
    return words("presenter.drafted.again", n=number(index + 1, words))


def _evaluated(index: int, record: RunRecord, words: Words) -> str:
    draft = next((item for item in record.drafts if item.index == index), None)
    evaluation = draft.evaluation if draft else None
    decision = _decision_on(index, record)
    if evaluation is None:
        said = words("presenter.evaluated.none")
    elif evaluation.passed:
        return words("presenter.evaluated.passed")
    else:
        count = len(evaluation.suggestions)
        said = words.count("presenter.evaluated.failed", count, n=number(count, words))
    if decision is None or f"presenter.evaluated.{decision.reason}" not in words:
        return said
    return _joined(words, said, words(f"presenter.evaluated.{decision.reason}"))


def _decision_on(index: int, record: RunRecord) -> Decision | None:
    """The decision after the evaluation of a draft; each draft has at most one, in their order."""
    made = [item for item in record.decisions if item.node in ("eval_answer", "grade_relevance")]
    return made[index] if index < len(made) else None


def _ended(record: RunRecord, words: Words) -> str | None:
    if record.outcome == "answered" and record.drafts:
        return words("presenter.ended.passed_evaluation")
    if record.outcome == "answered_forced" and (record.reason in _MARKED or record.workflow == "dual_loop"):
        return words("presenter.ended.marked")
    return None


def _joined(words: Words, *sentences: str) -> str:
    said = ""
    for item in sentences:
        said = words("presenter.joint", first=said, second=item) if said and item else said or item
    return said
