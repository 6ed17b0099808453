"""Notes below the figures of a run: its chat, the gate's cost, what passages say together, the smallest changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from components.ask.admitted import lets_in
from components.ask.what_if_text import REWRITES, begun_small, saving_parts, value_text
from components.common.i18n import Words
from components.common.markup import Node, box, button, chip, draw, fold, node
from components.common.outcomes import outcome_text, round_text
from components.common.phrases import WANTED, bar_text, begun, duration_text
from components.labels import MESSAGE_ROLES, VARIED_SETTINGS
from engine.messages import N_, NC_
from engine.model.config import BUILTIN, RunConfig
from engine.model.decide import gate_of
from engine.model.values import Chat, Message, ModelCall, Passage, PassageId, Round, RunRecord, SetVerdict, Verdict
from engine.replay.decision_boundaries import DecisionBoundary
from engine.replay.gate_cost import GateCost
from engine.replay.values import WhatIf

_ANSWERED: Mapping[str, tuple[str, str]] = {
    "yes": ("pass", NC_("passages together", "yes")),
    "part": ("warn", NC_("passages together", "in part")),
    "no": ("warn", NC_("passages together", "no")),
}
_BY_WORDS: Mapping[str, tuple[str, str]] = {
    "yes": ("pass", N_("cover the words of the question")),
    "part": ("warn", N_("cover some words of the question")),
    "no": ("warn", N_("cover no word of the question")),
}
"""What the built-in judge can tell: words are not meaning."""
_HELP = N_(
    "Whether what passed until then suffices to answer the question, which is another matter than whether each passage "
    "helps."
)
_HELP_BY_WORDS = N_("The built-in grader compares words: it cannot tell whether passages that cover them answer.")
_SHOWN = 3


def counterfactual_notes(record: RunRecord, found: WhatIf, words: Words) -> Mapping[PassageId, str]:
    """A short note for every passage to which something else would happen; empty where nothing is known to change."""
    if found.config == record.config or not found.steps:
        return {}
    tried = [step.round for step in found.steps]
    notes: dict[PassageId, str] = {}
    for passage_id, passage in _all_seen(record).items():
        note = _note(record, found, tried, passage, words)
        if note:
            notes[passage_id] = note
    return notes


def _all_seen(record: RunRecord) -> dict[PassageId, Passage]:
    return {item.passage.id: item.passage for current in record.rounds for item in current.candidates}


def _note(record: RunRecord, found: WhatIf, tried: list[Round], passage: Passage, words: Words) -> str:
    # Only rounds that would happen are compared with themselves; no one knows what comes after an open one.
    same = record.rounds[: len(tried)]
    kept_then, kept_now = _kept(same, passage.id), _kept(tried, passage.id)
    if kept_then and not kept_now:
        return _dropped(tried, passage.id, found.config, words)
    if not kept_now:
        gone = found.path_known and _kept(record.rounds, passage.id)
        return words("its round does not happen") if gone else ""
    verdict = _verdict(tried, passage.id)
    if not kept_then:
        return words("kept, without a verdict so far" if verdict is None else NC_("what-if", "kept"))
    former = _verdict(same, passage.id)
    if verdict is not None and former is not None:
        changed = _passing(verdict, former, record.config, found.config, words)
        if changed:
            return changed
    return _given(record, found, passage, words)


def _kept(rounds: Sequence[Round], passage_id: PassageId) -> bool:
    return any(passage.id == passage_id for current in rounds for passage in current.kept)


def _verdict(rounds: Sequence[Round], passage_id: PassageId) -> Verdict | None:
    found = [current.verdicts[passage_id] for current in reversed(rounds) if passage_id in current.verdicts]
    return next((item for item in found if item.relevant is not None), found[0] if found else None)


def _dropped(tried: Sequence[Round], passage_id: PassageId, config: RunConfig, words: Words) -> str:
    """The drop that came closest to being none."""
    places = [
        (item, current.index) for current in tried for item in current.candidates if item.passage.id == passage_id
    ]
    best, place = max(places, key=lambda seen: (seen[0].rank <= config.top_k, seen[0].passage.similarity))
    if gate_of(best.rank, best.passage.similarity, config) == "beyond_top_k":
        return words(
            "{round}: dropped, rank {rank} > {top_k}",
            round=begun(round_text(place, words)),
            rank=best.rank,
            top_k=config.top_k,
        )
    value, bound = _apart(best.passage.similarity, config.similarity_threshold)
    return words("{round}: dropped, {value} < {bound}", round=begun(round_text(place, words)), value=value, bound=bound)


def _passing(now: Verdict, then: Verdict, old: RunConfig, new: RunConfig, words: Words) -> str:
    passes = now.passes(new.min_confidence)
    if passes == then.passes(old.min_confidence):
        return ""
    return words("passes: {why}" if passes else "does not pass: {why}", why=bar_text(now, new.min_confidence, words))


def _given(record: RunRecord, found: WhatIf, passage: Passage, words: Words) -> str:
    if not found.path_known or record.context is None or not (found.passages or found.outcome == "abstained"):
        return ""
    # What the token budget cut was offered all the same.
    then = {item.id for item in record.context.passages} | set(record.context.cut)
    now = {item.id for item in found.passages}
    if (passage.id in now) == (passage.id in then):
        return ""
    return words("goes to the generator" if passage.id in now else "does not go to the generator")


def _apart(value: float, bound: float) -> tuple[str, str]:
    """Both with as many digits as it takes to tell them apart."""
    digits = 2
    while digits < 4 and value != bound and f"{value:.{digits}f}" == f"{bound:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f}", f"{bound:.{digits}f}"


def chat_note(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the chat and how its question was derived; nothing for other runs."""
    if record.chat is None:
        return
    chat = record.chat
    said = node("p", "", node("strong", "", words("From a chat")), " ", chat_line(record, words))
    kids: list[Node] = []
    if chat.history:
        kids.append(fold("chat", words("The chat before it"), *_messages(chat.history, words)))
    for place, call in enumerate(chat.calls):
        kids.append(
            fold(f"call{place}", _call_line(call, words), *_messages(call.messages, words), _reply_text(call, words))
        )
    draw((box("plain", "", said, *kids),), words, key=key)


