"""The view Memory of the page Knowledge: memories, what was recalled, deleting, and switching off (DL-06)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st

from components.common.amounts import beginning, holds, utc
from components.common.controls import download, narrowing, page_of, pick, table_csv
from components.common.i18n import Words
from components.common.markup import Node, chip, figure, fold, node
from components.common.panel import want_settings
from components.common.run_link import run_address
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import first_that
from engine.flow.declaration import Workflow
from engine.messages import N_, NC_
from engine.model.values import Memory, RunRecord
from pages.parts.common.actions import (
    answer_buttons,
    clear,
    next_step,
    retry_box,
)
from pages.parts.common.rights import may
from pages.parts.common.stored_runs import finished_record
from pages.parts.knowledge import recalls, weak_points
from pages.parts.knowledge.recalls import draw_memory, effect_of
from pages.parts.knowledge.state import FOR_GOOD, attempt

Kind = Literal["all", "passed", "failed"]
_KINDS: dict[Kind, str] = {
    "all": N_("All"),
    "passed": N_("Passed"),
    "failed": NC_("memory", "Failed"),
}
_SWITCH = "memory"
"""Name of the setting, and key of its control in the panel."""
_NEWEST = 20
"""Runs of the dual loop that are looked at for what they recalled."""
_A_PAGE = 20
_BEGINNING = 220
_DELETE = "delete:"
_CSV = (
    "ID",
    N_("Passed"),
    N_("Question"),
    N_("Answer"),
    N_("Collection"),
    N_("Created"),
    N_("Run"),
    N_("Sources"),
)


def panel(engine: Engine, words: Words) -> None:
    """Draw the memories, what runs recalled of them, and the history of weak points."""
    st.caption(words("Answers of the dual loop that passed their last check, recalled when the question returns."))
    if is_off():
        st.info(words("■ memory off"), icon=":material/toggle_off:")
    try:
        memories = engine.memories()
        records = recent(engine)
    except WorkbenchError as error:
        retry_box(error, words, key="memory_unreadable")
        return
    if memories or records:
        view(MemoryFigures.of(memories, records), words, key="memory_figures")
    ledger_tab, recalls_tab, history_tab = st.tabs(
        [
            f"{words('Memory')} {len(memories)}",
            f"{words('Recalled')} {len(records)}",
            words("Weak points"),
        ]
    )
    with history_tab:
        weak_points.panel(engine, words)
    with ledger_tab:
        if memories:
            ledger(engine, words, memories, records)
        else:
            nothing(words)
    with recalls_tab:
        recalls.view(records, words, key="memory_recalls")


def recent(engine: Engine) -> list[RunRecord]:
    """The newest finished runs of the dual loop that got as far as asking memory."""
    summaries = engine.runs(_NEWEST, workflow=first_that(_remembers))
    found = (finished_record(engine, item.id) for item in summaries if item.outcome)
    return [record for record in found if record is not None and record.recall is not None]


def _remembers(own: Workflow) -> bool:
    return own.remembers


def nothing(words: Words) -> None:
    """No memory to show: what to do next."""
    st.info(words("Nothing yet."))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label, icon = words(NC_("page", "Ask")), ":material/account_tree:"
        st.page_link("workbench.py", label=label, icon=icon, query_params={"workflow": first_that(_remembers)})
        switch(words)


def ledger(engine: Engine, words: Words, memories: Sequence[Memory], records: Sequence[RunRecord]) -> None:
    shown = narrowed(words, memories)
    bar = st.container(key="memory_bar", horizontal=True, vertical_alignment="center", gap="small")
    with bar:
        act(engine, words, memories, shown)
    if not shown:
        label, clearing = words("Clear the filter"), clear("memory_q", "memory_kind")
        next_step(words("Nothing matches."), label, "filter_alt_off", key="memory_clear", does=clearing)
        return
    some = page_of(shown, _A_PAGE, key="memory_page")
    wanted = memory_ledger(some, recalled_by(records), words, key="memory_ledger")
    chosen = next((item for item in some if item.id == wanted), None)
    if chosen is not None and may("admin"):
        st.dialog(words("Delete"))(confirm)(engine, words, (chosen,))


def narrowed(words: Words, memories: Sequence[Memory]) -> list[Memory]:
    """Return the memories that pass the filters."""
    with st.container(key="memory_filters", horizontal=True, vertical_alignment="bottom", gap="small"):
        text = narrowing(words(NC_("knowledge", "Search")), key="memory_q", width=340, bind="query-params")
        shown = {name: words(text) for name, text in _KINDS.items()}
        kind = pick(words("State"), shown, key="memory_kind")
    return matching(memories, text, kind)


def act(engine: Engine, words: Words, memories: Sequence[Memory], shown: Sequence[Memory]) -> None:
    """Show the number of memories, and their actions."""
    st.caption(words.count("1 memory", "{n} memories", len(shown)), width="content")
    download(
        words("Export CSV"),
        partial(ledger_csv, list(shown), words),
        "memories.csv",
        key="memory_export",
        disabled=not shown,
    )
    switch(words)
    if not may("admin"):
        return
    if st.button(f"{words('Delete')} ({len(memories)})", icon=":material/delete:", key="memory_delete_all"):
        st.dialog(words("Delete"))(confirm)(
            engine, words, tuple(memories), hidden=len(memories) - len(shown), every=True
        )


def is_off() -> bool:
    """Return whether the reader's own next run of the dual loop will do without memory."""
    return st.session_state.get(_SWITCH) is False


