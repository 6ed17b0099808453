"""Sentences of the workflow picture, made from a table of words and the values of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from components.common.i18n import Words
from components.common.outcomes import reason_text, round_text
from components.common.phrases import begun, node_text
from engine.flow import workflow
from engine.flow.flow import END
from engine.messages import N_, NC_
from engine.model.config import WorkflowName
from engine.model.values import Comparison, Decision, RunRecord, operands

Lines = tuple[tuple[str, ...], ...]
"""Lines of facts; each is a list of wordings, longest first, of which a drawing takes the first that fits."""

_RELATIONS = MappingProxyType({"<": "<", ">=": "≥", "==": "="})
_LONGEST_QUERY = 60
PICTURE: Mapping[str, str] = MappingProxyType(
    {
        # Facts
        "search_full_text": N_("by words alone"),
        "search_fused": N_("by meaning and words"),
        "short_search_full_text": N_("by words"),
        "short_search_fused": N_("fused"),
        "kind_vector": N_("base"),
        "kind_graph": N_("entities"),
        "kind_temporal": N_("log"),
        "strategy_direct": N_("direct answer"),
        "strategy_hierarchical_search": N_("by section"),
        "strategy_direct_chunk_search": N_("by passage"),
        "strategy_web_search": N_("on the web"),
        "complexity_simple": N_("simple"),
        "complexity_single": N_("one step"),
        "complexity_multi_hop": N_("several steps"),
        "complexity_overview": N_("overview"),
        "mode_naive": N_("naive"),
        "mode_local": N_("local"),
        "mode_global": N_("global"),
        "mode_hybrid": N_("hybrid"),
        "mode_mix": N_("mix"),
        "mode_bypass": N_("bypass"),
        # Inequalities
        "quantity_pass_rate": N_("pass rate"),
        "quantity_relevant_passages": NC_("picture", "relevant passages"),
        "quantity_rewrites": N_("rewrites"),
        "quantity_elapsed_s": N_("seconds spent"),
        "quantity_candidates": NC_("picture", "candidates"),
        "quantity_unreadable": NC_("picture", "unreadable verdicts"),
        "quantity_repeated_rewrites": NC_("picture", "repeated rewrites"),
        "quantity_failed_rewrites": NC_("picture", "failed rewrites"),
        "quantity_ungraded": NC_("picture", "passages left ungraded"),
        "quantity_quality_score": N_("quality score"),
        "quantity_top3_relevance": NC_("picture", "relevance of the best three"),
        "quantity_untried_strategies": NC_("picture", "untried searches"),
        "quantity_corrections": N_("corrections"),
        "quantity_suggestions": NC_("picture", "suggestions"),
        "quantity_epoch": NC_("picture", "answers written"),
        "quantity_unreached_evaluators": NC_("picture", "evaluators without a judgement"),
        "quantity_sufficiency": NC_("picture", "sufficiency together"),
        "quantity_failed_answers": NC_("picture", "answers that failed"),
        "quantity_table_coverage": N_("covered by a table"),
        "short_pass_rate": "",
        "short_relevant_passages": N_("relevant"),
        "short_rewrites": "",
        "short_elapsed_s": NC_("picture", "seconds"),
        "short_candidates": N_("found"),
        "short_unreadable": N_("unreadable"),
        "short_repeated_rewrites": N_("repeated"),
        "short_failed_rewrites": N_("failed"),
        "short_ungraded": N_("ungraded"),
        "short_quality_score": "",
        "short_top3_relevance": N_("top 3"),
        "short_untried_strategies": N_("untried"),
        "short_corrections": "",
        "short_suggestions": N_("to fix"),
        "short_epoch": "",
        "short_unreached_evaluators": N_("unreached"),
        "short_sufficiency": N_("together"),
        "short_failed_answers": N_("failed"),
        "short_table_coverage": N_("table"),
        # Status
        "state_plain": N_("not visited"),
        "state_active": N_("working"),
        "state_passed": NC_("picture", "done"),
        "state_rewrite": NC_("picture", "done"),
        "state_forced": N_("done, the gate was not met"),
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
    """A line that ends with how passages are looked for, in full, in short or not at all; vectors need no words."""
    search = record.config.search
    plain = lines(parts)
    if search == "vector":
        return plain
    filled = [part for part in parts if part]
    named = (word(words, "search", search), word(words, "short_search", search))
    shorter = plain[0] if plain else ()
    return ((*(" · ".join([*filled, name]) for name in named), *shorter),)


def cut(text: str) -> str:
    """A query as a box may quote it."""
    text = text.strip()
    return text if len(text) <= _LONGEST_QUERY else f"{text[: _LONGEST_QUERY - 1]}…"


def duration_of(ms: float, words: Words) -> str:
    """Milliseconds or seconds with two or three figures."""
    if ms < 999.5:
        return words("{n} ms", n=f"{ms:.1f}" if ms < 10 else f"{ms:.0f}")
    return words(NC_("picture", "{n} s"), n=f"{ms / 1000:.2f}" if ms < 10000 else f"{ms / 1000:.1f}")


def chips_of(decision: Decision, count: int, taken_in: WorkflowName, words: Words) -> tuple[str, ...]:
    """Return the labels of an edge's newest decision, from long to short, and how often the edge was chosen."""
    times = f" ×{count}" if count > 1 else ""
    target = route_of(decision, taken_in, words)
    short = [comparison_text(item, words, "short") for item in decision.comparisons]
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
    named = [comparison_text(item, words, "quantity") for item in decision.comparisons]
    return words(NC_("picture", " and ")).join(named) or _reason(decision, words)


def comparison_text(item: Comparison, words: Words, kind: str) -> str:
    """One inequality with its quantity named in full, in short or, for no ``kind``, not at all."""
    left, right = operands(item)
    known = f"{kind}_{item.quantity}" in PICTURE or not kind
    name = word(words, kind, item.quantity) if known else item.quantity
    return f"{name} {left} {_RELATIONS[item.relation]} {right}".strip()


def _reason(decision: Decision, words: Words) -> str:
    return reason_text(decision.reason, words)
