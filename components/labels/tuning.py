"""Names of what the page Tune measures."""

from __future__ import annotations

from engine.messages import N_, NC_

MEASURE_NAMES = {
    "answered_right": N_("answered right"),
    "wrong_given": N_("wrong among answers given"),
    "exact_match": N_("exact match with a gold answer"),
    "f1": N_("F1 with a gold answer"),
    "containment": N_("gold answer contained"),
    "citation_precision": N_("citation precision"),
    "citation_recall": N_("citation recall"),
    "claim_recall": N_("claim recall (judge)"),
    "faithfulness": N_("faithfulness (judge)"),
    "quality": N_("found and answered"),
    "context_hit": N_("right passage in context"),
    "context_hit_all": N_("all right passages in context"),
    "recall": N_("recall of the kept passages"),
    "rr": N_("reciprocal rank (MRR)"),
    "ndcg": N_("nDCG of the kept passages"),
    "pass_rate": N_("pass rate of the last round"),
    "rewrites": N_("rewrites"),
    "calls": N_("calls of chat models"),
    "built_in_calls": N_("built-in model steps"),
    "steps": N_("model steps"),
    "seconds": NC_("tuning", "time"),
    "false_rewrites": N_("rewrites wasted"),
    "missed_rewrites": N_("rewrites missed"),
    "grader_precision": N_("grader precision"),
    "grader_recall": N_("grader recall"),
    "refused_unanswerable": N_("unanswerable refused"),
    "answered_answerable": N_("answerable answered"),
    "refused_answerable": N_("answerable refused"),
}

VERDICTS = {
    "better": N_("better"),
    "worse": N_("worse"),
    "cheaper": N_("cheaper"),
    "dearer": N_("dearer"),
    "same": N_("same"),
    "unknown": N_("unknown"),
    "not_distinguishable": N_("not distinguishable"),
}
