"""Labelling on the Tune page: pairs of a gathering, judged one at a time by keyboard, blind to every score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from components.common.amounts import moment
from components.common.controls import download, pick
from components.common.i18n import Words
from components.common.markup import draw, fold, gauge, node, table
from components.common.phrases import model_label
from components.knowledge.draw import quiet
from engine.engine import Engine
from engine.evaluation.annotation.agreement import Agreement
from engine.evaluation.annotation.formats import Format
from engine.evaluation.annotation.pairs import Coverage, Item, Kind, Said
from engine.evaluation.annotation.queue import Next
from engine.evaluation.annotation.store import Scores
from engine.evaluation.cases import QuerySet
from engine.evaluation.statistics import Interval
from engine.knowledge.sheets import listed
from engine.messages import N_, NC_
from engine.model.config import BUILTIN
from engine.people import current_user
from engine.running.judging import LONGEST_EXPLANATION, LONGEST_GUIDELINES, LONGEST_NAME, Desk, Taken
from pages.parts.common.actions import run_action, say_fault
from pages.parts.common.rights import may
from pages.parts.tune.evidence import Gathering
from pages.parts.tune.vega import ACCENT, AMBER, TEAL, draw_chart, layer, share, text

_FAULT = "tune_desk"
LABELLING = "tune_labels_open"
"""Key of the fold that it stands in."""
_JUDGE, _SKIPPED, _PAST = "tune_desk_judge", "tune_desk_skipped", "tune_desk_past"
_MOST_UNDONE = 50
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")
"""Where only people at this machine come: the one who has judged is taken to judge again."""
_FILES: dict[Format, tuple[str, str]] = {
    "jsonl": ("JSON lines", "judgements.jsonl"),
    "qrels": ("TREC qrels", "qrels.txt"),
    "quepid": ("Quepid CSV", "ratings.csv"),
}
ASKED: dict[Kind, str] = {
    "passage": N_("Does this passage help to answer the question?"),
    "answer": N_("Is this answer right?"),
}
MEASURES: dict[str, str] = {
    "answered_right": N_("answered right"),
    "quality": N_("found and answered"),
    "context_hit": N_("right passage in context"),
}
"""What is drawn of a set's history: shares, of which more is better."""
_COLOURS = {"answered_right": ACCENT, "quality": TEAL, "context_hit": AMBER}
_HEIGHT = 240


def judge_passages(words: Words, *, key: str) -> None:
    """The way on where labels name whole files: the tab in which passages are judged."""
    if may("editor"):
        label = words("Label passages and answers")
        st.button(label, icon=":material/fact_check:", key=key, on_click=_open_tab, args=(words,))


def _open_tab(words: Words) -> None:
    st.session_state["tune_tabs"] = words("Questions")
    st.session_state[LABELLING] = True
    st.session_state["tune_desk_kind"] = "passage"


def label_panel(engine: Engine, gathering: Gathering, words: Words) -> None:
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
        kind = pick(words("Kind"), kinds, key="tune_desk_kind", width="content")
        judge = _judge(engine, words)
        _guidelines(engine, query_set.name, words)
    if not judge:
        return
    found = engine.judging.desk(batch_id, kind, judge, st.session_state.setdefault(_SKIPPED, []))
    coverage_meter(found.coverage, found.yes, words, key="tune_desk_coverage")
    if (guidelines := engine.judging.guidelines(query_set.name)) and found.next is not None:
        quiet(guidelines, words, key="tune_desk_guidelines")
    _pair(engine, found.next, kind, judge, words)
    _agreement(found, words)


def _judge(engine: Engine, words: Words) -> str:
    """Return the judge: the signed-in user, or the name they typed."""
    if current_user().author:
        quiet(f"{words('Labelling as')} · {current_user().author}", words, key="tune_desk_me")
        return current_user().author
    # A name that was just typed stays among the options: it is known from its first judgement on.
    known = engine.judging.judges()
    if _JUDGE not in st.session_state and len(known) == 1 and engine.settings.host in _THIS_MACHINE:
        st.session_state[_JUDGE] = known[0]
    typed = str(st.session_state.get(_JUDGE) or "")
    chosen = st.selectbox(
        words("Labelling as"),
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
            words("Guidelines"),
            engine.judging.guidelines(set_name),
            max_chars=LONGEST_GUIDELINES,
            height=180,
            label_visibility="collapsed",
            key=f"tune_desk_guidelines_{set_name}",
        )
        if st.button(words("Save"), key="tune_desk_guidelines_save"):
            run_action(_FAULT, lambda: engine.judging.set_guidelines(set_name, written))
            st.rerun()


