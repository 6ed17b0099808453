"""One plain sentence for each step of a replay, made from operands in the language of the page."""

from __future__ import annotations

from components.ask.answer_marks import standing_draft
from components.ask.what_if_text import stands_text
from components.common.i18n import Words
from components.common.phrases import fault_text, node_text
from components.common.run_settings import setting_label
from components.common.workflow_view import view_of
from components.labels import STRATEGY_PHRASES, UNREADABLE_GRADER
from engine.flow import workflow
from engine.messages import N_, NC_, NN_
from engine.model.values import Comparison, Decision, Quantity, Round, RunRecord
from engine.replay import WhatIf
from engine.replay.playback import ReplayStep

_MANNER = {
    "full_text": N_("words alone"),
    "fused": N_("meaning and by words, merged into one list"),
}

_MET = {
    "pass_rate": N_("That meets the bar of {bar}, so the answer can be written."),
    "relevant_passages": N_("At least {n} had to help, so the answer can be written."),
    "sufficiency": N_("Together they suffice, so the answer can be written."),
}

_UNMET = {
    "pass_rate": N_("That is under the bar of {bar}, so the question is rephrased."),
    "relevant_passages": N_("At least {n} must help, so the question is rephrased."),
    "sufficiency": N_("Together they do not suffice yet, so the question is rephrased."),
}

_REST = {
    "passed": N_("the answer has to make do with what did pass"),
    "unverified": N_("the answer has to rest on unverified passages"),
    "nothing": N_("all that is left is to say so honestly"),
}

