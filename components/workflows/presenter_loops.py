"""One plain sentence for each step that only the loops beyond the four-node one have."""

from __future__ import annotations

from components.common.i18n import Words
from components.labels.runs import UNREADABLE_GRADER
from components.workflows.presenter_graph import graph_sentence
from engine.messages import N_, NC_
from engine.model.values import Decision, QualityCheck, RunRecord
from engine.replay.playback import ReplayStep
from engine.workflows import workflow

_ASKED = {
    "quality_loop": N_("A question comes in. First a router chooses in which kinds of sources to look."),
    "dual_loop": N_("A question comes in. First memory is searched for earlier answers."),
}

STRATEGY_PHRASES = {
    "hierarchical_search": N_("a search from summaries down to passages"),
    "direct_chunk_search": N_("a search of the passages themselves"),
    "web_search": N_("a web search"),
}

_DOCUMENTS = {
    "strategies_exhausted": N_("At least one must help, and every way has been tried."),
    "grader_unavailable": N_("The grader cannot be reached any more, so the run ends here."),
    "deadline": N_("And the time is used up."),
}

_KIND = {
    "vector": N_("knowledge base {share}"),
    "graph": N_("entity notes {share}"),
    "temporal": N_("study log {share}"),
}

_ISSUE = {
    "low_coverage": N_("too little of the learner's own history"),
    "low_relevance": N_("passages that match poorly"),
    "single_source": N_("only one kind of source"),
    "too_few": N_("too few passages"),
    "no_passages": N_("no passages at all"),
}

_WHY = {
    "repeated_rewrite": N_("the rewriter only repeats itself"),
    "rewriter_failed": NC_("presentation", "the rewriter failed"),
    "grader_unavailable": N_("the grader cannot be reached any more"),
    "no_passages": N_("the collection holds nothing to search"),
}

_EVALUATED = {
    "answer_off": N_("So the question is rephrased, and everything is searched once more."),
    "revise": N_("So the answer is revised."),
    "max_corrections": N_("No correction is left, so the best answer stands and is marked."),
    "max_epochs": N_("No revision is left, so the last answer stands and is marked."),
    "deadline": N_("The time is used up, so the answer stands as it is."),
    "evaluator_failed": N_("So the answer stands unevaluated, and says so."),
}

_LOOPS = ("quality_loop", "dual_loop", "answer_evaluation")
_MARKED = ("max_corrections", "max_epochs", "evaluator_failed", "deadline")


def number(count: int, words: Words) -> str:
    """A count in words as far as the language writes it out, else in figures."""
    written = words("no one two three four five six seven eight nine ten eleven twelve").split()
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
            return words(
                "The answer is kept in memory for the next time."
                if kept is None or kept.passed
                else "The answer did not pass: it is kept apart and will not be recalled as a fact."
            )
        case "ended":
            return _ended(record, words)
        case _:
            return None


def _asked(record: RunRecord, words: Words) -> str | None:
    if record.fork is None and record.workflow in _ASKED:
        return words(_ASKED[record.workflow])
    return None


def strategy_of(index: int, record: RunRecord, words: Words) -> str:
    """How a round was searched; empty where there is one way alone."""
    strategy = record.rounds[index].strategy
    return words(STRATEGY_PHRASES[strategy]) if strategy else ""


def judged_consequence(decision: Decision, record: RunRecord, words: Words) -> str | None:
    """What follows from a round of the dual loop; None where the gate of the four-node loop decided."""
    if record.workflow != "dual_loop":
        return None
    match decision.reason:
        case "documents_relevant":
            return words("One that helps is enough, so an answer can be written.")
        case "next_strategy":
            return words("At least one must help, so another way is tried.")
        case "strategies_exhausted" if record.outcome == "fallback":
            return words("At least one must help, and every way has been tried: there will be no answer.")
        case "repeated_rewrite" | "rewriter_failed":
            return words("No new query was found, so the answer before stands.")
        case _:
            return words(_DOCUMENTS[decision.reason])


def scored(index: int, record: RunRecord, words: Words) -> str:
    """What the reranker found in a round of the quality-control loop."""
    best = max((item.p_relevant for item in record.rounds[index].verdicts.values()), default=0.0)
    return words("Each passage now has a chance of helping; the best has {best}.", best=f"{best:.2f}")


def _recalled(record: RunRecord, words: Words) -> str:
    recall = record.recall
    if recall is None or recall.off:
        return words("Memory is switched off.")
    if recall.failed:
        return words("Memory cannot be read: the run continues without it.")
    count = len(recall.memories)
    if count == 0:
        return words("Memory has nothing on this.")
    said = words.count(
        "Memory brings up one earlier answer.", "Memory brings up {n} earlier answers.", count, n=number(count, words)
    )
    return _joined(
        words,
        said,
        words("The collection has changed since, so it is shown and not relied on.")
        if len(recall.stale) == count
        else "",
    )


