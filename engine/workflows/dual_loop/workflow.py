"""The dual loop: search strategies in turn within, corrections of the answer around them (DL-01)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from engine.flow.declaration import Workflow, judged_a_round, screenings_a_passage
from engine.flow.flow import END, Flow, Node, RunState
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.cost import Cost
from engine.model.later import later
from engine.model.values import STRATEGIES, Context, Draft, Outcome, Passage, Recall, RunRecord, Strategy, TriedRoute
from engine.workflows.dual_loop.options import DualLoopOptions, dual_options
from engine.workflows.dual_loop.policy import MOST_RECALLED, outcome_of
from engine.workflows.dual_loop.steps.answers import direct_response, generate_response, grade_relevance
from engine.workflows.dual_loop.steps.documents import grade_documents, retrieve_documents, rewrite_query, route_query
from engine.workflows.dual_loop.steps.memory import consolidate_memory, retrieve_memory
from engine.workflows.steps import nodes


class DualState(RunState, total=False):
    recall: Recall
    route: Literal["direct"] | Strategy
    """How the coming search is done; ``direct`` where the run begins with an answer."""
    skipped: Mapping[Strategy, str]
    """Strategies that cannot be used in this run, each with the reason why."""
    tried_routes: tuple[TriedRoute, ...]
    """Of the present pass of the outer loop."""
    documents: tuple[Passage, ...]
    """Passages of the newest round that passed."""
    documents_are_relevant: bool
    updated_query: str
    """What is searched: the question as asked, or as the newest rewrite has it."""
    response: str
    is_relevant: bool
    correction_attempts: int
    drafts: tuple[Draft, ...]
    contexts: tuple[Context, ...]
    """What each draft was written from."""
    writer_failed: bool
    """Whether the newest pass brought no answer."""


def initial_state(question: str) -> DualState:
    return DualState(
        question=question,
        query=question,
        updated_query=question,
        rounds=(),
        rewrites=(),
        tried_routes=(),
        documents=(),
        documents_are_relevant=False,
        response="",
        is_relevant=False,
        correction_attempts=0,
        drafts=(),
        contexts=(),
        writer_failed=False,
    )


def most_steps(config: RunConfig) -> int:
    """Steps a run can take at most: two before the loops, in each pass a rewrite, every strategy, answer and judgement.

    One for remembering and one to spare (SC-13, DL-04).
    """
    per_pass = 1 + 2 * len(STRATEGIES) + 2
    return 2 + per_pass * (dual_options(config).max_corrections + 1) + 2


def most_calls(config: RunConfig) -> int:
    """Chat-model calls of the longest possible run, retries apart but for the rewriter's own."""
    options, models = dual_options(config), config.models
    passes = options.max_corrections + 1
    searches = len(STRATEGIES) if options.web_search else len(STRATEGIES) - 1
    calls = 0 if models.router.built_in else 1
    calls += 0 if models.rewriter.built_in else 1 + 2 * options.max_corrections
    graded = judged_a_round(config) * searches * passes
    calls += 0 if models.grader.in_process else graded + MOST_RECALLED * options.memory
    calls += 0 if models.screener.in_process else graded * screenings_a_passage(config)
    # One more puts into words what is remembered.
    calls += 0 if models.generator.built_in else passes + options.memory
    return calls + (0 if models.evaluator.built_in else passes)


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """Return the outcome by the last decision, by whether there is an answer, and by whether a search failed."""
    last = record.decisions[-1]
    return outcome_of(last, record.drafts, record.tried_routes), last.reason


def passes(prices: Any, config: RunConfig, count: int) -> Cost:
    """Return the worst cost of passes: a rewrite, every strategy, an answer and its evaluation each."""
    strategies = sum(strategy != "web_search" or dual_options(config).web_search for strategy in STRATEGIES)
    searches = prices.round(config) * strategies
    price: Cost = (prices.rewriting + searches + prices.generation + prices.evaluation) * count
    return price


def longest_run(prices: Any, config: RunConfig) -> Cost:
    """Return the worst cost of a run, in which every correction is made."""
    price: Cost = prices.routing + passes(prices, config, dual_options(config).max_corrections + 1) + prices.checks
    return price


