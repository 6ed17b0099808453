"""A run on the page Ask: its path, the answer next to the verdicts, and the tabs, filled during the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import get_args

import streamlit as st

from components.ask.origin import origin_note
from components.ask.what_if_text import BROKEN
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.life_lines import LifeLine
from components.common.panel import want_settings
from components.common.phrases import node_text
from components.common.workflow_view import view_of
from components.labels import choices_of
from components.workflows.mode_notes import MODE_FAULT, mode_notes
from engine.engine import Engine
from engine.errors import ModelError, WorkbenchError
from engine.flow import workflow
from engine.flow.flow import Tab
from engine.messages import N_
from engine.model.config import PARAMETERS, RoleModels, RunConfig
from engine.model.values import PassageId, RunRecord
from engine.replay import WhatIf
from pages.parts.ask import answer, passages, path, rewrites, trace, verdicts, what_if_map, why
from pages.parts.common.rights import may

_TAB_NAMES = {
    "passages": N_("Passages {n}"),
    "rewrites": N_("Rewrites {n}"),
    "map": N_("What-if map"),
    "trace": N_("Trace"),
}

_COUNT = re.compile(r"\d+")
_WATCH_S = 0.6
_OF_MODELS = "WB4"
"""What the codes of faults of chat models and their servers begin with."""
ANSWER_AND_VERDICTS = (0.5, 0.5)
_TABS: tuple[Tab, ...] = get_args(Tab)


def evidence(
    engine: Engine,
    run_id: str,
    words: Words,
    *,
    chosen: RunConfig,
    found: WhatIf | None,
    active: bool,
    again: Callable[[RunRecord], None],
) -> None:
    """Draw a run: its path, then the answer and the verdicts side by side, then everything behind them in tabs.

    ``found`` is what the run does under the settings ``chosen``, None while it is running; ``again`` asks the same once
    more.
    """

    # Only while the run is in progress; afterwards nothing on the page runs by itself.
    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        try:
            record = engine.record(run_id)
        except WorkbenchError:
            # Deleted meanwhile: the page says so.
            st.rerun()
        if active and not record.active:
            # The browser says so too when its event stream ends; whichever comes first redraws the page.
            st.rerun()
        if record.origin is not None:
            origin_note(record, words, key="origin_note")
        if chosen.workflow != record.workflow:
            other_workflow_note(record, words)
        place = st.container(key="path_place")
        cited = answer_and_verdicts(engine, record, words, chosen=chosen, found=found, again=again)
        cited = st.session_state.pop("cited_elsewhere", None) or cited
        if cited is not None:
            st.session_state["tab"] = "passages"
            # All passages are shown then, no matter which node was chosen; it would hide them again at the next press.
            path.clear_selection()
        with place:
            node = path_of(engine, record, words, active=active)
        tabs(engine, record, words, found=found, cited=cited, node=None if cited else node)

    watch()


def other_workflow_note(record: RunRecord, words: Words) -> None:
    st.caption(
        words(
            "The run below is one of the workflow “{run}”; press Run to ask the one chosen at the left.",
            run=words(choices_of("workflow")[record.workflow]),
        )
    )


def answer_and_verdicts(
    engine: Engine,
    record: RunRecord,
    words: Words,
    *,
    chosen: RunConfig,
    found: WhatIf | None,
    again: Callable[[RunRecord], None],
) -> PassageId | None:
    """Draw both side by side, a run that broke off alone; returns a passage to open."""
    with st.container(key="answer_line"):
        if record.outcome in BROKEN:
            cited = result(record, words, again)
            why.kept(engine, record, words)
            return cited
        columns = st.columns(ANSWER_AND_VERDICTS, gap="small")
    with columns[0]:
        cited = result(record, words, again)
        if found is not None:
            why.panel(engine, record, chosen, words)
    with columns[1]:
        return verdicts.panel(engine, record, words) or cited


def path_of(engine: Engine, record: RunRecord, words: Words, *, active: bool) -> str | None:
    """Draw the path; returns the node that was chosen in it, whose tab opens."""
    node = path.panel(engine, record, words, active=active)
    if node != st.session_state.get("node_shown"):
        st.session_state["node_shown"] = node
        if node is not None:
            st.session_state["tab"] = tab_of(node, record)
    return node


def result(record: RunRecord, words: Words, again: Callable[[RunRecord], None]) -> PassageId | None:
    """The answer, or in its place what kept it from being written; warnings below. Returns a passage to open."""
    cited = None
    mode_notes(record, words, key="mode_notes")
    if record.answer or record.error is None:
        cited = answer.view(record, words, key="answer")
    if record.error is not None:
        offered = _ways_on(record, words) if may("editor") else ()
        pressed = fault_box(record.error, words, key="run_fault", actions=offered, workflow=record.workflow)
        config = record.config
        match pressed:
            case "builtin":
                config = replace(config, models=RoleModels())
            case "longer":
                config = replace(config, budget_s=_longer(record))
        if config != record.config:
            want_settings(config)
        if pressed:
            again(replace(record, config=config))
    for place, warning in enumerate(record.warnings):
        if warning.code == MODE_FAULT:
            # Said above the answer, with each list that could not do its work.
            continue
        fault_box(warning, words, key=f"warning_{place}", severity="warning", workflow=record.workflow)
    return cited


def _ways_on(record: RunRecord, words: Words) -> tuple[tuple[str, str], ...]:
    """Offer what can be done after a fault: retry, with more time if that ran out, and without models if one failed."""
    code, longer = record.error.code if record.error else "", _longer(record)
    again = ("again", words("Try again"))
    if code == ModelError.answer_late.code and longer > record.config.budget_s:
        again = ("longer", words("Try again with {seconds} s", seconds=f"{longer:g}"))
    if not code.startswith(_OF_MODELS) or record.config.models == RoleModels():
        return (again,)
    return again, ("builtin", words("Ask the built-in roles"))


def _longer(record: RunRecord) -> float:
    """A time budget in which a run that was out of time may end: twice as long, and a minute or more."""
    return float(min(max(60.0, 2 * record.config.budget_s), PARAMETERS["budget_s"].high))


def tabs(
    engine: Engine,
    record: RunRecord,
    words: Words,
    *,
    found: WhatIf | None,
    cited: PassageId | None,
    node: str | None,
) -> None:
    """The evidence in tabs; the passages keep their filters while another tab is open, the others are drawn then."""
    if node is not None:
        narrowed_note(node, record, words)
    names = tab_names(record, words)
    # The choice is kept by the tab's own name: labels carry counts, which grow, and change with the language.
    st.session_state["tabs"] = names[open_tab(names)]
    drawn = st.tabs(list(names.values()), key="tabs", on_change=partial(_choose_tab, names))
    by_name = dict(zip(names, drawn, strict=True))
    narrowed = of_node(record, node)
    if "loop" in by_name and by_name["loop"].open:
        with by_name["loop"]:
            read = partial(engine.graphs.passages, record.config.collection)
            pressed = view_of(record.workflow).tab(record, words, key="own_tab", read=read)
        if pressed is not None:
            # The tabs are drawn already: another one can only be opened by the next run.
            st.session_state["cited_elsewhere"] = pressed
            st.rerun()
    with by_name["passages"]:
        passages.panel(
            engine,
            record,
            words,
            found=found,
            opened=cited,
            shows=lambda line: cited is not None or concerns(line, node, record),
        )

    parts: dict[Tab, Callable[[], None]] = {
        "rewrites": lambda: rewrites.view(record, words, key="rewrites"),
        "map": lambda: what_if_map.panel(engine, record, found, words) if found is not None else None,
        "trace": lambda: trace.view(record, narrowed, words, key="trace"),
    }
    for name, content in parts.items():
        if name in by_name and by_name[name].open:
            with by_name[name]:
                content()


def narrowed_note(node: str, record: RunRecord, words: Words) -> None:
    """Say that the tabs show one node alone, with the way back next to it."""
    with st.container(horizontal=True, vertical_alignment="center", key="node_filter"):
        name = node_text(node, record.workflow, words)
        st.caption(words("Showing only what {node} did.", node=name), width="content")
        if st.button(words("Show all"), key="show_all", type="tertiary"):
            path.clear_selection()
            st.rerun()


def tab_names(record: RunRecord, words: Words) -> dict[Tab, str]:
    """Labels of the tabs that a record has, in their order; some say how much they hold."""
    seen = {item.passage.id for current in record.rounds for item in current.candidates}
    counts = {"passages": len(seen), "rewrites": len(record.rewrites)}
    own = workflow(record.workflow)
    names: dict[Tab, str] = {}
    for tab in _TABS:
        if tab == "loop":
            names |= {tab: words(own.tab)} if own.tab else {}
        elif (tab != "rewrites" or own.flow.of_kind("rewrite")) and (tab != "map" or record.outcome not in BROKEN):
            names[tab] = words(_TAB_NAMES[tab], n=counts.get(tab, ""))
    return names


def open_tab(names: Mapping[Tab, str]) -> Tab:
    """The tab chosen last where the record has it; before any choice the loop's own, or the passages."""
    first: Tab = "loop" if "loop" in names else "passages"
    chosen: Tab = st.session_state.get("tab", first)
    return chosen if chosen in names else first


