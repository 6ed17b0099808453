"""One sentence for each step of a run, made from the record in the language of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from components.common.i18n import Words
from components.common.outcomes import branch_text, reason_text, run_end_text
from components.common.phrases import begun, fault_text, node_text
from components.common.run_settings import setting_label
from components.common.workflow_view import view_of
from components.labels import STRATEGY_NAMES
from components.picture.words import word
from engine.flow import workflow
from engine.model.config import SETTINGS
from engine.model.values import BY_HAND, Decision, RunRecord
from engine.replay.playback import ReplayStep


def sentence(step: ReplayStep, record: RunRecord, words: Words) -> str:
    """Describe a step and, where it decided, why and where that led; ``record`` is the whole run."""
    said = view_of(record.workflow).sentence(step, record, words)
    if said is None:
        said = _SAID.get(step.kind, _working)(step, record, words)
    decision = decision_of(step, record)
    if decision is not None:
        why, target = reason_text(decision.reason, words), node_text(decision.route, record.workflow, words)
        said = words("{what}: {why} → {target}", what=said, why=why, target=target)
    return said if said.endswith((".", "。")) else said + words(".")


def decision_of(step: ReplayStep, record: RunRecord) -> Decision | None:
    """The decision that a step ended with; of those on answers, each draft has at most one, in their order."""
    if step.kind not in ("routed", "judged", "checked", "evaluated"):
        return None
    own = [item for item in record.decisions if item.node == step.node]
    if step.kind == "evaluated":
        return own[step.draft] if step.draft < len(own) else None
    return next((item for item in own if item.round == step.round), None)


def _working(step: ReplayStep, record: RunRecord, words: Words) -> str:
    return words("{title} is working", title=node_text(step.node, record.workflow, words))


def _asked(step: ReplayStep, record: RunRecord, words: Words) -> str:
    fork = record.fork
    if fork is None:
        first = node_text(workflow(record.workflow).flow.start, record.workflow, words)
        return words("A question comes in. First step: {node}", node=first)
    changed = [setting_label(name, words) for name in fork.settings]
    changed += [words("the query")] if fork.query else []
    changed += [words.count("1 verdict", "{n} verdicts", len(fork.verdicts))] if fork.verdicts else []
    branch = branch_text(fork, words)
    return words("{branch}; changed: {what}", branch=branch, what=words(", ").join(changed)) if changed else branch


def _searched(step: ReplayStep, record: RunRecord, words: Words) -> str:
    current = record.rounds[step.round]
    if not current.searched:
        return words(
            "Nothing new to search for: the passages before stand" if step.round else "No time was left to search"
        )
    total, kept = len(current.candidates), len(current.kept)
    said = words.count("1 passage found, {kept} kept", "{n} passages found, {kept} kept", total, kept=kept)
    how = [words(STRATEGY_NAMES[current.strategy])] if current.strategy else []
    if record.search != SETTINGS["search"].default and current.strategy != "web_search":
        how.append(word(words, "search", record.search))
    return words("{what}: {why}", what=begun(words(", ").join(how)), why=said) if how else said


def _judged(step: ReplayStep, record: RunRecord, words: Words) -> str:
    decision, current = decision_of(step, record), record.rounds[step.round]
    if decision is None:
        done = len(current.verdicts)
        return words("{done} of {total} graded", done=done, total=max(len(current.kept), done))
    if decision.kept == 0:
        return begun(words("no passage was similar enough"))
    said = passed_text(decision, words)
    whole = next((item.value for item in decision.comparisons if item.quantity == "relevant_passages"), decision.passed)
    return said if whole == decision.passed else words("{what}, {n} with earlier rounds", what=said, n=int(whole))


def passed_text(decision: Decision, words: Words) -> str:
    """Describe how many of a round's passages passed."""
    return words.count(
        "{passed} of 1 passage passes", "{passed} of {n} passages pass", decision.kept, passed=decision.passed
    )


def _rewritten(step: ReplayStep, record: RunRecord, words: Words) -> str:
    rewrite = next(item for item in record.rewrites if item.round == step.round)
    if rewrite.failed or rewrite.repeated:
        return words("The query stays: {why}", why=reason_text(_unchanged(failed=rewrite.failed), words))
    if rewrite.rewritten_query == rewrite.query:
        return words("The query stays as it is")
    by_hand = rewrite.strategy == BY_HAND
    return words(
        "Changed by hand: “{query}”" if by_hand else "The query becomes “{query}”", query=rewrite.rewritten_query
    )


def _unchanged(*, failed: bool) -> str:
    return "rewriter_failed" if failed else "repeated_rewrite"


def _drafted(step: ReplayStep, record: RunRecord, words: Words) -> str:
    draft = next(item for item in record.drafts if item.index == step.draft)
    return begun(words("without a search")) if draft.direct else words("Answer {n} is written", n=step.draft + 1)


def _evaluated(step: ReplayStep, record: RunRecord, words: Words) -> str:
    draft = next((item for item in record.drafts if item.index == step.draft), None)
    if draft is None or draft.evaluation is None:
        return begun(words("not evaluated"))
    if draft.evaluation.passed:
        return words("The evaluator asks for nothing")
    asked = len(draft.evaluation.suggestions)
    return begun(words.count("1 suggestion", "{n} suggestions", asked))


def _ended(step: ReplayStep, record: RunRecord, words: Words) -> str:
    ended, given = run_end_text(record, words), len(record.context.passages) if record.context else 0
    if record.outcome == "failed" and record.error is not None:
        return words("{what}: {why}", what=ended, why=fault_text(record.error, words)[0])
    if not (given and record.answer):
        return ended
    return words.count("{end}, from 1 passage", "{end}, from {n} passages", given, end=ended)


_SAID: Mapping[str, Callable[[ReplayStep, RunRecord, Words], str]] = {
    "asked": _asked,
    "searched": _searched,
    "judged": _judged,
    "rewritten": _rewritten,
    "drafted": _drafted,
    "evaluated": _evaluated,
    "ended": _ended,
}
