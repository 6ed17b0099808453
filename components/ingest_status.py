"""How far an ingestion is, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from components.faults import fault_box
from components.i18n import Words
from components.phrases import duration_text
from engine.values import Fault


def ingest_status(words: Words, *, done: int, total: int, per_second: float, left_s: float | None) -> bool:
    """A progress bar with rate and remaining time; true when the reader pressed stop."""
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
    """What went in, what was there already, what could not be read and why; names are shown as plain text."""
    with st.container(border=True, key="kb_report"):
        st.markdown(f":material/check_circle: {words('kb.done', added=len(added), passages=passages)}")
        for name in replaced:
            st.text("↻ " + words("kb.replaced", name=name))
        for name, same in skipped:
            st.text("= " + words("kb.skipped", name=name, same=same))
        for place, (name, fault) in enumerate(failed):
            st.text("✗ " + words("kb.failed", name=name))
            fault_box(fault, words, key=f"kb_failed_{place}", severity="warning")
