"""The view Side by side of the page Runs: one question through several workflows or modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from components.common.controls import choice
from components.common.i18n import Words
from components.common.markup import Drawer, Node, box, chip, node
from components.common.outcomes import reason_text
from components.common.phrases import duration_text, inequality_text, node_text, workflow_text
from components.common.run_link import run_link
from components.common.url_state import base_path
from components.runs.lanes import (
    answer_part,
    at_node,
    notes_on,
    number_grid,
    outcome_chip,
    passage_cell,
    shared_table,
)
from components.sentences.calls import calls_text
from engine.api.process import get_engine
from engine.engine import Engine
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import WORKFLOWS, RunConfig, WorkflowName
from engine.model.values import COMPLETE, Decision, Passage, PassageId, RunRecord
from engine.replay.side_by_side import Lane, SideBySide, side_by_side
from engine.samples import sample_questions
from pages.parts.common.following import opening
from pages.parts.runs.modes import modes_view
from pages.parts.runs.run_columns import RunColumns, together_view
from pages.parts.system.health import models_played

View = Literal["workflows", "modes"]
_VIEWS: dict[View, str] = {
    "workflows": N_("Workflows"),
    "modes": N_("Modes"),
}

_SHOWN_SAMPLES = {
    "en": ("dc-en-03", "dm-en-12", "dc-en-01", "dc-en-17"),
    "zh": ("dm-zh-01", "dc-zh-01", "dc-zh-13", "dc-zh-17"),
}
_ENOUGH = {
    "enough": N_("The four-node loop was enough."),
    "others_cite_more": N_("The four-node loop answered; {workflows} cites further passages."),
    "others_answered": N_("Only {workflows} answered."),
    "only_it": N_("Only the four-node loop answered."),
    "nobody": N_("No workflow answered."),
    "cut_short": N_("Not every run ended, so they cannot be compared."),
    "no_baseline": N_("The four-node loop is not among them."),
    "alone": N_("Choose further workflows to compare with."),
}

_GOOD = ("enough", "only_it")
_SNIPPET = 120

_draw = Drawer("side_by_side", "side_by_side.css", look="side")


def loops_view(engine: Engine, words: Words) -> None:
    """Draw what is compared, which the address says, and the comparison."""
    compared = choice("versus", words("View"), {name: words(text) for name, text in _VIEWS.items()})
    if not engine.ready:
        opening(engine, words)
    if compared == "modes":
        modes_view(engine, words)
    else:
        _workflows_view(engine, words)


def _workflows_view(engine: Engine, words: Words) -> None:
    about = words("Each with its defaults and the models chosen on Ask.")
    by_id = {item.id: item for item in sample_questions()}
    samples = [by_id[name] for name in _SHOWN_SAMPLES[words.declared.closest] if name in by_id]
    view: RunColumns[WorkflowName] = RunColumns(
        address="sides",
        key="side",
        offered={name: workflow_text(name, words) for name in WORKFLOWS},
        config_of=config_of,
        takes=lambda _: True,
        draw=lambda records, _: side_by_side_view(side_by_side(records), words, key="side_by_side", base=base_path()),
        about=lambda _: st.caption(about),
        first=words("What are the main symptoms of diabetes?"),
        samples=[(item.question, item.kind) for item in samples],
        asked=words("Question"),
        choice=("side_workflows", words("Workflows")),
        run=(":material/play_arrow:", words("Run all")),
        none_chosen=words("Choose at least one."),
        nothing_yet=(":material/view_column:", words("Ask a question: all of them answer it at once.")),
    )
    together_view(engine, words, view)


def config_of(name: WorkflowName, collection: str) -> RunConfig:
    """The defaults of the workflow on this collection, with the models of the panel."""
    usual = get_engine().settings.defaults_of_runs.of(name)
    return replace(usual, collection=collection, models=models_played(workflow(name).roles))


def side_by_side_view(found: SideBySide, words: Words, *, key: str, base: str = "") -> None:
    """Draw the verdict, a column for each run, and which passages their answers share; ``base`` begins the links."""
    _draw(side_by_side_nodes(found, words, base=base), words, key=key)


def side_by_side_nodes(found: SideBySide, words: Words, *, base: str = "") -> tuple[Node, ...]:
    """The whole comparison as trees of text, in reading order."""
    columns = node("div", "lanes", *(_lane(item, words, base) for item in found.lanes))
    parts: list[Node] = [] if found.enough is None else [_verdict(found, words)]
    parts.append(columns)
    if found.enough is not None:
        parts.append(_sources(found, words))
    return tuple(parts)


def _verdict(found: SideBySide, words: Words) -> Node:
    names = words(", ").join(workflow_text(name, words) for name in found.better)
    said = words(_ENOUGH[_finding(found)], workflows=names)
    look, sign = ("pass", "✓") if found.enough in _GOOD else ("plain", "→")
    return box(look, sign, node("strong", "", said), notes_on([lane.record for lane in found.lanes], words))


def _finding(found: SideBySide) -> str:
    """Describe the finding; only finished runs can show that the collection holds no answer."""
    cut_short = any(item.record.outcome not in COMPLETE for item in found.lanes)
    return "cut_short" if found.enough == "nobody" and cut_short else str(found.enough)


def _lane(lane: Lane, words: Words, base: str) -> Node:
    record = lane.record
    title = node("strong", "heading", workflow_text(record.workflow, words))
    head = node("div", "head", title, outcome_chip(record, words))
    link = node("a", "open small", words("Open on Ask"), href=run_link(record.id, record.config, words, base))
    parts = (_now(record, words), _numbers(lane, words), answer_part(record, words), _path(record, words))
    return node("section", "card lane", head, *parts, link)


def _now(record: RunRecord, words: Words) -> Node:
    """Describe the current step of a run, or why it ended."""
    if record.active:
        return at_node(record, words)
    reason = record.reason if record.outcome in ("cancelled", "failed", "interrupted") else _last_reason(record)
    return node("p", "muted small", reason_text(reason, words) if reason else "")


def _last_reason(record: RunRecord) -> str:
    return record.decisions[-1].reason if record.decisions else record.reason


def _numbers(lane: Lane, words: Words) -> Node:
    record = lane.record
    time_note = calls_note = ""
    if lane.times_slower is not None:
        time_note = f"{lane.times_slower:.1f}×"
    if lane.extra_calls:
        calls_note = f"{lane.extra_calls:+d}"
    rows = [
        ("time", duration_text(record.duration_ms), time_note),
        ("calls", calls_text(record, words), calls_note),
        ("searches", str(lane.searches), ""),
        ("rewrites", str(lane.rewrites), ""),
        *([("answers", str(lane.answers), "")] if record.drafts else []),
        *([("cited", str(len(lane.cited)), "")] if record.origin is None else []),
    ]
    return number_grid(rows, words)


def _path(record: RunRecord, words: Words) -> Node:
    """Every visit in order, with the inequality of each decision under the node that made it."""
    decided: dict[str, list[Decision]] = {}
    for decision in record.decisions:
        decided.setdefault(decision.node, []).append(decision)
    steps = []
    for item in record.nodes:
        name = node_text(item.node, record.workflow, words)
        times = f" ×{item.visit}" if item.visit > 1 else ""
        took = duration_text(item.duration_ms) if item.duration_ms is not None else "…"
        said: list[Node] = [node("span", "step", f"{name}{times}"), node("span", "muted num small", took)]
        if decided.get(item.node):
            said.append(_decision(decided[item.node].pop(0), record, words))
        steps.append(node("li", "fault" if item.error else "", *said))
    title = node("span", "subheading", words("Path"))
    return node("div", "path", title, node("span", "muted small", str(len(record.nodes))),
                node("ol", "steps", *steps))  # fmt: skip


def _decision(decision: Decision, record: RunRecord, words: Words) -> Node:
    why = inequality_text(decision, words) or reason_text(decision.reason, words)
    return node("span", "why small", f"{why} → {node_text(decision.route, record.workflow, words)}")


def _sources(found: SideBySide, words: Words) -> Node:
    heading = node("strong", "heading", words("Cited passages"))
    if not found.cited:
        return node("section", "card", heading, node("p", "muted", words("None.")))
    names = (workflow_text(lane.record.workflow, words) for lane in found.lanes)
    rows = (_source_row(passage_id, found.lanes, words) for passage_id in found.cited)
    return node("section", "card", heading, shared_table(names, rows, words))


def _source_row(passage_id: PassageId, lanes: Sequence[Lane], words: Words) -> Node:
    passage = next((found for lane in lanes if (found := _passage(lane.record, passage_id))), None)
    said = passage_cell(passage, _SNIPPET, words) if passage else node("td", "", node("strong", "", str(passage_id)))
    return node("tr", "", said, *(_mark(lane, passage_id, words) for lane in lanes))


def _mark(lane: Lane, passage_id: PassageId, words: Words) -> Node:
    markers = [item.marker for item in lane.record.citations if item.passage_id == passage_id]
    if not markers:
        return node("td", "", node("span", "muted", "–", aria_label=words("not cited")))
    return node("td", "", chip("pass", f"✓ [{markers[0]}]", words("cited as [{n}]", n=markers[0])))


def _passage(record: RunRecord, passage_id: PassageId) -> Passage | None:
    return next(
        (item.passage for current in record.rounds for item in current.candidates if item.passage.id == passage_id),
        None,
    )
