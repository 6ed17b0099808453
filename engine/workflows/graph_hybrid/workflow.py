"""Graph + vector retrieval: analyze_query → route_query → (retrieve → grade_documents …) | generate_answer.

GH-01 … GH-08. ``grade_documents`` is the four-node loop's own grade step, ``refine_query`` its rewrite step.
"""

from __future__ import annotations

from dataclasses import replace

from engine.builtin.answer_note import denies
from engine.builtin.table_work import worked_out
from engine.flow.declaration import Workflow, asked_together, chat_calls, screenings_a_passage
from engine.flow.flow import END, Flow, Node, RunState
from engine.messages import N_
from engine.model.config import Mode, RunConfig
from engine.model.language import language_of
from engine.model.later import later
from engine.model.values import RETRIEVAL_LISTS, Outcome, QueryAnalysis, RunRecord
from engine.retrieval.graph_options import GraphOptions, graph_options
from engine.retrieval.ordering import reranks
from engine.workflows.graph_hybrid.policy import outcome_of
from engine.workflows.graph_hybrid.steps import analyze_query, generate_answer, grade_documents, retrieve, route_query
from engine.workflows.steps import nodes


class GraphState(RunState, total=False):
    analysis: QueryAnalysis
    mode: Mode
    """That is searched: the config's, or the one that the analysis suggests."""


def most_calls(config: RunConfig) -> int:
    """Analysis, scores, judgements, rewrites with the one retry that a repeated query gets, and the answer."""
    rounds, options = config.max_rewrites + 1, graph_options(config)
    graded = _probed(config) if config.grade_probe else config.top_k
    if config.models.reranker.built_in and options.rerank != "never":
        # The grader scores the rerank window, and what it judged there it does not judge again.
        graded = max(graded, min(options.rerank_k, _probed(config)))
    by_chat = options.rerank != "never" and not config.models.reranker.in_process
    return chat_calls(
        config,
        {
            "router": 1,
            "reranker": min(options.rerank_k, _probed(config)) * rounds if by_chat else 0,
            "grader": (graded + asked_together(config)) * rounds,
            "screener": graded * screenings_a_passage(config) * rounds,
            "rewriter": 2 * config.max_rewrites,
            "generator": 1,
        },
    )


def reranked(config: RunConfig) -> int:
    """The best passages, in the modes that call for it."""
    return graph_options(config).rerank_k if reranks(config.mode, config) else 0


def ending(record: RunRecord) -> tuple[Outcome, str]:
    """Return the outcome by the last decision and by what the generator was given."""
    return outcome_of(record, from_tables=answered_from_tables(record)), record.decisions[-1].reason


def answered_from_tables(record: RunRecord) -> bool:
    """Return whether an answer from the tables alone says what they hold, with or without quoting a cell."""
    if record.decisions[-1].reason != "tables_only" or not record.answer.strip():
        return False
    worked = worked_out(record.question, record.tables, language_of(record.question))
    if worked is not None:
        return worked.known
    return not record.config.models.generator.built_in and not denies(record.answer)


def _probed(config: RunConfig) -> int:
    """Passages of a round at most: every list may bring others, and ``near`` is searched in place of ``vector``."""
    return config.fetch_k * (len(RETRIEVAL_LISTS) - 1)


WORKFLOW = Workflow(
    id="graph_hybrid",
    name=N_("Graph + vectors"),
    title=N_("Graph + vectors · 6 nodes"),
    summary=N_(
        "Analyses the query, searches vectors and a knowledge graph in one of six modes, refines while too few pass."
    ),
    introduction=N_(
        "The query is analysed and routed; then vectors, the neighbourhood of the entities it names and summaries of "
        "communities are searched, made one list, reranked and graded. The answer comes from the graph, the tables "
        "and the passages that passed."
    ),
    unused=("split", "translate"),
    in_modes=True,
    defaults={"mode": "mix"},
    options=GraphOptions,
    more_roles=("reranker",),
    samples={
        "en": (
            ("mh-en-16", ""),
            ("mh-en-05", ""),
            ("Give me an overview of diabetes complications.", "overview"),
            ("Hello, what can you do?", "direct"),
            ("dc-en-17", ""),
        ),
        "zh": (
            ("mh-zh-04", ""),
            ("mh-zh-09", ""),
            ("请概述糖尿病的并发症。", "overview"),
            ("你好，你能做什么？", "direct"),
            ("dc-zh-17", ""),
        ),
    },
    takes_attachments=True,
    measures=("pass_rate", "context"),
    tab=N_("Graph"),
    drawn_by="components.workflows.graph_hybrid",
    flow=Flow(
        state=GraphState,
        nodes={
            "analyze_query": Node(
                step=analyze_query,
                name=N_("Analyse"),
                kind="route",
                who=N_("The analyst"),
                work=N_("entities and intent"),
                doing=N_("The query is being analysed"),
                tab="loop",
            ),
            "route_query": replace(nodes.route(route_query), kind=""),
            "retrieve": replace(nodes.RETRIEVE, step=retrieve),
            "grade_documents": nodes.grade_documents(grade_documents),
            "refine_query": replace(
                nodes.REWRITE, name=N_("Refine"), work=N_("rephrases it"), brief="", lead=N_("refine")
            ),
            "generate_answer": nodes.answer(generate_answer),
        },
        ways={
            "analyze_query": "route_query",
            "route_query": ("retrieve", "generate_answer"),
            "retrieve": "grade_documents",
            "grade_documents": ("refine_query", "generate_answer", END),
            "refine_query": "retrieve",
            "generate_answer": END,
        },
        gate="grade_documents",
    ),
    most_calls=most_calls,
    ending=ending,
    make_roles=later("engine.workflows.graph_hybrid.build_roles:graph_roles"),
    prompts={
        "router": "engine.llm.query_analyst:QUERY_ANALYST_PROMPT_VERSION",
        "generator": "engine.llm.prompts:GRAPH_GENERATOR_PROMPT_VERSION",
    },
    replay=later("engine.workflows.graph_hybrid.replay:GraphReplay"),
    reranked=reranked,
)
