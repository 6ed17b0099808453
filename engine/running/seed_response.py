"""The response of ``POST /api/self-corrective-rag`` (SC-11), made from a record, for the command line too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.model.decide import gate_warnings
from engine.model.values import Candidate, Decision, Fault, Passage, PassageId, Round, RunRecord


def seed_response(record: RunRecord) -> dict[str, Any]:
    """Camel-cased, JSON-ready; ``success`` is false where the run failed or was stopped, even with a partial answer."""
    seen = _first_seen(record)
    # A rewriter that failed left the old query in place; the warnings say so.
    rewrites = [item for item in record.rewrites if not item.failed]
    return {
        "success": record.outcome not in (None, "failed", "cancelled", "interrupted", "unanswered"),
        "answer": record.answer,
        "query": {
            "original": record.question,
            "final": record.query,
            "wasRewritten": bool(rewrites),
            "rewriteCount": len(rewrites),
        },
        "rewriteHistory": [
            {
                "round": item.round,
                "query": item.query,
                "rewrittenQuery": item.rewritten_query,
                "rewriteReason": item.reason,
                "keywords": list(item.keywords),
            }
            for item in rewrites
        ],
        "retrieval": {
            "totalDocuments": len(seen),
            "filteredDocuments": len(record.context.passages) if record.context else 0,
            "documents": [_document(record, current, candidate) for current, candidate in seen.values()],
        },
        "graderResult": _grader_result(record),
        "workflow": {
            "nodeExecutions": [
                {
                    "node": item.node,
                    "round": item.round,
                    "startMs": round(item.start_ms, 3),
                    "durationMs": round(item.duration_ms or 0.0, 3),
                    "modelCalls": item.model_calls,
                }
                for item in record.nodes
            ],
            "decisionPath": [decision_sentence(item) for item in record.decisions],
            "totalDuration": round(record.duration_ms, 3),
        },
        "runId": record.id,
        "outcome": record.outcome,
        "reason": record.reason,
        "answerNote": record.answer_note,
        "support": record.support,
        **_support(record),
        "warnings": [item.said() for item in (*record.warnings, *map(Fault.of, gate_warnings(record.config)))],
        **({"error": record.error.said()} if record.error else {}),
    }


def _support(record: RunRecord) -> dict[str, Any]:
    """What the answer rests on: sentences without support, the check of each, and what is cited."""
    return {
        "unsupportedSentences": [
            {"sentence": item.sentence, "missing": list(item.missing)} for item in record.unsupported_sentences or ()
        ],
        "checks": [
            {
                "sentence": item.sentence,
                "markers": list(item.markers),
                "pSupported": item.p_supported,
                "verifier": item.verifier,
                "kind": item.kind,
                "missing": list(item.missing),
                **({"fault": item.fault.said()} if item.fault else {}),
            }
            for item in record.checks or ()
        ],
        "citations": [
            {
                "marker": item.marker,
                "id": item.passage_id,
                "source": item.source,
                "section": item.section,
                **({"around": list(item.around)} if item.around else {}),
            }
            for item in record.citations
        ],
    }


def _first_seen(record: RunRecord) -> Mapping[PassageId, tuple[Round, Candidate]]:
    """The distinct top_k passages of all rounds, each as the first round saw it."""
    seen: dict[PassageId, tuple[Round, Candidate]] = {}
    for current in record.rounds:
        for candidate in current.candidates:
            if candidate.gate != "beyond_top_k":
                seen.setdefault(candidate.passage.id, (current, candidate))
    return seen


def _document(record: RunRecord, current: Round, candidate: Candidate) -> dict[str, Any]:
    passage = candidate.passage
    given = {item.id for item in record.context.passages} if record.context else set()
    # The newest: an unreadable verdict is asked for again in the next round.
    found = (item.verdicts[passage.id] for item in reversed(record.rounds) if passage.id in item.verdicts)
    verdict = next(found, None)
    return {
        "id": passage.id,
        "source": passage.source,
        "text": passage.text,
        "similarity": round(passage.similarity, 6),
        "rawScore": None if passage.raw_score is None else round(passage.raw_score, 6),
        **_ranks(passage),
        "round": current.index,
        "dropped": passage.id not in given,
        "relevant": verdict.relevant if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "reasoning": verdict.reason if verdict else None,
    }


def _ranks(passage: Passage) -> dict[str, Any]:
    """Return a passage's places in the lists by meaning and by words; nothing where vectors alone were searched."""
    if passage.vector_rank is None and passage.text_rank is None:
        return {}
    score = None if passage.text_score is None else round(passage.text_score, 6)
    return {"vectorRank": passage.vector_rank, "textRank": passage.text_rank, "textScore": score}


def _grader_result(record: RunRecord) -> dict[str, Any] | None:
    if not record.decisions:
        return None
    last = record.decisions[-1]
    return {
        "passRate": last.pass_rate,
        "passCount": last.passed,
        "totalCount": last.kept,
        # The gate was unmet, no matter what the budget still allowed.
        "shouldRewrite": last.reason != "passed",
        "reasoning": last.inequality,
    }


def decision_sentence(decision: Decision) -> str:
    """One line of a decision path in English, e.g. ``round 0: pass rate 0.40 < 0.60 … → rewrite``.

    A decision that compared nothing, such as a router's choice, is shown by its reason alone.
    """
    why = f"{decision.inequality} → " if decision.comparisons else ""
    return f"round {decision.round}: {why}{decision.route} ({decision.reason})"
