"""The view Add: choose files, a collection and how text is cut, look at the preview, put them in, follow the jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from components.common.controls import pick, uploader_words
from components.common.i18n import Words
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.knowledge.items import IngestItem
from engine.knowledge.loaders.kinds import KINDS
from engine.library.values import CHUNK_LIMITS, DEFAULT_CHUNKS, ChunkOptions
from engine.messages import N_
from engine.model.config import BUILTIN
from engine.roles import CollectionInfo
from engine.roles.graph import GraphInfo
from engine.settings import UPLOADS_TAKEN
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge import jobs, preview
from pages.parts.knowledge.draft import Batch, Draft, DraftFor
from pages.parts.knowledge.graph import NO_GRAPH, extractor_choice
from pages.parts.knowledge.state import attempt
from pages.parts.knowledge.target import Target, target_choice

_FROM = {"files": N_("Files"), "folder": N_("Folder where the workbench runs")}
_DRAFT = "kb_draft"
_UPLOADS = "kb_uploads"
_STARTED = "kb_started"
"""Whether this session has started a job."""
_SLIDERS = {
    "target_tokens": (
        N_("Target size, tokens"),
        N_("Small passages are found more precisely; large ones carry more context. Default {default}."),
        10,
    ),
    "most_tokens": (
        N_("Maximum, tokens"),
        N_("A section up to this size stays whole. Embedding models read about 512 tokens. Default {default}."),
        10,
    ),
    "overlap_tokens": (
        N_("Overlap, tokens"),
        N_("Neighbouring passages share their border sentence up to this size. Default {default}."),
        5,
    ),
}
"""Name, explanation and step of each."""

_KEY = "kb_cut_"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files to add, their collection, and how they are read and cut."""

    batch: Batch
    target: Target
    chunks: ChunkOptions
    hidden: bool
    """Whether hidden content of the files goes in."""
    graph: str = ""
    """What reads a knowledge graph afterwards; empty for none."""

    @property
    def preview(self) -> DraftFor:
        target = self.target
        form = (target.context, target.context_model)
        return DraftFor(target.name, target.embedding_model, self.chunks, self.hidden, *form)


def panel(engine: Engine, collections: Sequence[CollectionInfo], words: Words) -> None:
    """Draw it all; what was previewed stays while other views are looked at."""
    draft: Draft | None = st.session_state.get(_DRAFT)
    # What was just started stands where the eye is, and not below the form that started it.
    followed_first = bool(st.session_state.get(_STARTED)) and draft is None
    if followed_first:
        jobs.panel(engine, words)
    with st.container(border=True, key="kb_upload"):
        left, right = st.columns([3, 2], gap="medium")
        with right:
            target = target_choice(engine, collections, words)
        with left:
            batch = files_choice(engine, words)
            with st.expander(words("Settings"), icon=":material/tune:", key="kb_options"):
                graph = graph_choice(engine, target, words)
                hidden = hidden_choice(words)
                chunks = chunk_sliders(words)
        if batch.empty and draft is not None:
            # What was chosen before another view was looked at is in the preview still.
            batch = draft.batch
        wanted = Wanted(batch, target, chunks, hidden, graph)
        start_buttons(engine, wanted, draft, words)
    draft = followed(engine, wanted)
    if draft is not None:
        preview.panel(engine, draft, words)
    if not followed_first:
        jobs.panel(engine, words)


def files_choice(engine: Engine, words: Words) -> Batch:
    """Files from the browser, or a path on this machine."""
    if not may("admin"):  # a path is one of the server's own disk
        return _uploads(engine.settings.max_upload_mb, words)
    way = pick(words("Files"), {name: words(text) for name, text in _FROM.items()}, key="kb_from")
    return _folder(words) if way == "folder" else _uploads(engine.settings.max_upload_mb, words)


def _folder(words: Words) -> Batch:
    if st.session_state.pop("kb_path_used", False):
        st.session_state["kb_path"] = ""
    path = st.text_input(words(_FROM["folder"]), key="kb_path", max_chars=4000, persist_state="session")
    return Batch(path=str(path or ""))


