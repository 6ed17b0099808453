"""Progress of a batch: how far, how fast, how long still, what it has cost, and the button that stops it."""

from __future__ import annotations

import streamlit as st

from components.common.i18n import Words
from components.common.phrases import duration_text
from engine.evaluation.values import BatchProgress
from engine.messages import NC_


def progress_parts(progress: BatchProgress, words: Words) -> list[str]:
    """What stands on the bar."""
    done = progress.done + progress.failed
    parts = [words("{done} of {total}", done=done, total=progress.total)]
    if progress.failed:
        parts.append(words(NC_("tuning", "{n} failed"), n=progress.failed))
    if progress.workers == 0:
        parts.append(words("waiting for a worker"))
    elif progress.workers:
        parts.append(words.count("1 worker", "{n} workers", progress.workers))
    if progress.gives_up_s is not None:
        parts.append(words("gives up in {time}", time=duration_text(progress.gives_up_s * 1000.0)))
    if progress.rate_per_s > 0:
        parts.append(words("{rate} a second", rate=f"{progress.rate_per_s:.1f}"))
    if progress.remaining_s is not None:
        parts.append(words("{time} left", time=duration_text(progress.remaining_s * 1000.0)))
    if progress.spent.calls:
        parts.append(words.count("1 call so far", "{n} calls so far", progress.spent.calls))
    if progress.spent.tokens:
        parts.append(words("{n} tokens", n=f"{progress.spent.tokens:,}".replace(",", "\N{THIN SPACE}")))
    return parts


def batch_status(progress: BatchProgress, words: Words, *, key: str, may_stop: bool = True) -> bool:
    """Draw the bar; true when the reader wants it stopped."""
    done = progress.done + progress.failed
    parts = " · ".join(progress_parts(progress, words))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(done / progress.total if progress.total else 0.0, parts)
        return may_stop and st.button(words("Stop"), icon=":material/stop:", key=f"{key}_stop")
