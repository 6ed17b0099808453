"""The sources of the chosen collection: found, opened, selected, deleted; and the passages of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from components.common.controls import narrowing, page_of
from components.common.i18n import Words
from components.knowledge.source_list import matching_sources, passage_list, source_heading, source_list
from engine.engine import Engine
from engine.roles import CollectionInfo, SourceInfo
from pages.parts.common.actions import answer_buttons
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import attempt, go_to

_A_PAGE = 50
_OPENED = "kb_source"


def sources_panel(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Draw the list; a source that is pressed opens next to it."""
    asked = (
        engine.instance,
        info.name,
        info.fingerprint,
        info.sources,
        info.passages,
        info.incomplete,
        info.unaccounted,
    )
    sources = cached_in_session("kb_sources", asked, lambda: engine.sources(info.name))
    if not sources:
        _none(info, words)
        return
    bar = st.container(horizontal=True, vertical_alignment="bottom", key="kb_sources_bar")
    shown = _narrowed(sources, bar, words)
    if not shown:
        st.info(words("No source matches."))
        if st.button(words("Clear the filter"), icon=":material/filter_alt_off:", key="kb_clear_filter"):
            st.session_state["kb_filter_cleared"] = True
            st.rerun()
        return
    some = page_of(shown, _A_PAGE, key="kb_sources_page")
    opened = _opened(info, sources)
    name = opened.source if opened is not None else ""
    fixed = info.read_only or not may("admin")
    event = source_list(some, words, key=f"kb_sources_{info.name}", opened=name, fixed=fixed)
    if event.opened and event.opened != name:
        st.session_state[_OPENED] = (info.name, event.opened)
        st.rerun()
    if event.selected and not fixed:
        chosen = [item for item in some if item.source in event.selected]
        label = words.count("Delete 1 source", "Delete {n} sources", len(chosen))
        if bar.button(label, icon=":material/delete:", key="kb_delete_some"):
            st.dialog(words("Delete"))(_confirm)(engine, info.name, chosen, words)
            return
    if opened is not None:
        # Its own title would be read as Markdown here, and it is untrusted text.
        drawer = st.dialog(words("Source"), position="right", width="medium", on_dismiss=_close)
        drawer(_passages)(engine, info, opened, words)


def _none(info: CollectionInfo, words: Words) -> None:
    """Nothing to list: what to do next."""
    if info.passages:
        # Another program's collection that does not say where its passages are from.
        st.info(words("Its passages do not say which source they are from. Search them instead."))
        if st.button(words("Search in it"), icon=":material/search:", key="kb_none_search"):
            go_to("search", info.name)
        return
    st.info(
        words("This collection is empty." if info.read_only else "This collection is empty. Add files on the tab Add.")
    )
    open_to = not info.read_only and may("editor")
    if open_to and st.button(words("Add files"), icon=":material/add:", key="kb_empty_add"):
        st.session_state["kb_into"] = info.name
        go_to("add", info.name)


def _ask_about(source: str) -> None:
    st.session_state["kb_deleting"] = source


def _keep() -> None:
    st.session_state.pop("kb_deleting", None)


def _close() -> None:
    st.session_state.pop(_OPENED, None)
    _keep()


def _narrowed(sources: Sequence[SourceInfo], bar: st.delta_generator.DeltaGenerator, words: Words) -> list[SourceInfo]:
    if st.session_state.pop("kb_filter_cleared", False):
        st.session_state["kb_filter"] = ""
    with bar:
        shown = matching_sources(sources, narrowing(words("Filter sources"), key="kb_filter"))
    some = len(shown) < len(sources)
    part = words("{n} of {all} sources", n=len(shown), all=len(sources))
    counts = [part if some else words.count("1 source", "{n} sources", len(shown))]
    accounts = [item.account for item in shown]
    partly = sum(account is not None and bool(account.left_out) for account in accounts)
    if partly:
        counts.append(words.count("1 read in part", "{n} read in part", partly))
    if unknown := accounts.count(None):
        counts.append(
            words.count("1 without a record of what was left out", "{n} without a record of what was left out", unknown)
        )
    bar.caption(" · ".join(counts), width="content")
    return shown


def _opened(info: CollectionInfo, sources: Sequence[SourceInfo]) -> SourceInfo | None:
    where: tuple[str, str] | None = st.session_state.get(_OPENED)
    if where is None or where[0] != info.name:
        return None
    return next((item for item in sources if item.source == where[1]), None)


def _passages(engine: Engine, info: CollectionInfo, source: SourceInfo, words: Words) -> None:
    """The body of the drawer: what the source is, its passages a page at a time, and the way to delete it."""
    if st.session_state.get(_OPENED) is None:
        # Deleted a moment ago: the drawer closes with the page redrawn.
        st.rerun()
    source_heading(source, words, fixed=info.read_only)
    if not info.read_only and may("admin"):
        if st.session_state.get("kb_deleting") == source.source:
            _confirm(engine, info.name, [source], words)
        else:
            icon = ":material/delete:"
            st.button(
                words("Delete this source"), icon=icon, key="kb_delete", on_click=_ask_about, args=(source.source,)
            )
    asked = (info.name, source.source, source.content_hash, source.added_at, source.passages)
    passages = cached_in_session("kb_passages_of", asked, lambda: engine.passages(info.name, source.source))
    passage_list(passages, words, key=f"kb_page_{source.content_hash[:12]}")


def _confirm(engine: Engine, collection: str, chosen: Sequence[SourceInfo], words: Words) -> None:
    """The body of the dialog that asks before sources go."""
    passages = sum(item.passages for item in chosen)
    if len(chosen) == 1:
        st.text(
            words.count(
                "Delete {name} and its passage? Records of runs keep what they saw.",
                "Delete {name} and its {n} passages? Records of runs keep what they saw.",
                passages,
                name=chosen[0].source,
            )
        )
    else:
        st.text(
            words(
                "Delete {n} sources and their {passages} passages? Records of runs keep what they saw.",
                n=len(chosen),
                passages=passages,
            )
        )
        st.text("\n".join(item.source for item in chosen[:10]))
        if len(chosen) > 10:
            st.caption(words("… and {n} more", n=len(chosen) - 10))
    delete = partial(_delete, engine, collection, chosen, words)
    answer_buttons(words("Delete"), words("Keep"), delete, key="kb_delete", keep=_keep, icon=":material/delete:")


def _delete(engine: Engine, collection: str, chosen: Sequence[SourceInfo], words: Words) -> None:
    """Delete what was confirmed."""

    def work() -> None:
        for item in chosen:
            engine.delete_source(collection, item.source)

    passages = sum(item.passages for item in chosen)
    if len(chosen) == 1:
        said = words.count(
            "{name} was deleted with its passage.",
            "{name} was deleted with its {n} passages.",
            passages,
            name=chosen[0].source,
        )
    else:
        said = words("{n} sources were deleted with their {passages} passages.", n=len(chosen), passages=passages)
    attempt(work, said)
    _close()
