"""How far an ingestion is, and what came of it. Names of files are shown as text and never as markup."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.i18n import Words
from components.markup import Node, draw, node
from components.phrases import duration_text, fault_text
from engine.values import Fault


def ingest_status(words: Words, *, done: int, total: int, per_second: float, left_s: float | None) -> bool:
    """A progress bar with rate and remaining time; true when the reader pressed stop."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kb_status"):
        if total == 0:
            st.progress(0.0, text=words("kb.reading"))
        else:
            left = duration_text(left_s * 1000) if left_s is not None else "…"
            text = words("kb.progress", done=done, total=total, rate=f"{per_second:.1f}", left=left)
            st.progress(min(1.0, done / total), text=text)
        return st.button(words("kb.stop"), icon=":material/stop:", key="kb_stop")


def ingest_report(
    words: Words,
    *,
    added: Sequence[str],
    replaced: Sequence[str],
    skipped: Sequence[tuple[str, str]],
    failed: Sequence[tuple[str, Fault]],
    passages: int,
) -> None:
    """What went in, what was there already, what could not be read and why."""
    lines = [_line("pass", "✓", words("kb.added", name=name)) for name in added]
    lines += [_line("pass", "↻", words("kb.replaced", name=name)) for name in replaced]
    lines += [_line("muted", "=", words("kb.skipped", name=name, same=same)) for name, same in skipped]
    for name, fault in failed:
        fact, remedy = fault_text(fault, words)
        lines.append(_line("warn", "✗", words("kb.failed", name=name), f"{fact} {remedy}"))
    went_in = len(added) + len(replaced)
    head = words.count("kb.done", went_in, passages=passages) if went_in else words("kb.nothing_new")
    look = "warn" if failed else "pass" if went_in else "plain"
    icon = node("span", "icon", "!" if failed else "✓" if went_in else "=", aria_hidden="true")
    body = node("div", "grow", node("strong", "", head), node("ul", "report", *lines))
    draw((node("div", f"box {look}", icon, body, role="status"),), words, key="kb_report")


def stopped_note(words: Words) -> None:
    """An ingestion that was stopped, and what that leaves behind."""
    _note(words, "plain", "■", words("kb.stopped"), key="kb_stopped")


def deleted_note(words: Words, name: str, passages: int) -> None:
    """A source that was deleted."""
    _note(words, "pass", "✓", words.count("kb.deleted", passages, name=name), key="kb_deleted_note")


def _line(look: str, sign: str, text: str, more: str = "") -> Node:
    sign_node = node("span", f"sign {look}", sign, aria_hidden="true")
    return node("li", "", sign_node, node("span", "", text), node("div", "muted small", more) if more else "")


def _note(words: Words, look: str, sign: str, text: str, *, key: str) -> None:
    icon = node("span", "icon", sign, aria_hidden="true")
    draw((node("div", f"box {look}", icon, node("div", "grow", text), role="status"),), words, key=key)
