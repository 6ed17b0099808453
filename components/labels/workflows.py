"""Names of the steps of workflows and of their ways of searching."""

from __future__ import annotations

from engine.messages import N_

STRATEGY_NAMES = {
    "hierarchical_search": N_("hierarchical search"),
    "direct_chunk_search": N_("direct passage search"),
    "web_search": N_("web search"),
}

NODE_NAMES = {
    "retrieve": N_("Retrieve"),
    "grade": N_("Grade"),
    "rewrite": N_("Rewrite"),
    "generate": N_("Generate"),
    "question_router": N_("Route"),
    "fuse": N_("Fuse"),
    "rerank": N_("Rerank"),
    "grade_documents": N_("Grade"),
    "retrieve_memory": N_("Recall"),
    "route_query": N_("Choose route"),
    "rewrite_query": N_("Rewrite"),
    "retrieve_documents": N_("Retrieve"),
    "generate_response": N_("Generate"),
    "direct_response": N_("Direct answer"),
    "grade_relevance": N_("Grade answer"),
    "consolidate_memory": N_("Remember"),
    "prepare": N_("Prepare"),
    "generate_answer": N_("Generate"),
    "eval_answer": N_("Evaluate"),
    "end": N_("End"),
    "analyze_query": N_("Analyse"),
    "refine_query": N_("Refine"),
}
