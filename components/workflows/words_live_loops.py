"""Words of the workflow picture for the nodes and decisions that the four-node loop does not have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.messages import N_, NC_

LOOPS: Mapping[str, str] = MappingProxyType(
    {
        # Where a decision leads
        "route_rewrite_query": N_("rewrite"),
        "route_retrieve_documents": N_("next search"),
        "route_generate_response": N_("generate"),
        "route_direct_response": N_("direct answer"),
        "route_consolidate_memory": N_("remember"),
        "route_prepare": N_("prepare"),
        "route_generate_answer": N_("write again"),
        "reason_direct": N_("no search needed"),
        "reason_search": N_("needs a search"),
        # At rest: who works there, and at what
        "role_question_router": N_("The router"),
        "role_rerank": N_("The grader"),
        "role_route_query": N_("The router"),
        "role_rewrite_query": N_("The rewriter"),
        "role_retrieve_documents": N_("The retriever"),
        "role_generate_response": N_("The generator"),
        "role_direct_response": N_("The generator"),
        "role_grade_relevance": N_("The evaluator"),
        "role_generate_answer": N_("The generator"),
        "role_eval_answer": N_("The evaluator"),
        "rest_question_router": N_("picks the sources"),
        "rest_fuse": N_("merges the lists"),
        "rest_rerank": N_("orders by relevance"),
        "rest_grade_documents": N_("judges passages"),
        "rest_retrieve_memory": N_("any earlier answer?"),
        "rest_route_query": N_("answer or search"),
        "rest_rewrite_query": N_("rephrases it"),
        "rest_retrieve_documents": N_("finds passages"),
        "rest_generate_response": N_("writes and cites"),
        "rest_direct_response": N_("needs no passages"),
        "rest_grade_relevance": N_("does it answer?"),
        "rest_consolidate_memory": N_("keeps what passed"),
        # Where the box is small
        "brief_rewrite": N_("rephrases it"),
        "brief_generate": N_("writes and cites"),
        "brief_grade": NC_("picture", "judges passages"),
        "rest_prepare": N_("gathers the context"),
        "rest_generate_answer": N_("writes and cites"),
        "rest_eval_answer": N_("sense and evidence"),
        # While they work
        "doing_question_router": N_("The router is choosing the sources"),
        "doing_fuse": N_("The lists are being merged"),
        "doing_grade_documents": N_("The quality of the passages is being checked"),
        "doing_retrieve_memory": N_("Earlier answers are being looked up"),
        "doing_route_query": N_("The router is choosing between answer and search"),
        "doing_rewrite_query": N_("The rewriter is rephrasing the question"),
        "doing_retrieve_documents": N_("The retriever is looking for passages"),
        "doing_generate_response": N_("The generator is writing the answer"),
        "doing_direct_response": N_("The generator is answering without a search"),
        "doing_grade_relevance": N_("The evaluator is checking the answer"),
        "doing_consolidate_memory": N_("The answer is being kept"),
        "doing_prepare": N_("The context is being gathered"),
        "doing_generate_answer": N_("The generator is writing the answer"),
        "doing_eval_answer": N_("The evaluator is judging the answer"),
        # Facts
        "kind_vector": N_("base"),
        "kind_graph": N_("entities"),
        "kind_temporal": N_("log"),
        "strategy_direct": N_("direct answer"),
        "strategy_hierarchical_search": N_("by section"),
        "strategy_direct_chunk_search": N_("by passage"),
        "strategy_web_search": N_("on the web"),
        # Inequalities
        "quantity_quality_score": N_("quality score"),
        "quantity_top3_relevance": NC_("picture", "relevance of the best three"),
        "quantity_untried_strategies": NC_("picture", "untried searches"),
        "quantity_corrections": N_("corrections"),
        "quantity_suggestions": NC_("picture", "suggestions"),
        "quantity_epoch": NC_("picture", "answers written"),
        "quantity_unreached_evaluators": NC_("picture", "evaluators without a judgement"),
        "quantity_failed_answers": NC_("picture", "answers that failed"),
        "short_quality_score": "",
        "short_top3_relevance": N_("top 3"),
        "short_untried_strategies": N_("untried"),
        "short_corrections": "",
        "short_suggestions": N_("to fix"),
        "short_epoch": "",
        "short_unreached_evaluators": N_("unreached"),
        "short_failed_answers": N_("failed"),
    }
)
