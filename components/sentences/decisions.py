"""What followed from a decision of a run, in words."""

from __future__ import annotations

from components.common.i18n import Words
from components.common.outcomes import REASONS
from components.common.phrases import moved_text
from components.labels import STRATEGY_NAMES
from engine.flow import workflow
from engine.messages import N_
from engine.model.values import QUANTITIES, Decision, RunRecord
from engine.model.wording import change_of

UNDECIDED = N_("Nothing was graded, so nothing is decided.")
NO_DECISION = N_("This workflow decides nothing.")


def followed_text(decision: Decision, record: RunRecord, words: Words) -> str:
    """Describe the result of a decision: the new query and its changes, the next search, or the answer's context."""
    flow = workflow(record.workflow).flow
    if decision.route in flow.of_kind("rewrite"):
        return _rewritten_text(decision, record, words)
    if decision.route in flow.of_kind("search"):
        following = next((item for item in record.rounds if item.index == decision.round + 1), None)
        strategy = following.strategy if following else None
        return words("next search: {strategy}", strategy=words(STRATEGY_NAMES[strategy])) if strategy else ""
    answering = flow.of_kind("context", "answer")
    if decision.node == flow.gate and decision.route in answering and record.context is not None:
        if record.origin is not None:
            return words.count("1 passage", "{n} passages", len(record.context.passages))
        cited = len(record.citations)
        return words.count(
            "1 passage given, {cited} cited",
            "{n} passages given, {cited} cited",
            len(record.context.passages),
            cited=cited,
        )
    return ""


def _rewritten_text(decision: Decision, record: RunRecord, words: Words) -> str:
    flow = workflow(record.workflow).flow
    first = decision.node in flow.preparing
    made = next((item for item in record.rewrites if item.round == (-1 if first else decision.round)), None)
    if made is None:
        return ""
    if made.failed:
        return words(REASONS["rewriter_failed"].label)
    if made.repeated:
        return words(REASONS["repeated_rewrite"].label)
    if first and made.query.strip() == made.rewritten_query.strip():
        return words("searched as asked")
    worth = record.quality_scores or record.pass_rates
    before, after = worth.get(decision.round), worth.get(decision.round + 1)
    said = words("new query: {query}", query=made.rewritten_query)
    if before is None or after is None or decision.node != flow.gate:
        return said
    measure = words(QUANTITIES["quality_score" if record.quality_scores else "pass_rate"])
    return f"{said} · {measure} {moved_text(change_of(before, after))}"
