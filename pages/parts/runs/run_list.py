"""The view List of the page Runs: every stored run, to be found, opened, tagged, exported and deleted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import cast, get_args

import streamlit as st

from components.ask.what_if_text import collection_text
from components.common.controls import download, listed, narrowing
from components.common.i18n import Words
from components.common.outcomes import outcome_text
from components.common.panel import COLLECTION_NAME
from components.common.phrases import workflow_text
from components.common.url_state import base_path, put_into_url, take_from_url
from components.labels import DEMO_NAMES
from components.runs.run_list import RunLine, RunListEvent, distinguishing_settings, run_list
from engine.engine import Engine
from engine.errors import RecordError, WorkbenchError
from engine.messages import NC_, NN_
from engine.model.config import WORKFLOWS, RunConfig
from engine.model.values import Outcome, RunId
from engine.people import current_user, signing_in
from engine.plugins import panels
from engine.records import BATCH, PINNED
from engine.records.listing import Filters, RunSummary, summarise
from engine.records.tagging import LONGEST_TAG
from engine.samples.demos import all_demos, demo_events
from pages.parts.common.actions import answer_buttons, note_deleted, retry_box, run_action, say_last_press
from pages.parts.common.following import redraw_when
from pages.parts.common.rights import may
from pages.parts.common.views import aim_at
from pages.parts.runs.compare import choose_pair

_A_PAGE = 50
_AUTHORS_OF = 300
"""Newest runs whose authors can be chosen."""
_WATCH_S = 1.5
_NAMED_IN_DIALOG = 5
_COLLECTION = "runs_collection"
_FILTERS = ("q", "outcome", "loop", "tag", "author", _COLLECTION)


def list_view(engine: Engine, words: Words) -> None:
    say_last_press("runs", NN_("1 run deleted.", "{n} runs deleted."), words)
    try:
        filters = narrowed(engine, words)
        stored(engine, words, filters)
    except RecordError as error:
        retry_box(error, words, key="runs_unreadable")
    shipped(engine, words)


def narrowed(engine: Engine, words: Words) -> Filters:
    """The filters, which the address holds too; those that are seldom wanted, and what plug-ins add, are folded."""
    counts = engine.tags()
    if st.session_state.pop("runs_clear", False):
        for name in _FILTERS:
            st.session_state[name] = ""
    outcomes = {"": words("All"), **{name: outcome_text(name, words) for name in get_args(Outcome)}}
    take_from_url("collection", "", lambda given: COLLECTION_NAME.fullmatch(given) is not None, key=_COLLECTION)
    with st.container(key="run_filters", horizontal=True, vertical_alignment="bottom", gap="small"):
        placeholder, label = words("Question, tag or run id"), words(NC_("memory", "Search"))
        text = narrowing(label, key="q", placeholder=placeholder, width=300, bind="query-params")
        outcome = listed("outcome", words("Outcome"), outcomes, width=220)
        with st.popover(_named(words), icon=":material/filter_alt:", key="runs_filters"):
            loop, tag, collection, author, batches = _seldom(engine, counts, words)
        offered = panels("runs")
        if offered:
            with st.popover(words("More"), icon=":material/more_horiz:", key="runs_more_menu"):
                for panel in offered:
                    panel(engine, words)
    put_into_url("collection", collection, "", key=_COLLECTION)
    return Filters(
        text=text.strip() or None,
        outcome=cast("Outcome | None", outcome or None),
        workflow=loop or None,
        tag=tag or None,
        collection=collection or None,
        author=author or None,
        without_tag=None if batches else BATCH,
    )


def _named(words: Words) -> str:
    """The name of the folded filters with the number of those that are set."""
    chosen = sum(bool(st.session_state.get(name)) for name in (*_FILTERS[2:], "batches"))
    return words("Filters") + (f" ({chosen})" if chosen else "")


def _seldom(engine: Engine, counts: Mapping[str, int], words: Words) -> tuple[str, str, str, str, bool]:
    """Workflow, tag, collection and author, and whether runs of batches are shown."""
    loops = {"": words("All"), **{name: workflow_text(name, words) for name in WORKFLOWS}}
    tags = {name: f"{name} ({count})" for name, count in counts.items() if name != BATCH}
    loop = listed("loop", words("Workflow"), loops)
    tag = listed("tag", words("Tag"), {"": words("All"), **tags})
    collection = st.selectbox(
        words("Collection"),
        ("", *collections_of(engine, str(st.session_state[_COLLECTION]))),
        format_func=lambda name: collection_text(name, words) if name else words("All"),
        key=_COLLECTION,
    )
    author = author_choice(engine, words) if signing_in() else ""
    batches = bool(counts.get(BATCH)) and st.toggle(words("Show runs of batches"), key="batches", bind="query-params")
    return loop, tag, str(collection or ""), author, batches


def author_choice(engine: Engine, words: Words) -> str:
    """Whose runs are shown: everybody's, one's own, or those of a person who asked lately."""
    me = current_user().author
    lately = sorted({item.author for item in engine.runs(_AUTHORS_OF)} - {me, ""})
    shown = {"": words("All"), me: words("My own"), **{name: name for name in lately}}
    return listed("author", words("Author"), shown, width=165)


def collections_of(engine: Engine, chosen: str) -> list[str]:
    """Collections that runs may have searched: those that are there, and the chosen one although it may be gone."""
    try:
        known = [item.name for item in engine.collections()] if engine.ready else []
    except WorkbenchError:
        known = []
    return list(dict.fromkeys(name for name in (*known, chosen) if name))


def stored(engine: Engine, words: Words, filters: Filters) -> None:
    limit = st.session_state.setdefault("runs_limit", _A_PAGE)
    # One more than is shown tells whether there are more.
    found = engine.runs(limit + 1, **filters)
    shown = found[:limit]
    if not shown:
        nothing(engine, words, filters)
        return
    bar = st.container(key="run_bar", horizontal=True, vertical_alignment="center", gap="small")
    configs = engine.run_configs([item.id for item in shown])
    differing = distinguishing_settings([(item.id, item.question) for item in shown], configs, words)
    lines = [line(item, settings=differing.get(item.id, "")) for item in shown]
    event = run_list(lines, words, key="run_list", base=base_path(), tags=may("editor"))
    with bar:
        act(engine, words, shown, [item for item in shown if item.id in event.selected], more=len(found) > limit)
    if len(found) > limit and st.button(words("Show more"), icon=":material/expand_more:", key="runs_more"):
        st.session_state["runs_limit"] = limit + _A_PAGE
        st.rerun()
    pressed(engine, event)
    follow(engine, tuple(item.id for item in shown if item.outcome is None))


def line(item: RunSummary, note: str = "", settings: str = "") -> RunLine:
    """Build a run's list entry; tags with a special meaning have their own place."""
    return RunLine(
        id=item.id,
        question=item.question,
        outcome=item.outcome,
        answer_note=item.answer_note,
        started_at=item.started_at,
        duration_ms=item.duration_ms,
        calls=item.calls,
        rewrites=item.rewrites,
        tags=tuple(tag for tag in item.tags if tag not in (PINNED, BATCH)),
        pinned=PINNED in item.tags,
        batch=BATCH in item.tags,
        workflow=item.workflow,
        parent=item.parent,
        note=note,
        damaged=item.damaged,
        settings=settings,
        collection=item.collection if item.collection != RunConfig().collection else "",
        author=item.author,
    )


