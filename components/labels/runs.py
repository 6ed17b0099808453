"""Names of what a run says by a code: roles, lists, kinds of sources, grades and how it ended."""

from __future__ import annotations

from engine.messages import N_, NC_

GRADE_NAMES = {
    "high": N_("high"),
    "medium": N_("medium"),
    "low": N_("low"),
}

SOURCE_KIND_NAMES = {
    "vector": N_("knowledge base"),
    "graph": N_("entities and relations"),
    "temporal": N_("dated history"),
    "web": N_("web · untrusted"),
}

SIDE_NAMES = {
    "a": N_("Run A"),
    "b": N_("Run B"),
}

GATE_STEPS = {
    "kept": NC_("life-line", "kept"),
    "below_threshold": N_("dropped: threshold"),
    "beyond_top_k": N_("dropped: top-k"),
    "below_graph": N_("dropped: graph score"),
    "below_rerank": N_("dropped: rerank score"),
}

GRAPH_LISTS = {
    "vector": N_("Vectors"),
    "local": N_("Entities"),
    "global": N_("Communities"),
    "near": N_("Nearest"),
    "attachment": N_("Attachment"),
}

VARIED_SETTINGS = {
    "similarity_threshold": N_("similarity"),
    "grade_pass_threshold": N_("pass rate"),
    "top_k": N_("top-k"),
    "max_rewrites": N_("rewrites"),
    "min_confidence": N_("P(relevant)"),
    "min_relevant": N_("passages"),
    "gate": NC_("setting", "gate"),
}

ENDS_AT_ROUND = {
    "answered": N_("answered at round {round}"),
    "answered_forced": N_("answered below the bar after round {round}"),
    "answered_unverified": N_("unverified answer after round {round}"),
    "abstained": N_("abstained after round {round}"),
    "fallback": N_("no answer after round {round}"),
    "failed": N_("failed at round {round}"),
}

COMPLEXITIES = {
    "simple": N_("a simple query"),
    "single": N_("a question of one step"),
    "multi_hop": N_("a question of several steps"),
    "overview": N_("a question about the whole"),
}

LIST_NAMES = {
    "vector": N_("vectors"),
    "local": N_("neighbourhood"),
    "global": N_("communities"),
    "near": N_("nearest"),
    "attachment": N_("attachment"),
}

MODE_NOTES = {
    "no_graph": N_("This collection has no knowledge graph, which the search needs ({list})."),
    "no_entity": N_("The query names no entity of the graph, so there is no neighbourhood to search."),
    "no_passages": N_("What the graph led to has no passages here ({list})."),
    "no_communities": N_("The graph has no communities, so there are no summaries to search."),
    "graph_unfinished": N_("The graph is still being built: what it gave may be incomplete ({list})."),
    "graph_stale": N_(
        "The collection has changed since its graph was built: what it gave may be out of date ({list})."
    ),
    "graph_unreachable": N_(
        "The graph could not be reached, or not read in time: {list} was left out. The next question may find it."
    ),
}

MESSAGE_ROLES = {
    "system": N_("System message"),
    "user": N_("User message"),
    "assistant": N_("Assistant message"),
}

DEMO_NAMES = {
    "passes": N_("Passes at once"),
    "noise": N_("Noise filtered"),
    "rescue": N_("Rewrite rescues"),
    "forced": N_("Answered below the bar"),
    "abstains": N_("Honest abstention"),
    "quality": N_("Quality rises"),
    "correction": N_("Answer corrected"),
    "revision": N_("Answer revised"),
    "chain": N_("Graph joins passages"),
}

SPAN_NAMES = {
    "visit": N_("step"),
    "rewrite": N_("rewrite"),
    "chat": N_("model call"),
    "built_in": N_("built-in step"),
    "cached": N_("from cache"),
    "fault": N_("error"),
}

WEB_PASSAGE = N_(
    "From a web search: anybody may have written it. It is shown as plain text, and its address is no link."
)
"""What a passage of the web is."""

NOTHING_FOUND = N_(
    "The search found nothing: the collection holds no passages. Add sources to it, or choose another one."
)

UNREADABLE_GRADER = N_("Not one reply of the grader could be read, so the run ends here.")
