"""The sources of the chosen collection: found, opened, selected, deleted; and the passages of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from components.common.amounts import count_text, holds, moment
from components.common.controls import narrowing, page_of
from components.common.i18n import Words
from components.common.inline import component, script
from components.common.markup import Node, chip, continued, node, nothing
from components.common.phrases import section_text
from components.knowledge.draw import draw_knowledge
from components.labels import SOURCE_KIND_NAMES
from engine.engine import Engine
from engine.library.accounts import account_lines, note_text
from engine.messages import NC_
from engine.model.values import Account
from engine.roles import CollectionInfo, SourceInfo, StoredPassage
from pages.parts.common.actions import answer_buttons, clear, next_step
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.knowledge.state import FOR_GOOD, add_files_step, attempt, go_to

_A_PAGE = 20
_OPENED = "kb_source"
_component = component(
    "source_list",
    html='<div class="wb sources"></div>',
    css=script("tokens.css", "selected_lines.css", "source_list.css"),
    js=script("dom.js", "selected_lines.js", "source_list.js"),
)


@dataclass(frozen=True, slots=True)
class SourceListEvent:
    """Button pressed in this rerun, and the selected sources."""

    opened: str
    """The source whose passages are asked for; empty where none was pressed."""
    selected: tuple[str, ...]
    """Those of the shown sources that are selected, in the order of the list."""


def panel(engine: Engine, info: CollectionInfo, words: Words) -> None:
    """Draw the list; a source that is pressed opens at the side."""
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
    with bar:
        text = narrowing(words("Sources"), key="kb_filter", placeholder="")
        shown = matching_sources(sources, text)
        st.caption(" · ".join(_counts(shown, len(sources), words)), width="content")
    if not shown:
        label, clearing = words("Clear the filter"), clear("kb_filter")
        next_step(words("Nothing matches."), label, "filter_alt_off", key="kb_clear_filter", does=clearing)
        return
    some = page_of(shown, _A_PAGE, key="kb_sources_page")
    opened = _opened(info, sources)
    name = opened.source if opened is not None else ""
    fixed = info.read_only or not may("admin")
    event = view(some, words, key=f"kb_sources_{info.name}", opened=name, fixed=fixed)
    if event.opened and event.opened != name:
        st.session_state[_OPENED] = (info.name, event.opened)
        st.rerun()
    if event.selected and not fixed:
        chosen = [item for item in some if item.source in event.selected]
        label = f"{words('Delete')} ({len(chosen)})"
        if bar.button(label, icon=":material/delete:", key="kb_delete_some"):
            st.dialog(words("Delete"))(_confirm)(engine, info.name, chosen, words)
            return
    if opened is not None:
        # Its own title would be read as Markdown here, and it is untrusted text.
        drawer = st.dialog(words("Source"), position="right", width="medium", on_dismiss=_close)
        drawer(_passages)(engine, info, opened, words)


def _none(info: CollectionInfo, words: Words) -> None:
    """Nothing to list: what to do next."""
    if not info.passages:
        add_files_step(words("This collection is empty."), words, key="kb_empty_add", info=info)
        return
    # Another program's collection that does not say where its passages are from.
    label = words(NC_("knowledge", "Search"))
    if next_step(words("Its passages name no source."), label, "search", key="kb_none_search"):
        go_to("search", info.name)


def _ask_about(source: str) -> None:
    st.session_state["kb_deleting"] = source


def _keep() -> None:
    st.session_state.pop("kb_deleting", None)


def _close() -> None:
    st.session_state.pop(_OPENED, None)
    _keep()


def _counts(shown: Sequence[SourceInfo], every: int, words: Words) -> Iterator[str]:
    """Yield how many sources are shown, and how many of them were not read in full or without a record."""
    yield f"{len(shown)}/{every}" if len(shown) < every else words.count("1 source", "{n} sources", every)
    accounts = [item.account for item in shown]
    if partly := sum(account is not None and bool(account.left_out) for account in accounts):
        yield f"{words('Read in part')} {partly}"
    if unknown := accounts.count(None):
        yield f"{words('No reading record')} {unknown}"


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
    _heading(source, words, fixed=info.read_only)
    if not info.read_only and may("admin"):
        if st.session_state.get("kb_deleting") == source.source:
            _confirm(engine, info.name, [source], words)
        else:
            icon = ":material/delete:"
            st.button(words("Delete"), icon=icon, key="kb_delete", on_click=_ask_about, args=(source.source,))
    asked = (info.name, source.source, source.content_hash, source.added_at, source.passages)
    passages = cached_in_session("kb_passages_of", asked, lambda: engine.passages(info.name, source.source))
    _passage_list(passages, words, key=f"kb_page_{source.content_hash[:12]}", writer=info.context_model)


def _confirm(engine: Engine, collection: str, chosen: Sequence[SourceInfo], words: Words) -> None:
    """The body of the dialog that asks before sources go."""
    st.text("\n".join(item.source for item in chosen[:10]))
    if len(chosen) > 10:
        st.caption(words("… and {n} more", n=len(chosen) - 10))
    st.text(words(FOR_GOOD))
    delete = partial(_delete, engine, collection, chosen, words)
    answer_buttons(words("Delete"), words("Cancel"), delete, key="kb_delete", keep=_keep, icon=":material/delete:")


def _delete(engine: Engine, collection: str, chosen: Sequence[SourceInfo], words: Words) -> None:
    """Delete what was confirmed."""

    def work() -> None:
        for item in chosen:
            engine.delete_source(collection, item.source)

    attempt(work, words("Deleted."))
    _close()


def matching_sources(sources: Sequence[SourceInfo], text: str) -> list[SourceInfo]:
    """Those whose name or title holds a text, regardless of its case."""
    return [item for item in sources if holds(text, item.source, item.title)]


def view(
    sources: Sequence[SourceInfo], words: Words, *, key: str, opened: str = "", fixed: bool = False
) -> SourceListEvent:
    """Draw one row a source, below 640 px of width one card each; ``fixed`` ones cannot be selected.

    Names and titles are untrusted, and are drawn as text.
    """
    result = _component(
        key=key,
        data={
            "lang": words.declared.html,
            "rows": [_row(item, words) for item in sources],
            "opened": opened,
            "fixed": fixed,
            "words": {
                "source": words("Source"),
                "kind": words("Kind"),
                "passages": words(NC_("knowledge", "Passages")),
                "added": words("Created"),
                "select": words("Select"),
                "select_all": words("Select"),
                "open": words("Show passages"),
            },
        },
        on_press_change=nothing,
        on_selected_change=nothing,
    )
    shown = {item.source for item in sources}
    pressed = str(result.press.get("source", "")) if isinstance(result.press, Mapping) else ""
    chosen = set(result.selected) if isinstance(result.selected, list) else set()
    return SourceListEvent(
        opened=pressed if pressed in shown else "",
        selected=tuple(item.source for item in sources if item.source in chosen),
    )


def _heading(source: SourceInfo, words: Words, *, fixed: bool = False) -> None:
    """Title and name of the source that is open, and the account of its reading; a ``fixed`` one cannot be replaced."""
    named = (node("span", "muted small", source.source),) if source.title and source.title != source.source else ()
    kind = chip("plain", words(SOURCE_KIND_NAMES[source.kind]))
    head = node("div", "head", node("strong", "", source.title or source.source), kind, *named)
    account = account_nodes(source.account, words)
    if source.account is None and not fixed:
        account.append(node("div", "muted small", words("Add the file again to record it.")))
    draw_knowledge((head, *account), words, key="kb_opened")


def account_nodes(account: Account | None, words: Words) -> list[Node]:
    """List what was read of a source and what was left out, a line each."""
    return [
        node("div", "small warn-ink", f"! {line.text}") if line.missing else node("div", "muted small", line.text)
        for line in account_lines(account, words)
    ]


def _passage_list(passages: Sequence[StoredPassage], words: Words, *, key: str, writer: str) -> None:
    """The passages of one source, in order, a page at a time, as plain text: they are untrusted."""
    shown = page_of(passages, _A_PAGE, key=key)
    draw_knowledge([_passage(item, words, writer) for item in shown], words, key="kb_passages")


def _row(item: SourceInfo, words: Words) -> dict[str, str]:
    """Build the row of a source for the browser; all words are rendered."""
    return {
        "source": item.source,
        "title": item.title if item.title != item.source else "",
        "kind": words(SOURCE_KIND_NAMES[item.kind]),
        "passages": count_text(item.passages),
        "added": moment(item.added_at) or "–",
        "missing": _missing(item.account, words),
    }


def _missing(account: Account | None, words: Words) -> str:
    """Describe on one line what is missing from a source; of several notes, the first and the number of others."""
    if account is None or not account.left_out:
        return ""
    first, *others = account.left_out
    more = f" · {words('… and {n} more', n=len(others))}" if others else ""
    return f"! {note_text(first, words)}{more}"


def _passage(item: StoredPassage, words: Words, writer: str) -> Node:
    section = (node("strong", "heading", section_text(item.section, words)),) if item.section else ()
    number = node("span", "muted small", f"#{item.ordinal}")
    head = node("div", "head", number, *section, node("span", "muted small num", lines_text(item, words)))
    return node("section", "card", head, *continued(item, words, writer), node("p", "own-text", item.text))


def lines_text(passage: StoredPassage, words: Words) -> str:
    """The lines of the file that a passage comes from, "lines 12–30"; empty where the file has none."""
    first, _, last = str(passage.meta.get("lines", "")).partition("-")
    if last:
        return words("lines {first}–{last}", first=first, last=last)
    return words("line {n}", n=first) if first else ""