def _choose_tab(names: Mapping[Tab, str]) -> None:
    # The counts may have grown since the labels were drawn.
    label = _COUNT.sub("", str(st.session_state["tabs"]))
    chosen = next((tab for tab, name in names.items() if _COUNT.sub("", name) == label), None)
    if chosen is not None:
        st.session_state["tab"] = chosen


def tab_of(name: str, record: RunRecord) -> Tab:
    """The tab that shows best what a node did."""
    node = workflow(record.workflow).flow.nodes.get(name)
    return node.tab if node else "trace"


def of_node(record: RunRecord, node: str | None) -> RunRecord:
    """The record with the visits and model calls of one node; all of them where none is chosen."""
    if node is None:
        return record
    return replace(
        record,
        nodes=tuple(item for item in record.nodes if item.node == node),
        model_calls=tuple(item for item in record.model_calls if item.node == node),
    )


def concerns(line: LifeLine, name: str | None, record: RunRecord) -> bool:
    """Return whether a passage went through a node: judged by grade, seen by rewrite, given to generate."""
    flow = workflow(record.workflow).flow
    node = flow.nodes.get(name or "")
    match node.kind if node else "":
        case "grade":
            return line.verdict is not None
        case "rewrite":
            return line.verdict is not None and not line.passes
        case "context" | "answer" | "evaluate":
            # An answer without a search is given none, whatever is searched after it.
            searches = any(flow.reaches(search, name or "") for search in flow.of_kind("search"))
            return searches and line.marker is not None
        case _:
            return True
