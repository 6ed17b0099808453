"""The passages that one file would give, as cards: how large each is, and what it repeats of the one before."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.common.amounts import count_text
from components.common.controls import page_of
from components.common.i18n import Words
from components.common.markup import Node, chip, node
from components.common.phrases import section_text
from components.knowledge.draw import draw_knowledge
from components.knowledge.preview_files import NOTED
from components.knowledge.source_list import account_nodes, lines_text
from engine.library.values import ChunkOptions, PreviewedSource
from engine.roles import StoredPassage

_ENOUGH_FOR_BARS = 6
_A_PAGE = 12
_LEAST_OVERLAP = 4
"""Characters: less in common is chance."""
_LONGEST_OVERLAP = 1200


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
        st.caption(words("This file gives no passages."))
        return
    pairs = list(zip((None, *passages), passages, strict=False))
    shared = [overlap(before, passage) for before, passage in pairs]
    head = [
        words.count(
            "1 passage · {tokens} tokens",
            "{n} passages · {tokens} tokens",
            len(passages),
            tokens=count_text(sum(source.tokens)),
        )
    ]
    if any(shared):
        head.append(words("{n} begin with a sentence of the one before", n=sum(length > 0 for length in shared)))
    heading = node("strong", "", words("How {name} is cut", name=source.name))
    # Of a few passages the bars would look like a stray mark.
    row = [_sizes(source.tokens, chunks)] if len(source.tokens) >= _ENOUGH_FOR_BARS else []
    title = node("div", "head", heading, *row)
    # Of a few notes the row of the file tells them all.
    account = account_nodes(source.account, words) if len(source.account.notes) > NOTED else []
    draw_knowledge([title, node("div", "muted small", " · ".join(head)), *account], words, key=f"{key}_head")
    shown = page_of(list(zip(passages, source.tokens, shared, strict=True)), _A_PAGE, key=f"{key}_page")
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
    share = min(1.0, tokens / chunks.most_tokens)
    target = min(1.0, chunks.target_tokens / chunks.most_tokens)
    told = words(
        "{tokens} tokens · near {target}, at most {most}",
        tokens=tokens,
        target=chunks.target_tokens,
        most=chunks.most_tokens,
    )
    rail = node(
        "span",
        "rail",
        node("span", "seg", data_fill=f"{100 * share:.1f}%"),
        node("span", "tick", data_tick=f"{100 * target:.1f}%"),
        role="img",
        aria_label=told,
        title=told,
    )
    head = node(
        "div",
        "head",
        node("span", "ordinal num", str(passage.ordinal)),
        node("span", "heading grow", section_text(passage.section, words) or passage.title),
        node("span", "muted small num", lines_text(passage, words)),
        node("span", "mini", rail, node("span", "muted small num", words("{tokens} tokens", tokens=tokens))),
    )
    text = passage.text
    if not shared:
        return node("section", "card chunk", head, node("p", "own-text", text))
    said = words("also ends passage {n}", n=passage.ordinal - 1)
    repeated = node("mark", "again", text[:shared], title=said)
    return node(
        "section", "card chunk", head, node("p", "own-text", repeated, text[shared:]), chip("accent", f"↑ {said}")
    )