def _pair(engine: Engine, found: Next | None, kind: Kind, judge: str, words: Words) -> None:
    past: list[tuple[Item, str]] = st.session_state.setdefault(_PAST, [])
    if found is None:
        quiet(words("All labelled."), words, key="tune_desk_done")
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
    if run_action(_FAULT, lambda: engine.judging.say(item, said, judge, drawn=found.drawn, explanation=why, also=also)):
        st.session_state[_PAST] = [*st.session_state[_PAST], (item, judge)][-_MOST_UNDONE:]
        st.session_state[_SKIPPED] = [name for name in st.session_state[_SKIPPED] if name != item.id]


def _skip(item_id: str) -> None:
    st.session_state[_SKIPPED] = [*(name for name in st.session_state[_SKIPPED] if name != item_id), item_id]


def _undo(engine: Engine) -> None:
    """Take the last judgement back, as often as there is one of this session."""
    past: list[tuple[Item, str]] = st.session_state[_PAST]
    if past and run_action(_FAULT, lambda: engine.judging.take_back(*past[-1])):
        st.session_state[_PAST] = past[:-1]


def _agreement(found: Desk, words: Words) -> None:
    if found.agreements:
        agreement_table(found.agreements, words, key="tune_desk_agreement")


def _files(engine: Engine, query_set: QuerySet, words: Words) -> None:
    """The judgements of the set as a file, and a file of them taken in."""
    st.markdown(f"**{words('Export')}**")
    with st.container(horizontal=True, gap="small"):
        for form, (label, file_name) in _FILES.items():
            made = partial(_exported, engine, query_set.name, form)
            download(label, made, file_name, key=f"tune_desk_export_{form}", type="tertiary")
    if not may("editor"):
        return
    taken = st.session_state.pop("tune_desk_taken", None)
    if taken is not None:
        said = [f"{words('Passages')}: {taken.passages} · {words('Answers')}: {taken.answers}."]
        if taken.left_out_n:
            said.append(words("{n} lines left out, the first: {line}", n=taken.left_out_n, line=taken.left_out[0]))
        if st.session_state.get("tune_desk_sheets"):
            said.append(words("Only the first sheet with something in it was read."))
        quiet(words.joined(said), words, key="tune_desk_taken_note")
    uploads = st.session_state.setdefault("tune_desk_uploads", 0)
    kinds = ["jsonl", "csv", "tsv", "xlsx", "txt", "qrels"]
    file = st.file_uploader(words("Import labels"), type=kinds, key=f"tune_desk_file_{uploads}")
    if file is None:
        return
    least = 1
    if not file.name.lower().endswith(".jsonl"):  # its lines say relevant or not
        least = int(st.number_input(words("Relevant from the rating"), 0, 100, 1, key="tune_desk_least"))
    if st.button(words("Import"), type="primary", key="tune_desk_import"):
        _take(engine, query_set.name, file, least)


def _exported(engine: Engine, set_name: str, form: Format) -> bytes:
    return engine.judging.exported(set_name, form).encode()


def _take(engine: Engine, set_name: str, file: UploadedFile, least: int) -> None:
    judge = current_user().author or str(st.session_state.get(_JUDGE) or "")

    def taken() -> Taken:
        text, others = listed(file.name, file.getvalue())
        st.session_state["tune_desk_sheets"] = others
        return engine.judging.imported(set_name, text, file.name, judge=judge, relevant_from=least)

    if run_action(_FAULT, taken, into="tune_desk_taken"):
        st.session_state["tune_desk_uploads"] += 1
    st.rerun()


def _history(engine: Engine, set_name: str, words: Words) -> None:
    """The scores of the set over its gatherings, and notes on them."""
    found = engine.judging.history(set_name)
    if not found:
        return
    st.markdown(f"**{words('History')}**")
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
            run_action(_FAULT, lambda row=after: engine.judging.note_history(row["batch"], row[note] or ""))  # type: ignore[misc]
            st.rerun()


