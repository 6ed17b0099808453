"""Drafted questions on the Tune page: made from a collection, then accepted, edited or refused one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from components.common.faults import fault_box
from components.common.i18n import Words
from components.common.markup import Node, chip, draw, node
from components.knowledge.draw import quiet
from engine.drafting.drafting import Made, Step
from engine.drafting.values import Draft, Kept
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.evaluation.cases import SAMPLE_SET
from engine.messages import N_
from engine.model.config import RoleModel
from engine.model.values import Fault
from engine.roles import StoredPassage
from engine.running.drafting import USUAL_DRAFTS
from pages.parts.common.actions import next_step
from pages.parts.common.following import settled
from pages.parts.common.rights import may
from pages.parts.common.session_cache import cached_in_session
from pages.parts.common.views import DRAFTS_WANTED, FIRST_DRAFTS, aim_at
from pages.parts.tune.collection import collection_choice

_JOB, _DONE, _OPEN = "tune_draft_job", "tune_draft_done", "tune_draft_open"
_LATER, _LAST, _INTO = "tune_draft_later", "tune_draft_last", "tune_draft_into"
_FAILED, _FAULT = "tune_draft_failed", "tune_draft_fault_said"
_NEW = "tune_draft_new"
"""The set that questions were accepted into: the page goes there once the drafts are closed."""
_WATCH_S = 0.5
_MOST_HERE = 100
NO_WRITER = N_("Drafting needs a chat model. Install one under System → Models, then choose it as the generator.")
_LONGEST = 1600


@dataclass(slots=True)
class _Making:
    """Questions that are being drafted."""

    collection: str
    step: Step | None = None
    future: Future[Made] | None = None

    def note(self, step: Step) -> None:
        self.step = step


def draft_form(engine: Engine, chosen: str, model: RoleModel, words: Words) -> None:
    """Choose the collection (initially ``chosen``) and number of drafts; ``model`` writes them."""
    if not model.chats:
        _no_writer(words)
        return
    collection = collection_choice(engine, chosen, words("Collection"), key="tune_draft_of")
    limit = st.number_input(words("Questions at most"), 1, _MOST_HERE, USUAL_DRAFTS, key="tune_draft_limit")
    st.caption(
        words(
            "{model} writes them from the passages, one call each. They count nowhere until you accept them.",
            model=model.model,
        )
    )
    busy = st.session_state.get(_JOB) is not None
    if st.button(words("Draft"), type="primary", width="stretch", disabled=busy, key="tune_draft_start"):
        _begin(engine, collection, int(limit), model, words)


def _begin(engine: Engine, collection: str, limit: int, model: RoleModel, words: Words) -> None:
    """Draft in the background; the page follows it."""
    making = _Making(collection)
    try:
        making.future = engine.drafting.start(collection, limit, model.model, making.note)
    except WorkbenchError as error:
        fault_box(Fault.of(error), words, key="tune_draft_fault")
        return
    st.session_state[_JOB] = making
    st.session_state["tune_drafted"] = st.session_state.get("tune_drafted", 0) + 1
    st.rerun()


def _no_writer(words: Words) -> None:
    """Explain what drafting needs, and the way to it."""
    if next_step(words(NO_WRITER), words("Set up a chat model"), "memory", key="tune_draft_set_up"):
        _set_up()


def _set_up() -> None:
    aim_at("system", "models")
    st.switch_page("system.py")


def _wanted(engine: Engine, model: RoleModel, words: Words) -> None:
    """Draft what another page asked for, or offer what works without a chat model."""
    collection = st.session_state.get(DRAFTS_WANTED)
    if collection is None or not may("editor"):
        return
    if model.chats:
        del st.session_state[DRAFTS_WANTED]
        _begin(engine, collection, FIRST_DRAFTS, model, words)
        return
    with st.container(border=True, key="tune_draft_needs"):
        st.markdown(f"**{collection}**")
        st.caption(words(NO_WRITER))
        with st.container(horizontal=True, gap="small"):
            if st.button(words("Set up a chat model"), icon=":material/memory:", key="tune_draft_needed"):
                _set_up()
            st.button(
                words("Import"),
                icon=":material/upload_file:",
                key="tune_import_instead",
                on_click=_open_import,
            )
            if st.button(words("Not now"), type="tertiary", key="tune_draft_not_now"):
                del st.session_state[DRAFTS_WANTED]
                st.rerun()


def _open_import() -> None:
    """Open the menu *Import* of the bar."""
    del st.session_state[DRAFTS_WANTED]
    st.session_state[f"tune_import_{st.session_state.get('tune_uploads', 0)}"] = True


def drafts_line(engine: Engine, collection: str, model: RoleModel, words: Words) -> None:
    """Show the progress and result of drafting, and a collection's waiting drafts, one at a time."""
    _wanted(engine, model, words)
    failed: Fault | None = st.session_state.get(_FAILED)
    if failed is not None:
        close = (("close", words("Close")),)
        if fault_box(failed, words, key="tune_draft_failed_box", actions=close) == "close":
            st.session_state.pop(_FAILED)
            st.rerun()
    making: _Making | None = st.session_state.get(_JOB)
    if making is not None:
        _watch(making, words)
        return
    _waiting(engine, st.session_state.get(_OPEN) or collection, words)


