"""The decision path: one line per decision with the inequality that caused it and what followed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from components.common.outcomes import REASONS, reason_text, round_text, run_badge
from components.common.phrases import inequality_text, node_text
from components.labels import GRADE_NAMES, STRATEGY_NAMES
from engine.flow import workflow
from engine.messages import N_
from engine.model.values import Decision, Draft, QualityCheck, RunRecord
from engine.model.wording import change_of

_SCORE_EFFECTS = {
    "helped": N_("new query: {query} · score rose by {change}"),
    "hurt": N_("new query: {query} · score fell by {change}"),
    "same": N_("new query: {query} · score unchanged"),
}

_EFFECTS = {
    "helped": N_("new query: {query} · pass rate rose by {change}"),
    "hurt": N_("new query: {query} · pass rate fell by {change}"),
    "same": N_("new query: {query} · pass rate unchanged"),
}

UNDECIDED = N_("Nothing was graded there, so nothing is decided yet.")
NO_DECISION = N_("Nothing is decided in this workflow: each of its steps is always followed by the same one.")
_MIME = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "dot": "text/vnd.graphviz",
    "json": "application/json",
    "csv": "text/csv",
    "html": "text/html",
}


def decision_path(
    record: RunRecord,
    words: Words,
    *,
    key: str,
    dot: str = "",
    downloads: Mapping[str, bytes] = MappingProxyType({}),
) -> None:
    """Draw the path as lines, then as the graph ``dot`` (Graphviz source); ``downloads`` maps file names to content."""
    if not record.decisions:
        st.caption(
            words(UNDECIDED)
            if record.origin is not None
            else words(
                "No decision yet: each round of grading ends with one, and it appears here with its inequality."
                if workflow(record.workflow).flow.decides
                else NO_DECISION
            )
        )
        return
    steps = [_step(decision, record, words) for decision in record.decisions]
    if record.outcome is not None:
        steps.append(_end(record, words))
    draw((node("ol", "path", *steps),), words, key=key)
    if dot:
        # On a narrow screen (page.css) the lines above say the same, and the graph would be too small to read.
        with st.container(key=f"{key}_graph"):
            st.graphviz_chart(dot, width="content")
    if downloads:
        with st.container(horizontal=True, key=f"{key}_downloads"):
            for name, content in downloads.items():
                suffix = name.rsplit(".", 1)[-1].lower()
                st.download_button(
                    words("{kind}", kind=suffix.upper()),
                    data=content,
                    file_name=name,
                    mime=_MIME.get(suffix, "application/octet-stream"),
                    key=f"{key}_{name}",
                    icon=":material/download:",
                    on_click="ignore",
                    type="tertiary",
                )


def followed_text(decision: Decision, record: RunRecord, words: Words) -> str:
    """Describe the result of a decision: the new query and its changes, the next search, or the answer's context."""
    flow = workflow(record.workflow).flow
    if decision.route in flow.of_kind("rewrite"):
        return _rewritten_text(decision, record, words)
    if decision.route in flow.of_kind("search"):
        following = next((item for item in record.rounds if item.index == decision.round + 1), None)
        strategy = following.strategy if following else None
        return words("next search: {strategy}", strategy=words(STRATEGY_NAMES[strategy])) if strategy else ""
    answering = flow.of_kind("context", "answer")
    if decision.node == flow.gate and decision.route in answering and record.context is not None:
        if record.origin is not None:
            return words.count("1 passage given", "{n} passages given", len(record.context.passages))
        cited = len(record.citations)
        return words.count(
            "1 passage given, {cited} cited",
            "{n} passages given, {cited} cited",
            len(record.context.passages),
            cited=cited,
        )
    return ""


def _rewritten_text(decision: Decision, record: RunRecord, words: Words) -> str:
    flow = workflow(record.workflow).flow
    first = decision.node in flow.preparing
    made = next((item for item in record.rewrites if item.round == (-1 if first else decision.round)), None)
    if made is None:
        return ""
    if made.failed:
        return words("the rewriter failed; the old query stands")
    if made.repeated:
        return words("the rewriter repeated a query; nothing was searched again")
    if first and made.query.strip() == made.rewritten_query.strip():
        return words("searched as asked")
    worth = record.quality_scores or record.pass_rates
    before, after = worth.get(decision.round), worth.get(decision.round + 1)
    if before is None or after is None or decision.node != flow.gate:
        return words("new query: {query}", query=made.rewritten_query)
    change = change_of(before, after)
    effect = ("same", "helped", "hurt")[change.direction]
    effects = _SCORE_EFFECTS if record.quality_scores else _EFFECTS
    return words(effects[effect], query=made.rewritten_query, change=change.size)


def _check(index: int, record: RunRecord) -> QualityCheck | None:
    return next((item.quality for item in record.rounds if item.index == index), None)


def _evidence_text(decision: Decision, record: RunRecord, words: Words) -> str:
    """Describe the evidence behind a decision, with counts."""
    gate = workflow(record.workflow).flow.gate
    if decision.node == gate and (check := _check(decision.round, record)) is not None:
        grade = words(GRADE_NAMES[check.routing_grade])
        return words(
            "score {score} of {passages} passages: {grade}",
            score=f"{check.routing_score:.2f}",
            passages=check.passages,
            grade=grade,
        )
    if decision.node == gate:
        return words("{passed} of {kept} kept passages passed", passed=decision.passed, kept=decision.kept)
    draft = _draft(decision, record)
    if draft is None:
        return ""
    if draft.evaluation is None:
        return words("not evaluated")
    found = len(draft.evaluation.suggestions)
    return words.count("1 suggestion", "{n} suggestions", found) if found else words("nothing to change")


def _draft(decision: Decision, record: RunRecord) -> Draft | None:
    """The answer that a decision judged: each is judged once, in the order in which they were written."""
    judging = [item for item in record.decisions if item.node == decision.node]
    if decision.node not in workflow(record.workflow).flow.of_kind("evaluate"):
        return None
    place = next(index for index, item in enumerate(judging) if item is decision)
    return record.drafts[place] if place < len(record.drafts) else None


def _where(decision: Decision, record: RunRecord, words: Words) -> str:
    """The round of a decision about passages, the number of the answer of one about an answer."""
    if decision.node in workflow(record.workflow).flow.preparing:
        return words("start")
    draft = _draft(decision, record)
    return words("answer {n}", n=draft.index + 1) if draft else round_text(decision.round, words)


def _step(decision: Decision, record: RunRecord, words: Words) -> Node:
    look = REASONS[decision.reason].tone
    followed = followed_text(decision, record, words)
    first = node(
        "div",
        "said",
        node("strong", "num", inequality_text(decision, words)),
        node("span", "muted", " → "),
        chip(look, node_text(decision.route, record.workflow, words)),
        # A decision without comparisons has said its reason already.
        node("span", "muted small", reason_text(decision.reason, words) if decision.comparisons else ""),
    )
    counts = _evidence_text(decision, record, words)
    second = node("div", "muted small", " · ".join(part for part in (counts, followed) if part))
    where = _where(decision, record, words)
    return node("li", f"stop {look}", node("span", "where num", where), node("div", "grow", first, second))


def _end(record: RunRecord, words: Words) -> Node:
    look, text = run_badge(record, words)
    return node("li", f"stop end {look}", node("span", "where", words("end")), chip(look, text))
