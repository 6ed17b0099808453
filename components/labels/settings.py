"""Names and explanations of the settings of a run, and names of their options."""

from __future__ import annotations

from collections.abc import Mapping

from components.labels.workflows import WORKFLOW_TITLES
from engine.messages import N_, NC_

SETTING_NAMES = {
    "workflow": N_("Workflow"),
    "collection": N_("Collection"),
    "search": N_("Search"),
    "top_k": N_("Top-k"),
    "similarity_threshold": N_("Similarity at least"),
    "grade_pass_threshold": N_("Pass rate at least"),
    "max_rewrites": N_("Rewrites at most"),
    "gate": NC_("setting", "Gate"),
    "min_relevant": N_("Passages that must pass"),
    "models": N_("Models"),
    "context": N_("Passages for the answer"),
    "min_confidence": N_("P(relevant) at least"),
    "probe_k": N_("Candidates looked at"),
    "budget_s": N_("Time budget, seconds"),
    "answer_unverified": N_("Answer even if nothing passed"),
    "grade_probe": N_("Grade all candidates"),
    "ignore_cache": N_("Ignore stored verdicts"),
    "num_ctx": N_("Context, tokens (num_ctx)"),
    "temperature": N_("Temperature"),
    "coverage_weight": N_("Study log"),
    "relevance_weight": N_("Relevance"),
    "diversity_weight": N_("Kinds of sources"),
    "count_weight": N_("Number of passages"),
    "grade_on": N_("Grade on"),
    "medium_score": N_("Medium from"),
    "high_score": N_("High from"),
    "max_corrections": N_("Corrections at most"),
    "memory": N_("Long-term memory"),
    "web_search": N_("Search the web too"),
    "gener_epoch": N_("Answers at most"),
    "mode": N_("Mode"),
    "mode_from": N_("Who picks the mode"),
    "hops": N_("Hops"),
    "max_entities": N_("Entities to begin from"),
    "max_communities": NC_("setting", "Communities"),
    "graph_weight": N_("Share of the graph"),
    "graph_threshold": N_("Graph score at least"),
    "rerank": N_("Rerank"),
    "rerank_k": N_("Reranked at most"),
    "rerank_threshold": N_("Rerank score at least"),
    "duplicate_threshold": N_("Duplicate from"),
    "freshness_weight": N_("Weight of newness"),
    "context_tokens": N_("Context, tokens"),
    "refine": N_("Cut passages to what bears"),
    "sentence_threshold": N_("Bearing at least"),
    "tables_only": N_("Attached tables alone"),
    "answer_directly": N_("Answer simple queries directly"),
}

