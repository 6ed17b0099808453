"""Judging here what another program left ungraded: which grader, at what price, and one press."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import streamlit as st

from components.common.i18n import Words
from engine.engine import Engine
from engine.model.config import BUILTIN, RoleModel
from engine.model.values import RunRecord
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may
from plugins.traces.judging import price_of
from plugins.traces.taking import Traces

_WATCH_S = 0.6


@dataclass
class _Judging:
    """Asking a chat model about many passages, which lasts."""

    total: int
    done: int = 0
    future: Future[int] | None = None

    def note(self, done: int) -> None:
        self.done = done


def judge_rest(engine: Engine, words: Words, records: Sequence[RunRecord], *, key: str, set_name: str) -> None:
    """Draw the offer where imported runs have passages without a verdict; nothing else is drawn."""
    if _followed(f"{key}_judging", words):
        return
    say_fault(key, words)
    passages = price_of(records, RoleModel()).passages
    if not passages or not may("editor"):
        return
    noted = {note.code for record in records if record.origin for note in record.origin.notes}
    if "no_verdicts" in noted and not set_name:
        st.caption(words("Judge the passages here, or import verdicts."))
    with st.container(key=f"{key}_judge", horizontal=True, vertical_alignment="bottom", gap="small"):
        names = [BUILTIN, *engine.chat_models()]
        chosen = st.selectbox(
            words("Judge with"),
            names,
            format_func=lambda name: words("the built-in grader") if name == BUILTIN else name,
            key=f"{key}_grader",
            width=240,
        )
        model = RoleModel(str(chosen))
        calls = price_of(records, model).calls
        pressed = st.button(
            words.count("Judge 1 passage", "Judge {n} passages", passages),
            icon=":material/fact_check:",
            key=f"{key}_judge_go",
        )
        st.caption(
            words.count("1 call of this model", "{n} calls of this model", calls)
            if calls
            else words("Costs no model call."),
        )
    if pressed:
        ids, job = [record.id for record in records], _Judging(passages)

        def start() -> None:
            job.future = Traces.of(engine).judge(ids, model, set_name=set_name, note=job.note)
            if not calls:
                with st.spinner(words("The passages are being judged…")):
                    job.future.result()

        if run_action(key, start) and calls:
            st.session_state[f"{key}_judging"] = key, job
        st.rerun()


def _followed(name: str, words: Words) -> bool:
    """Show how far a chat model has come, with a way to stop; what is judged by then stays."""
    if name not in st.session_state:
        return False
    key, job = st.session_state[name]
    if job.future.done():
        del st.session_state[name]
        if not job.future.cancelled():
            run_action(key, job.future.result)
        return False

    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if job.future.done():
            st.rerun()
        st.progress(min(1.0, job.done / job.total), words("{done} of {total}", done=job.done, total=job.total))
        if st.button(words("Stop"), icon=":material/stop:", key=f"{name}_stop"):
            job.future.cancel()

    watch()
    return True
