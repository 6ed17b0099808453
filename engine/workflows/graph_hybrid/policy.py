"""The policy of graph + vector retrieval: pure functions of evidence and config (GH-01, GH-02).

The engine and every what-if call the same functions, so a replay cannot disagree with a run.
"""

from __future__ import annotations

from dataclasses import replace

from engine.model.config import Mode, RunConfig
from engine.model.decide import outcome_of as outcome_of_gate
from engine.model.small_talk import small_talk
from engine.model.values import Comparison, Context, Decision, Outcome, QueryAnalysis, Reason, RunRecord
from engine.retrieval.graph_options import graph_options

TABLE_ANSWERS = 0.5
"""Share of the question from which on a table is answered from without further searches."""
_MET: tuple[Reason, ...] = ("passed", "table_answers", "tables_only")


def mode_of(config: RunConfig, analysis: QueryAnalysis) -> Mode:
    """The mode that is searched: the config's, or the one that the analysis suggests."""
    return analysis.suggested_mode if graph_options(config).mode_from == "analysis" else config.mode


def from_tables_alone(config: RunConfig, *, tables: bool) -> bool:
    """Return whether a question is answered from its tables alone; ``tables``: whether it came with any."""
    return tables and graph_options(config).tables_only


def decide_route(
    analysis: QueryAnalysis,
    config: RunConfig,
    *,
    attached: bool = False,
    tables: bool = False,
    on_tables: bool = False,
) -> Decision:
    """Return whether anything is searched: not where the tables of the question are to answer it alone, not in mode
    ``bypass``, and not for a simple query.

    With tables a query is simple where it is work on them alone (``on_tables``), or where the analyst says that it can
    be answered directly; with images it never is.
    """

    def to(route: str, reason: Reason) -> Decision:
        return Decision(0, route, reason, (), 0, 0, node="route_query")

    if from_tables_alone(config, tables=tables):
        return to("generate_answer", "tables_only")
    if mode_of(config, analysis) == "bypass":
        return to("generate_answer", "bypass")
    if graph_options(config).answer_directly:
        if tables and (on_tables or (analysis.direct and analysis.code != "smalltalk")):
            return to("generate_answer", "tables_only")
        if analysis.direct and not attached:
            return to("generate_answer", "simple")
    return to("retrieve", "needs_search")


def unless_a_table_answers(decision: Decision, coverage: float) -> Decision:
    """The decision after a round, or to answer at once where a table of the question covers what it asks.

    ``coverage`` is the share of the question that row and column of one of its cells name. A user who has a table and
    asks about it is not helped by further searches of the collection.
    """
    if decision.reason in ("passed", "grader_failed") or coverage < TABLE_ANSWERS:
        return decision
    covered = Comparison("table_coverage", coverage, ">=", TABLE_ANSWERS)
    return replace(decision, route="generate_answer", reason="table_answers", comparisons=(covered,))


def outcome_of(record: RunRecord, *, from_tables: bool = False) -> Outcome:
    """Return the outcome of a finished run; ``from_tables`` if its answer quotes the question's own tables.

    What a chat model says without a search is based on no passage; the built-in generator has nothing to say then.
    """
    last = record.decisions[-1]
    if last.reason == "simple" or (last.reason == "bypass" and small_talk(record.question)):
        return "answered"
    if last.reason == "bypass":
        return "abstained" if record.config.models.generator.built_in else "answered_unverified"
    assert record.context is not None
    return outcome_searched(last, record.context, quoted=bool(record.cell_citations) or from_tables)


def outcome_searched(decision: Decision, context: Context, *, quoted: bool) -> Outcome:
    """Return the outcome of a run that searched; ``quoted`` if its answer quotes the question's own tables.

    Such an answer is based on what the reader brought, no matter what the collection had.
    """
    if not context.passages and quoted:
        return "answered" if decision.reason in _MET else "answered_forced"
    if decision.reason == "table_answers" and context.passages and context.verified:
        return "answered"
    return outcome_of_gate(decision, context)
