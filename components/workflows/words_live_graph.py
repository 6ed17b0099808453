"""Words of the workflow picture for graph + vector retrieval; as in ``words_live_loops``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.messages import N_

GRAPH: Mapping[str, str] = MappingProxyType(
    {
        "route_generate_answer_from_grade_documents": N_("generate"),
        "route_generate_answer_from_route_query": N_("generate"),
        "route_refine_query": N_("refine"),
        "reason_bypass": N_("no search in this mode"),
        "reason_simple": N_("simple: no search"),
        "reason_tables_only": N_("attached tables alone"),
        "reason_table_answers": N_("a table answers"),
        "quantity_table_coverage": N_("covered by a table"),
        "short_table_coverage": N_("table"),
        "reason_needs_search": N_("needs a search"),
        "role_analyze_query": N_("The analyst"),
        "role_refine_query": N_("The rewriter"),
        "rest_analyze_query": N_("entities and intent"),
        "rest_refine_query": N_("rephrases it"),
        "doing_analyze_query": N_("The query is being analysed"),
        "doing_refine_query": N_("The rewriter is rephrasing the question"),
        # Facts
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
    }
)
