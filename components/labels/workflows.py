"""Names of the ways of searching."""

from __future__ import annotations

from engine.messages import N_

STRATEGY_NAMES = {
    "hierarchical_search": N_("hierarchical search"),
    "direct_chunk_search": N_("direct passage search"),
    "web_search": N_("web search"),
}
