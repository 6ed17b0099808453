"""The dialog that takes in traces of other programs: what a file holds is said before anything is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from components.ask.origin import TOOLS, note_texts
from components.common.controls import uploader_words
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.outcomes import outcome_text
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.values import Fault, RunRecord
from pages.parts.common.actions import answer_buttons, run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from plugins.traces.report import LEFT_OUT, Previewed
from plugins.traces.taking import Traces
from plugins.traces.trace_file import MOST_MB

_DONE = "traces_taken"
_SHOWN = 6


def import_button(engine: Engine, words: Words) -> None:
    """The button of the dialog, and the result of the last import; nothing for people who may not import."""
    if not may("editor"):
        return
    say_fault("traces", words)
    done = st.session_state.pop(_DONE, None)
    if done is not None:
        text = words.count("{n} run imported.", "{n} runs imported.", done.new)
        if done.set_name:
            text = words.joined(
                (text, words("Their questions are the query set “{name}” on Tune.", name=done.set_name))
            )
        st.success(text, icon=":material/check:")
    if st.button(words("Import traces"), icon=":material/upload_file:", key="traces_import"):
        st.dialog(words("Import traces"), width="large")(_body)(engine, words)


def _body(engine: Engine, words: Words) -> None:
    st.caption(
        words(
            "Traces of another program become runs here: OpenTelemetry (JSON or binary), exports of Phoenix and "
            "Langfuse, and files of rag_workbench.observe."
        )
    )
    with st.container(key="traces_files"):
        limits = words("Up to {mb} MB each", mb=MOST_MB)
        uploader_words("traces_files", words("Choose files"), limits)
        files = st.file_uploader(
            words("Files of traces"), accept_multiple_files=True, key="traces_upload", label_visibility="collapsed"
        )
    if not files:
        return
    given = [(item.name, item.getvalue()) for item in files]
    try:
        asked = tuple(item.file_id for item in files)
        seen = cached_in_session("traces_preview", asked, lambda: Traces.of(engine).preview(given))
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="traces_unusable")
        return
    _preview(seen, words)
    as_set = st.toggle(
        words("Keep the questions as a query set"),
        key="traces_as_set",
        help=words("Tune then compares settings over all of these runs without a call."),
    )
    name = ""
    if as_set:
        first = seen.found.traces[0]
        name = st.text_input(
            words("Name of the query set"), first.project or TOOLS[first.tool], key="traces_set"
        ).strip()
    new = len(seen.records) - len(seen.known)
    answer_buttons(
        words.count("Import {n} run", "Import {n} runs", new),
        words("Cancel"),
        partial(_take, engine, given, name),
        key="traces",
        disabled=(new == 0 and not name) or (as_set and not name),
    )


def _preview(seen: Previewed, words: Words) -> None:
    records = seen.records
    facts = [
        words.count("{n} trace", "{n} traces", len(records)),
        words.count("{n} span", "{n} spans", seen.found.spans),
        words.count("{n} search", "{n} searches", sum(len(record.rounds) for record in records)),
        words.count("{n} verdict", "{n} verdicts", sum(len(own.verdicts) for r in records for own in r.rounds)),
        words.count("{n} answer", "{n} answers", sum(bool(record.answer) for record in records)),
    ]
    lines = [node("p", "", node("strong", "", " · ".join(facts)))]
    if seen.known:
        lines.append(
            node("p", "muted small", words.count(
                "{n} was imported before and stays as it is.", "{n} were imported before and stay as they are.",
                len(seen.known),
            ))
        )  # fmt: skip
    lines += [_line(record, words) for record in records[:_SHOWN]]
    if len(records) > _SHOWN:
        lines.append(node("p", "muted small", words("and {n} more", n=len(records) - _SHOWN)))
    lines += [node("p", "muted small", node("bdi", "", text)) for text in _left_out(seen, words)]
    draw(lines, words, key="traces_seen")


def _line(record: RunRecord, words: Words) -> Node:
    notes = note_texts(record, words)[:3]
    return node(
        "div",
        "",
        node("p", "", node("bdi", "", record.question[:160]), " — ", outcome_text(record.outcome, words)),
        *(node("p", "muted small", node("bdi", "", text)) for text in notes),
    )


def _left_out(seen: Previewed, words: Words) -> Sequence[str]:
    left = seen.found.left_out
    said = [words(N_("left out: {what}"), what=words(LEFT_OUT[item.code], **item.params)) for item in left[:_SHOWN]]
    return [*said, words("and {n} more left out", n=len(left) - _SHOWN)] if len(left) > _SHOWN else said


def _take(engine: Engine, files: Sequence[tuple[str, bytes]], set_name: str) -> None:
    names = [name for name, _ in files]
    run_action("traces", lambda: Traces.of(engine).take(files, set_name=set_name, names=names), into=_DONE)
