"""The view Map: passages on two axes, a question among them, and what became of them in a run."""

from __future__ import annotations

import streamlit as st

from components.common.controls import typed
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.life_lines import life_lines
from components.common.phrases import ended_text, outcome_text, place_text
from components.knowledge.draw import quiet
from components.knowledge.passage_map import PictureFormat, counts_text, looks_of, passage_map_chart, share_text
from engine.api.process import get_engine
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.library.values import PassageMap
from engine.model.values import Fault, PassageId, RunRecord
from engine.roles import CollectionInfo
from pages.parts.common.presses import retry_box
from pages.parts.common.remembered import remembered
from pages.parts.common.stored_runs import finished_record
from pages.parts.knowledge.state import add_files_step

_MOST = 2000
_RUNS = 30
_LONGEST = 2000
_FORMAT = "kb_map_format"
_FORMATS: tuple[PictureFormat, ...] = ("png", "svg")


def passage_map(info: CollectionInfo) -> None:
    """Draw the map of a collection with its controls; a click shows the passage below."""
    engine = get_engine()
    words: Words = st.session_state["words"]
    if not info.passages:
        nothing = words("Nothing to draw yet: the collection has no passages.")
        add_files_step(nothing, words, key="kb_map_add", info=info)
        return
    with st.container(border=True, key="kb_map_box"):
        left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
        with left:
            typed = _query(words)
        with right:
            record = _run(engine, info, words)
    query = typed or (record.question if record else "")
    drawn = _drawn(engine, info, query, words)
    if drawn is None:
        return
    _told(drawn, info, words)
    looks = looks_of({line.passage.id: line.fate for line in life_lines(record)}) if record else None
    picture = _picture_wanted()
    clicked = passage_map_chart(drawn, looks, words, key=f"kb_map_{info.name}", picture=picture, name=info.name)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(words("Click a point to read its passage."))
        _choose_picture(words)
    if clicked is not None:
        _passage(engine, info, drawn, clicked, words)


def _query(words: Words) -> str:
    """The question, shared with the view Search."""
    placeholder = words("Type a question to see where it falls")
    return typed("kb_query", words("Question"), _LONGEST, placeholder=placeholder)


def _run(engine: Engine, info: CollectionInfo, words: Words) -> RunRecord | None:
    """The finished run to colour by: chosen among the newest of this collection, or named by ``?run=``."""
    # Under a name of its own in the state: the workbench keeps the run that it shows as ``run``.
    named = str(st.query_params.get("run", ""))
    given = finished_record(engine, named) if named else None
    labels = {"": words("No run: colour by source")}
    for summary in (item for name in (info.name, *info.aliases) for item in engine.runs(_RUNS, collection=name)):
        if summary.outcome is not None:
            labels[summary.id] = (
                f"{summary.question[:60]} · {outcome_text(summary.outcome, words, summary.answer_note)}"
            )
    if given is not None and _searched(given, info):
        labels.setdefault(given.id, f"{given.question[:60]} · {ended_text(given, words)}")
    if named and "kb_map_run" not in st.session_state:
        st.session_state["kb_map_run"] = named
    if st.session_state.get("kb_map_run") not in labels:
        st.session_state["kb_map_run"] = ""
    chosen = st.selectbox(
        words("Colour by what became of them in a run"),
        list(labels),
        format_func=lambda name: labels.get(name, ""),
        key="kb_map_run",
    )
    if named and given is None:
        st.caption(words("The run in the address has not ended, or is not there."))
    elif given is not None and not _searched(given, info):
        quiet(
            words(
                "That run searched another collection, {name}: its passages are not on this map.",
                name=given.config.collection,
            ),
            words,
            key="kb_map_other",
        )
    return finished_record(engine, chosen) if chosen else None


def _searched(record: RunRecord, info: CollectionInfo) -> bool:
    names = (info.name, *info.aliases)
    return record.config.collection in names or record.manifest.get("collection") in names


def _drawn(engine: Engine, info: CollectionInfo, query: str, words: Words) -> PassageMap | None:
    def read() -> PassageMap:
        with st.spinner(words("Reading vectors…"), show_time=False):
            return engine.library.passage_map(info.name, query, _MOST)

    try:
        return remembered("kb_map", (engine.instance, info.name, info.fingerprint, query), read)
    except WorkbenchError as error:
        retry_box(error, words, key="kb_map_fault")
    if not query:
        return None
    # A question needs its model; the map itself does not.
    asked = (engine.instance, info.name, info.fingerprint)
    return remembered("kb_map_bare", asked, lambda: engine.library.passage_map(info.name, "", _MOST))


def _told(drawn: PassageMap, info: CollectionInfo, words: Words) -> None:
    """What is seen, and how much of it to believe."""
    variance = words(
        "The two axes show {share} of the variance, of {dim} dimensions.",
        share=share_text(sum(drawn.explained)),
        dim=info.dim,
    )
    limits = words(
        "So points near each other here may be far apart in meaning, and what is most similar to the question need "
        "not lie beside it."
    )
    st.caption(f"{counts_text(drawn, words)} · {variance} {limits}")


def _picture_wanted() -> PictureFormat:
    """As chosen below the map, which is drawn before the choice."""
    chosen = st.session_state.get(_FORMAT)
    return "svg" if chosen == "svg" else "png"


def _choose_picture(words: Words) -> None:
    st.segmented_control(
        words("Picture as"),
        _FORMATS,
        default=None if _FORMAT in st.session_state else _FORMATS[0],
        required=True,
        format_func=str.upper,
        key=_FORMAT,
        help=words("The camera above the map saves it in this format."),
        persist_state="session",
        width="content",
    )


def _passage(engine: Engine, info: CollectionInfo, drawn: PassageMap, passage_id: PassageId, words: Words) -> None:
    """The whole passage, as text: it is somebody else's."""
    point = next(item for item in drawn.points if item.id == passage_id)
    try:
        stored = next((item for item in engine.passages(info.name, point.source) if item.id == passage_id), None)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="kb_map_passage_fault")
        stored = None
    with st.container(border=True, key="kb_map_passage"):
        st.text(place_text(point.source, point.section, words))
        st.text(stored.text if stored is not None else point.text)
