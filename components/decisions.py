"""The decision path: one line per decision with the inequality that caused it and what followed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from components.i18n import Words
from components.markup import Node, chip, draw, node
from components.phrases import inequality_text, node_text, outcome_text, reason_text
from engine.values import Decision, RunRecord

_LOOKS = {"passed": "pass", "below_gate": "warn", "grader_failed": "fault"}
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
        st.caption(words("decision.empty"))
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
                    words("download", kind=suffix.upper()),
                    data=content,
                    file_name=name,
                    mime=_MIME.get(suffix, "application/octet-stream"),
                    key=f"{key}_{name}",
                    icon=":material/download:",
                    on_click="ignore",
                    type="tertiary",
                )


def followed_text(decision: Decision, record: RunRecord, words: Words) -> str:
    """What came of a decision: the new query and what it changed, or how the run ended."""
    made = next((item for item in record.rewrites if item.round == decision.round), None)
    after = next((item for item in record.decisions if item.round == decision.round + 1), None)
    if decision.route == "rewrite" and made is not None:
        if made.failed:
            return words("decision.rewriter_failed")
        if made.repeated:
            return words("decision.repeated")
        if after is None:
            return words("decision.rewritten", query=made.rewritten_query)
        change = after.pass_rate - decision.pass_rate
        key = "same" if abs(change) < 0.005 else "helped" if change > 0 else "hurt"
        return words(f"decision.{key}", query=made.rewritten_query, change=f"{abs(change):.2f}")
    if decision.route == "generate" and record.context is not None:
        cited = len(record.citations)
        return words.count("decision.generated", len(record.context.passages), cited=cited)
    return ""


def _step(decision: Decision, record: RunRecord, words: Words) -> Node:
    look = _LOOKS.get(decision.reason, "warn" if decision.route == "rewrite" else "grey")
    followed = followed_text(decision, record, words)
    first = node(
        "div",
        "said",
        node("strong", "num", inequality_text(decision, words)),
        node("span", "muted", " → "),
        chip(look, node_text(decision.route, words)),
        node("span", "muted small", reason_text(decision.reason, words)),
    )
    counts = words("decision.counts", passed=decision.passed, kept=decision.kept)
    second = node("div", "muted small", " · ".join(part for part in (counts, followed) if part))
    where = words("round.short", n=decision.round)
    return node("li", f"stop {look}", node("span", "where num", where), node("div", "grow", first, second))


def _end(record: RunRecord, words: Words) -> Node:
    look = "pass" if record.outcome == "answered" else "fault" if record.outcome == "failed" else "grey"
    text = outcome_text(record.outcome, words)
    return node("li", f"stop end {look}", node("span", "where", words("decision.end")), chip(look, text))
