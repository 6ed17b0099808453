"""The preview of a batch on the Knowledge page: totals, files, and how one of them is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import streamlit as st

from components.common.amounts import count_text, size_text, span_text
from components.common.controls import page_of, pick
from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import WRITTEN, Node, button, chip, continued, figure, filled, gauge, node
from components.common.phrases import fault_text, section_text
from components.knowledge.draw import draw_knowledge
from components.labels import SOURCE_KIND_NAMES
from engine.engine import Engine
from engine.knowledge.loaders.kinds import KINDS
from engine.library.accounts import HIDDEN, counts_left_out
from engine.library.values import ChunkOptions, Preview, PreviewedSource
from engine.messages import N_
from engine.model.values import Fault
from engine.roles import StoredPassage
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.draft import Draft, cut_again, read_aside
from pages.parts.knowledge.sources import account_nodes, lines_text
from pages.parts.knowledge.writer import price_text

_STATE = {
    "new": N_("new"),
    "replaces": N_("changed"),
    "same": N_("already there"),
    "failed": N_("unusable"),
    "left_out": N_("left out"),
}
_WATCH_S = 0.4
_A_PAGE = 12
_OPENED = "kb_previewed"
_LAST = "kb_preview_last"
_DRAFT = "kb_draft"
FileState = Literal["new", "replaces", "same", "failed", "left_out"]
FILE_STATES: tuple[FileState, ...] = get_args(FileState)

NOTED = 3
"""Notes of one file that its row has room for; all stand where the file is open."""
_OPEN = "open:"
_LOOKS: dict[FileState, tuple[str, str]] = {
    "new": ("pass", "✓"),
    "replaces": ("pass", "↻"),
    "same": ("grey", "="),
    "failed": ("warn", "✗"),
    "left_out": ("grey", "–"),
}
_ENOUGH_FOR_BARS = 6
_CHUNKS_A_PAGE = 12
_LEAST_OVERLAP = 4
"""Characters: less in common is chance."""
_LONGEST_OVERLAP = 1200


def panel(engine: Engine, draft: Draft, words: Words) -> None:
    """Draw progress while files are read; then all there is to see. While sliders move, what was there before stays."""
    with st.container(border=True, key="kb_preview_panel"):
        st.markdown(f"##### {words('Preview')}")
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
    """Show which file is being read, of how many, with a stop button."""

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
        st.info(f"{words('Nothing found.')} {words(KINDS)}")
        return
    preview_totals(preview, words, key="kb_totals")
    if not draft.wanted.hidden and any(note.code in HIDDEN for item in preview.sources for note in item.account.notes):
        st.caption(words("Hidden parts stay out; *Read hidden content* takes them in."))
    recorded = sum(item.recorded for item in preview.sources)
    if recorded:
        st.info(
            words.count(
                "Import adds the reading record of 1 source.",
                "Import adds the reading records of {n} sources.",
                recorded,
            )
        )
    elif not preview.passages:
        st.info(words("Nothing new here."))
    readable = {item.name: item for item in preview.sources}
    opened = str(st.session_state.get(_OPENED, ""))
    if opened not in readable:
        opened = next((item.name for item in files if item.source is not None), "")
    left, right = st.columns([5, 6], gap="medium")
    with left:
        some = page_of(_chosen_state(files, words), _A_PAGE, key="kb_files_page")
        pressed = preview_files(some, words, key="kb_preview_files", opened=opened)
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
    document = cached_in_session("kb_document", asked, lambda: read_aside(item, engine.settings.max_upload_mb))
    if draft.wanted.chunks == chunks or not document.done() or document.exception() is not None:
        return source
    return cut_again(source, document.result(), chunks)


def _chosen_state(files: Sequence[PreviewedFile], words: Words) -> list[PreviewedFile]:
    """Those in the state that is asked for; without a choice where all are in the same."""
    counts: dict[str, int] = {name: sum(item.state == name for item in files) for name in FILE_STATES}
    there = [name for name in FILE_STATES if counts[name]]
    if len(there) < 2:
        return list(files)
    shown = {"all": words("All")} | {name: f"{words(_STATE[name])} {counts[name]}" for name in there}
    chosen = pick(words("State"), shown, key="kb_state")
    return [item for item in files if chosen in ("all", item.state)]


@dataclass(frozen=True, slots=True)
class PreviewedFile:
    """A line of the table: a file that can be read, or one that cannot and its reason."""

    name: str
    source: PreviewedSource | None = None
    fault: Fault | None = None

    @property
    def state(self) -> FileState:
        if self.source is None:
            return "left_out" if self.fault is not None and counts_left_out(self.fault) else "failed"
        return "same" if self.source.same_as else "replaces" if self.source.replaces else "new"


def files_of(preview: Preview) -> list[PreviewedFile]:
    """Those that cannot be used first, for they need something done; the others in the order they were given."""
    failed = [PreviewedFile(name, fault=fault) for name, fault in preview.failed]
    return failed + [PreviewedFile(item.name, source=item) for item in preview.sources]


def preview_totals(preview: Preview, words: Words, *, key: str) -> None:
    """Draw files, passages, tokens and time as figures, and what sentences of context cost."""
    used = [item for item in preview.sources if not item.same_as]
    tokens = sum(sum(item.tokens) for item in used)
    unusable = [fault for _, fault in preview.failed if not counts_left_out(fault)]
    files = len(preview.sources) + len(unusable)
    time = "–"
    if used:
        span = span_text(preview.seconds) if preview.seconds is not None else words("unknown")
        time = span if preview.measured or preview.seconds is None else f"≈ {span}"
    figures = [
        figure(words("Files"), f"{count_text(len(used))}/{count_text(files)}"),
        figure(words("Passages"), count_text(preview.passages)),
        figure(words("Tokens"), count_text(tokens)),
        figure(words("Time"), time),
    ]
    partly = sum(bool(item.account.left_out) for item in used)
    if partly:
        figures.append(figure(words("Read in part"), count_text(partly), look="warn"))
    if unusable:
        figures.append(figure(words("unusable"), count_text(len(unusable)), look="warn"))
    totals = [node("div", "figures totals", *figures)]
    if price := preview.writing:
        totals.append(node("p", "muted small", words(WRITTEN, model=price.model, text=price_text(price, words))))
    draw_knowledge(totals, words, key=key)


def preview_progress(read: int, total: int, source: str, words: Words, *, key: str) -> bool:
    """Draw how many files were read; true when the reader pressed cancel. ``total`` is 0 while they are looked for."""
    text = f"{words('Files')} {count_text(read)}/{count_text(total)}" if total else words("Checking …")
    bar = gauge(read / total if total else 0.0, text, moving=not total, look="bar")
    now = (node("div", "muted small clip", source, title=source),) if source else ()
    progress = node("div", "grow", node("div", "small num", text, role="status"), bar, *now)
    cancel = button(words("Cancel"), "cancel")
    return draw_knowledge([node("div", "busy", progress, cancel)], words, key=key) == "cancel"


def preview_files(files: Sequence[PreviewedFile], words: Words, *, key: str, opened: str = "") -> str | None:
    """Draw one row a file; returns the file whose cut is asked for, by a press on its row."""
    rows = [_row(number, item, item.name == opened, words) for number, item in enumerate(files)]
    action = draw_knowledge([node("div", "lines files", *rows)], words, key=key)
    number = int(action.removeprefix(_OPEN)) if action and action.startswith(_OPEN) else -1
    return files[number].name if 0 <= number < len(files) else None


def _row(number: int, item: PreviewedFile, opened: bool, words: Words) -> Node:
    look, sign = _LOOKS[item.state]
    source = item.source
    if source is None:
        return _failed_row(item, words)
    title = node(
        "button",
        "title",
        item.name,
        data_action=f"{_OPEN}{number}",
        title=words("Show passages"),
        aria_pressed="true" if opened else "false",
    )
    account = account_nodes(source.account, words)
    if len(source.account.notes) > NOTED:
        account[NOTED + 1 :] = [node("div", "muted small", words("… and {n} more", n=len(account) - NOTED - 1))]
    said = words(_STATE[item.state]) + (f": {source.same_as}" if source.same_as else "")
    state = chip(look, f"{sign} {said}")
    return node(
        "div",
        f"line{' on' if opened else ''}{' same' if source.same_as else ''}",
        node("div", "name", title, node("div", "muted small num", _facts(source, words)), *account),
        node("div", "state", state),
    )


def _facts(source: PreviewedSource, words: Words) -> str:
    """``MD · UTF-8 · 3.1 KB · 4 passages · 56 tokens``; the kind of source where it is not the usual one."""
    parts = (
        source.format.upper(),
        source.encoding.upper(),
        words(SOURCE_KIND_NAMES[source.kind]) if source.kind != "vector" else "",
        size_text(source.size),
        *_size(source, words),
    )
    return " · ".join(part for part in parts if part)


def _size(source: PreviewedSource, words: Words) -> list[str]:
    tokens = words("{n} tokens", n=count_text(sum(source.tokens)))
    return [words.count("1 passage", "{n} passages", len(source.passages)), tokens]


def _failed_row(item: PreviewedFile, words: Words) -> Node:
    """A file that cannot be used: what is wrong with it and what helps, where the others have their figures."""
    look, sign = _LOOKS[item.state]
    fact, remedy = fault_text(item.fault, words) if item.fault is not None else ("", "")
    why = node("div", "why small", node("strong", "", fact), " ", remedy)
    named = node("div", "name", node("span", "title", item.name), why)
    state = chip(look, f"{sign} {words(_STATE[item.state])}", item.fault.code if item.fault else "")
    return node("div", "line failed", named, node("div", "state", state))


def overlap(before: StoredPassage | None, passage: StoredPassage) -> int:
    """Characters at the beginning of a passage that are the end of the one before, in the same section; 0 for none."""
    if before is None or before.section != passage.section:
        return 0
    text = passage.text
    for length in range(min(len(text) - 1, len(before.text) - 1, _LONGEST_OVERLAP), _LEAST_OVERLAP - 1, -1):
        if before.text.endswith(text[:length]):
            return length
    return 0


def chunk_cards(source: PreviewedSource, chunks: ChunkOptions, words: Words, *, key: str) -> None:
    """Draw the passages of a file, a page at a time, with their sizes against target and most."""
    passages = source.passages
    if not passages:
        st.caption(" · ".join(_size(source, words)))
        return
    pairs = list(zip((None, *passages), passages, strict=False))
    shared = [overlap(before, passage) for before, passage in pairs]
    head = _size(source, words)
    heading = node("strong", "", source.name)
    # Of a few passages the bars would look like a stray mark.
    row = [_sizes(source.tokens, chunks)] if len(source.tokens) >= _ENOUGH_FOR_BARS else []
    title = node("div", "head", heading, *row)
    # Of a few notes the row of the file tells them all.
    account = account_nodes(source.account, words) if len(source.account.notes) > NOTED else []
    draw_knowledge([title, node("div", "muted small", " · ".join(head)), *account], words, key=f"{key}_head")
    shown = page_of(list(zip(passages, source.tokens, shared, strict=True)), _CHUNKS_A_PAGE, key=f"{key}_page")
    cards = [_card(passage, tokens, begun, chunks, words) for passage, tokens, begun in shown]
    draw_knowledge([node("div", "chunks", *cards)], words, key=f"{key}_cards")


def _sizes(tokens: Sequence[int], chunks: ChunkOptions) -> Node:
    """Sizes of all passages as thin bars in their order: an even row is cut well."""
    step = max(1, len(tokens) // 80)
    bars = [
        node("i", "", data_fill=f"{max(4.0, min(100.0, 100.0 * size / chunks.most_tokens)):.0f}%")
        for size in tokens[::step]
    ]
    return node("span", "sizes", *bars, aria_hidden="true")


def _card(passage: StoredPassage, tokens: int, shared: int, chunks: ChunkOptions, words: Words) -> Node:
    label = words("{n} tokens", n=f"{tokens} / {chunks.target_tokens} / {chunks.most_tokens}")
    rail = node(
        "span",
        "rail",
        node("span", "seg", data_fill=filled(tokens / chunks.most_tokens)),
        node("span", "tick", data_tick=filled(chunks.target_tokens / chunks.most_tokens)),
        role="img",
        aria_label=label,
        title=label,
    )
    head = node(
        "div",
        "head",
        node("span", "ordinal num", str(passage.ordinal)),
        node("span", "heading grow", section_text(passage.section, words) or passage.title),
        node("span", "muted small num", lines_text(passage, words)),
        node("span", "mini", rail, node("span", "muted small num", words("{n} tokens", n=tokens))),
    )
    text, context = passage.text, continued(passage, words)
    if not shared:
        return node("section", "card chunk", head, *context, node("p", "own-text", text))
    said = words("also ends passage {n}", n=passage.ordinal - 1)
    repeated = node("mark", "again", text[:shared], title=said)
    return node(
        "section",
        "card chunk",
        head,
        *context,
        node("p", "own-text", repeated, text[shared:]),
        chip("accent", f"↑ {said}"),
    )