def nothing(engine: Engine, words: Words, filters: Filters) -> None:
    """No run to show: what to do next."""
    if any(value for name, value in filters.items() if name != "without_tag"):
        st.info(words("No run matches these filters."))
        if st.button(words("Clear filters"), icon=":material/filter_alt_off:", key="runs_clear_filters"):
            st.session_state["runs_clear"] = True
            st.rerun()
        return
    st.info(
        words("No run of your own yet; those of batches are hidden." if engine.tags().get(BATCH) else "No run yet.")
    )
    st.page_link("workbench.py", label=words("Ask a question"), icon=":material/account_tree:")


def act(
    engine: Engine, words: Words, shown: Sequence[RunSummary], selected: Sequence[RunSummary], *, more: bool
) -> None:
    """Show the number of runs, or what can be done with those selected."""
    if not selected:
        st.caption(words.count("1 run", "{n} runs", len(shown)) + (" …" if more else ""), width="content")
        return
    st.caption(words("{n} selected", n=len(selected)), width="content")
    single = len(selected) == 1
    if may("editor"):
        tag_box(engine, words, selected)
    if len(selected) == 2 and st.button(words("Compare"), icon=":material/compare_arrows:", key="runs_compare"):
        # Newest first in the list: the older one is what the other is compared with.
        second, first = selected
        choose_pair(first.id, second.id)
        aim_at("runs", "compare")
        st.rerun()
    download(
        words("Export JSON"),
        partial(exported, engine, tuple(item.id for item in selected), single=single),
        f"run-{selected[0].id}.json" if single else "runs.jsonl",
        key="runs_export",
    )
    if may("admin") and st.button(words("Delete"), icon=":material/delete:", key="runs_delete"):
        st.dialog(words("Delete"))(confirm)(engine, words, tuple(selected))