@st.fragment
def _waiting(engine: Engine, collection: str, words: Words) -> None:
    """Show the result of drafting and the waiting drafts; a fragment, so that a decision does not redraw figures."""
    done: tuple[str, Made] | None = st.session_state.get(_DONE)
    if done is not None and done[0] == collection:
        _outcome(done[1], words)
    waiting = waiting_drafts(engine, collection)
    if not may("editor") or not (waiting or st.session_state.get(_LAST)):
        return
    looking = st.session_state.get(_OPEN) == collection
    with st.container(gap="xsmall", key="tune_drafts_line"):
        quiet(_count(len(waiting), collection, words), words, key="tune_drafts_count")
        over = looking and not waiting and _NEW in st.session_state
        label = words("Next: run the questions") if over else words("Close") if looking else words("Look through")
        kind: Literal["primary", "secondary"] = "primary" if over else "secondary"
        if st.button(label, icon=":material/checklist:", type=kind, key="tune_drafts_look"):
            st.session_state[_OPEN] = None if looking else collection
            if looking and (into := st.session_state.pop(_NEW, None)):
                st.session_state["tune_set_wanted"] = into
            st.rerun()  # the whole page: sets have new questions
    if looking:
        with st.container(border=True, key="tune_draft_card"):
            _review(engine, waiting, words)


def _count(waiting: int, collection: str, words: Words) -> str:
    if not waiting:
        return words("All drafts of {collection} are decided.", collection=collection)
    return words.count(
        "1 draft of {collection} to look through",
        "{n} drafts of {collection} to look through",
        waiting,
        collection=collection,
    )


def waiting_drafts(engine: Engine, collection: str) -> list[Kept]:
    """Open drafts of a collection, those put off behind the others."""
    state = engine.evaluation.state()
    found: tuple[Kept, ...] = cached_in_session(
        "tune_drafts_read", (collection, state), lambda: engine.drafting.list(collection, "open")
    )
    later: list[str] = st.session_state.setdefault(_LATER, [])
    return sorted(found, key=lambda item: later.index(item.draft.id) + 1 if item.draft.id in later else 0)


def _watch(making: _Making, words: Words) -> None:
    @st.fragment(run_every=_WATCH_S)
    def watch() -> None:
        if making.future is None or making.future.done():
            st.session_state.pop(_JOB, None)
            ended = settled(making.future)
            made, fault = ended
            if fault is not None:
                st.session_state[_FAILED] = fault
            elif made is not None:
                st.session_state[_DONE] = (making.collection, made)
                st.session_state[_OPEN] = making.collection
            st.rerun()
        step = making.step
        done, total = (step.done, step.total) if step else (0, 0)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = words("{done} of {total}", done=done, total=total)
            st.progress(min(1.0, done / max(1, total)), f"{words('Draft')} · {making.collection} · {said}")
            if st.button(words("Stop"), icon=":material/stop:", key="tune_draft_stop") and making.future is not None:
                making.future.cancel()

    watch()


def _outcome(made: Made, words: Words) -> None:
    said = [
        words.count("1 question", "{n} questions", len(made.drafts)),
        words.count("1 passage", "{n} passages", made.passages),
    ]
    if made.unread:
        said.append(words.count("1 unreadable reply", "{n} unreadable replies", made.unread))
    quiet(" · ".join(said), words, key="tune_draft_outcome")


def _review(engine: Engine, waiting: Sequence[Kept], words: Words) -> None:
    """The first of the waiting drafts, with keys for what may be done with it."""
    fault: Fault | None = st.session_state.pop(_FAULT, None)
    if fault is not None:
        fault_box(fault, words, key="tune_draft_refused")
    if not waiting:
        st.button(words("Undo"), shortcut="U", key="tune_draft_undo", on_click=_undo, args=(engine,))
        return
    draft = waiting[0].draft
    draft_facts(draft, words, key="tune_draft_facts")
    st.text_input(words("Question"), draft.question, key=_field("question", draft))
    if draft.answerable:
        st.text_input(
            words("Gold answer"),
            " | ".join(draft.gold_answers),
            placeholder=words("few words; several apart by |"),
            key=_field("gold", draft),
        )
    shown = _passage(engine, draft.collection, draft.source, draft.passages[0] if draft.passages else draft.quote)
    section, text = (shown.section, shown.text) if shown is not None else ("", words("The passage is gone."))
    draft_evidence(draft, section, text, words, key="tune_draft_evidence")
    own = _sets_of(engine, draft.collection)
    usual = words("questions about {collection}", collection=draft.collection)
    options = list(dict.fromkeys((*own, *(() if own else (usual,)))))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        # Callbacks: the fragment is drawn once, with what comes next.
        keys = (
            (words("Accept"), "Y", "yes", _accept, (engine, draft, usual), False),
            (words("Refuse"), "N", "no", _refuse, (engine, draft), False),
            (words("Skip"), "S", "skip", _put_off, (draft,), False),
            (words("Undo"), "U", "undo", _undo, (engine,), st.session_state.get(_LAST) is None),
        )
        for label, shortcut, name, act, given, disabled in keys:
            kind: Literal["primary", "secondary"] = "primary" if name == "yes" else "secondary"
            key = f"tune_draft_{name}"
            st.button(label, key=key, type=kind, shortcut=shortcut, disabled=disabled, on_click=act, args=given)
        st.space("stretch")
        st.selectbox(words("Question set"), options, accept_new_options=True, key=_INTO, width=260)


