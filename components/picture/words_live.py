"""What the workflow picture calls the codes of a run: routes, reasons, quantities, states and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.workflows.words_live_graph import GRAPH
from components.workflows.words_live_loops import LOOPS
from engine.messages import N_, NC_

_FOUR_NODES: Mapping[str, str] = {
    # Where a decision leads
    "route_retrieve": N_("retrieve"),
    "route_grade": N_("grade"),
    "route_rewrite": N_("rewrite"),
    "route_generate": N_("generate"),
    "route_end": N_("end"),
    # At rest
    "role_retrieve": N_("The retriever"),
    "role_grade": N_("The grader"),
    "role_rewrite": N_("The rewriter"),
    "role_generate": N_("The generator"),
    "rest_retrieve": N_("finds passages"),
    "rest_grade": N_("judges each passage"),
    "rest_rewrite": N_("rephrases the question"),
    "rest_generate": N_("writes, with citations"),
    # Facts
    "search_full_text": N_("by words alone"),
    "short_search_full_text": N_("by words"),
    "search_fused": N_("by meaning and words"),
    "short_search_fused": N_("fused"),
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
    "short_pass_rate": "",
    "short_relevant_passages": N_("relevant"),
    "short_rewrites": "",
    "short_elapsed_s": NC_("picture", "seconds"),
    "short_candidates": N_("found"),
    "short_unreadable": N_("unreadable"),
    "short_repeated_rewrites": N_("repeated"),
    "short_failed_rewrites": N_("failed"),
    "short_ungraded": N_("ungraded"),
    # Status
    "state_plain": N_("not visited"),
    "state_active": N_("working"),
    "state_passed": NC_("picture", "done"),
    "state_rewrite": NC_("picture", "done"),
    "state_forced": N_("done, the gate was not met"),
    "state_fault": N_("failed"),
    "state_stopped": N_("stopped"),
    "doing_retrieve": N_("The retriever is looking for passages"),
    "doing_rewrite": N_("The rewriter is rephrasing the question"),
    "doing_generate": N_("The generator is writing the answer"),
    "outcome_cannot_tell": N_("Says it cannot tell"),
    "outcome_uncited": N_("{outcome}, uncited"),
    "outcome_answered": N_("Answered"),
    "outcome_answered_forced": N_("Answered below the bar"),
    "outcome_answered_unverified": N_("Answered from unverified passages"),
    "outcome_abstained": N_("No passage helped, and the answer says so"),
    "outcome_fallback": N_("Ended without an answer"),
    "outcome_cancelled": N_("Stopped"),
    "outcome_failed": N_("Failed"),
    "outcome_interrupted": NC_("picture", "Interrupted"),
}
PICTURE: Mapping[str, str] = MappingProxyType({**_FOUR_NODES, **LOOPS, **GRAPH})
"""Messages by kind and code, such as ``route_retrieve``; an empty one says that a code goes without a name."""