def chat_line(record: RunRecord, words: Words) -> str:
    """Describe the model asked, the question, and its author."""
    chat = record.chat
    assert chat is not None
    asked = {"asked": chat.asked, "model": chat.model}
    if not chat.condensed_by or chat.asked == record.question:
        return words("with the model “{model}”; the question is asked as it was sent.", **asked)
    if chat.condensed_by != BUILTIN:
        return words(
            "with the model “{model}”: “{asked}”. {writer} wrote the question from it and the messages before it.",
            writer=chat.condensed_by,
            **asked,
        )
    if chat.stood_in:
        return words(
            "with the model “{model}”: “{asked}”. {writer} could not write the question; rules took what it leaves out "
            "from the messages before it.",
            writer=_asked_of(chat),
            **asked,
        )
    return words(
        "with the model “{model}”: “{asked}”. Rules took what it leaves out from the messages before it.", **asked
    )


def _asked_of(chat: Chat) -> str:
    return chat.calls[0].model


def _call_line(call: ModelCall, words: Words) -> str:
    line = words(
        "What {model} was asked, and its reply ({time})", model=call.model, time=duration_text(call.duration_ms)
    )
    return f"{line} ✗ {call.error}" if call.error else line


def _messages(messages: tuple[Message, ...], words: Words) -> list[Node]:
    return [_message(words(MESSAGE_ROLES[item.role]), item.content) for item in messages]


def _reply_text(call: ModelCall, words: Words) -> Node:
    return _message(words("Raw reply"), call.reply or words("(empty)"))


def _message(label: str, text: str) -> Node:
    return node("div", "", node("p", "small muted", label), node("p", "own-text", text))


def gate_cost_note(found: GateCost, words: Words, *, key: str) -> bool:
    """Draw the note; true when the reader wants the other gate."""
    text = node("p", "", gate_cost_text(found, words))
    return draw((box("warn", "!", text, beside=(button(words("Use that gate"), "use"),)),), words, key=key) == "use"


