"""Branching off in the tab of decisions: verdicts that can be turned, from where, the price, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from components.ask.what_if_text import price_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.outcomes import branch_text, ended_text, round_text
from components.common.phrases import (
    decision_text,
    fault_text,
    inequality_text,
    node_text,
    place_text,
    verdict_label,
    verdict_text,
)
from components.common.run_settings import setting_label, setting_text, unread_by
from engine.engine import Engine
from engine.errors import WorkbenchError
from engine.flow import workflow
from engine.messages import N_
from engine.model.config import RunConfig
from engine.model.decide import kept_passages
from engine.model.settings_difference import settings_difference
from engine.model.values import COMPLETE, Decision, Fault, Fork, Passage, PassageId, Round, RunRecord, Verdict, counted
from engine.replay import CallsNeeded
from engine.replay.difference import RoundPair, RunDifference, difference
from engine.replay.fork import fork_price, takes_query, visit_of
from pages.parts.ask.what_if import tried
from pages.parts.common.actions import run_action
from pages.parts.common.rights import may

_MOVES = {
    "gained": N_("Gained"),
    "lost": N_("Lost"),
}

_SNIPPET = 140
_SHOWN_RUN = 8


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Selections of the user."""

    config: RunConfig
    round: int
    query: str
    verdicts: Mapping[PassageId, bool]


def fork_panel_of(engine: Engine, record: RunRecord, config: RunConfig, words: Words) -> None:
    """Draw what a run branched off from, and what can be branched off it; ``config`` is what the sliders say."""
    if record.fork is not None:
        _where_from(engine, record, words)
    if record.active or not record.rounds or record.origin is not None or not may("editor"):
        return
    st.markdown(f"**{words('Branch off')}**")
    st.caption(
        words(
            "Change something at one decision and go on from there. What came before stands, and every verdict, "
            "rewrite and answer that still holds is reused."
        )
    )
    config = tried(config, record.config)
    index = _round(record, words)
    changes = setting_changes(record.config, config, words)
    said = words(", ").join(changes)
    sentence = (
        words("Settings: {changes}", changes=said)
        if said
        else words("Settings: as in the run. Move a slider at the left to change one.")
    )
    plain_line(sentence, words, key="fork_settings")
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
        pressed = st.button(
            words("Branch off here"), key="fork_go", type="primary", icon=":material/fork_right:", disabled=idle
        )
        st.caption(
            words("Nothing is changed yet: move a slider, edit the query or turn a verdict.")
            if idle
            else price_line(price, words, new_query=new_query)
        )
    if pressed:
        _go(engine, record, wanted)


def _where_from(engine: Engine, record: RunRecord, words: Words) -> None:
    fork = record.fork
    assert fork is not None
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
    changes = changes_of(fork, settings, record, words)
    found = difference(parent, record) if parent else None
    if branch_note(record, fork, changes, found, words, key="fork_note"):
        st.session_state["run"] = fork.parent
        st.rerun()


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
        words("Query of this round"),
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
    with st.expander(words("Verdicts of this round"), expanded=bool(turned), key=f"fork_verdicts_{place}"):
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
    if decision:
        return decision_text(decision, record.workflow, words)
    decides = workflow(record.workflow).gate
    where = round_text(index, words)
    return words("{round}: nothing decided yet", round=where) if decides else where


