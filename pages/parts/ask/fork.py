"""Continue from a decision: another query, turned verdicts or settings, their price, and where a branch came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.ask.what_if_text import price_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.outcomes import branch_text, ended_text, round_text
from components.common.phrases import decision_text, fault_text, place_text, verdict_label, verdict_text
from components.common.run_settings import setting_label, setting_text, unread_by
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.decide import kept_passages
from engine.model.settings_difference import settings_difference
from engine.model.values import COMPLETE, Fault, Fork, Passage, PassageId, Round, RunRecord, Verdict
from engine.replay import CallsNeeded
from engine.replay.fork import fork_price, takes_query, visit_of
from pages.parts.ask.what_if import tried
from pages.parts.common.actions import run_action
from pages.parts.common.rights import may


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Selections of the user."""

    config: RunConfig
    round: int
    query: str
    verdicts: Mapping[PassageId, bool]


def panel(engine: Engine, record: RunRecord, config: RunConfig, words: Words) -> None:
    """Draw what a run branched off from, and what can be branched off it; ``config`` is what the sliders say."""
    if record.fork is not None:
        _where_from(engine, record, record.fork, words)
    if record.active or not record.rounds or record.origin is not None or not may("editor"):
        return
    st.markdown(f"**{words('Continue from here')}**")
    config = tried(config, record.config)
    index = _round(record, words)
    changes = setting_changes(record.config, config, words)
    if changes:
        plain_line(words("Changed: {changes}", changes=words(", ").join(changes)), words, key="fork_settings")
    query = _query(engine, record, index, words)
    wanted = _Wanted(config, index, query, _verdicts(record, index, config, words))
    try:
        price = fork_price(record, config, index, query, wanted.verdicts)
    except WorkbenchError as error:
        st.warning(words.joined(fault_text(Fault.of(error), words)), icon=":material/info:")
        return
    new_query = bool(query) and query != record.rounds[index].query
    free = price == CallsNeeded() and not new_query
    # An interrupted run can be continued as it is; the same again from a whole one would say nothing new.
    idle = not changes and not wanted.verdicts and not new_query and free and record.outcome in COMPLETE
    with st.container(horizontal=True, vertical_alignment="center", key="fork_go_line"):
        pressed = st.button(words("Branch off"), key="fork_go", type="primary", disabled=idle)
        hint = words("Change a setting, the query or a verdict first.")
        st.caption(hint if idle else price_line(price, words, new_query=new_query))
    if pressed:
        _go(engine, record, wanted)


def _where_from(engine: Engine, record: RunRecord, fork: Fork, words: Words) -> None:
    try:
        parent = engine.record(fork.parent)
    except WorkbenchError:
        parent = None
    # Without the parent no one knows what its settings were.
    settings = (
        setting_changes(parent.config, record.config, words)
        if parent
        else [setting_label(name, words) for name in fork.settings]
    )
    pressed = view(record, fork, parent, changes_of(fork, settings, record, words), words, key="fork_note")
    if pressed == "parent":
        st.session_state["run"] = fork.parent
        st.rerun()
    if pressed == "compare":
        st.switch_page("runs.py", query_params={"view": "compare", "a": fork.parent, "b": record.id})


def view(
    record: RunRecord, fork: Fork, parent: RunRecord | None, changes: Sequence[str], words: Words, *, key: str
) -> str | None:
    """Say what a run branched off from, what was changed and how it ended; returns ``parent`` or ``compare``.

    ``parent`` is None where that run is gone.
    """
    parts = [node("strong", "", branch_text(fork, words))]
    if changes:
        parts.append(node("p", "", words("Changed: {changes}", changes=words(", ").join(changes))))
    if parent is not None and not record.active:
        was, now = ended_text(parent, words), ended_text(record, words)
        said = words("Outcome: {was} → {now}.", was=was, now=now)
        actions = (
            button(words("Compare"), "compare"),
            button(words("Open {run}", run=fork.parent[:8]), "parent", "button quiet"),
        )
        parts += [node("p", "", said), node("div", "actions", *actions)]
    return draw((box("plain", "↳", *parts),), words, key=key)


def _round(record: RunRecord, words: Words) -> int:
    offered = [index for index in range(len(record.rounds)) if visit_of(record, index) == index]
    if len(offered) == 1:
        plain_line(_round_choice(record, 0, words), words, key="fork_only_round")
        return 0
    chosen = st.selectbox(
        words("From which decision"),
        offered,
        # Where its what-if begins.
        index=offered.index(visit_of(record, record.fork.round)) if record.fork else 0,
        format_func=lambda index: _round_choice(record, index, words),
        key=f"fork_round_{record.id}_{words.language}",
    )
    return int(chosen or 0)


def _query(engine: Engine, record: RunRecord, index: int, words: Words) -> str:
    if not takes_query(record, index):
        return record.rounds[index].query
    typed = st.text_input(
        words("Query"),
        record.rounds[index].query,
        key=f"fork_query_{record.id}_{index}",
        help=words("What is searched. Verdicts go by the question as it was asked all the same."),
        max_chars=engine.settings.max_question_chars,
    )
    return (typed or "").strip()