def gate_cost_text(found: GateCost, words: Words) -> str:
    """Describe when enough verified passages were found, and what came after."""
    cost = [words.count("{n} rewrite", "{n} rewrites", found.rewrites)]
    if found.calls:
        cost.append(words.count("{n} call", "{n} calls", found.calls))
    cost.append(duration_text(found.saved_ms))
    fact = words.count(
        "{n} passage had passed already ({round}).",
        "{n} passages had passed already ({round}).",
        found.relevant,
        round=found.round,
    )
    return words.joined(
        (
            fact,
            words(
                "The gate “Number of relevant passages” would have answered then and saved {cost}.",
                cost=words(", ").join(cost),
            ),
        )
    )


def together_lines(record: RunRecord, words: Words, *, key: str) -> None:
    """A line for every round after which something had passed; nothing where no round judges passages."""
    lines = [_verdict_line(index, verdict, words) for index, verdict in set_verdicts(record).items()]
    if lines:
        draw(tuple(lines), words, key=key)


def set_verdicts(record: RunRecord) -> dict[int, SetVerdict]:
    """By round the verdict that the run asked for; nothing where the setting is off."""
    return {current.index: current.whole for current in record.rounds if current.whole is not None}


def _verdict_line(index: int, verdict: SetVerdict, words: Words) -> Node:
    if verdict.grader == BUILTIN:
        return _verdict_by_words(index, verdict, words)
    count = len(verdict.passages)
    asked = words.count(
        "{round}: does the 1 passage that passed answer it?",
        "{round}: do the {n} passages that passed answer it together?",
        count,
        round=begun(round_text(index, words)),
    )
    look, said = _ANSWERED.get(verdict.answered or "", ("fault", N_("unreadable")))
    return node(
        "p", "small", f"{asked} ", chip(look, words(said), words(_HELP)), f" {verdict.grader}: {verdict.reason}"
    )


def _verdict_by_words(index: int, verdict: SetVerdict, words: Words) -> Node:
    count = words.count("1 passage that passed", "{n} passages that passed", len(verdict.passages))
    look, said = _BY_WORDS.get(verdict.answered or "", ("fault", N_("unreadable")))
    place = words("{round}: {what}", round=begun(round_text(index, words)), what=count)
    return node(
        "p", "small", f"{place} ", chip(look, words(said), words(_HELP_BY_WORDS)), f" {_lacking(verdict, words)}"
    )


def _lacking(verdict: SetVerdict, words: Words) -> str:
    parts = []
    if verdict.missing:
        parts.append(words("missing: {terms}", terms=words(", ").join(verdict.missing)))
    if verdict.wanted_found is False:
        parts.append(words("does not name {kind}", kind=words(WANTED[verdict.wanted])))
    return words("; ").join(parts)


def smallest_change_nodes(
    boundaries: Sequence[DecisionBoundary], words: Words, *, answerable: bool | None = None
) -> list[Node]:
    """Draw a line of buttons (``set:NAME:VALUE``), nearest first, or a sentence where no change is worth proposing."""
    if not boundaries:
        said = words(
            "The question set says that this cannot be answered, so no change is proposed."
            if answerable is False
            else "No single setting is known to change the outcome."
        )
        return [node("p", "muted small flips", said)]
    chips = [
        button(
            boundary_text(item, words),
            f"set:{item.name}:{item.value_to}",
            f"chip {'warn' if item.admits or item.answer_note == 'unsupported' else 'link'}",
        )
        for item in boundaries[:_SHOWN]
    ]
    return [node("div", "chips flips", node("span", "muted small", words("Smallest change:")), *chips)]


def boundary_text(boundary: DecisionBoundary, words: Words) -> str:
    """``pass rate 0.60 → 0.40: answered at round 0, 3 rewrites fewer``, and what it lets in."""
    saved = saving_parts(((REWRITES, boundary.rewrites_saved),), words)
    ended = begun_small(outcome_text(boundary.outcome, words, boundary.answer_note), words)
    parts = [ended, saved, lets_in(boundary.admits, words)]
    return words(
        "{name} {old} → {new}: {end}",
        name=words(VARIED_SETTINGS[boundary.name]),
        old=value_text(boundary.name, boundary.value_from, words),
        new=value_text(boundary.name, boundary.value_to, words),
        end=words(NC_("what-if", ", ")).join(part for part in parts if part),
    )


def setting_of(action: str) -> tuple[str, str] | None:
    """Name and value of a pressed ``set:NAME:VALUE``."""
    kind, _, rest = action.partition(":")
    name, _, value = rest.partition(":")
    return (name, value) if kind == "set" and name and value else None