def _routed(index: int, record: RunRecord, words: Words) -> str:
    if record.workflow == "dual_loop":
        return _route(record, words)
    routing = record.rounds[index].routing if index < len(record.rounds) else None
    if routing is None:
        return words(_ASKED["quality_loop"])
    kinds = [words(_KIND[kind], share=words("{n} %", n=f"{share * 100:.0f}")) for kind, share in routing.shares.items()]
    said = words("The router sends the query to: {kinds}.", kinds=words(", ").join(kinds))
    wide = words("Free places may be filled from any of them.") if routing.wide else ""
    missing = [words(_KIND[kind], share="").strip() for kind in routing.missing]
    lacking = words("There are none of this kind here: {kinds}.", kinds=words(", ").join(missing)) if missing else ""
    return _joined(words, said, wide, lacking)


def _route(record: RunRecord, words: Words) -> str:
    choice = record.route
    if choice is None:
        return words(_ASKED["dual_loop"])
    if choice.route != "direct":
        return words("The router decides to begin with {strategy}.", strategy=words(STRATEGY_PHRASES[choice.route]))
    changed = choice.without_memory not in (None, "direct")
    return _joined(
        words,
        words("The router decides to answer at once, without a search."),
        words("Without memory it would have searched.") if changed else "",
    )


def _checked(index: int, record: RunRecord, words: Words) -> str:
    check = record.rounds[index].quality
    if check is None:
        return words(UNREADABLE_GRADER)
    decision = next((item for item in record.decisions if item.round == index), None)
    bar = decision.comparisons[0].bound if decision and decision.comparisons else 0.5
    said = words(
        "The quality check gives {score} of 1, where {bar} is needed.",
        score=f"{check.routing_score:.2f}",
        bar=f"{bar:.2f}",
    )
    if decision is None:
        return said
    return _joined(words, said, _after_check(decision, check, words))


def _after_check(decision: Decision, check: QualityCheck, words: Words) -> str:
    if decision.reason == "quality_met":
        return words("That is enough, so the answer can be written.")
    if decision.reason == "low_quality":
        issues = [words(_ISSUE[issue.code]) for issue in check.issues]
        return words(
            "That is too low, so the query is rewritten to mend what is missing: {issues}.",
            issues=words(", ").join(issues),
        )
    if decision.reason == "grader_failed":
        return words(UNREADABLE_GRADER)
    return words(
        "That is too low, but {why}: the answer is based on what there is, and says so.",
        why=why_no_rewrite(decision, words),
    )


def why_no_rewrite(decision: Decision, words: Words) -> str:
    """What kept the question from being rephrased once more."""
    bound = decision.comparisons[-1].bound
    if decision.reason == "deadline":
        return words("the time of {time} is used up", time=words("{n} s", n=f"{bound:g}"))
    if decision.reason == "max_rewrites":
        few = {0: N_("no rewrite is allowed"), 2: N_("both rewrites are used up")}
        if int(bound) in few:
            return words(few[int(bound)])
        return words.count(
            "the one rewrite is used up", "all {n} rewrites are used up", int(bound), n=number(int(bound), words)
        )
    return words(_WHY[decision.reason])


def _initial(record: RunRecord, words: Words) -> str:
    rewrite = next(item for item in record.rewrites if item.round < 0)
    if rewrite.rewritten_query == record.question:
        return words("The question is searched as it was asked.")
    return words("For the search the question becomes: “{query}”.", query=rewrite.rewritten_query)


def _drafted(index: int, record: RunRecord, words: Words) -> str:
    draft = next(item for item in record.drafts if item.index == index)
    if draft.direct:
        return words("An answer is given without a search, and goes to an evaluator.")
    if index == 0:
        return words("An answer is written, and goes to an evaluator.")
    if record.workflow == "dual_loop":
        return words("Another answer is written from what the new search found.")
    return words(
        "Answer number {n} is written: what was good stays, what was criticised changes.", n=number(index + 1, words)
    )


def _evaluated(index: int, record: RunRecord, words: Words) -> str:
    draft = next((item for item in record.drafts if item.index == index), None)
    evaluation = draft.evaluation if draft else None
    decision = _decision_on(index, record)
    if evaluation is None:
        said = words("The evaluator could not be heard.")
    elif evaluation.passed:
        return words("The evaluator has nothing to object to.")
    else:
        count = len(evaluation.suggestions)
        said = words.count(
            "The evaluator asks for one change.", "The evaluator asks for {n} changes.", count, n=number(count, words)
        )
    if decision is None or decision.reason not in _EVALUATED:
        return said
    return _joined(words, said, words(_EVALUATED[decision.reason]))


def _decision_on(index: int, record: RunRecord) -> Decision | None:
    """The decision after the evaluation of a draft; each draft has at most one, in their order."""
    evaluating = workflow(record.workflow).flow.of_kind("evaluate")
    made = [item for item in record.decisions if item.node in evaluating]
    return made[index] if index < len(made) else None


def _ended(record: RunRecord, words: Words) -> str | None:
    if record.outcome == "answered" and record.drafts:
        return words("The answer that the evaluator passed is the answer of the run.")
    if record.outcome == "answered_forced" and (record.reason in _MARKED or record.workflow == "dual_loop"):
        return words("The answer stands, marked as one that did not pass in full.")
    return None


def _joined(words: Words, *sentences: str) -> str:
    said = ""
    for item in sentences:
        said = words("{first} {second}", first=said, second=item) if said and item else said or item
    return said