SETTING_HELPS = {
    "collection": N_("What is searched. Add your own files on the Knowledge page."),
    "search": N_(
        "By meaning (vectors) finds what says the same in other words. By words (BM25) finds exact names, numbers and "
        "terms. Both merges the two lists by reciprocal rank, so that what either puts first comes early. Usual: by "
        "meaning; both where questions hold names, codes or rare terms."
    ),
    "top_k": N_(
        "How many of the best candidates may be kept and graded. More finds more and costs more grading. Usual: 5–10."
    ),
    "similarity_threshold": N_(
        "Candidates less similar than this are dropped before grading, and stay visible with their margin. 0 is "
        "unrelated text, a right passage is usually near 0.5. It is about meaning also where words decide the order. "
        "Usual: 0.30–0.50."
    ),
    "grade_pass_threshold": N_(
        "Share of kept passages that must pass the grader; below it the question is rewritten. Usual: 0.40–0.80."
    ),
    "max_rewrites": N_(
        "How often the question may be rephrased and searched again. Each one adds a full round. Usual: 2–3."
    ),
    "gate": N_(
        "When to stop searching: when a share of the kept passages passed, or as soon as n passages passed. Where one "
        "passage holds the answer, a pass rate of 0.60 cannot be met while five are kept."
    ),
    "min_relevant": N_("Distinct passages that passed, over all rounds when the context is their union."),
    "context": N_("Passed passages of all rounds together, or of the last round alone."),
    "min_confidence": N_("A passage passes when the grader's probability that it is relevant reaches this."),
    "probe_k": N_("How deep the search looks. What lies beyond top-k is not graded but stays visible."),
    "budget_s": N_("After it, no further search: one answer is made from what there is."),
    "answer_unverified": N_("Uses the best unverified passages; the answer is then marked as unverified."),
    "grade_probe": N_("Also grades what the gates dropped: costs more, shows more."),
    "ignore_cache": N_("Asks a chat model again even where the same verdict is stored."),
    "num_ctx": N_(
        "How much a model of Ollama reads at once. A prompt that does not fit is refused; more needs more memory. "
        "Usual: 8192."
    ),
    "temperature": N_("0 gives the same reply each time; more varies the wording, and verdicts with it. Usual: 0."),
    "coverage_weight": N_("Share of passages from the dated study log, where weak points are noted. Usual: 0.40."),
    "relevance_weight": N_("Mean probability that a passage is relevant, as the grader sees it. Usual: 0.30."),
    "diversity_weight": N_("How many of the three kinds of sources the passages come from. Usual: 0.20."),
    "count_weight": N_("How many passages there are; twenty count in full. Usual: 0.10."),
    "grade_on": N_(
        "Which number is graded: the weighted score, or the mean relevance of the three best passages. Both are "
        "computed and shown."
    ),
    "medium_score": N_("A lower score is graded low, and the question is rewritten. Usual: 0.50."),
    "high_score": N_("A score from here on is graded high. It is never below medium. Usual: 0.70."),
    "max_corrections": N_(
        "How often an answer that misses the question may be corrected. Each one is a whole pass with a new search. "
        "Usual: 2."
    ),
    "memory": N_(
        "Recalls earlier answers of this collection that passed, and keeps this one. Knowledge → Memory lists them."
    ),
    "web_search": N_(
        "The last of the searches, where nothing local helped. What the web says is treated as untrusted text."
    ),
    "gener_epoch": N_(
        "How many answers may be written, the first included. Each is judged; the last stands. Usual: 3."
    ),
    "mode": N_(
        "Where passages are looked for. A mode that cannot do its own work (no graph, no entity found) says so. "
        "Usual: mix."
    ),
    "mode_from": N_(
        "The analysis of the query suggests a mode; it may pick it too. The choice above then counts where it "
        "suggests none."
    ),
    "hops": N_("How many relationships away from the entities of the query the search may go. Usual: 1–2."),
    "max_entities": N_("Entities of the query that a search begins from, at most. Usual: 5–10."),
    "max_communities": N_("How many of the nearest community summaries a global search looks inside. Usual: 2–5."),
    "graph_weight": N_("In mix: what the graph counts in the order; the rest is the vectors'. Usual: 0.30–0.70."),
    "graph_threshold": N_(
        "What the graph found is cut by this, and not by its similarity: the second step of a chain is seldom like "
        "the question. 0 cuts nothing."
    ),
    "rerank": N_(
        "Whether the best passages are reranked against the question: in hybrid and mix alone, always, or never."
    ),
    "rerank_k": N_("How many of the best passages are reranked. Usual: 10–30."),
    "rerank_threshold": N_("Passages reranked below this are dropped. 0 cuts nothing."),
    "duplicate_threshold": N_(
        "A passage this much like a better one goes below all that repeat nothing. Usual: 0.80–0.95."
    ),
    "freshness_weight": N_(
        "What being the newest dated passage counts in the order, against 1 for relevance. Usual: 0–0.30."
    ),
    "context_tokens": N_(
        "Budget for graph, tables and passages together; never more than the generator takes. Usual: 1000–4000."
    ),
    "refine": N_(
        "Leaves out sentences that do not bear on the question before the answer is written. Citations still point to "
        "the whole passage."
    ),
    "sentence_threshold": N_(
        "Sentences that bear less than this on the question are left out; at least one of a passage stays. Usual: "
        "0.20–0.50."
    ),
    "tables_only": N_("A question with tables is answered from them alone; the collection is not searched."),
    "answer_directly": N_("Small talk and the like need no search."),
}

MODEL_ROLES = {
    "grader": N_("Grader"),
    "rewriter": N_("Rewriter"),
    "generator": N_("Generator"),
    "evaluator": N_("Evaluator"),
    "router": N_("Router"),
    "reranker": N_("Reranker"),
}

MODE_SUMMARIES = {
    "naive": N_("Vectors alone; the graph is not looked at."),
    "local": N_("Entities of the query and their neighbourhood: precise where the question names things."),
    "global": N_("Summaries of communities: broad, for questions about the whole."),
    "hybrid": N_("Local and global at once, merged and reranked."),
    "mix": N_("Graph and vectors together, reranked: the usual choice."),
    "bypass": N_("No search: answered without passages, so nothing is graded or cited."),
}

PRESET_NAMES = {
    "lenient": N_("Lenient"),
    "balanced": N_("Balanced"),
    "strict": N_("Strict"),
}

SETTING_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "workflow": WORKFLOW_TITLES,
    "gate": {
        "pass_rate": NC_("setting", "Pass rate"),
        "min_relevant": N_("At least n passages"),
    },
    "context": {
        "union": NC_("setting", "All rounds"),
        "last_round": N_("Last round"),
    },
    "grade_on": {
        "weighted": N_("Weighted score"),
        "top3": N_("Best three"),
    },
    "mode": {
        "naive": N_("Naive"),
        "local": N_("Local"),
        "global": N_("Global"),
        "hybrid": N_("Hybrid"),
        "mix": N_("Mix"),
        "bypass": N_("Bypass"),
    },
    "mode_from": {
        "config": N_("You"),
        "analysis": N_("The analysis"),
    },
    "rerank": {
        "by_mode": N_("By mode"),
        "always": N_("Always"),
        "never": N_("Never"),
    },
    "search": {
        "vector": N_("by meaning"),
        "full_text": N_("by words"),
        "fused": N_("both"),
    },
}
"""Names of the options of each setting that is a choice."""