def switch(words: Words) -> None:
    """The setting of the panel, for those who look at what it leaves behind."""
    was_on = not is_off()
    if st.toggle(words("Long-term memory"), was_on, key="memory_switch") != was_on:
        want_settings({_SWITCH: not was_on})
        # For this page too, which does not draw the panel.
        st.session_state[_SWITCH] = not was_on
        st.rerun()


def confirm(engine: Engine, words: Words, chosen: Sequence[Memory], *, hidden: int = 0, every: bool = False) -> None:
    """The body of the dialog that asks before memories go."""
    st.text(f"{words.count('1 memory', '{n} memories', len(chosen))}. {words(FOR_GOOD)}")
    if len(chosen) == 1:
        st.text(chosen[0].question[:200])
    if hidden:
        st.warning(
            words.count("1 is hidden by the filters.", "{n} are hidden by the filters.", hidden),
            icon=":material/warning:",
        )
    act = partial(forget, engine, chosen, every, words)
    answer_buttons(words("Delete"), words("Cancel"), act, key="memory_delete", icon=":material/delete:")


def forget(engine: Engine, chosen: Sequence[Memory], every: bool, words: Words) -> None:
    """Delete what was confirmed; one that is gone already counts as a fault that is said."""

    def delete() -> None:
        if every:
            engine.forget_every_memory()
            return
        for item in chosen:
            engine.forget_memory(item.id)

    attempt(delete, words("Deleted."))


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """Figures above the ledger."""

    passed: int
    failed: int
    runs: int
    """Newest runs of the dual loop that were looked at."""
    recalled: int
    """Those that recalled something."""
    changed: int
    """Those that went another way for it."""

    @classmethod
    def of(cls, memories: Sequence[Memory], records: Sequence[RunRecord]) -> MemoryFigures:
        passed = sum(item.passed for item in memories)
        effects = [effect_of(record) for record in records]
        recalled = sum(effect in ("changed", "same", "unknown") for effect in effects)
        return cls(passed, len(memories) - passed, len(records), recalled, effects.count("changed"))


def view(found: MemoryFigures, words: Words, *, key: str) -> None:
    """Draw the four figures."""
    newest = words.count("1 run", "{n} runs", found.runs)
    look = "accent" if found.changed else ""
    parts = (
        figure(words(N_("Passed")), str(found.passed)),
        figure(words(NC_("memory", "Failed")), str(found.failed), words("never recalled")),
        figure(words("Recalled"), str(found.recalled), newest),
        figure(words("⇄ changed the route"), str(found.changed), newest, look=look),
    )
    draw_memory([node("div", "figures four", *parts)], words, key=key)


