"""The workbench page: ask a question, watch the loop answer it, and read everything that it did."""

from __future__ import annotations

import json

import streamlit as st

from components.answer import answer_card
from components.badge import builtin_badge
from components.config_panel import Chosen, CollectionChoice, OllamaNote, budget_note, config_panel
from components.decisions import decision_path
from components.faults import fault_box
from components.figures import figures
from components.i18n import Words
from components.live_run import live_run
from components.model_calls import model_calls
from components.passages import passages_table
from components.rewrites import rewrite_history
from components.sample_questions import sample_buttons
from components.timeline import timeline
from components.words_live import live_words
from components.workflow_export import decision_path_dot, workflow_svg
from engine.config import RunConfig
from engine.errors import WorkbenchError
from engine.nodes.run_context import fault_of
from engine.process import get_engine
from engine.samples import sample_questions
from engine.values import Fault, RunRecord

engine = get_engine()
words: Words = st.session_state["words"]
_WATCH_S = 0.6
_SHOWN_SAMPLES = ("dc-{}-01", "dm-{}-01", "dm-{}-07", "dc-{}-12", "dc-{}-18")


def page() -> None:
    record = opened()
    with st.sidebar:
        chosen = settings()
    builtin_badge(chosen.config.models, words)
    ask(chosen.config, record)
    notices(record)
    active = record is not None and record.active
    shown = live_run(
        engine.graph(chosen.config.workflow),
        record.to_dict() if record else None,
        record.id if record else None,
        active=active,
        words=live_words(words.language),
        key="live_run",
        base=base_path(),
    )
    if shown.finished:
        st.rerun()
    if record is not None:
        evidence(record.id, active, shown.selected_node)
    else:
        figures(None, words, key="figures_empty")
        st.caption(words("live.empty"))


def base_path() -> str:
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}" if base else ""


def opened() -> RunRecord | None:
    """The run that the address names; a refresh or a shared link attaches to it, running or finished."""
    run_id = st.query_params.get("run")
    if not run_id:
        return None
    try:
        return engine.record(run_id)
    except WorkbenchError as error:
        st.session_state["ask_fault"] = fault_of(error)
        return None


def settings() -> Chosen:
    ollama = engine.ollama(fresh=st.session_state.pop("look_again_now", False))
    note = OllamaNote(
        address=engine.settings.ollama_url,
        version=ollama.version,
        models=tuple(item.name for item in ollama.models if item.chat),
    )
    chosen = config_panel(words, collection_choices(), note)
    budget_note(words, chosen.config, engine.worst_case_calls(chosen.config))
    if chosen.look_again:
        st.session_state["look_again_now"] = True
        st.rerun()
    return chosen


def collection_choices() -> list[CollectionChoice]:
    if not engine.ready:
        return []
    try:
        return [CollectionChoice(item.name, item.passages) for item in engine.collections()]
    except WorkbenchError as error:
        st.session_state["ask_fault"] = fault_of(error)
        return []


def ask(config: RunConfig, record: RunRecord | None) -> None:
    """The question, its two buttons, and questions to try."""
    propose(record)
    active = record is not None and record.active
    with st.form("ask", border=False):
        left, right = st.columns([6, 1], vertical_alignment="bottom", gap="small")
        left.text_input(
            words("ask.label"),
            key="q",
            placeholder=words("ask.placeholder"),
            label_visibility="collapsed",
            max_chars=engine.settings.max_question_chars,
        )
        pressed = right.form_submit_button(
            words("ask.run"), type="primary", icon=":material/play_arrow:", width="stretch", disabled=active
        )
    if pressed:
        start(st.session_state["q"], config)
    if active and record is not None:
        if st.button(words("ask.stop"), icon=":material/stop:", shortcut="Esc", key="stop"):
            engine.cancel(record.id)
        return
    by_id = {item.id: item for item in sample_questions()}
    offered = [by_id[name] for name in (place.format(words.language) for place in _SHOWN_SAMPLES) if name in by_id]
    picked = sample_buttons([(item.question, item.kind) for item in offered], words)
    if picked is not None:
        # The input is drawn already; what it should hold is put there before the next run draws it.
        st.session_state["next_question"] = picked
        start(picked, config)


