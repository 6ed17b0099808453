"""The quality-control loop: question_router → retrieve → fuse → rerank → grade_documents → (rewrite …) | generate.

QL-01 … QL-08. A rewrite leads back to the router, so that what it asks for changes what is searched.
"""

from __future__ import annotations

from dataclasses import replace

from engine.flow.declaration import OF_CASCADE, Workflow, chat_calls
from engine.flow.flow import END, Flow, Node, RunState
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.later import later
from engine.model.values import SOURCE_KINDS, Candidate, Outcome, QualityGrade, QualityIssue, Routing, RunRecord
from engine.workflows.quality_loop import steps
from engine.workflows.quality_loop.options import QualityOptions
from engine.workflows.quality_loop.policy import outcome_of
from engine.workflows.steps import nodes


class QualityState(RunState, total=False):
    """The shared state with the names of the loop's own schema (QL-05)."""

    routing: Routing
    """Of the coming round."""
    fused_results: tuple[Candidate, ...]
    quality_grade: QualityGrade
    quality_score: float
    """The score that routes, in [0, 1]."""
    quality_issues: tuple[QualityIssue, ...]
    retry_count: int
    original_queries: tuple[str, ...]
    """Every query that was rewritten, oldest first."""
    reranker_unavailable: bool
    """The reranker could not be reached in the newest round, after passages had passed."""


def initial_state(question: str) -> QualityState:
    """Nothing searched, nothing scored."""
    return QualityState(
        question=question,
        query=question,
        rounds=(),
        rewrites=(),
        fused_results=(),
        quality_grade="low",
        quality_score=0.0,
        quality_issues=(),
        retry_count=0,
        original_queries=(),
    )


def most_calls(config: RunConfig) -> int:
    """Routings, judgements, rewrites with the one retry that a repeated query gets, and the answer."""
    rounds = config.max_rewrites + 1
    judged = config.fetch_k * len(SOURCE_KINDS) if config.grade_probe else config.top_k
    return chat_calls(
        config, {"router": rounds, "grader": judged * rounds, "rewriter": 2 * config.max_rewrites, "generator": 1}
    )


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """Return the outcome by the last decision and by what the generator was given."""
    assert record.context is not None
    last = record.decisions[-1]
    return outcome_of(last, record.context), last.reason


WORKFLOW = Workflow(
    id="quality_loop",
    name=N_("Quality control"),
    title=N_("Quality control · 7 nodes"),
    summary=N_("Searches several kinds of sources, scores what came back, and rewrites while the score is low."),
    introduction=N_(
        "A router picks among knowledge base, entity notes and study log; the lists are merged, reranked and scored "
        "on four dimensions. A low score sends a rewritten question back to the router. The score measures how wide "
        "a round searched, not whether it can answer: rewrites raise it for unanswerable questions too."
    ),
    # Its score is a mean of P(relevant), which the P of two graders would make no sense of.
    unused=("gate", "grade_pass_threshold", "min_relevant", "needs_whole", "split", "translate", *OF_CASCADE),
    # QL-01, QL-05
    defaults={"top_k": 10, "max_rewrites": 2, "budget_s": 10.0},
    options=QualityOptions,
    # QL-04
    temperatures={"rewriter": 0.3},
    samples={
        "en": (
            ("dm-en-12", ""),
            ("dc-en-13", ""),
            ("How are equivalence relations and partitions related?", "sources"),
            ("dm-en-11", "sources"),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("dm-zh-13", ""),
            ("dm-zh-12", ""),
            ("等价关系与划分有什么关系？", "sources"),
            ("我在量词方面有哪些薄弱点？", "sources"),
            ("dc-zh-17", ""),
        ),
    },
    measures=("quality", "similarity"),
    tab=N_("Quality"),
    drawn_by="components.workflows.quality_loop",
    flow=Flow(
        state=QualityState,
        nodes={
            "question_router": Node(
                step=steps.question_router,
                name=N_("Route"),
                kind="route",
                who=N_("The router"),
                work=N_("picks the sources"),
                doing=N_("The router is choosing the sources"),
                tab="loop",
            ),
            "retrieve": replace(nodes.RETRIEVE, step=steps.retrieve),
            "fuse": Node(
                step=steps.fuse_lists,
                name=N_("Fuse"),
                work=N_("merges the lists"),
                doing=N_("The lists are being merged"),
                tab="passages",
            ),
            "rerank": Node(
                step=steps.rerank,
                name=N_("Rerank"),
                kind="grade",
                who=N_("The grader"),
                work=N_("orders by relevance"),
                tab="passages",
            ),
            "grade_documents": replace(
                nodes.grade_documents(steps.grade_documents), doing=N_("The quality of the passages is being checked")
            ),
            "rewrite": replace(nodes.REWRITE, step=steps.rewrite),
            "generate": replace(nodes.GENERATE, step=steps.generate),
        },
        ways={
            "question_router": "retrieve",
            "retrieve": "fuse",
            "fuse": "rerank",
            "rerank": "grade_documents",
            "grade_documents": ("rewrite", "generate", END),
            "rewrite": "question_router",
            "generate": END,
        },
        gate="grade_documents",
    ),
    initial_state=initial_state,
    most_calls=most_calls,
    ending=ending,
    make_roles=later("engine.workflows.quality_loop.build_roles:quality_roles"),
    prompts={
        "router": "engine.llm.source_router:SOURCE_ROUTER_PROMPT_VERSION",
        "rewriter": "engine.llm.quality_rewriter:QUALITY_REWRITER_PROMPT_VERSION",
    },
    replay=later("engine.workflows.quality_loop.replay:QualityReplay"),
    numbers_tried=("similarity_threshold", "top_k", "max_rewrites", "min_confidence"),
    warnings_before=later("engine.workflows.quality_loop.build_roles:warned_of_bar"),
)
