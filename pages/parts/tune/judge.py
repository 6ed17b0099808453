"""The tab *Judge* of the Tune page: pairs of a gathering, judged one at a time by keyboard, blind to every score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.common.controls import download, pick
from components.common.i18n import Words
from components.knowledge.draw import quiet
from components.tune.judging import (
    agreement_table,
    coverage_meter,
    history_chart,
    history_rows,
    keys_line,
    pair_card,
)
from engine.engine import Engine
from engine.evaluation.cases import QuerySet
from engine.evaluation.desk.formats import FORMATS, Format
from engine.evaluation.desk.pairs import Item, Kind, Said
from engine.evaluation.desk.queue import Next
from engine.knowledge.sheets import listed
from engine.messages import N_, NC_
from engine.people import acting
from engine.running.judging import LONGEST_EXPLANATION, LONGEST_GUIDELINES, LONGEST_NAME, Desk, Taken
from pages.parts.common.presses import attempt, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering

_FAULT = "tune_desk"
_JUDGE, _SKIPPED, _PAST = "tune_desk_judge", "tune_desk_skipped", "tune_desk_past"
_MOST_UNDONE = 50
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
"""Where only people at this machine come: the one who has judged is taken to judge again."""
_FILES: dict[Format, tuple[str, str]] = {
    "jsonl": (N_("JSON lines"), "judgements.jsonl"),
    "qrels": (N_("TREC qrels"), "qrels.txt"),
    "quepid": (N_("CSV of Quepid"), "ratings.csv"),
}


def judge_passages(words: Words, *, key: str) -> None:
    """The way on where labels name whole files: the tab in which passages are judged."""
    if may("editor"):
        label = words("Judge 20 passages")
        st.button(label, icon=":material/fact_check:", key=key, on_click=_open_tab, args=(words,))


def _open_tab(words: Words) -> None:
    st.session_state["tune_tabs"] = words(NC_("tab", "Judge"))
    st.session_state["tune_desk_kind"] = "passage"


def judge_tab(engine: Engine, gathering: Gathering, words: Words) -> None:
    """The pair to judge, and below it agreement, history and files."""
    batch = gathering.batch
    if batch is None:
        return
    if may("editor"):
        _desk(engine, batch.id, gathering.query_set, words)
    _history(engine, gathering.query_set.name, words)
    _files(engine, gathering.query_set, words)


@st.fragment
def _desk(engine: Engine, batch_id: str, query_set: QuerySet, words: Words) -> None:
    """One pair at a time; a fragment, so that a judgement does not draw the figures again."""
    say_fault(_FAULT, words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kinds: dict[Kind, str] = {"passage": words("Passages"), "answer": words("Answers")}
        kind = pick(words("What is judged"), kinds, key="tune_desk_kind", width="content")
        judge = _judge(engine, words)
        _guidelines(engine, query_set.name, words)
    if not judge:
        st.caption(words("Type your name to begin; each judge has judgements of their own."))
        return
    found = engine.judging.desk(batch_id, kind, judge, st.session_state.setdefault(_SKIPPED, []))
    coverage_meter(found.coverage, found.yes, words, key="tune_desk_coverage")
    if (told := engine.judging.guidelines(query_set.name)) and found.next is not None:
        quiet(told, words, key="tune_desk_told")
    _pair(engine, found.next, kind, judge, words)
    _agreement(found, words)


def _judge(engine: Engine, words: Words) -> str:
    """Who judges: who signed in, or the name that somebody gives themselves."""
    if acting().author:
        quiet(words("Judging as {name}", name=acting().author), words, key="tune_desk_me")
        return acting().author
    # A name that was just typed stays among the options: it is known from its first judgement on.
    known = engine.judging.judges()
    if _JUDGE not in st.session_state and len(known) == 1 and engine.settings.host in _THIS_MACHINE:
        st.session_state[_JUDGE] = known[0]
    typed = str(st.session_state.get(_JUDGE) or "")
    chosen = st.selectbox(
        words("Judging as"),
        sorted({*known, *([typed] if typed else [])}),
        index=None,
        accept_new_options=True,
        placeholder=words("your name"),
        key=_JUDGE,
        persist_state="session",
        width=220,
    )
    return " ".join(str(chosen or "").split())[:LONGEST_NAME]


def _guidelines(engine: Engine, set_name: str, words: Words) -> None:
    with st.popover(words("Guidelines"), icon=":material/menu_book:"):
        written = st.text_area(
            words("What judges of this set should go by"),
            engine.judging.guidelines(set_name),
            max_chars=LONGEST_GUIDELINES,
            height=180,
            key=f"tune_desk_guidelines_{set_name}",
        )
        if st.button(words("Save"), key="tune_desk_guidelines_save"):
            attempt(_FAULT, lambda: engine.judging.set_guidelines(set_name, written))
            st.rerun()


def _pair(engine: Engine, found: Next | None, kind: Kind, judge: str, words: Words) -> None:
    past: list[tuple[Item, str]] = st.session_state.setdefault(_PAST, [])
    if found is None:
        quiet(words("You have judged all of them."), words, key="tune_desk_done")
    else:
        pair_card(found.item, words, key="tune_desk_pair")
        st.text_input(words("Why (optional)"), max_chars=LONGEST_EXPLANATION, key=f"tune_desk_why_{found.item.id}")
    says: list[tuple[str, str, Said]] = [(words(NC_("judging", "Yes")), "Y", "yes")]
    says += [(words("In part"), "P", "in_part")] if kind == "answer" else []
    says += [(words(NC_("judging", "No")), "N", "no")]
    with st.container(horizontal=True, gap="small"):
        if found is not None:
            # Callbacks: the fragment is drawn once, with what comes next.
            for label, key, said in says:
                _key(label, key, f"tune_desk_{said}", _say, (engine, found, said, judge), primary=said == "yes")
            _key(words("Skip"), "S", "tune_desk_skip", _skip, (found.item.id,))
        _key(words("Undo"), "U", "tune_desk_undo", _undo, (engine,), disabled=not past)
    keys_line(words)


def _key(
    label: str,
    shortcut: str,
    name: str,
    act: Callable[..., None],
    given: tuple[Any, ...],
    *,
    primary: bool = False,
    disabled: bool = False,
) -> None:
    kind: Any = "primary" if primary else "secondary"
    st.button(label, key=name, type=kind, shortcut=shortcut, disabled=disabled, on_click=act, args=given)


def _say(engine: Engine, found: Next, said: Said, judge: str) -> None:
    item = found.item
    why = str(st.session_state.get(f"tune_desk_why_{item.id}", ""))
    also = found.also_random
    if attempt(_FAULT, lambda: engine.judging.say(item, said, judge, drawn=found.drawn, explanation=why, also=also)):
        st.session_state[_PAST] = [*st.session_state[_PAST], (item, judge)][-_MOST_UNDONE:]
        st.session_state[_SKIPPED] = [name for name in st.session_state[_SKIPPED] if name != item.id]


def _skip(item_id: str) -> None:
    st.session_state[_SKIPPED] = [*(name for name in st.session_state[_SKIPPED] if name != item_id), item_id]


def _undo(engine: Engine) -> None:
    """Take the last judgement back, as often as there is one of this session."""
    past: list[tuple[Item, str]] = st.session_state[_PAST]
    if past and attempt(_FAULT, lambda: engine.judging.take_back(*past[-1])):
        st.session_state[_PAST] = past[:-1]


def _agreement(found: Desk, words: Words) -> None:
    if found.agreements:
        st.caption(
            words(
                "How far judges agree with each other and with graders, on the pairs that both judged; κ is agreement "
                "beyond chance."
            )
        )
        agreement_table(found.agreements, words, key="tune_desk_agreement")


def _files(engine: Engine, query_set: QuerySet, words: Words) -> None:
    """The judgements of the set as a file, and a file of them taken in."""
    st.markdown(f"**{words('Judgements of this set as files')}**")
    form = pick(words("Form"), {name: words(label) for name, (label, _) in _FILES.items()}, key="tune_desk_form")
    assert form in FORMATS
    name = query_set.name
    download(
        words("Export"), lambda: engine.judging.exported(name, form).encode(), _FILES[form][1], key="tune_desk_export"
    )
    if not may("editor"):
        return
    taken = st.session_state.pop("tune_desk_taken", None)
    if taken is not None:
        said = [
            words("Taken in: passages {passages}, answers {answers}.", passages=taken.passages, answers=taken.answers)
        ]
        if taken.left_out_n:
            said.append(words("{n} lines left out, the first: {line}", n=taken.left_out_n, line=taken.left_out[0]))
        if st.session_state.get("tune_desk_sheets"):
            said.append(words("Only the first sheet with something in it was read."))
        quiet(words.joined(said), words, key="tune_desk_taken_note")
    uploads = st.session_state.setdefault("tune_desk_uploads", 0)
    kinds = ["jsonl", "csv", "tsv", "xlsx", "txt", "qrels"]
    file = st.file_uploader(words("Import judgements"), type=kinds, key=f"tune_desk_file_{uploads}")
    if file is None:
        return
    least = 1
    if not file.name.lower().endswith(".jsonl"):  # its lines say relevant or not
        least = int(st.number_input(words("Relevant from the rating"), 0, 100, 1, key="tune_desk_least"))
    if st.button(words("Import"), type="primary", key="tune_desk_import"):
        _take(engine, query_set.name, file, least)


def _take(engine: Engine, set_name: str, file: UploadedFile, least: int) -> None:
    judge = acting().author or str(st.session_state.get(_JUDGE) or "")

    def taken() -> Taken:
        text, others = listed(file.name, file.getvalue())
        st.session_state["tune_desk_sheets"] = others
        return engine.judging.imported(set_name, text, file.name, judge=judge, relevant_from=least)

    if attempt(_FAULT, taken, into="tune_desk_taken"):
        st.session_state["tune_desk_uploads"] += 1
    st.rerun()


def _history(engine: Engine, set_name: str, words: Words) -> None:
    """The scores of the set over its gatherings, and notes on them."""
    found = engine.judging.history(set_name)
    st.markdown(f"**{words('History')}**")
    if not found:
        st.caption(words("The scores of each finished gathering stand here from its end on."))
        return
    st.caption(
        words(
            "Each gathering of the whole set, with the judgements made before its history was first "
            "opened; the figures above count later ones too."
        )
    )
    history_chart(found, words, key="tune_desk_history")
    rows = history_rows(found, words)
    note = words("note")
    changed = st.data_editor(
        rows,
        hide_index=True,
        disabled=not may("editor") or [name for name in rows[0] if name != note],
        column_config={"batch": None, note: st.column_config.TextColumn(max_chars=200, width="medium")},
        key=f"tune_desk_notes_{set_name}_{len(rows)}",
        width="stretch",
    )
    for before, after in zip(rows, changed, strict=True):
        if (after[note] or "") != before[note]:
            attempt(_FAULT, lambda row=after: engine.judging.note_history(row["batch"], row[note] or ""))  # type: ignore[misc]
            st.rerun()
