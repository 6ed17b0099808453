"""Sentences of the workflow picture, made from a table of words and the values of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from components.common.amounts import beginning
from components.common.i18n import Words
from components.common.outcomes import reason_text, round_text
from components.common.phrases import begun, node_text
from engine.flow import workflow
from engine.flow.flow import END
from engine.messages import N_, NC_
from engine.model.config import SETTINGS, WorkflowName
from engine.model.values import Comparison, Decision, RunRecord, operands

Lines = tuple[tuple[str, ...], ...]
"""Lines of facts; each is a list of wordings, longest first, of which a drawing takes the first that fits."""

_RELATIONS = MappingProxyType({"<": "<", ">=": "≥", "==": "="})
_LONGEST_QUERY = 60
_PLAIN = frozenset({"pass_rate", "rewrites", "quality_score", "corrections", "epoch"})
"""Quantities that a chip compares without naming them."""
PICTURE: Mapping[str, str] = MappingProxyType(
    {
        # Facts
        "search_full_text": N_("by words"),
        "search_vector": N_("by meaning"),
        "kind_vector": N_("base"),
        "kind_graph": N_("entities"),
        "kind_temporal": N_("log"),
        "strategy_direct": N_("direct answer"),
        "strategy_hierarchical_search": N_("by section"),
        "strategy_direct_chunk_search": N_("by passage"),
        "strategy_web_search": N_("on the web"),
        # Inequalities
        "quantity_pass_rate": N_("pass rate"),
        "quantity_relevant_passages": N_("relevant"),
        "quantity_rewrites": N_("rewrites"),
        "quantity_elapsed_s": NC_("picture", "seconds"),
        "quantity_candidates": N_("found"),
        "quantity_unreadable": N_("unreadable"),
        "quantity_repeated_rewrites": N_("repeated"),
        "quantity_failed_rewrites": N_("failed"),
        "quantity_ungraded": N_("not graded"),
        "quantity_quality_score": N_("quality score"),
        "quantity_top3_relevance": N_("top 3"),
        "quantity_untried_strategies": N_("untried"),
        "quantity_corrections": N_("corrections"),
        "quantity_suggestions": N_("to fix"),
        "quantity_epoch": N_("answers"),
        "quantity_unreached_evaluators": N_("failed"),
        "quantity_sufficiency": N_("together"),
        "quantity_covered_parts": N_("parts"),
        "quantity_failed_answers": N_("failed"),
        "quantity_table_coverage": N_("table"),
        # Status
        "state_plain": N_("not visited"),
        "state_active": N_("working"),
        "state_passed": N_("done"),
        "state_rewrite": N_("done"),
        "state_forced": N_("done, condition not met"),
        "state_fault": N_("failed"),
        "state_stopped": N_("stopped"),
    }
)
"""Messages by kind and code, such as ``state_active``; an empty one says that a code goes without a name."""


def word(words: Words, kind: str, code: str, **values: object) -> str:
    """Return the picture's label of a code such as a state; empty if it has none."""
    message = PICTURE.get(f"{kind}_{code}")
    return words(message, **values) if message else ""


def route_of(decision: Decision, taken_in: WorkflowName, words: Words) -> str:
    """Label where a decision leads, in a word."""
    if decision.route == END:
        return words("end")
    target = workflow(taken_in).flow.nodes.get(decision.route)
    return words(target.lead) if target and target.lead else node_text(decision.route, taken_in, words)


def lines(*rows: Sequence[str]) -> Lines:
    """Each row of parts as wordings that leave out ever more of its parts, from the last; empty ones do not count."""
    filled = [[part for part in row if part] for row in rows]
    return tuple(tuple(" · ".join(row[:end]) for end in range(len(row), 0, -1)) for row in filled if row)


def searched_line(record: RunRecord, words: Words, *parts: str) -> Lines:
    """A line that ends with how passages are looked for, or leaves it out; the usual way needs no words."""
    search = record.search
    plain = lines(parts)
    if search == SETTINGS["search"].default:
        return plain
    filled = [part for part in parts if part]
    shorter = plain[0] if plain else ()
    return ((" · ".join([*filled, word(words, "search", search)]), *shorter),)


def cut(text: str) -> str:
    """A query as a box may quote it."""
    return beginning(text, _LONGEST_QUERY)


def duration_of(ms: float, words: Words) -> str:
    """Milliseconds or seconds with two or three figures."""
    if ms < 999.5:
        return words("{n} ms", n=f"{ms:.1f}" if ms < 10 else f"{ms:.0f}")
    return words(NC_("picture", "{n} s"), n=f"{ms / 1000:.2f}" if ms < 10000 else f"{ms / 1000:.1f}")


def chips_of(decision: Decision, count: int, taken_in: WorkflowName, words: Words) -> tuple[str, ...]:
    """Return the labels of an edge's newest decision, from long to short, and how often the edge was chosen."""
    times = f" ×{count}" if count > 1 else ""
    target = route_of(decision, taken_in, words)
    short = [comparison_text(item, words, short=True) for item in decision.comparisons]
    if not short:
        why = _reason(decision, words)
        return (f"{why} → {target}{times}", f"{why}{times}")
    every = words(NC_("picture", " and ")).join(short)
    return (f"{every} → {target}{times}", f"{every}{times}", f"{short[0]}{times}")


def decision_line(decision: Decision, taken_in: WorkflowName, words: Words) -> str:
    """E.g. ``As asked: pass rate 0.40 < 0.60 and rewrites 0 < 3 → rewrite``."""
    target = route_of(decision, taken_in, words)
    return words(
        "{round}: {why} → {target}",
        round=begun(round_text(decision.round, words)),
        why=inequality_of(decision, words),
        target=target,
    )


def inequality_of(decision: Decision, words: Words) -> str:
    """The comparisons of a decision with their quantities named; its reason where it compared nothing."""
    named = [comparison_text(item, words) for item in decision.comparisons]
    return words(NC_("picture", " and ")).join(named) or _reason(decision, words)


def comparison_text(item: Comparison, words: Words, *, short: bool = False) -> str:
    """One inequality with its quantity named; ``short`` leaves out the names that go without saying."""
    known = f"quantity_{item.quantity}" in PICTURE
    name = "" if short and item.quantity in _PLAIN else word(words, "quantity", item.quantity)
    return f"{name if known else item.quantity} {inequality(item)}".strip()


def inequality(item: Comparison) -> str:
    """The two values of a comparison, ``0 < 1``."""
    left, right = operands(item)
    return f"{left} {_RELATIONS[item.relation]} {right}"


def _reason(decision: Decision, words: Words) -> str:
    return reason_text(decision.reason, words)