def setting_changes(old: RunConfig, new: RunConfig, words: Words) -> list[str]:
    """``Top-k 5 → 3`` for every setting that differs and counts for something."""
    unused = unread_by(new) if old.gate == new.gate else ""
    return [
        words(
            "{name} {old} → {new}",
            name=setting_label(item.name, words),
            old=setting_text(item.name, item.a, words),
            new=setting_text(item.name, item.b, words),
        )
        for item in settings_difference(old, new)
        if item.name != unused
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
    if not passages:
        draw((node("p", "muted", words("This round kept no passage.")),), words, key=key)
        return None
    rows = [
        _row(place, passage, current.verdicts.get(passage.id), turned.get(passage.id), words)
        for place, passage in enumerate(passages)
    ]
    pressed = draw((node("ul", "turns", *rows),), words, key=key)
    return passages[int(pressed)].id if pressed and pressed.isdecimal() and int(pressed) < len(passages) else None


def price_line(needed: CallsNeeded, words: Words, *, new_query: bool) -> str:
    """Describe the cost of a branch in one sentence; the price of a new query is a bound."""
    if new_query:
        message = N_("The new search and its verdicts cost at most {next}. With all further rounds at worst: {worst}.")
    elif not _costs(needed):
        return words("Costs no call: all that is needed is recorded.")
    else:
        message = N_("Costs {next}.") if needed.next == needed.worst else N_("Next step: {next}. At worst: {worst}.")
    return words(message, next=price_text(needed.next, words), worst=price_text(needed.worst, words))


def branch_note(
    record: RunRecord, fork: Fork, changes: Sequence[str], found: RunDifference | None, words: Words, *, key: str
) -> bool:
    """Say what a run branched off from, what was changed and what came of it; true when its parent shall be opened.

    ``found`` is the difference from the parent to the branch; None where the parent is gone.
    """
    head = [node("strong", "", branch_text(fork, words))]
    if found is not None:
        head += [node("span", "grow"), button(words("Open that run"), "parent", "button quiet")]
    said = words(", ").join(changes)
    changed = words("Changed: {changes}", changes=said) if said else words("Nothing was changed.")
    parts = [node("div", "head", *head), node("p", "", changed), *_became(record, found, words)]
    return draw((box("plain", "↳", *parts),), words, key=key) == "parent"


def changes_of(fork: Fork, settings: Sequence[str], record: RunRecord, words: Words) -> list[str]:
    """All that a branch changed, the reader's query and verdicts included."""
    places = {item.passage.id: _place(item.passage, words) for own in record.rounds for item in own.candidates}
    query = [words("query “{query}”", query=fork.query)] if fork.query else []
    verdicts = [
        words(
            "{passage} set to relevant" if relevant else "{passage} set to not relevant", passage=places.get(name, name)
        )
        for name, relevant in fork.verdicts.items()
    ]
    return [*settings, *query, *verdicts]


def _row(place: int, passage: Passage, verdict: Verdict | None, turned: bool | None, words: Words) -> Node:
    text = " ".join(passage.text[: _SNIPPET * 2].split())
    snippet = text[:_SNIPPET] + ("…" if len(text) > _SNIPPET else "")
    what = node(
        "div",
        "grow",
        node("strong", "", _place(passage, words)),
        node("div", "muted small", snippet),
    )
    action = str(place)
    if turned is not None:
        label = f"{('✓' if turned else '✗')} {words('relevant' if turned else 'not relevant')}"
        marks: tuple[Node, ...] = (chip("accent", label), node("span", "muted small", words("Set by hand")))
        press = button(words("Undo"), action, "button quiet")
    else:
        relevant = verdict is not None and verdict.relevant is True
        if verdict is None or verdict.relevant is None:
            marks = (chip("grey", verdict_label(verdict, words)),)
        else:
            marks = (chip("pass" if relevant else "warn", verdict_text(verdict, words)),)
        press = button(words("Set to not relevant" if relevant else "Set to relevant"), action, "button quiet")
    return node("li", "turn", what, node("div", "said", *marks), press)


def _became(record: RunRecord, found: RunDifference | None, words: Words) -> list[Node]:
    if record.active:
        return [node("p", "muted", words("How the paths differ is said here when the branch has ended."))]
    if found is None:
        return [node("p", "muted", words("That run is not here any more, so the two cannot be compared."))]
    parted = next((pair for pair in found.path if _parts(pair)), None)
    was, now = ended_text(found.a, words), ended_text(found.b, words)
    given = found.context
    counts = {"shared": len(given.shared), "gained": len(given.gained), "lost": len(given.lost)}
    count = counted(record.model_calls)
    lines = (
        _line(
            parted is None,
            words("The path is the same to its end.") if parted is None else _parted(parted, record, words),
        ),
        _line(
            was == now,
            words("Outcome: {now}, as before." if was == now else "Outcome: {was} → {now}.", was=was, now=now),
        ),
        _line(
            not given.gained and not given.lost,
            words("To the generator: {shared} as before, {gained} gained, {lost} lost.", **counts),
        ),
        _line(
            found.same_answer,
            words("The answer is word for word the same." if found.same_answer else "The answer is another one."),
        ),
    )
    calls = words("Model calls: {reused} reused, {made} made.", reused=count.cached, made=count.made)
    told = [node("li", "muted", calls)] if count.done else []
    return [node("ul", "report", *lines, *told), *_moved(found, words)]


def _line(same: bool, text: str) -> Node:
    return node("li", "", node("span", "sign" if same else "sign warn", "=" if same else "≠"), text)


def _moved(found: RunDifference, words: Words) -> list[Node]:
    names = {item.passage.id: _place(item.passage, words) for item in found.passages}
    parts = []
    for key, look, ids in (("gained", "pass", found.context.gained), ("lost", "warn", found.context.lost)):
        sign = "+" if key == "gained" else "−"
        parts += [chip(look, f"{sign} {names.get(name, name)}", words(_MOVES[key])) for name in ids]
    return [node("div", "chips", *parts)] if parts else []


def _parts(pair: RoundPair) -> bool:
    return bool(pair.differs) or _operands(pair.decision_a) != _operands(pair.decision_b)


def _parted(pair: RoundPair, record: RunRecord, words: Words) -> str:
    said = [
        words("no such round") if current is None else _decided(decision, record, words)
        for current, decision in ((pair.a, pair.decision_a), (pair.b, pair.decision_b))
    ]
    sentence = words(
        "Parted ({round}): “{was}” became “{now}”.", round=round_text(pair.index, words), was=said[0], now=said[1]
    )
    return sentence + words(" The decisions before it stayed.") if pair.index else sentence


def _decided(decision: Decision | None, record: RunRecord, words: Words) -> str:
    if decision is None:
        return words("no decision")
    return words(
        "{passed} of {kept} passed, {inequality} → {route}",
        passed=decision.passed,
        kept=decision.kept,
        inequality=inequality_text(decision, words),
        route=node_text(decision.route, record.workflow, words),
    )


def _operands(decision: Decision | None) -> object:
    return (decision.route, decision.reason, decision.passed, decision.kept) if decision else None


def _costs(needed: CallsNeeded) -> bool:
    return bool(needed.worst.calls or needed.worst.built_in_calls)


def _place(passage: Passage, words: Words) -> str:
    return place_text(passage.source, passage.section, words)