def _verdicts(record: RunRecord, index: int, config: RunConfig, words: Words) -> Mapping[PassageId, bool]:
    """The verdicts that the reader has turned so far, kept while this decision is being looked at."""
    place = f"{record.id}_{index}"
    kept: tuple[str, dict[PassageId, bool]] = st.session_state.get("fork_verdicts", ("", {}))
    turned = kept[1] if kept[0] == place else {}
    current = record.rounds[index]
    with st.expander(words("Verdicts"), expanded=bool(turned), key=f"fork_verdicts_{place}"):
        pressed = verdict_rows(current, config, turned, words, key=f"fork_rows_{place}")
    if pressed is not None:
        verdict = current.verdicts.get(pressed)
        relevant = verdict is not None and verdict.relevant is True
        changed = dict(turned)
        if changed.pop(pressed, None) is None:
            changed[pressed] = not relevant
        st.session_state["fork_verdicts"] = (place, changed)
        st.rerun()
    return turned


def _go(engine: Engine, record: RunRecord, wanted: _Wanted) -> None:
    def fork() -> None:
        st.session_state["run"] = engine.fork(
            record, wanted.config, round=wanted.round, query=wanted.query, verdicts=wanted.verdicts
        )
        st.session_state.pop("fork_verdicts", None)

    run_action("ask", fork)
    st.rerun()


def _round_choice(record: RunRecord, index: int, words: Words) -> str:
    """One decision as a choice: round, inequality, where it went."""
    decision = next((item for item in record.decisions if item.round == index), None)
    return decision_text(decision, record.workflow, words) if decision else round_text(index, words)


def setting_changes(old: RunConfig, new: RunConfig, words: Words) -> list[str]:
    """``Top-k 5 → 3`` for every setting that differs and counts for something."""
    unused = unread_by(new) & unread_by(old)
    return [
        words(
            "{name} {old} → {new}",
            name=setting_label(item.name, words),
            old=setting_text(item.name, item.a, words),
            new=setting_text(item.name, item.b, words),
        )
        for item in settings_difference(old, new)
        if item.name not in unused
    ]


def plain_line(text: str, words: Words, *, key: str) -> None:
    """A sentence that may hold foreign text, such as the name of a model."""
    draw((node("p", "", text),), words, key=key)


def verdict_rows(
    current: Round, config: RunConfig, turned: Mapping[PassageId, bool], words: Words, *, key: str
) -> PassageId | None:
    """Draw the passages that ``config`` keeps in a round with a button each; returns the one whose button was pressed.

    ``turned`` holds the verdicts that the reader has set so far.
    """
    passages = kept_passages(current, config)
    rows = [
        _row(place, passage, current.verdicts.get(passage.id), turned.get(passage.id), words)
        for place, passage in enumerate(passages)
    ]
    pressed = draw((node("ul", "turns", *rows),), words, key=key)
    return passages[int(pressed)].id if pressed and pressed.isdecimal() and int(pressed) < len(passages) else None


def price_line(needed: CallsNeeded, words: Words, *, new_query: bool) -> str:
    """Describe the cost of a branch in one sentence; the price of a new query is a bound."""
    message = N_("Costs {next}.") if needed.next == needed.worst else N_("Next step: {next}. At worst: {worst}.")
    if new_query:
        message = N_("The new search and its verdicts cost at most {next}. With all further rounds at worst: {worst}.")
    return words(message, next=price_text(needed.next, words), worst=price_text(needed.worst, words))


def changes_of(fork: Fork, settings: Sequence[str], record: RunRecord, words: Words) -> list[str]:
    """All that a branch changed, the reader's query and verdicts included."""
    places = {item.passage.id: _place(item.passage, words) for own in record.rounds for item in own.candidates}
    query = [words("query “{query}”", query=fork.query)] if fork.query else []
    verdicts = [f"{_sign(relevant)} {places.get(name, name)}" for name, relevant in fork.verdicts.items()]
    return [*settings, *query, *verdicts]


def _row(place: int, passage: Passage, verdict: Verdict | None, turned: bool | None, words: Words) -> Node:
    if turned is not None:
        said = chip("accent", f"{_sign(turned)} {words('Set by hand')}")
    elif verdict is None or verdict.relevant is None:
        said = chip("grey", verdict_label(verdict, words))
    else:
        said = chip("pass" if verdict.relevant else "warn", verdict_text(verdict, words))
    press = button(words("Turn" if turned is None else "Undo"), str(place), "button quiet")
    what = node("strong", "grow", _place(passage, words))
    return node("li", "turn", what, node("div", "said", said), press)


def _sign(relevant: bool) -> str:
    return "✓" if relevant else "✗"


def _place(passage: Passage, words: Words) -> str:
    return place_text(passage.source, passage.section, words)