def propose(record: RunRecord | None) -> None:
    """What the question box holds before it is drawn: the run's question, or one to begin with."""
    following = st.session_state.pop("next_question", None)
    proposed = words("ask.proposed")
    if following is not None:
        st.session_state["q"] = following
    elif "q" not in st.session_state:
        st.session_state["q"] = record.question if record else proposed
    elif st.session_state.get("proposed") not in (None, proposed) and st.session_state["q"] == st.session_state["proposed"]:
        st.session_state["q"] = proposed
    st.session_state["proposed"] = proposed


def start(question: str, config: RunConfig) -> None:
    try:
        run_id = engine.start(question, config)
    except WorkbenchError as error:
        st.session_state["ask_fault"] = fault_of(error)
    else:
        st.query_params["run"] = run_id
    st.rerun()


def notices(record: RunRecord | None) -> None:
    """Faults beside the question that caused them, each with what to do about it."""
    fault: Fault | None = st.session_state.pop("ask_fault", None)
    if fault is not None:
        fault_box(fault, words, key="ask_fault_box")
    for item in engine.faults[-1:]:
        fault_box(item, words, key="engine_fault", severity="warning")
    if record is None:
        return
    if record.error is not None:
        event = fault_box(
            record.error, words, key="run_fault", actions=(("again", words("ask.again")),)
        )
        if event == "again":
            start(record.question, record.config)
    for place, warning in enumerate(record.warnings):
        fault_box(warning, words, key=f"warning_{place}", severity="warning")


def evidence(run_id: str, active: bool, node: str | None) -> None:
    """Figures, answer and tabs; while the run goes on they fill, afterwards they stay as they are."""

    @st.fragment(run_every=_WATCH_S if active else None)
    def watch() -> None:
        record = engine.record(run_id)
        if active and not record.active:
            st.rerun()
        figures(record, words, key="figures", most_calls=engine.worst_case_calls(record.config))
        cited = answer_card(record, words, key="answer") if record.answer or not record.active else None
        tabs(record, cited, node)

    watch()


def tabs(record: RunRecord, cited: str | None, node: str | None) -> None:
    seen = {item.passage.id for current in record.rounds for item in current.candidates}
    names = [
        words("tab.passages", n=len(seen)),
        words("tab.path"),
        words("tab.rewrites", n=len(record.rewrites)),
        words("tab.timeline"),
        words("tab.calls", n=len(record.model_calls)),
        words("tab.record"),
    ]
    passages, path, rewrites, times, calls, raw = st.tabs(names)
    with passages:
        passages_table(record, words, key="passages", opened=cited)
    with path:
        plain = record.to_dict()
        live = live_words(words.language)
        dot = decision_path_dot(plain, live)
        svg = workflow_svg(engine.graph(record.workflow), plain, live)
        files = {f"decision-path-{record.id}.dot": dot.encode(), f"workflow-{record.id}.svg": svg.encode()}
        decision_path(record, words, key="path", dot=dot, downloads=files)
    with rewrites:
        rewrite_history(record, words, key="rewrites")
    with times:
        timeline(record, words, key="timeline")
    with calls:
        model_calls(record, words, key="calls")
    with raw:
        raw_record(record)


def raw_record(record: RunRecord) -> None:
    st.caption(words("record.id", id=record.id, started=record.started_at[:19].replace("T", " ")))
    st.markdown(f"**{words('record.manifest')}**")
    st.code("\n".join(f"{name}: {value}" for name, value in record.manifest.items()), language=None)
    content = json.dumps(record.to_dict(), ensure_ascii=False, indent=2)
    st.download_button(
        words("record.json"),
        content,
        file_name=f"run-{record.id}.json",
        mime="application/json",
        icon=":material/download:",
        on_click="ignore",
    )


page()
