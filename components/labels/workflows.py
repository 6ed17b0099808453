"""Names of the ways of searching."""

from __future__ import annotations

from engine.messages import N_

STRATEGY_NAMES = {
    "hierarchical_search": N_("hierarchical search"),
    "direct_chunk_search": N_("direct passage search"),
    "web_search": N_("web search"),
}

STRATEGY_PHRASES = {
    "hierarchical_search": N_("a search from summaries down to passages"),
    "direct_chunk_search": N_("a search of the passages themselves"),
    "web_search": N_("a web search"),
}