WORKFLOW = Workflow(
    id="dual_loop",
    name=N_("Dual loop"),
    title=N_("Dual loop · 9 nodes"),
    summary=N_(
        "Tries one search after the other until passages help, then corrects the answer until it fits. It remembers."
    ),
    introduction=N_(
        "The inner loop changes the way of searching until a passage helps; the outer loop rewrites the question "
        "until the answer fits it. Answers that passed are remembered for later questions."
    ),
    unused=(
        "gate",
        "grade_pass_threshold",
        "min_relevant",
        "needs_whole",
        "split",
        "translate",
        "max_rewrites",
        "answer_unverified",
        "refine",
        "sentence_threshold",
    ),
    options=DualLoopOptions,
    corrected_by=("max_corrections", 0),
    samples={
        "en": (
            ("dm-en-06", ""),
            ("Give me an overview of graph theory.", "overview"),
            ("Hello, what can you do?", "direct"),
            ("dc-en-07", ""),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("dm-zh-01", ""),
            ("请概述糖尿病的类型。", "overview"),
            ("你好，你能做什么？", "direct"),
            ("dc-zh-07", ""),
            ("dc-zh-17", ""),
        ),
    },
    remembers=True,
    measures=("pass_rate", "suggestions"),
    tab=N_("Strategies"),
    drawn_by="components.workflows.dual_loop",
    flow=Flow(
        state=DualState,
        nodes={
            "retrieve_memory": Node(
                step=retrieve_memory,
                name=N_("Recall"),
                work=N_("any earlier answer?"),
                doing=N_("Earlier answers are being looked up"),
                tab="loop",
            ),
            "route_query": nodes.route(route_query),
            "rewrite_query": replace(nodes.REWRITE, step=rewrite_query, work=N_("rephrases it"), brief=""),
            "retrieve_documents": replace(nodes.RETRIEVE, step=retrieve_documents, lead=N_("next search"), tab="loop"),
            "grade_documents": nodes.grade_documents(grade_documents),
            "generate_response": nodes.answer(generate_response),
            "direct_response": Node(
                step=direct_response,
                name=N_("Direct answer"),
                kind="answer",
                who=N_("The generator"),
                work=N_("needs no passages"),
                doing=N_("The generator is answering without a search"),
                lead=N_("direct answer"),
                tab="loop",
            ),
            "grade_relevance": Node(
                step=grade_relevance,
                name=N_("Grade answer"),
                kind="evaluate",
                who=N_("The evaluator"),
                work=N_("does it answer?"),
                doing=N_("The evaluator is checking the answer"),
                tab="loop",
            ),
            "consolidate_memory": Node(
                step=consolidate_memory,
                name=N_("Remember"),
                work=N_("keeps what passed"),
                doing=N_("The answer is being kept"),
                lead=N_("remember"),
                tab="loop",
            ),
        },
        ways={
            "retrieve_memory": "route_query",
            "route_query": ("direct_response", "rewrite_query"),
            "rewrite_query": "retrieve_documents",
            "retrieve_documents": "grade_documents",
            "grade_documents": ("generate_response", "retrieve_documents", END),
            "generate_response": "grade_relevance",
            "direct_response": "grade_relevance",
            "grade_relevance": ("consolidate_memory", "rewrite_query"),
            "consolidate_memory": END,
        },
        gate="grade_documents",
    ),
    initial_state=initial_state,
    most_steps=most_steps,
    most_calls=most_calls,
    ending=ending,
    make_roles=later("engine.workflows.dual_loop.build_roles:dual_roles"),
    prompts={"rewriter": "engine.llm.dual_rewriter:DUAL_REWRITER_PROMPT_VERSION"},
    replay=later("engine.workflows.dual_loop.replay:DualReplay"),
    numbers_tried=("similarity_threshold", "top_k", "min_confidence", "cascade_low", "cascade_high"),
    most_answers=lambda config: dual_options(config).max_corrections + 1,
    longest_run=longest_run,
)