def _field(name: str, draft: Draft) -> str:
    return f"tune_draft_{name}_{draft.id}"


def _accept(engine: Engine, draft: Draft, usual: str) -> None:
    gold = str(st.session_state.get(_field("gold", draft), ""))
    golds = [part.strip() for part in gold.split("|") if part.strip()]
    question = str(st.session_state.get(_field("question", draft), draft.question))
    into = str(st.session_state.get(_INTO) or usual)
    if _decide(draft.id, lambda: engine.drafting.accept(draft.id, into, question=question, gold_answers=golds)):
        st.session_state[_NEW] = into.strip()


def _refuse(engine: Engine, draft: Draft) -> None:
    _decide(draft.id, lambda: engine.drafting.refuse(draft.id))


def _decide(draft_id: str, decide: Callable[[], object]) -> bool:
    try:
        decide()
    except WorkbenchError as error:
        st.session_state[_FAULT] = Fault.of(error)
        return False
    st.session_state[_LAST] = draft_id
    return True


def _put_off(draft: Draft) -> None:
    st.session_state[_LATER] = [*(item for item in st.session_state[_LATER] if item != draft.id), draft.id]


def _undo(engine: Engine) -> None:
    """Take back the last decision; the draft is the next to look at."""
    last: str | None = st.session_state.get(_LAST)
    if last is None:
        return
    try:
        collection = engine.drafting.reopen(last).draft.collection
        waiting = [item.draft.id for item in engine.drafting.list(collection, "open")]
    except WorkbenchError as error:
        st.session_state[_FAULT] = Fault.of(error)
        return
    st.session_state[_LAST] = None
    put_off = [item for item in st.session_state[_LATER] if item != last]
    st.session_state[_LATER] = [*(item for item in waiting if item not in (last, *put_off)), *put_off]


def _sets_of(engine: Engine, collection: str) -> list[str]:
    """Query sets that are asked of a collection, without the samples, which stay as they are."""
    store = engine.evaluation
    return [
        name for name in store.query_sets() if name != SAMPLE_SET and store.query_set(name).collection == collection
    ]


def _passage(engine: Engine, collection: str, source: str, passage_id: str) -> StoredPassage | None:
    try:
        return next((item for item in engine.passages(collection, source) if item.id == passage_id), None)
    except WorkbenchError:
        return None


def draft_evidence(draft: Draft, section: str, text: str, words: Words, *, key: str) -> None:
    """The passage that answers, with the words the question was made from marked, or the nearest one to a near miss."""
    parts = [node("div", "muted small", f"{draft.source} · {section}" if section else draft.source)]
    if draft.answerable:
        parts.append(node("div", "seen plain-text", *_marked(text, draft.quote)))
    else:
        for_what, swapped = draft.swapped
        note = words(
            "“{new}” replaces “{old}”; this passage comes nearest. Refuse it if any source answers it.",
            new=swapped,
            old=for_what,
        )
        parts = [node("p", "", note), *parts, node("div", "seen plain-text", *_marked(text, swapped))]
    draw((node("section", "card", *parts),), words, key=key)


def draft_facts(draft: Draft, words: Words, *, key: str) -> None:
    """Show the author of the draft, and the share of its wording that comes from the passage."""
    if not draft.answerable:
        parts = [chip("warn", words("nothing should answer it"))]
    else:
        # Rules wrote drafts in earlier versions.
        parts = [chip("accent", draft.by or words("Built-in rules" if draft.rule != "chat" else "Model"))]
        parts.append(node("span", "muted small", wording_text(draft, words)))
    draw((node("div", "head", *parts),), words, key=key)


def wording_text(draft: Draft, words: Words) -> str:
    """Describe the share of a question's wording found in its passage."""
    return words(
        "{percent} % of its words from the passage · longest stretch {n}",
        percent=round(100 * draft.shared),
        n=draft.run,
    )


def _marked(text: str, quote: str) -> list[Node | str]:
    """The passage around a quotation, which is marked where it stands word for word."""
    at = text.find(quote) if quote else -1
    if at < 0:
        return [text[:_LONGEST] + ("…" if len(text) > _LONGEST else "")]
    start = max(0, at - _LONGEST // 3)
    end = min(len(text), at + len(quote) + _LONGEST // 2)
    before, after = text[start:at], text[at + len(quote) : end]
    return [
        ("…" if start else "") + before,
        node("mark", "", quote),
        after + ("…" if end < len(text) else ""),
    ]
