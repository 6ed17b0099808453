"""The workbench page: ask a question, watch the loop answer it, and read everything that it did."""

from __future__ import annotations

from functools import partial

import streamlit as st

from components.common.badge import builtin_badge
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.panel import (
    Chosen,
    CollectionChoice,
    OllamaNote,
    Surroundings,
    config_panel,
    want_settings,
)
from components.common.run_settings import names_settings, roles_asked
from components.common.url_state import begin_here, moved_here, put_into_url, take_from_url
from components.common.workflow_view import Machine
from engine.api.process import get_engine
from engine.errors import UnknownCollection, WorkbenchError
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import WORKFLOWS, RoleModels, RunConfig
from engine.model.values import SAMPLE_COLLECTION, Attachment, Fault, PassageId, RunId, RunRecord, SourceKind
from engine.replay.cost import CostModel
from engine.running.budget import measured_costs, worst_case
from pages.parts.ask import budget, path, tour, what_if
from pages.parts.ask.attachments import Box, asked_with, attachments_box
from pages.parts.ask.evidence import evidence
from pages.parts.ask.examples import examples, examples_menu
from pages.parts.ask.share import share_menu
from pages.parts.common.actions import next_step, run_action, say_fault
from pages.parts.common.fits import fits_of, scorers_of
from pages.parts.common.following import opening
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.stored_runs import recent_records
from pages.parts.common.views import aim_at

engine = get_engine()
words: Words = st.session_state["words"]
# Width of Run and of Stop, in pixels. (A bare string below it would be written on the page.)
_BUTTON = 132
_LONGEST_ID = 64
_BEGIN = {"en": "Is sport safe when my sugar is high?", "zh": "糖尿病能不能治好？"}
# Proposed at first: nothing passes as it is asked, and a rewrite finds the answer.
_SHOWN = "run_shown"
_NO_WEB_SEARCH = N_("Not available: set WORKBENCH_SEARXNG_URL to the address of a SearXNG search engine.")
# How many of the newest runs are looked at for the time of a step.
_MEASURED_BY = 8


def page() -> None:
    record = opened()
    found = None
    with st.sidebar:
        chosen = settings(record)
        if record is not None:
            found = what_if.panel(engine, record, chosen.config, words)
    if record is not None and not record.active and record.workflow == chosen.config.workflow:
        what_if.slider_marks(engine, chosen.below, chosen.config, record, words)
    with st.session_state["top_bar"]:
        # Of the run on the page, where there is one: the sidebar may be at another model already.
        used = chosen.config if record is None else record.config
        builtin_badge(used.models, words, roles_asked(used))
    follow(chosen.config, None, tour.show(words, offered=record is None))
    ask(chosen.config, record)
    faults_of_no_run(chosen.config.collection if record is None or record.origin is None else "")
    if record is None:
        before_a_run(chosen.config)
        return
    evidence(
        engine,
        record.id,
        words,
        chosen=chosen.config,
        found=found,
        active=record.active,
        again=lambda failed: start(failed.question, failed.config, failed.attachments),
    )


def before_a_run(config: RunConfig) -> None:
    """Show the workflow at rest, what it does, suggested questions, and a run's possible cost."""
    path.view(engine.graph(config.workflow), None, words, key=path.KEY)
    with st.container(key="before"):
        own = workflow(config.workflow)
        st.caption(words(own.introduction or own.summary))
        nothing_to_search(config.collection)
        follow(config, *examples(config, None, words))


def nothing_to_search(collection: str) -> None:
    """Show how to add passages if the chosen collection has none."""
    sizes = {item.name: item.passages for item in collection_choices()}
    if sizes.get(collection, 1):
        return
    said = words("The collection {collection} has no passages yet: nothing can be found in it.", collection=collection)
    if next_step(said, words("Add files"), "add", key="ask_add", offered=may("editor")):
        aim_at("knowledge", "add")
        st.switch_page("knowledge.py")


def opened() -> RunRecord | None:
    """The run that the address names; a refresh or a shared link attaches to it, running or finished.

    Coming back from another page, which has no run in its address, opens the run that was open before. An address that
    names a run and no settings brings the run's own along; one that names a passage too opens it.
    """
    address = st.query_params.to_dict()
    run_id = take_from_url("run", "", lambda given: len(given) <= _LONGEST_ID)
    put_into_url("run", run_id, "")
    came = moved_here() or st.session_state.get(_SHOWN) != run_id
    if _SHOWN in st.session_state and came and not moved_here():
        path.watch(run_id)
    st.session_state[_SHOWN] = run_id
    if not run_id:
        return None
    try:
        record = engine.record(run_id)
    except WorkbenchError as error:
        st.session_state["ask_fault"] = Fault.of(error)
        return None
    if came and address.get("run") == run_id and not names_settings(address):
        begin_here()
        want_settings(record.config)
    if came and (passage := PassageId(str(address.get("passage", "")))) in record.passages:
        # As if its citation was pressed: links in answers to other programs lead to what they cite.
        st.session_state["cited_elsewhere"] = passage
    return record


def settings(record: RunRecord | None) -> Chosen:
    fresh = st.session_state.pop("look_again_now", False)
    ollama = engine.ollama(fresh=fresh)
    models_there = engine.chat_models(fresh=fresh)
    note = OllamaNote(ollama.address, ollama.version, models_there, ollama.looking, ollama.smallest)
    # A link to a run names the models that are not built in.
    models = RoleModels() if "run" in st.query_params else engine.settings.models
    unavailable = {} if engine.settings.searxng_url else {"web_search": _NO_WEB_SEARCH}
    surroundings = Surroundings(
        tuple(WORKFLOWS),
        Machine(source_kinds, unavailable),
        models,
        partial(fits_of, engine),
        engine.settings.defaults_of_runs,
        gate=record.config.gate if record is not None else None,
        scorers=scorers_of(engine),
    )
    chosen = config_panel(words, collection_choices(), note, surroundings)
    budget.view(chosen.config, worst_case(prices(chosen.config, record), chosen.config), words)
    if chosen.look_again:
        st.session_state["look_again_now"] = True
        st.rerun()
    return chosen