_FORCED = {
    "pass_rate": N_("That is under the bar of {bar}, but {why}, so {rest}."),
    "relevant_passages": N_("At least {n} must help, but {why}, so {rest}."),
    "sufficiency": N_("Together they do not suffice, but {why}, so {rest}."),
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

_ENDED = {
    "answered_unverified": N_("No passage passed, so the answer is based on unverified ones and says so."),
    "abstained": N_("Nothing helped, so the answer says that honestly instead of inventing something."),
    "fallback": N_("Everything was tried, and the run ends without an answer."),
    "cancelled": N_("Somebody stopped the run here."),
    "unanswered": N_("The trace that this run was imported from holds no answer."),
    "interrupted": N_("The record breaks off here: the program ended in the middle of the run."),
}

_ENDED_GIVEN = {
    "answered": NN_(
        "The answer is written from the one passage that helped, and from nothing else.",
        "The answer is written from the {n} passages that helped, and from nothing else.",
    ),
    "answered_forced": NN_(
        "The answer is written from the one passage that helped, although the bar was never met.",
        "The answer is written from the {n} passages that helped, although the bar was never met.",
    ),
    "cannot_tell": NN_(
        "The generator was given one passage, and says that it cannot tell.",
        "The generator was given {n} passages, and says that it cannot tell.",
    ),
    "uncited": NN_(
        "An answer is written, but it does not cite the one passage that the generator was given.",
        "An answer is written, but it cites none of the {n} passages that the generator was given.",
    ),
    "unsupported": NN_(
        "An answer is written from one passage, but not all of it is in what it cites.",
        "An answer is written from {n} passages, but not all of it is in what it cites.",
    ),
}

_WHAT_IF = {
    "answered": N_("With a bar of {bar} the run answers in round {round}: {rewrites}."),
    "answered_forced": N_("With a bar of {bar} the run answers below the bar in round {round}: {rewrites}."),
    "answered_unverified": N_(
        "With a bar of {bar} the run answers from unverified passages in round {round}: {rewrites}."
    ),
    "abstained": N_("With a bar of {bar} the run says in round {round} that it found nothing: {rewrites}."),
}

_FOUND_GIVEN = NN_(
    "The answer is written from the one passage that was kept, which no grader has judged.",
    "The answer is written from the {n} passages that were kept, which no grader has judged.",
)
"""Where passages are not judged."""
_MARKED = ("max_corrections", "max_epochs", "evaluator_failed", "deadline")
_GATES: tuple[Quantity, ...] = ("sufficiency", "pass_rate", "relevant_passages")


def sentence(step: ReplayStep, record: RunRecord, words: Words) -> str:
    """Describe a step in everyday words; ``record`` is the whole run that the step belongs to."""
    said = view_of(record.workflow).sentence(step, record, words)
    if said is not None:
        return said
    match step.kind:
        case "searched":
            return _searched(step.round, record, words)
        case "judged":
            return _judged(step.round, record, words)
        case "rewritten":
            return _rewritten(step.round, record, words)
        case "drafted":
            return _drafted(step.draft, record, words)
        case "evaluated":
            return _evaluated(step.draft, record, words)
        case "ended":
            return _ended(record, words)
        case "asked":
            return _asked(record, words)
        case _:
            return words("{node} is at work.", node=node_text(step.node, record.workflow, words))


def number(count: int, words: Words) -> str:
    """A count in words as far as the language writes it out, else in figures."""
    written = words("no one two three four five six seven eight nine ten eleven twelve").split()
    return written[count] if 0 <= count < len(written) else str(count)


def percent(share: float, words: Words) -> str:
    """A share as a percentage with as many decimals as it has, at most two: ``60 %``, ``12.5 %``."""
    return words("{n} %", n=f"{round(share * 100, 2):g}")


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def joined(words: Words, *sentences: str) -> str:
    """Sentences one after the other; empty ones are left out."""
    said = ""
    for item in sentences:
        said = words("{first} {second}", first=said, second=item) if said and item else said or item
    return said


def _asked(record: RunRecord, words: Words) -> str:
    fork = record.fork
    if fork is None:
        flow = workflow(record.workflow).flow
        return words(
            "A question comes in. First the retriever looks for passages that might answer it."
            if flow.start in flow.of_kind("search")
            else "A question comes in."
        )
    changed = [setting_label(name, words) for name in fork.settings]
    if fork.query:
        changed.append(words("the query"))
    if fork.verdicts:
        count = len(fork.verdicts)
        changed.append(words.count("one verdict", "{n} verdicts", count, n=number(count, words)))
    if not changed:
        return words("This run branches off another one in round {round}.", round=fork.round)
    return words(
        "This run branches off another one in round {round}. Changed there: {what}.",
        round=fork.round,
        what=words(", ").join(changed),
    )


def _searched(index: int, record: RunRecord, words: Words) -> str:
    current = record.rounds[index]
    if not current.searched:
        return words(
            "There is nothing new to search for, so the passages of the round before stand."
            if index
            else "The time was used up before anything could be searched."
        )
    said = joined(words, _found(current, record, words), _words_alone(index, record, words))
    strategy = words(STRATEGY_PHRASES[current.strategy]) if current.strategy else ""
    manner = _manner(index, record, words)
    if strategy and manner:
        strategy = words("{strategy} by {manner}", strategy=strategy, manner=manner)
    if strategy or (manner and not index):
        return words("By {strategy}: {sentence}", strategy=strategy or manner, sentence=_inside(said, words))
    return words("With the new words: {sentence}", sentence=_inside(said, words)) if index else said


def _found(current: Round, record: RunRecord, words: Words) -> str:
    """Describe how many passages a round found and kept."""
    total, kept = len(current.candidates), len(current.kept)
    best = min(total, record.config.top_k)
    found = words.count("one passage", "{n} passages", total)
    if total == 0 and record.origin is not None:
        return words("The search of the other program finds nothing.")
    if total == 0:
        return words("The retriever finds nothing: the collection holds no passages.")
    if kept == 0:
        return words.count(
            "The retriever finds {found}, but not even the best one is similar enough to go on.",
            "The retriever finds {found}, but none of the best {best} is similar enough to go on.",
            best,
            found=found,
            best=number(best, words),
        )
    if not workflow(record.workflow).grades:
        return words.count(
            "The retriever finds {found}, and one of them is kept.",
            "The retriever finds {found}, and {k} of them are kept.",
            kept,
            found=found,
            k=number(kept, words),
        )
    if kept < best:
        best_text = number(best, words)
        return words.count(
            "The retriever finds {found}. Of the best {best}, only one is similar enough to go on to the grader.",
            "The retriever finds {found}. Of the best {best}, only {k} are similar enough to go on to the grader.",
            kept,
            found=found,
            best=best_text,
            k=number(kept, words),
        )
    if kept == total:
        return words.count(
            "The retriever finds {found}, and it continues to the grader.",
            "The retriever finds {found}, and all of them go on to the grader.",
            kept,
            found=found,
        )
    return words.count(
        "The retriever finds {found}; the best one continues to the grader.",
        "The retriever finds {found}; the best {k} go on to the grader.",
        kept,
        found=found,
        k=number(kept, words),
    )


def _manner(index: int, record: RunRecord, words: Words) -> str:
    """Describe how a round searched; empty for plain vector search and for web search."""
    if record.config.search == "vector" or record.rounds[index].strategy == "web_search":
        return ""
    return words(_MANNER[record.config.search])


def _words_alone(index: int, record: RunRecord, words: Words) -> str:
    """Describe how many kept passages only the keyword list found; empty if none."""
    kept = record.rounds[index].kept
    count = sum(item.vector_rank is None and item.text_rank is not None for item in kept)
    if record.config.search != "fused" or not count:
        return ""
    return words("Meaning alone would not have brought up {n} of them.", n=number(count, words))


def _inside(said: str, words: Words) -> str:
    """A sentence after a colon: in English its first word is no longer the first."""
    return said[:1].lower() + said[1:] if words.language == "en" else said


def _judged(index: int, record: RunRecord, words: Words) -> str:
    gate = workflow(record.workflow).gate
    decision = next((item for item in record.decisions if item.round == index and item.node == gate), None)
    current = record.rounds[index]
    if decision is None and record.origin is not None:
        done, found = len(current.verdicts), len(current.candidates)
        return words("{done} of {found} passages were graded there, which decides nothing yet.", done=done, found=found)
    if decision is None:
        done, kept = len(current.verdicts), max(len(current.kept), len(current.verdicts))
        return words(
            "The grader has judged {done} of {kept} passages when the run ends.",
            done=number(done, words),
            kept=number(kept, words),
        )
    if decision.reason == "grader_failed":
        return words(UNREADABLE_GRADER)
    return joined(words, found_text(decision, words), _together(decision, words), _consequence(decision, record, words))


def found_text(decision: Decision, words: Words) -> str:
    """Describe how many passages of a round help."""
    passed, kept = decision.passed, decision.kept
    counts = {"passed": number(passed, words), "kept": number(kept, words)}
    if kept == 0:
        return words("No passage was similar enough to be judged.")
    if kept == 1:
        return words("The one passage helps." if passed else "The one passage does not help.")
    if passed in (0, kept) and kept == 2:
        return words("Both passages help." if passed else "Neither of the two passages helps.")
    if passed in (0, kept):
        return words(
            "All {kept} passages help." if passed else "None of the {kept} passages helps.", kept=counts["kept"]
        )
    return _begun(words.count("One of {kept} passages helps.", "{passed} of {kept} passages help.", passed, **counts))


def _gate(decision: Decision) -> Comparison | None:
    """The inequality that decided: whether passages suffice together is asked last."""
    found = [item for item in decision.comparisons if item.quantity in _GATES]
    return min(found, key=lambda item: _GATES.index(item.quantity), default=None)


def _together(decision: Decision, words: Words) -> str:
    """The count of all rounds, where the gate looked at more than this one; empty for other runs."""
    gate = next((item for item in decision.comparisons if item.quantity == "relevant_passages"), None)
    if gate is None or gate.value == decision.passed:
        return ""
    return words("Together with earlier rounds it is {n}.", n=number(int(gate.value), words))


def _consequence(decision: Decision, record: RunRecord, words: Words) -> str:
    gate = _gate(decision)
    if gate is None:
        return ""
    bar = {"bar": percent(gate.bound, words)}
    if gate.quantity == "relevant_passages":
        bar = {"n": number(int(gate.bound), words)}
    if decision.reason == "passed":
        return words(_MET[gate.quantity], **bar)
    if decision.reason == "below_gate":
        return words(_UNMET[gate.quantity], **bar)
    why, rest = why_no_rewrite(decision, words), words(_REST[_rest(decision, record)])
    return words(_FORCED[gate.quantity], **bar, why=why, rest=rest)


def why_no_rewrite(decision: Decision, words: Words) -> str:
    """Explain why the question was not rewritten again."""
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


def _rest(decision: Decision, record: RunRecord) -> str:
    """From what an answer can still be written."""
    union = record.config.context == "union"
    counted = [item for item in record.decisions if item.round <= decision.round] if union else [decision]
    if any(item.passed for item in counted):
        return "passed"
    return "unverified" if record.config.answer_unverified and decision.kept else "nothing"


def _rewritten(index: int, record: RunRecord, words: Words) -> str:
    rewrite = next(item for item in record.rewrites if item.round == index)
    if rewrite.failed:
        return words("The rewriter fails, so the old query stands.")
    if rewrite.repeated:
        return words("The rewriter finds no words that were not tried before.")
    return words(
        "Here the query was changed by hand: “{query}”."
        if rewrite.strategy == "by_hand"
        else "The rewriter tries other words: “{query}”.",
        query=rewrite.rewritten_query,
    )


def _drafted(index: int, record: RunRecord, words: Words) -> str:
    draft = next(item for item in record.drafts if item.index == index)
    if draft.direct:
        return words("An answer is given without a search, and goes to an evaluator.")
    if index == 0:
        return words("An answer is written, and goes to an evaluator.")
    if workflow(record.workflow).flow.mended_by == "rewrite":
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
    return joined(words, said, words(_EVALUATED[decision.reason]))


def _decision_on(index: int, record: RunRecord) -> Decision | None:
    """The decision after the evaluation of a draft; each draft has at most one, in their order."""
    evaluating = workflow(record.workflow).flow.of_kind("evaluate")
    made = [item for item in record.decisions if item.node in evaluating]
    return made[index] if index < len(made) else None


def _ended(record: RunRecord, words: Words) -> str:
    if record.outcome == "failed":
        if record.error is None:
            return words("The run fails here.")
        return words("The run fails here: {fact}", fact=fault_text(record.error, words)[0])
    given = len(record.context.passages) if record.context else 0
    if record.origin is not None and record.answer and (not given or record.outcome == "answered_unverified"):
        return words("The answer is the other program's own.")
    if record.outcome == "answered_unverified" and not record.answer_note and not workflow(record.workflow).grades:
        return words.count(*_FOUND_GIVEN, given, n=number(given, words))
    if record.outcome not in ("answered", "answered_forced") and not record.answer_note:
        return words(_ENDED[str(record.outcome)])
    if record.answer_note == "unsupported":
        return words.count(*_ENDED_GIVEN["unsupported"], given, n=number(given, words))
    if record.drafts and record.outcome == "answered":
        return words("The answer that the evaluator passed is the answer of the run.")
    if record.drafts and record.outcome == "answered_forced" and not _only_the_gate(record):
        return words("The answer stands, marked as one that did not pass in full.")
    return words.count(*_ENDED_GIVEN[str(record.answer_note or record.outcome)], given, n=number(given, words))


def _only_the_gate(record: RunRecord) -> bool:
    """Return whether the answer passed its evaluation, and only its passages never met the gate."""
    draft = standing_draft(record)
    passed = draft is not None and draft.evaluation is not None and draft.evaluation.passed
    return passed and record.reason not in _MARKED


def what_if_sentence(given: WhatIf, record: RunRecord, words: Words) -> str:
    """Describe the effect of another threshold on the gate's own measure: a share or a number of passages."""
    bar = bar_text(given.config.grade_pass_threshold, given.config.min_relevant, record, words)
    if not given.path_known:
        return words(
            "With a bar of {bar} the run continues beyond what was recorded: it would have to be run to know.", bar=bar
        )
    if given.same_path:
        same = words("With a bar of {bar} the run takes exactly the same path.", bar=bar)
        return joined(words, same, stands_text(given, words)) if given.answer_note else same
    said = words(
        _WHAT_IF.get(str(given.outcome), N_("With a bar of {bar} the run ends in round {round}: {rewrites}.")),
        bar=bar,
        round=given.decisions[-1].round,
        rewrites=_rewrites(given.rewrites, len(record.rewrites), words),
    )
    known = given.state == "known"
    kept = stands_text(given, words) if known else words("Only the answer would have to be rewritten.")
    return joined(words, said, kept)


def bar_text(share: float, count: int, record: RunRecord, words: Words) -> str:
    """The bar of a run's gate in words."""
    return number(count, words) if record.config.gate == "min_relevant" else percent(share, words)


def _rewrites(now: int, then: int, words: Words) -> str:
    if now == then:
        return words.count("one rewrite, as before", "{now} rewrites, as before", now, now=number(now, words))
    return words.count(
        "one rewrite instead of {then}",
        "{now} rewrites instead of {then}",
        now,
        now=number(now, words),
        then=number(then, words),
    )