def tag_box(engine: Engine, words: Words, selected: Sequence[RunSummary]) -> None:
    # A new key closes the box once its tag is on its way.
    generation = st.session_state.setdefault("runs_tags_added", 0)
    name, box = words("Add a tag"), f"runs_tag_box_{generation}"
    with st.popover(name, icon=":material/sell:", key=box):
        with st.form("runs_tag_form", border=False, clear_on_submit=True):
            tag = st.text_input(words("Tag"), max_chars=LONGEST_TAG, key="new_tag")
            pressed_add = st.form_submit_button(words("Add a tag"), type="primary")
        if pressed_add:
            st.session_state["runs_tags_added"] = generation + 1
            attempted([partial(engine.tag_run, item.id, str(tag)) for item in selected])


def exported(engine: Engine, run_ids: Sequence[RunId], *, single: bool) -> bytes:
    """One run as JSON, several as a line each; those that cannot be read are left out of several."""
    if single:
        return _bytes(json.dumps(engine.record(run_ids[0]).to_dict(), ensure_ascii=False, indent=2))
    lines = []
    for run_id in run_ids:
        try:
            lines.append(json.dumps(engine.record(run_id).to_dict(), ensure_ascii=False))
        except RecordError:
            continue
    return _bytes("".join(f"{line}\n" for line in lines))


def _bytes(text: str) -> bytes:
    # Half a surrogate pair, as broken PDFs bring it, has no UTF-8 form.
    return text.encode("utf-8", "replace")


def confirm(engine: Engine, words: Words, selected: tuple[RunSummary, ...]) -> None:
    """The body of the dialog that asks before runs go."""
    st.text(
        words.count(
            "Delete this run with all its evidence? This cannot be undone.",
            "Delete {n} runs with all their evidence? This cannot be undone.",
            len(selected),
        )
    )
    for item in selected[:_NAMED_IN_DIALOG]:
        st.text(f"• {item.question[:90]}")
    if len(selected) > _NAMED_IN_DIALOG:
        st.caption(words("and {n} more", n=len(selected) - _NAMED_IN_DIALOG))
    for tag, needed in (
        (
            PINNED,
            NN_(
                "One is on the watch list and leaves it.",
                "{n} are on the watch list and leave it.",
            ),
        ),
        (
            BATCH,
            NN_(
                "One was made by a batch: Tune counts its question as unknown until it is run again.",
                "{n} were made by a batch: Tune counts their questions as unknown until they are run again.",
            ),
        ),
    ):
        if count := sum(tag in item.tags for item in selected):
            st.warning(words.count(*needed, count), icon=":material/warning:")
    act = partial(delete, engine, selected)
    answer_buttons(words("Delete"), words("Keep them"), act, key="runs_delete", icon=":material/delete:")


def delete(engine: Engine, selected: Sequence[RunSummary]) -> None:
    """Delete what can be deleted; one that cannot says why, after the others are gone."""
    deleted = 0
    for item in selected:
        deleted += run_action("runs", partial(engine.delete_run, item.id))
        if st.session_state.get("run") == item.id:
            st.session_state["run"] = ""
    note_deleted("runs", deleted)


def pressed(engine: Engine, event: RunListEvent) -> None:
    """Do what was pressed in a line of the list."""
    match event.press:
        case "open":
            # Set in addition to the address: a run that was opened a moment ago would stand above the new one.
            st.session_state["run"] = event.run_id
            st.switch_page("workbench.py", query_params={"run": event.run_id})
        case "pin":
            attempted([partial(engine.tag_run, event.run_id, PINNED)])
        case "unpin":
            attempted([partial(engine.untag_run, event.run_id, PINNED)])
        case "untag":
            attempted([partial(engine.untag_run, event.run_id, event.tag)])


def attempted(changes: Sequence[partial[tuple[str, ...]]]) -> None:
    """Make the changes and redraw the page; a fault is said above the list, once."""
    for change in changes:
        if not run_action("runs", change):
            break
    st.rerun()


def shipped(engine: Engine, words: Words) -> None:
    """The demos of the page's language, read when they are first shown."""
    box = st.expander(words("Recorded demos"), icon=":material/slideshow:", key="runs_demos", on_change="rerun")
    if not box.open:
        return
    with box:
        chosen = [demo for demo in all_demos() if demo.language == words.declared.closest]
        lines = [
            line(found, words(DEMO_NAMES[demo.scenario]))
            for demo in chosen
            if (found := summarise(demo_events(demo.id)))
        ]
        pressed(engine, run_list(lines, words, key="demo_list", base=base_path(), fixed=True))


def follow(engine: Engine, active: tuple[RunId, ...]) -> None:
    """Redraw the page when a run shown as running has ended."""
    if active:
        redraw_when(lambda: not all(_goes_on(engine, run_id) for run_id in active), _WATCH_S)


def _goes_on(engine: Engine, run_id: RunId) -> bool:
    try:
        return engine.record(run_id).active
    except WorkbenchError:
        return False
