"""Names of the workflows, their steps and their ways of searching."""

from __future__ import annotations

from engine.messages import N_

WORKFLOW_TITLES = {
    "self_corrective": N_("Self-corrective · 4 nodes"),
    "quality_loop": N_("Quality control · 7 nodes"),
    "dual_loop": N_("Dual loop · 9 nodes"),
    "answer_evaluation": N_("Answer evaluation · 6 nodes"),
    "graph_hybrid": N_("Graph + vectors · 6 nodes"),
}

WORKFLOW_SUMMARIES = {
    "self_corrective": N_("Grades each passage, and rephrases the question while too few pass."),
    "quality_loop": N_(
        "Searches several kinds of sources, scores what came back, and rewrites while the score is low."
    ),
    "dual_loop": N_(
        "Tries one search after the other until passages help, then corrects the answer until it fits. It remembers."
    ),
    "answer_evaluation": N_("Searches as the four-node loop does, then has each answer judged and revised."),
    "graph_hybrid": N_(
        "Analyses the query, searches vectors and a knowledge graph in one of six modes, refines while too few pass."
    ),
}

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

LOOP_TABS = {
    "quality_loop": N_("Quality"),
    "dual_loop": N_("Strategies"),
    "answer_evaluation": N_("Evaluation"),
    "graph_hybrid": N_("Graph"),
}

WORKFLOW_NAMES = {
    "self_corrective": N_("Four-node loop"),
    "quality_loop": N_("Quality control"),
    "dual_loop": N_("Dual loop"),
    "answer_evaluation": N_("Answer evaluation"),
    "graph_hybrid": N_("Graph + vectors"),
}

WORKFLOW_INTRODUCTIONS = {
    "self_corrective": N_(
        "Retrieve passages, let an independent grader judge each one, rephrase the question if too few pass, and "
        "answer only from what passed. Everything that happened stays visible below."
    ),
    "quality_loop": N_(
        "A router picks among knowledge base, entity notes and study log; the lists are merged, reranked and scored "
        "on four dimensions. A low score sends a rewritten question back to the router."
    ),
    "dual_loop": N_(
        "The inner loop changes the way of searching until a passage helps; the outer loop rewrites the question "
        "until the answer fits it. Answers that passed are remembered for later questions."
    ),
    "answer_evaluation": N_(
        "Passages are found and graded as in the four-node loop. Then an evaluator judges the answer for sense and "
        "evidence, and the generator revises it until nothing is left to suggest."
    ),
    "graph_hybrid": N_(
        "The query is analysed and routed; then vectors, the neighbourhood of the entities it names and summaries of "
        "communities are searched, made one list, reranked and graded. The answer comes from the graph, the tables "
        "and the passages that passed."
    ),
}
