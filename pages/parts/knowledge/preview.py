"""The preview of a batch on the Knowledge page: totals, files, and how one of them is cut."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.controls import page_of, pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.knowledge.chunk_preview import chunk_cards
from components.knowledge.preview_files import (
    FILE_STATES,
    PreviewedFile,
    files_of,
    preview_files,
    preview_progress,
    preview_totals,
)
from engine.engine import Engine
from engine.knowledge.loaders.kinds import KINDS
from engine.library.accounts import HIDDEN
from engine.library.values import ChunkOptions, Preview, PreviewedSource
from engine.messages import N_
from pages.parts.common.remembered import remembered
from pages.parts.knowledge.draft import Draft, cut_again, read_aside

_STATE = {
    "all": N_("All {n}"),
    "new": N_("New {n}"),
    "replaces": N_("Replaces {n}"),
    "same": N_("Already there {n}"),
    "failed": N_("Cannot be used {n}"),
    "left_out": N_("Left out {n}"),
}

_WATCH_S = 0.4
_A_PAGE = 12
_OPENED = "kb_previewed"
_LAST = "kb_preview_last"
_DRAFT = "kb_draft"


def preview_panel(engine: Engine, draft: Draft, words: Words) -> None:
    """Progress while files are read; then all there is to see. While sliders move, what was there before stays."""
    with st.container(border=True, key="kb_preview_panel"):
        st.markdown(f"##### {words('What would go in')}")
        if not draft.done:
            _watch(draft, words)
        last: tuple[Draft, Preview] | None = st.session_state.get(_LAST)
        if draft.done and draft.preview is not None:
            last = (draft, draft.preview)
            st.session_state[_LAST] = last
        if draft.done and draft.fault is not None:
            fault_box(draft.fault, words, key="kb_preview_fault")
        elif last is not None and last[0].batch == draft.batch:
            _shown(engine, last[1], last[0], draft.wanted.chunks, words)


def _watch(draft: Draft, words: Words) -> None:
    """Which file is read, of how many, with a button that ends it."""

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if draft.done:
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", key="kb_preview_status"):
            if preview_progress(draft.read, draft.total, draft.source, words, key="kb_preview_busy"):
                draft.cancel()
                st.session_state.pop(_DRAFT, None)
                st.rerun()

    watch()


def _shown(engine: Engine, preview: Preview, draft: Draft, chunks: ChunkOptions, words: Words) -> None:
    files = files_of(preview)
    if not files:
        kinds = words(KINDS)
        st.info(words("No file that can be read was found under this path. What can be read: {kinds}.", kinds=kinds))
        return
    preview_totals(preview, words, key="kb_totals")
    if not draft.wanted.hidden and any(note.code in HIDDEN for item in preview.sources for note in item.account.notes):
        st.caption(words("Hidden parts of documents stay out. Tick *Read hidden content* above to take them in."))
    recorded = sum(item.recorded for item in preview.sources)
    if not preview.passages and not recorded:
        st.info(words("Nothing of this would go in: all is there already or cannot be used."))
    elif recorded:
        st.info(
            words.count(
                "1 source is there already: *Import* records what was read of it.",
                "{n} sources are there already: *Import* records what was read of them.",
                recorded,
            )
        )
    readable = {item.name: item for item in preview.sources}
    opened = str(st.session_state.get(_OPENED, ""))
    if opened not in readable:
        opened = next((item.name for item in files if item.source is not None), "")
    left, right = st.columns([5, 6], gap="medium")
    with left:
        pressed = _files(files, opened, words)
    if pressed is not None and pressed != opened:
        st.session_state[_OPENED] = pressed
        st.rerun()
    with right:
        if opened:
            source = _as_cut(engine, draft, readable[opened], chunks)
            chunk_cards(source, chunks, words, key="kb_chunk")


def _as_cut(engine: Engine, draft: Draft, source: PreviewedSource, chunks: ChunkOptions) -> PreviewedSource:
    """The opened file as the sliders stand now, while the preview of all files is still on its way."""
    item = next((item for item in reversed(draft.items) if item.name == source.name), None)
    if item is None:
        return source
    asked = (draft.batch.ids, draft.batch.path, source.name, source.size, item.hidden)
    document = remembered("kb_document", asked, lambda: read_aside(item, engine.settings.max_upload_mb))
    if draft.wanted.chunks == chunks or not document.done() or document.exception() is not None:
        return source
    return cut_again(source, document.result(), chunks)


def _files(files: Sequence[PreviewedFile], opened: str, words: Words) -> str | None:
    shown = _chosen_state(files, words)
    some = page_of(shown, _A_PAGE, key="kb_files_page")
    return preview_files(some, words, key="kb_preview_files", opened=opened)


def _chosen_state(files: Sequence[PreviewedFile], words: Words) -> list[PreviewedFile]:
    """Those in the state that is asked for; without a choice where all are in the same."""
    counts: dict[str, int] = {name: sum(item.state == name for item in files) for name in FILE_STATES}
    there = [name for name in FILE_STATES if counts[name]]
    if len(there) < 2:
        return list(files)
    shown = {name: words(_STATE[name], n=counts.get(name, len(files))) for name in ("all", *there)}
    chosen = pick(words("State"), shown, key="kb_state")
    return [item for item in files if chosen in ("all", item.state)]