def matching(memories: Sequence[Memory], text: str, kind: Kind) -> list[Memory]:
    """Memories of a kind that hold a text anywhere, regardless of its case."""
    return [
        item
        for item in memories
        if (kind == "all" or item.passed == (kind == "passed"))
        and holds(text, item.question, item.answer, item.collection, *item.sources)
    ]


def memory_ledger(memories: Sequence[Memory], recalled: Mapping[str, int], words: Words, *, key: str) -> str | None:
    """Draw a card for each memory and return the id of the one to be deleted, if any.

    ``recalled`` says how many recent runs recalled each. All text is untrusted and drawn as text: neither Markdown nor
    HTML in it means anything.
    """
    cards = [_card(item, recalled.get(item.id, 0), words) for item in memories]
    action = draw_memory(cards, words, key=key)
    shown = {item.id for item in memories}
    wanted = action.removeprefix(_DELETE) if action and action.startswith(_DELETE) else ""
    return wanted if wanted in shown else None


def ledger_csv(memories: Sequence[Memory], words: Words) -> bytes:
    """One row a memory, UTF-8 with a byte order mark; cells cannot start a formula."""
    rows = (
        (
            item.id,
            words(_KINDS["passed" if item.passed else "failed"]),
            item.question,
            item.answer,
            item.collection,
            item.kept_at,
            item.run_id,
            ", ".join(item.sources),
        )
        for item in memories
    )
    return table_csv([words.known(text) for text in _CSV], rows)


def _card(item: Memory, recalled: int, words: Words) -> Node:
    state: Kind = "passed" if item.passed else "failed"
    look, sign = ("pass", "✓") if item.passed else ("warn", "✗")
    mark = chip(look, f"{sign} {words(_KINDS[state])}")
    question = node("strong", "question", item.question.strip() or "–")
    delete = node(
        "button",
        "button quiet",
        words("Delete"),
        data_action=f"{_DELETE}{item.id}",
        aria_label=f"{words('Delete')}: {beginning(item.question, 80)}",
    )
    head = node("div", "top", node("div", "grow", mark, " ", question), delete)
    answer = item.claim or beginning(item.answer, _BEGINNING) or "–"
    parts = [head, node("p", "beginning", answer), *_whole(item, answer, words), _facts(item, recalled, words)]
    return node("section", f"card memory {state}", *parts)


def _whole(item: Memory, shown: str, words: Words) -> list[Node]:
    """The answer as it was written, folded away; nothing where all of it is seen already."""
    answer = item.answer.strip()
    if not answer or answer == shown:
        return []
    return [fold(item.id, words("Whole answer"), node("p", "whole", answer))]


def _facts(item: Memory, recalled: int, words: Words) -> Node:
    run = node("a", "", f"{words('Run')} {item.run_id[:8]}", href=run_address(item.run_id, words))
    facts: list[Node] = [
        node("span", "", item.collection),
        node("span", "num", utc(item.kept_at)),
    ]
    if item.run_id:
        facts.append(node("span", "", run))
    if item.sources:
        facts.append(node("span", "", f"{words('Sources')}: {words(', ').join(item.sources)}"))
    if item.from_web:
        facts.append(chip("warn", words("! from the web")))
    if item.claim_by:
        facts.append(node("span", "", words("shortened by {model}", model=item.claim_by)))
    if recalled:
        facts.append(chip("accent", f"{words('Recalled')} {recalled}"))
    return node("div", "facts small muted", *facts)


def recalled_by(records: Sequence[RunRecord]) -> Mapping[str, int]:
    """Count the runs that recalled each memory, by its id."""
    return Counter(name for record in records if record.recall for name in {item.id for item in record.recall.memories})