def prices(config: RunConfig, record: RunRecord | None) -> CostModel:
    """Return the cost of single steps, as measured by the open run or the newest; updated with models and run."""
    finished = None if record is None or record.active else record
    asked = (config.workflow, config.models, finished.id if finished else "")
    return cached_in_session(
        "prices", asked, lambda: measured_costs(recent_records(engine, finished, _MEASURED_BY), config)
    )


def collection_choices() -> list[CollectionChoice]:
    """List the searchable collections; empty until the knowledge base is open, which the page says."""
    if not engine.ready:
        return []
    try:
        return [CollectionChoice(item.name, item.passages, item.full_text) for item in engine.collections()]
    except WorkbenchError as error:
        st.session_state["ask_fault"] = Fault.of(error)
        return []


def is_here(collection: str) -> bool:
    """Return whether a collection can be asked by this name; also if unknown, and for an empty name."""
    if collection in ("", SAMPLE_COLLECTION):
        return True
    try:
        engine.describe(collection)
    except UnknownCollection:
        return False
    except WorkbenchError:
        # Running it says what is wrong with it.
        return True
    return True


def source_kinds(collection: str) -> tuple[SourceKind, ...]:
    """Kinds of sources that a run finds in a collection; none where that cannot be learned."""
    if not engine.ready:
        return ()
    try:
        return engine.source_kinds(collection)
    except WorkbenchError:
        # Running it says what is wrong with the collection.
        return ()


def ask(config: RunConfig, record: RunRecord | None) -> None:
    """The question with what can be done about it; questions to try fold away while a run is open."""
    text, box = proposed(record, config.collection)
    active = record is not None and record.active
    # What an imported run asks is only where the other program is: a collection of that name is none of ours.
    away = record is not None and record.origin is not None and config.collection == record.collection
    away = away and config.collection not in {item.name for item in collection_choices()}
    closed = active or away or not may("editor")
    why = words("The documents of an imported run are not here: choose a collection to ask.") if away else None
    tried: tuple[str | None, RunId | None] = (None, None)
    # While the run is in progress, Stop stands where Run stood (page.css hides the one that cannot be pressed).
    with st.container(key="ask", horizontal=True, vertical_alignment="top", gap="small"):
        with st.form("ask_form", border=False), st.container(key="ask_line", horizontal=True, gap="small"):
            question = st.text_input(
                words("Question"),
                text,
                key=box,
                placeholder=words("Ask something of the collection…"),
                label_visibility="collapsed",
                max_chars=engine.settings.max_question_chars,
            )
            pressed = st.form_submit_button(
                words("Run"), type="primary", icon=":material/play_arrow:", width=_BUTTON, disabled=closed, help=why
            )
        if record is not None and active and may("editor"):
            stop = words("Stop")
            if st.button(stop, icon=":material/stop:", shortcut="Esc", key="stop", width=_BUTTON):
                engine.cancel(record.id)
        if record is not None:
            share_menu(engine, record, config, words)
            tried = examples_menu(config, record, words)
    box_below = Box()
    if workflow(config.workflow).takes_attachments and may("editor"):
        box_below = attachments_box(engine, config, record, (question or "").strip(), words)
    if pressed:
        # The box says it already: it keeps its key, and with it the keyboard.
        asked = (question or "").strip()
        st.session_state["question_shown"] = (asked, st.session_state["question_shown"][1])
        if problem := box_below.problem(words):
            st.info(problem)
        else:
            start(asked, config, box_below.attachments)
    follow(config, *tried)


def follow(config: RunConfig, asked: str | None, opened: RunId | None) -> None:
    """Ask the question, or open the recorded run, that was pressed among the examples."""
    if asked is not None:
        start(asked, config)
    if opened is not None:
        st.session_state["run"] = opened
        # A recorded run brings its settings along.
        want_settings(engine.record(opened).config)
        st.rerun()


def proposed(record: RunRecord | None, collection: str) -> tuple[str, str]:
    """Text and widget key of the question box: the run's question, or one to begin with where the samples answer it.

    The box stands in a form, which keeps what is typed in the browser until Enter; a text put into its session state
    would be lost in the next rerun that another element causes. A new key with a default of its own is not.
    """
    begin = _BEGIN[words.declared.closest] if collection == SAMPLE_COLLECTION else ""
    text = record.question if record else begin
    shown: tuple[str, int] = st.session_state.get("question_shown", (text, 0))
    if record is None and shown[0] in ("", *_BEGIN.values()) and not moved_here():
        # Another collection was chosen: what may be typed meanwhile stays.
        text = shown[0]
    if shown[0] != text:
        shown = (text, shown[1] + 1)
    st.session_state["question_shown"] = shown
    return text, f"question_{shown[1]}"


def start(question: str, config: RunConfig, attachments: tuple[Attachment, ...] = ()) -> None:
    asked_with(attachments)
    run_action("ask", partial(engine.start, question, config, attachments=attachments), into="run")
    st.rerun()


def faults_of_no_run(collection: str) -> None:
    """Faults that belong to no run, next to the question: one that could not be asked, a collection not here."""
    if not engine.ready:
        opening(engine, words)
    say_fault("ask", words)
    if engine.ready and not is_here(collection):
        fault_box(Fault.of(UnknownCollection(name=collection)), words, key="unknown_collection")
    for item in engine.faults[-1:]:
        fault_box(item, words, key="engine_fault", severity="warning")


page()
