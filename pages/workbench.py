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
from components.gate_waste import gate_waste_note
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
from engine.values import Fault, PassageId, RunRecord
from engine.waste import gate_waste

engine = get_engine()
words: Words = st.session_state["words"]
_WATCH_S = 0.6
_SHOWN_SAMPLES = {
    "en": ("dc-en-03", "dm-en-06", "dc-en-01", "dm-en-12", "dc-en-17"),
    "zh": ("dc-zh-05", "dm-zh-01", "dc-zh-01", "dc-zh-13", "dc-zh-17"),
}


def page() -> None:
    record = opened()
    with st.sidebar:
        chosen = settings()
    with st.session_state["top_bar"]:
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
        models=tuple(item.name for item in ollama.models if item.chats),
    )
    if "gate_wanted" in st.session_state:
        st.session_state["gate"] = st.session_state.pop("gate_wanted")
    chosen = config_panel(words, collection_choices(), note)
    budget_note(words, chosen.config, engine.worst_case_calls(chosen.config))
    if chosen.look_again:
        st.session_state["look_again_now"] = True
        st.rerun()
    return chosen


def collection_choices() -> list[CollectionChoice]:
    """What can be searched; until the knowledge base is open the page says so and looks again by itself."""
    if not engine.ready:
        opening()
        return []
    try:
        return [CollectionChoice(item.name, item.passages) for item in engine.collections()]
    except WorkbenchError as error:
        st.session_state["ask_fault"] = fault_of(error)
        return []


@st.fragment(run_every=0.5)
def opening() -> None:
    fault = engine.opening_fault
    if fault is not None:
        if fault_box(fault, words, key="opening_fault", actions=(("again", words("ask.again")),)) == "again":
            engine.open_again()
    elif engine.ready:
        st.rerun()
    else:
        st.caption(f":material/hourglass_top: {words('starting')}")


def ask(config: RunConfig, record: RunRecord | None) -> None:
    """The question, its two buttons, and questions to try."""
    text, box = proposed(record)
    active = record is not None and record.active
    row, beside = st.columns([9, 1], vertical_alignment="top", gap="small") if active else (st.container(), None)
    with row.form("ask", border=False):
        left, right = st.columns([6, 1], vertical_alignment="bottom", gap="small")
        question = left.text_input(
            words("ask.label"),
            text,
            key=box,
            placeholder=words("ask.placeholder"),
            label_visibility="collapsed",
            max_chars=engine.settings.max_question_chars,
        )
        pressed = right.form_submit_button(
            words("ask.run"), type="primary", icon=":material/play_arrow:", width="stretch", disabled=active
        )
    if beside is not None and record is not None:
        stop = beside.button(words("ask.stop"), icon=":material/stop:", shortcut="Esc", key="stop", width="stretch")
        if stop:
            engine.cancel(record.id)
    if pressed:
        start(question or "", config)
    if record is None:
        st.caption(words("ask.intro"))
    by_id = {item.id: item for item in sample_questions()}
    offered = [by_id[name] for name in _SHOWN_SAMPLES[words.language] if name in by_id]
    picked = sample_buttons([(item.question, item.kind) for item in offered], words)
    if picked is not None:
        start(picked, config)


def proposed(record: RunRecord | None) -> tuple[str, str]:
    """Text and widget key of the question box: the run's question, or one to begin with.

    The box stands in a form, which keeps what is typed in the browser until Enter; a text put into its session state
    would be lost in the next rerun that somebody else causes. A new key with a default of its own is not.
    """
    begin = words("ask.proposed")
    text = record.question if record else begin
    shown: tuple[str, int] = st.session_state.get("question_shown", (text, 0))
    if shown[0] != text:
        shown = (text, shown[1] + 1)
    st.session_state["question_shown"] = shown
    return text, f"question_{shown[1]}"


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
            # The browser says so too when its event stream ends; whichever comes first redraws the page.
            st.rerun()
        figures(record, words, key="figures", most_calls=engine.worst_case_calls(record.config))
        waste_of_the_gate(record)
        cited = answer_card(record, words, key="answer") if record.answer or not record.active else None
        tabs(record, cited, node)

    watch()


def waste_of_the_gate(record: RunRecord) -> None:
    """What the pass rate cost where a verified passage was there earlier, with the other gate one press away."""
    waste = None if record.active else gate_waste(record)
    if waste is not None and gate_waste_note(waste, words, key="waste"):
        # The widget is drawn already; its new value is put there before the next run draws it.
        st.session_state["gate_wanted"] = "min_relevant"
        st.rerun()


def tabs(record: RunRecord, cited: PassageId | None, node: str | None) -> None:
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
        files = {} if record.active else exports(record, dot)
        decision_path(record, words, key="path", dot=dot, downloads=files)
    with rewrites:
        rewrite_history(record, words, key="rewrites")
    with times:
        timeline(record, words, key="timeline")
    with calls:
        model_calls(record, words, key="calls")
    with raw:
        raw_record(record)


def exports(record: RunRecord, dot: str) -> dict[str, bytes]:
    """The path as Graphviz source and as a picture; PNG is offered beside the live picture."""
    svg = workflow_svg(engine.graph(record.workflow), record.to_dict(), live_words(words.language))
    return {f"decision-path-{record.id[:8]}.dot": dot.encode(), f"workflow-{record.id[:8]}.svg": svg.encode()}


def raw_record(record: RunRecord) -> None:
    st.caption(words("record.id", id=record.id, started=record.started_at[:19].replace("T", " ")))
    st.markdown(f"**{words('record.manifest')}**")
    st.code("\n".join(f"{name}: {value}" for name, value in record.manifest.items()), language=None)
    if record.active:
        return
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