def _uploads(most_mb: int, words: Words) -> Batch:
    # A new key empties the box once its files are on their way.
    generation = st.session_state.setdefault(_UPLOADS, 0)
    files = st.file_uploader(
        words("Add files"),
        accept_multiple_files=True,
        # A file that the browser refuses is in no report; one that comes here and is too large is named in it.
        max_upload_size=UPLOADS_TAKEN * most_mb,
        key=f"kb_files_{generation}",
    )
    limit = words("or drop them here, up to {mb} MB each", mb=most_mb)
    uploader_words("kb_upload", words("Choose files"), limit)
    st.caption(
        words(KINDS),
        help=words(
            "Files are read on this machine; links in them are not followed. A Markdown file names its kind between "
            "two lines `---` at its top: `kind: temporal` for dated notes, `kind: graph` for entity notes."
        ),
    )
    ids = tuple(item.file_id for item in files or ())

    def read() -> tuple[IngestItem, ...]:
        return tuple(IngestItem(item.name, data=item.getvalue()) for item in files or ())

    return Batch(cached_in_session("kb_uploaded", ids, read), ids)


def hidden_choice(words: Words) -> bool:
    """Return whether hidden content of the files goes in."""
    return st.checkbox(words("Read hidden content"), key="kb_hidden", persist_state="session")


def start_buttons(engine: Engine, wanted: Wanted, draft: Draft | None, words: Words) -> None:
    """Preview, then put in: the one to press next is the coloured one."""
    batch, target = wanted.batch, wanted.target
    ready = not batch.empty and bool(target.name)
    seen = draft is not None and draft.batch == batch
    reading = draft is not None and seen and not draft.done
    idle = draft is not None and seen and draft.nothing_goes_in
    with st.container(horizontal=True, vertical_alignment="center", key="kb_go_line"):
        if st.button(
            words("Preview"),
            type="secondary" if seen else "primary",
            disabled=not ready or reading,
            icon=":material/visibility:",
            key="kb_preview",
        ):
            st.session_state[_DRAFT] = Draft.start(engine, batch, wanted.preview)
            st.rerun()
        if st.button(
            words("Import"),
            type="primary" if seen else "secondary",
            disabled=not ready or idle,
            help=words("Nothing new here.") if idle else None,
            icon=":material/upload:",
            key="kb_start",
        ):
            begin(engine, wanted, draft if seen else None, words)


def followed(engine: Engine, wanted: Wanted) -> Draft | None:
    """The preview as it suits the settings: made again when a slider or the collection was changed."""
    draft: Draft | None = st.session_state.get(_DRAFT)
    if draft is None or draft.batch != wanted.batch:
        return None
    if wanted.target.name and draft.wanted != wanted.preview:
        draft = draft.again(engine, wanted.preview)
        st.session_state[_DRAFT] = draft
    return draft


def begin(engine: Engine, wanted: Wanted, draft: Draft | None, words: Words) -> None:
    """Start the job; what speaks against it is said above, and the files stay chosen."""
    target = wanted.target

    def start() -> None:
        # A preview that is done knows the files of a folder; they need not be looked for again.
        if draft is not None and draft.done and draft.wanted.hidden == wanted.hidden:
            items, failed = list(draft.items), draft.failed
        else:
            items, failed = wanted.batch.items(hidden=wanted.hidden)
        engine.ingestions.start(
            items,
            target.name,
            chunks=wanted.chunks,
            embedding_model=target.embedding_model,
            query_prefix=target.query_prefix,
            passage_prefix=target.passage_prefix,
            context=target.context,
            context_model=target.context_model,
            description=target.description,
            failed=failed,
            graph=wanted.graph,
            # The replacement was announced next to the choice.
            replace_graph=True,
        )

    with st.spinner(words("Checking …")):
        begun = attempt(start)
    if begun:
        if draft is not None:
            draft.cancel()
        st.session_state.pop(_DRAFT, None)
        st.session_state[_UPLOADS] = st.session_state.get(_UPLOADS, 0) + 1
        st.session_state["kb_path_used"] = True
        st.session_state[_STARTED] = True
        st.session_state["kb_collection"] = target.name
        st.session_state["kb_into_next"] = target.name
    st.rerun()


