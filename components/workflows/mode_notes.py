"""Prominent note on what a mode could not do: no mode silently becomes another (GH-02)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from components.common.i18n import Words
from components.common.markup import Node, draw, node
from components.common.phrases import fault_text
from components.labels import GRAPH_LISTS, MODE_NOTES, choices_of
from engine.errors import RunWarning
from engine.model.values import GraphEvidence, PassageId, Round, RunRecord
from engine.model.values.graphs import ModeNote, RetrievalList

MODE_FAULT = RunWarning.mode_fell_back.code
"""Code of the warning that a mode searched something else: the notes say it, and what to do."""


def searched_mode(record: RunRecord) -> str:
    """The mode that was searched: the newest round's, else the config's."""
    return next((item.graph.mode for item in reversed(record.rounds) if item.graph), record.config.mode)


def mode_notes(record: RunRecord, words: Words, *, key: str) -> None:
    """Draw the notes of the newest search above its answer; nothing where every list did its work."""
    nodes = mode_note_nodes(record, words)
    if nodes:
        draw(nodes, words, key=key)


def mode_note_nodes(record: RunRecord, words: Words) -> list[Node]:
    """One box, with the fallback first and every list that could not do its work below; empty where all could."""
    evidence = next((item.graph for item in reversed(record.rounds) if item.graph is not None), None)
    advice = _chain_advice(record, words)
    if evidence is None or not (evidence.notes or evidence.fell_back_to):
        return advice
    said = [node("p", "", text) for text in note_texts(evidence, words)]
    # The modes that have vectors as well as the graph fall back on nothing; their warning says what they were without.
    fell = bool(evidence.fell_back_to) or any(item.code == MODE_FAULT for item in record.warnings)
    if evidence.fell_back_to:
        fallback = fallback_text(searched_mode(record), evidence.fell_back_to, words)
        said.insert(0, node("p", "", node("strong", "", fallback)))
    said += [node("p", "muted", fault_text(item, words)[1]) for item in record.warnings if item.code == MODE_FAULT][:1]
    icon = node("span", "icon", "!", aria_hidden="true")
    return [node("div", f"box {'warn' if fell else 'plain'}", icon, node("div", "grow", *said), role="alert"), *advice]


def _chain_advice(record: RunRecord, words: Words) -> list[Node]:
    """Suggest what to try when the graph led to passages that the built-in, word-based grader rejected."""
    if record.outcome not in ("abstained", "answered_forced") or not record.config.models.grader.built_in:
        return []
    led = {
        item.passage.id
        for current in record.rounds
        for item in current.candidates
        if item.gate == "kept" and item.via and _refused(current, item.passage.id)
    }
    if not led:
        return []
    icon = node("span", "icon", "i", aria_hidden="true")
    return [
        node(
            "div",
            "box plain",
            icon,
            node(
                "div",
                "grow",
                words.count(
                    "The built-in grader refused 1 passage that the graph led to; a chat model follows such chains.",
                    "The built-in grader refused {n} passages that the graph led to; a chat model follows such chains.",
                    len(led),
                ),
            ),
        )
    ]


def _refused(current: Round, passage_id: PassageId) -> bool:
    verdict = current.verdicts.get(passage_id)
    return verdict is not None and verdict.relevant is False


def note_texts(evidence: GraphEvidence, words: Words) -> list[str]:
    """A sentence for all lists that could not work for one reason, in the order they were noted."""
    lists: dict[str, dict[str, None]] = {}
    for item in evidence.notes:
        lists.setdefault(item.code, {})[words(GRAPH_LISTS[item.list])] = None
    joint = words(", ")
    return [
        words("{what}: {why}", what=joint.join(named), why=words(MODE_NOTES[code])) for code, named in lists.items()
    ]


def note_text(note: ModeNote, words: Words) -> str:
    """The note with the list that it speaks of."""
    return words("{what}: {why}", what=words(GRAPH_LISTS[note.list]), why=words(MODE_NOTES[note.code]))


def fallback_text(mode: str, lists: Sequence[RetrievalList], words: Words) -> str:
    """Describe what was searched instead of the mode's own lists."""
    named = words(", ").join(words(GRAPH_LISTS[name]) for name in lists)
    return words(
        "{mode} without its graph: {lists} searched instead.", mode=words(choices_of("mode")[mode]), lists=named
    )


def notes_box(notes: Iterable[ModeNote], mode: str, fell_back_to: Sequence[RetrievalList], words: Words) -> Node | None:
    """All of it in a box that cannot be overlooked; None where there is nothing to say."""
    said = [note_text(item, words) for item in notes]
    if fell_back_to:
        said.insert(0, fallback_text(mode, fell_back_to, words))
    if not said:
        return None
    first, *rest = said
    lead = node("strong", "", first) if fell_back_to else node("span", "", first)
    text = node("div", "grow", lead, *(node("p", "small", item) for item in rest))
    return node("div", "box warn", node("span", "icon", "!", aria_hidden="true"), text, role="alert")
