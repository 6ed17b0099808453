"""The grade_documents step: the quality of the round, and where it leads (QL-01, QL-02, QL-05)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.flow.context import NodeTrace, RunContext
from engine.model.decide import Evidence
from engine.model.events import Decided, QualityChecked
from engine.model.values import Round
from engine.workflows.quality_loop.policy import check_quality, decide_quality


async def grade_documents(state: Mapping[str, Any], run: RunContext, trace: NodeTrace) -> dict[str, Any]:
    """Check the round that was reranked and decide; nothing outside is asked."""
    rounds: tuple[Round, ...] = state["rounds"]
    check = check_quality(rounds[-1], run.config)
    run.emit(QualityChecked(round=rounds[-1].index, check=check))
    rounds = (*rounds[:-1], replace(rounds[-1], quality=check))
    last = state["rewrites"][-1] if state.get("rewrites") else None
    decision = decide_quality(
        Evidence(
            rounds=rounds,
            elapsed_s=run.clock.elapsed_s(),
            repeated_rewrite=bool(last and last.repeated),
            rewriter_failed=bool(last and last.failed),
            grader_unavailable=bool(state.get("reranker_unavailable")),
        ),
        run.config,
    )
    run.emit(Decided(decision=decision))
    return {
        "rounds": rounds,
        "decision": decision,
        "quality_grade": check.routing_grade,
        "quality_score": check.routing_score,
        "quality_issues": check.issues,
    }
