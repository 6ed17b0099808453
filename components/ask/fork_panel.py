"""Branching off: the passages whose verdicts can be turned, what it costs, and what came of a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.ask.what_if_text import price_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, node
from components.common.phrases import (
    decision_text,
    ended_text,
    inequality_text,
    node_text,
    place_text,
    verdict_label,
    verdict_text,
)
from components.common.setting_words import setting_label, setting_text
from components.common.settings_of import unread_by
from engine.messages import N_
from engine.model.config import RunConfig, declared
from engine.model.decide import kept_passages
from engine.model.settings_difference import settings_difference
from engine.model.values import Decision, Fork, Passage, PassageId, Round, RunRecord, Verdict, counted
from engine.replay.difference import RoundPair, RunDifference
from engine.replay.values import CallsNeeded

_MOVES = {
    "gained": N_("Gained"),
    "lost": N_("Lost"),
}

_SNIPPET = 140
_SHOWN_RUN = 8


def round_text(record: RunRecord, index: int, words: Words) -> str:
    """One decision as a choice: round, inequality, where it went."""
    decision = next((item for item in record.decisions if item.round == index), None)
    if decision:
        return decision_text(decision, record.workflow, words)
    decides = declared(record.workflow).gate
    return words("round {n}: nothing decided yet" if decides else "round {n}", n=index)


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
    """What a branch costs, in one sentence; the price of a new query is a bound."""
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
    head = [
        node("strong", "", words("Branched off run {run} at round {n}", run=fork.parent[:_SHOWN_RUN], n=fork.round))
    ]
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
    sentence = words("Parted at round {n}: “{was}” became “{now}”.", n=pair.index, was=said[0], now=said[1])
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