def chunk_sliders(words: Words) -> ChunkOptions:
    """Draw the sliders; no matter where they stand, the options returned can be used, and what was changed is said."""
    chosen: dict[str, int] = {}
    with st.container(key="kb_cut"):
        places = st.columns(len(CHUNK_LIMITS), gap="medium")
        for place, (name, (low, high)) in zip(places, CHUNK_LIMITS.items(), strict=True):
            label, explained, step = _SLIDERS[name]
            default = getattr(DEFAULT_CHUNKS, name)
            key = f"{_KEY}{name}"
            st.session_state.setdefault(key, default)
            value = place.slider(
                words(label),
                low,
                high,
                step=step,
                key=key,
                help=words(explained, default=default),
                persist_state="session",
            )
            chosen[name] = int(value)
    st.html(f"<style>{''.join(_tick(name) for name in CHUNK_LIMITS)}</style>")
    options = usable(**chosen)
    _corrected(chosen, options, words)
    if options != DEFAULT_CHUNKS:
        icon = ":material/restart_alt:"
        st.button(words("Reset"), icon=icon, type="tertiary", key="kb_cut_reset", on_click=_reset)
    return options


def usable(target_tokens: int, most_tokens: int, overlap_tokens: int) -> ChunkOptions:
    """Options that go together: at least the target fits into a passage, and half of it is not repeated."""
    return ChunkOptions(target_tokens, max(most_tokens, target_tokens), min(overlap_tokens, target_tokens // 2))


def _corrected(chosen: dict[str, int], options: ChunkOptions, words: Words) -> None:
    if chosen["most_tokens"] != options.most_tokens or chosen["overlap_tokens"] != options.overlap_tokens:
        st.caption(
            f"{words('Maximum, tokens')} {options.most_tokens} · {words('Overlap, tokens')} {options.overlap_tokens}"
        )


def _reset() -> None:
    for name in CHUNK_LIMITS:
        st.session_state[f"{_KEY}{name}"] = getattr(DEFAULT_CHUNKS, name)


def _tick(name: str) -> str:
    """A rule of numbers only: a line on the slider's track where the default stands."""
    low, high = CHUNK_LIMITS[name]
    share = (getattr(DEFAULT_CHUNKS, name) - low) / (high - low)
    track = f".st-key-{_KEY}{name} .stSlider [role=group] > div"
    return (
        f"{track}{{position:relative}}"
        f"{track}::after{{content:'';position:absolute;left:calc({share:.2%} - 1px);top:12px;width:2px;"
        "height:16px;border-radius:1px;background:currentColor;opacity:.55;pointer-events:none}"
    )


def graph_choice(engine: Engine, target: Target, words: Words) -> str:
    """``builtin`` or a chat model; empty for none. A graph that is there continues with who has read it so far."""
    has = _graph_of(engine, target)
    known = _known(has)
    # A widget of its own for each collection: what suits one is no choice for another.
    key = f"kb_graph_{target.name if has is not None else ''}"
    first, usual = [NO_GRAPH, *known], (known or [NO_GRAPH])[0]
    chosen = extractor_choice(engine, words, key=key, label=N_("Knowledge graph"), first=first, usual=usual)
    wanted = "" if chosen == NO_GRAPH else chosen
    if has is not None and wanted != has.extractor:
        replaced = words("The present graph is replaced.")
        lacking = words("The graph lacks the new passages.")
        st.markdown(f":orange[:small[{replaced if wanted else lacking}]]")
    return wanted


def _known(has: GraphInfo | None) -> list[str]:
    """Return the graph's reader if another process can take over; handwritten graphs are never read again."""
    return [has.extractor] if has is not None and (has.extractor == BUILTIN or ":" in has.extractor) else []


def _graph_of(engine: Engine, target: Target) -> GraphInfo | None:
    if target.new or not target.name:
        return None
    try:
        state = engine.graphs.describe(target.name)
    except WorkbenchError:
        # A store of graphs that does not answer keeps no one from putting files in; the job says what is wrong.
        return None
    return state.info if state is not None and state.info.passages else None