def pair_card(item: Item, words: Words, *, key: str) -> None:
    """The pair, and nothing of what a grader, a rank or a score said of it."""
    parts = [
        node("div", "muted small", words(ASKED[item.kind])),
        node("strong", "heading", item.question),
    ]
    if item.kind == "passage":
        where = f"{item.source} · {item.section}" if item.section else item.source
        parts.append(node("div", "muted small", where))
    parts.append(node("div", "plain-text", item.text))
    if item.gold_answers:
        gold = words(NC_("gold answers", " / ")).join(item.gold_answers)
        parts.append(fold("gold", words("Gold answer"), node("p", "", gold)))
    if item.cited:
        shown = (node("p", "plain-text", passage) for passage in item.cited)
        parts.append(fold("cited", words("Cited passages"), *shown))
    draw((node("section", "card", *parts),), words, key=key)


def coverage_meter(found: Coverage, yes: Interval | None, words: Words, *, key: str) -> None:
    """Show how much of a collection of pairs is judged, and what the randomly drawn ones say about all."""
    counts = words(
        "{judged} of {total} labelled · {random} drawn at random · {mine} by you",
        judged=found.judged,
        total=found.total,
        random=found.at_random,
        mine=found.mine,
    )
    part = found.judged / found.total if found.total else 0.0
    parts = [node("div", "muted small", counts), gauge(part, counts)]
    if yes is not None:
        said = words(
            "Yes to {share} of those drawn at random (95 %: {low}–{high}, n = {n}).",
            share=f"{yes.value:.2f}",
            low=f"{yes.low:.2f}",
            high=f"{yes.high:.2f}",
            n=yes.n,
        )
        parts.append(node("div", "muted small", said))
    draw((node("div", "", *parts),), words, key=key)


def agreement_table(found: Sequence[Agreement], words: Words, *, key: str) -> None:
    """Show the agreement of judges with each other and with graders."""
    rows = [
        (
            f"{item.first or words('said in passing')} · {_second(item.second, words)}",
            words("{done} of {total}", done=item.same, total=item.n),
            "–" if item.kappa is None else f"{item.kappa:.2f}",
        )
        for item in found
    ]
    head = (words(NC_("agreement", "Judge")), words(NC_("agreement", "same")), words("Agreement beyond chance, κ"))
    draw((table("flips", head, rows, (1, 2)),), words, key=key)


def _second(name: str, words: Words) -> str:
    """A grader by its label, a judge by name."""
    return (model_label(name, words) if name.partition("#")[0] == BUILTIN else name) or words("said in passing")


def history_chart(found: Sequence[Scores], words: Words, *, key: str) -> None:
    """The scores of a set over its gatherings, a line a measure; a point says its note."""
    rows = [
        {
            "at": item.at,
            "when": moment(item.at),
            "measure": words(MEASURES[name]),
            "value": item.figures[name][0],
            "n": item.figures[name][1],
            "note": item.note,
        }
        for item in found
        for name in MEASURES
        if name in item.figures
    ]
    if not rows:
        return
    colour = text(
        "measure",
        legend={"title": None, "orient": "bottom"},
        scale={"domain": [words(MEASURES[name]) for name in MEASURES], "range": list(_COLOURS.values())},
    )
    ends = {
        "x": {"field": "at", "type": "ordinal", "title": None, "axis": {"labels": False, "ticks": False}},
        "y": share("value", ""),
        "color": colour,
    }
    tips = [
        text("when", words("gathered")),
        text("measure", words("Measure")),
        {"field": "value", "type": "quantitative", "format": ".2f", "title": words(NC_("answer", "Value"))},
        {"field": "n", "type": "quantitative", "title": "n"},
        text("note", words("note")),
    ]
    line = layer(rows, {"type": "line"}, **ends)
    points = layer(rows, {"type": "point", "filled": True, "size": 60}, tooltip=tips, **ends)
    draw_chart(line, points, key=key, title=words("Scores"), height=_HEIGHT)


def history_rows(found: Sequence[Scores], words: Words) -> list[dict[str, str]]:
    """One line a gathering, newest first, for a table whose notes can be written."""
    return [
        {
            "batch": item.batch_id,
            words("gathered"): moment(item.at),
            words("labels until"): moment(item.noted_at) if item.noted_at else "–",
            **{words(MEASURES[name]): _score_text(item, name, words) for name in MEASURES},
            words("note"): item.note,
        }
        for item in reversed(found)
    ]


def _score_text(item: Scores, name: str, words: Words) -> str:
    if name not in item.figures:
        return "–"
    value, n = item.figures[name]
    return words("{done} of {total}", done=round(value * n), total=n)
