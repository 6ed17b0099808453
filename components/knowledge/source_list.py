"""Sources of a collection as rows that can be opened and selected, and the passages of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.common.amounts import count_text, holds
from components.common.controls import page_of
from components.common.i18n import Words
from components.common.markup import Node, chip, node, nothing, script
from components.common.phrases import section_text
from components.knowledge.draw import draw_knowledge
from components.labels import SOURCE_KIND_NAMES
from engine.library.accounts import account_lines, note_text
from engine.messages import NC_
from engine.model.values import Account
from engine.roles import SourceInfo, StoredPassage

_A_PAGE = 20
"""Passages shown at once."""

_component = st.components.v2.component(
    "workbench_source_list",
    html='<div class="wb sources"></div>',
    css=script("tokens.css", "source_list.css"),
    js=script("dom.js", "source_list.js"),
)


@dataclass(frozen=True, slots=True)
class SourceListEvent:
    """Button pressed in this rerun, and the selected sources."""

    opened: str
    """The source whose passages are asked for; empty where none was pressed."""
    selected: tuple[str, ...]
    """Those of the shown sources that are selected, in the order of the list."""


def matching_sources(sources: Sequence[SourceInfo], text: str) -> list[SourceInfo]:
    """Those whose name or title holds a text, regardless of its case."""
    return [item for item in sources if holds(text, item.source, item.title)]


def source_list(
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
                "kind_help": words(
                    "Which source kind its passages count as; the quality-control workflow searches each kind apart."
                ),
                "passages": words(NC_("knowledge", "Passages")),
                "added": words("Added"),
                "select": words("Select"),
                "select_all": words("Select all that are shown"),
                "open": words("Show its passages"),
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


def source_heading(source: SourceInfo, words: Words, *, fixed: bool = False) -> None:
    """Title and name of the source that is open, and the account of its reading; a ``fixed`` one cannot be replaced."""
    named = (node("span", "muted small", source.source),) if source.title and source.title != source.source else ()
    kind = chip("plain", words(SOURCE_KIND_NAMES[source.kind]))
    head = node("div", "head", node("strong", "", source.title or source.source), kind, *named)
    account = account_nodes(source.account, words)
    if source.account is None and not fixed:
        account.append(node("div", "muted small", words("Add the file again to have it recorded.")))
    draw_knowledge((head, *account), words, key="kb_opened")


def account_nodes(account: Account | None, words: Words) -> list[Node]:
    """List what was read of a source and what was left out, a line each."""
    return [
        node("div", "small warn-ink", f"! {line.text}") if line.missing else node("div", "muted small", line.text)
        for line in account_lines(account, words)
    ]


def passage_list(passages: Sequence[StoredPassage], words: Words, *, key: str) -> None:
    """The passages of one source, in order, a page at a time, as plain text: they are untrusted."""
    shown = page_of(passages, _A_PAGE, key=key)
    draw_knowledge([_passage(item, words) for item in shown], words, key="kb_passages")


def _row(item: SourceInfo, words: Words) -> dict[str, str]:
    """Build the row of a source for the browser; all words are rendered."""
    return {
        "source": item.source,
        "title": item.title if item.title != item.source else "",
        "kind": words(SOURCE_KIND_NAMES[item.kind]),
        "passages": count_text(item.passages),
        "added": item.added_at,
        "missing": _missing(item.account, words),
    }


def _missing(account: Account | None, words: Words) -> str:
    """Describe on one line what is missing from a source; of several notes, the first and the number of others."""
    if account is None or not account.left_out:
        return ""
    first, *others = account.left_out
    more = f" · {words('… and {n} more', n=len(others))}" if others else ""
    return f"! {note_text(first, words)}{more}"


def _passage(item: StoredPassage, words: Words) -> Node:
    section = (node("strong", "heading", section_text(item.section, words)),) if item.section else ()
    number = node("span", "muted small", words("Passage {n}", n=item.ordinal))
    head = node("div", "head", number, *section, node("span", "muted small num", lines_text(item, words)))
    return node("section", "card", head, node("p", "own-text", item.text))


def lines_text(passage: StoredPassage, words: Words) -> str:
    """The lines of the file that a passage comes from, "lines 12–30"; empty where the file has none."""
    first, _, last = str(passage.meta.get("lines", "")).partition("-")
    if last:
        return words("lines {first}–{last}", first=first, last=last)
    return words("line {n}", n=first) if first else ""
